/* SPDX-License-Identifier: Apache-2.0 */
#include "symbolize/dwarf_file.h"

#include "symbolize/dwarf_abbreviations.h"
#include "symbolize/elf_image.h"

#include <elf.h>
#include <elfutils/libdwelf.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SHARED_ATTEMPTS_MAX 8

struct dwarf_file {
	struct elf_image *debug_image; /* owned; NULL: the module's own file has the DWARF */
	Elf *elf;
	Dwarf *dwarf;
	struct dwarf_units units;
	struct dwarf_shared shared;
};

static atomic_size_t units_in_all;

static int take_units(Dwarf *dwarf, bool types, struct dwarf_abbreviations *abbreviations,
		      size_t *count)
{
	Dwarf_Off offset = 0, next, table, type;
	uint64_t signature;
	size_t header_size;
	int error;

	while (dwarf_next_unit(dwarf, offset, &next, &header_size, NULL, &table, NULL, NULL,
			       types ? &signature : NULL, types ? &type : NULL) == 0) {
		++*count;
		if (atomic_fetch_add(&units_in_all, 1) >= DWARF_UNITS_MAX)
			return -E2BIG;
		error = dwarf_abbreviations_take(abbreviations, table);
		if (error)
			return error;
		if (next <= offset)
			break;
		offset = next;
	}
	return 0;
}

int dwarf_units_take(Dwarf *dwarf, struct dwarf_units *ret_units)
{
	struct dwarf_abbreviations abbreviations;
	int error;

	*ret_units = (struct dwarf_units){ 0 };
	if (dwarf_abbreviations_init(&abbreviations, dwarf))
		return -ENODATA;
	/* .debug_info, and .debug_types that DWARF 4 had. */
	error = take_units(dwarf, false, &abbreviations, &ret_units->count);
	if (!error)
		error = take_units(dwarf, true, &abbreviations, &ret_units->count);
	ret_units->abbreviation_bytes = abbreviations.taken;
	return error;
}

void dwarf_units_give_back(struct dwarf_units *units)
{
	atomic_fetch_sub(&units_in_all, units->count);
	dwarf_abbreviations_give_back(&units->abbreviation_bytes);
	units->count = 0;
}

void dwarf_shared_close(struct dwarf_shared *shared)
{
	dwarf_end(shared->dwarf);
	dwarf_units_give_back(&shared->units);
	elf_end(shared->elf);
	dwarf_copy_free(&shared->copy);
	foreign_mapping_close(&shared->mapping);
	*shared = (struct dwarf_shared){ 0 };
}

/* The file has no segments, so elf_image does not take it. */
static int open_shared_bytes(int fd, struct dwarf_shared *shared)
{
	struct stat status;
	int error;

	if (fstat(fd, &status) != 0 || status.st_size < (off_t)sizeof(Elf64_Ehdr) ||
	    foreign_mapping_open(fd, (size_t)status.st_size, &shared->mapping) != 0)
		return -ENODATA;
	error = dwarf_copy_make(shared->mapping.bytes, shared->mapping.size, &shared->copy);
	return !error || error == -E2BIG ? error : -ENODATA;
}

/* dwz makes no chains, and libdw would open the next file by the path that is in this one. */
static bool names_another(Dwarf *dwarf)
{
	const void *build_id;
	const char *path;

	return dwelf_dwarf_gnu_debugaltlink(dwarf, &path, &build_id) != 0;
}

int dwarf_shared_open(int fd, const void *build_id, size_t build_id_size,
		      struct dwarf_shared *ret_shared)
{
	struct dwarf_shared shared = { .dwarf = NULL };
	const void *found;
	int error = elf_version(EV_CURRENT) == EV_NONE ? -ENODATA : open_shared_bytes(fd, &shared);

	if (!error) {
		error = -ENODATA;
		shared.elf = elf_memory(shared.copy.bytes, shared.copy.size);
	}
	if (shared.elf) {
		error = -ENOENT;
		if (dwelf_elf_gnu_build_id(shared.elf, &found) == (ssize_t)build_id_size &&
		    memcmp(found, build_id, build_id_size) == 0)
			shared.dwarf = dwarf_begin_elf(shared.elf, DWARF_C_READ, NULL);
		if (shared.dwarf)
			error = names_another(shared.dwarf)
					? -ENODATA
					: dwarf_units_take(shared.dwarf, &shared.units);
	}
	if (error) {
		dwarf_shared_close(&shared);
		return error;
	}
	*ret_shared = shared;
	return 0;
}

void dwarf_file_close(struct dwarf_file *file)
{
	if (!file)
		return;
	if (file->dwarf)
		dwarf_end(file->dwarf);
	dwarf_units_give_back(&file->units);
	if (file->elf)
		elf_end(file->elf);
	dwarf_shared_close(&file->shared);
	elf_image_close(file->debug_image);
	free(file);
}

Dwarf *dwarf_file_dwarf(const struct dwarf_file *file)
{
	return file->dwarf;
}

static bool has_dwarf(const struct elf_image *image)
{
	static const char *const names[] = { ".debug_info", ".zdebug_info" };
	struct elf_section section;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (elf_image_section_find(image, names[i], &section) == 0 &&
		    section.type != SHT_NOBITS && section.size != 0)
			return true;
	return false;
}

/* 0 also when the DWARF is all in one file. */
static int open_shared_dwarf(struct dwarf_file *file, const struct debug_search *search)
{
	const void *build_id;
	const char *path;
	int refused = -ENODATA;
	ssize_t size = dwelf_dwarf_gnu_debugaltlink(file->dwarf, &path, &build_id);

	if (size == 0)
		return 0;
	for (unsigned int i = 0; size > 0 && i < SHARED_ATTEMPTS_MAX; i++) {
		int error, fd = debug_file_open_shared(path, build_id, (size_t)size, search, i);

		if (fd < 0)
			break;
		error = dwarf_shared_open(fd, build_id, (size_t)size, &file->shared);
		close(fd);
		if (!error) {
			dwarf_setalt(file->dwarf, file->shared.dwarf);
			return 0;
		}
		if (error == -E2BIG)
			refused = error;
	}
	/* Left to itself, libdw would look for it at the first reference into it. */
	return refused;
}

static int open_image_dwarf(struct dwarf_file *file, struct elf_image *image,
			    const struct debug_search *search)
{
	char *bytes;
	int error;

	if (!has_dwarf(image) || elf_version(EV_CURRENT) == EV_NONE)
		return -ENODATA;
	error = elf_image_writable_bytes(image, &bytes);
	if (error)
		return error;
	file->elf = elf_memory(bytes, image->size);
	if (!file->elf)
		return -ENODATA;
	file->dwarf = dwarf_begin_elf(file->elf, DWARF_C_READ, NULL);
	error = file->dwarf ? dwarf_units_take(file->dwarf, &file->units) : -ENODATA;
	if (!error)
		error = open_shared_dwarf(file, search);
	if (error) {
		if (file->dwarf)
			dwarf_end(file->dwarf);
		dwarf_units_give_back(&file->units);
		elf_end(file->elf);
		file->dwarf = NULL;
		file->elf = NULL;
	}
	return error;
}

int dwarf_file_open(const struct module *module, const struct debug_search *search,
		    struct dwarf_file **ret_file)
{
	struct dwarf_file *file;
	int error;

	if (!module->image)
		return -ENODATA;
	file = calloc(1, sizeof(*file));
	if (!file)
		return -ENOMEM;
	error = open_image_dwarf(file, module->image, search);
	if (error && debug_file_find(module, search, &file->debug_image) == 0)
		error = open_image_dwarf(file, file->debug_image, search);
	if (error) {
		dwarf_file_close(file);
		return error;
	}
	*ret_file = file;
	return 0;
}
