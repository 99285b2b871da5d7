/* SPDX-License-Identifier: Apache-2.0 */
#include "symbolize/dwarf_file.h"

#include "symbolize/elf_image.h"

#include <elf.h>
#include <elfutils/libdwelf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define SHARED_ATTEMPTS_MAX 8

struct dwarf_file {
	struct elf_image *debug_image; /* owned; NULL: the module's own file has the DWARF */
	Elf *elf;
	Dwarf *dwarf;
	void *shared_bytes; /* mapped */
	size_t shared_size;
	Elf *shared_elf;
	Dwarf *shared;
};

void dwarf_file_close(struct dwarf_file *file)
{
	if (!file)
		return;
	if (file->dwarf)
		dwarf_end(file->dwarf);
	if (file->elf)
		elf_end(file->elf);
	if (file->shared)
		dwarf_end(file->shared);
	if (file->shared_elf)
		elf_end(file->shared_elf);
	if (file->shared_bytes)
		munmap(file->shared_bytes, file->shared_size);
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

/* Takes over fd. The file has no segments, so elf_image does not take it. */
static int open_shared_file(struct dwarf_file *file, int fd, const void *build_id, ssize_t size)
{
	struct stat status;
	const void *found;
	void *bytes;

	if (fstat(fd, &status) != 0 || status.st_size < (off_t)sizeof(Elf64_Ehdr)) {
		close(fd);
		return -ENOENT;
	}
	/* Writable for libelf, which patches headers when it decompresses; only in this mapping. */
	bytes = mmap(NULL, (size_t)status.st_size, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
	close(fd);
	if (bytes == MAP_FAILED)
		return -ENOENT;
	file->shared_bytes = bytes;
	file->shared_size = (size_t)status.st_size;
	file->shared_elf = elf_memory(bytes, file->shared_size);
	if (file->shared_elf && dwelf_elf_gnu_build_id(file->shared_elf, &found) == size &&
	    memcmp(found, build_id, (size_t)size) == 0)
		file->shared = dwarf_begin_elf(file->shared_elf, DWARF_C_READ, NULL);
	if (file->shared)
		return 0;
	if (file->shared_elf)
		elf_end(file->shared_elf);
	munmap(bytes, file->shared_size);
	file->shared_elf = NULL;
	file->shared_bytes = NULL;
	return -ENOENT;
}

/* 0 also when the DWARF is all in one file. */
static int open_shared(struct dwarf_file *file, const struct debug_search *search)
{
	const void *build_id;
	const char *path;
	ssize_t size = dwelf_dwarf_gnu_debugaltlink(file->dwarf, &path, &build_id);

	if (size == 0)
		return 0;
	for (unsigned int i = 0; size > 0 && i < SHARED_ATTEMPTS_MAX; i++) {
		int fd = debug_file_open_shared(path, build_id, (size_t)size, search, i);

		if (fd < 0)
			break;
		if (open_shared_file(file, fd, build_id, size) == 0) {
			dwarf_setalt(file->dwarf, file->shared);
			return 0;
		}
	}
	/* Left to itself, libdw would look for it at the first reference into it. */
	return -ENODATA;
}

static int open_image(struct dwarf_file *file, struct elf_image *image,
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
	error = file->dwarf ? open_shared(file, search) : -ENODATA;
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
	error = open_image(file, module->image, search);
	if (error && debug_file_find(module, search, &file->debug_image) == 0)
		error = open_image(file, file->debug_image, search);
	if (error) {
		dwarf_file_close(file);
		return error;
	}
	*ret_file = file;
	return 0;
}
