/* SPDX-License-Identifier: Apache-2.0 */
#include "symbolize/dwarf_file.h"

#include "symbolize/elf_image.h"

#include <elf.h>
#include <elfutils/libdwelf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SHARED_ATTEMPTS_MAX 8

struct dwarf_file {
	struct elf_image *debug_image; /* owned; NULL: the module's own file has the DWARF */
	Elf *elf;
	Dwarf *dwarf;
	struct dwarf_shared shared;
};

void dwarf_shared_close(struct dwarf_shared *shared)
{
	dwarf_end(shared->dwarf);
	elf_end(shared->elf);
	dwarf_copy_free(&shared->copy);
	foreign_mapping_close(&shared->mapping);
	*shared = (struct dwarf_shared){ 0 };
}

/* The file has no segments, so elf_image does not take it. */
static int open_shared_bytes(int fd, struct dwarf_shared *shared, char **ret_bytes)
{
	struct stat status;
	int error;

	if (fstat(fd, &status) != 0 || status.st_size < (off_t)sizeof(Elf64_Ehdr) ||
	    foreign_mapping_open(fd, (size_t)status.st_size, &shared->mapping) != 0)
		return -ENODATA;
	*ret_bytes = (char *)shared->mapping.bytes;
	if (!dwarf_copy_is_needed(&status))
		return foreign_mapping_allow_writing(&shared->mapping);
	error = dwarf_copy_make(shared->mapping.bytes, shared->mapping.size, &shared->copy);
	*ret_bytes = shared->copy.bytes;
	return error;
}

int dwarf_shared_open(int fd, const void *build_id, size_t build_id_size,
		      struct dwarf_shared *ret_shared)
{
	struct dwarf_shared shared = { .dwarf = NULL };
	const void *found;
	char *bytes;
	int error = -ENODATA;

	if (elf_version(EV_CURRENT) != EV_NONE && open_shared_bytes(fd, &shared, &bytes) == 0)
		shared.elf = elf_memory(bytes, shared.mapping.size);
	if (shared.elf) {
		error = -ENOENT;
		if (dwelf_elf_gnu_build_id(shared.elf, &found) == (ssize_t)build_id_size &&
		    memcmp(found, build_id, build_id_size) == 0)
			shared.dwarf = dwarf_begin_elf(shared.elf, DWARF_C_READ, NULL);
	}
	if (!shared.dwarf) {
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
	}
	/* Left to itself, libdw would look for it at the first reference into it. */
	return -ENODATA;
}

static int open_image_dwarf(struct dwarf_file *file, struct elf_image *image,
			    const struct debug_search *search)
{
	char *bytes;
	int error;

	if (!has_dwarf(image) || elf_version(EV_CURRENT) == EV_NONE)
		return -ENODATA;
	bytes = elf_image_writable_bytes(image);
	if (!bytes)
		return -ENODATA;
	file->elf = elf_memory(bytes, image->size);
	if (!file->elf)
		return -ENODATA;
	file->dwarf = dwarf_begin_elf(file->elf, DWARF_C_READ, NULL);
	error = file->dwarf ? open_shared_dwarf(file, search) : -ENODATA;
	if (error) {
		if (file->dwarf)
			dwarf_end(file->dwarf);
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
