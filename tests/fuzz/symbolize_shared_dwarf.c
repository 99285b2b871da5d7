/* SPDX-License-Identifier: Apache-2.0 */
/*
 * DWARF in two files: a module's, and the one of shared entries that it refers to, as dwz
 * leaves them. Either may be anything. libdw follows the paths that files name: here it
 * must open none.
 *
 *   u16 size of the module's file, the file; the shared file. Whatever the module names,
 *   the shared file is what is there.
 */
#include "symbolize/dwarf_file.h"
#include "symbolize/elf_image.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/read_dwarf.h"
#include "tests/unit/replaced_open.h"

#include <elfutils/libdwelf.h>
#include <errno.h>

static bool only_shared;

static bool decide_open(const char *path, int *ret_result)
{
	(void)path;
	(void)ret_result;
	fuzz_must(!only_shared);
	return false;
}

/* libdw opens files by it. */
int open64(const char *path, int flags, ...) __attribute__((alias("open")));

/* Whatever is asked for is the shared file. */
static int open_shared(void *context, int root, const char *path, enum root_link link)
{
	const int *shared = context;

	(void)root;
	(void)link;
	fuzz_read_string(path);
	return fcntl(*shared, F_DUPFD_CLOEXEC, 0);
}

/* Takes over the bytes. */
static void read_module(uint8_t *bytes, size_t size, int shared)
{
	struct debug_search search = { .root = ROOT_OWN, .opener = { open_shared, &shared } };
	struct module module = { .path = "/nowhere/fuzz", .name = "fuzz" };
	struct elf_image *image;

	if (elf_image_open_memory(bytes, size, &image) != 0) {
		free(bytes);
		return;
	}
	module.image = image;
	module.build_id_size = image->build_id_size;
	memcpy(module.build_id, image->build_id, sizeof(module.build_id));
	/* Where the seeds' code is. */
	read_lines(&module, &search, 0x270, 0x2a8);
	read_layouts(&module, &search);
	elf_image_close(image);
}

/* By the build-id that it says it has, and by another one. */
static void read_shared(const struct fuzz_input *input, int fd)
{
	uint8_t build_id[64], *copy = fuzz_copy(input);
	Elf *elf =
		elf_version(EV_CURRENT) == EV_NONE ? NULL : elf_memory((char *)copy, input->left);
	struct dwarf_shared shared;
	const void *found, *link;
	const char *path;
	ssize_t size = elf ? dwelf_elf_gnu_build_id(elf, &found) : -1;
	int error = -ENOENT;

	if (size > 0 && size <= (ssize_t)sizeof(build_id)) {
		memcpy(build_id, found, (size_t)size);
		error = dwarf_shared_open(fd, build_id, (size_t)size, &shared);
		fuzz_must(!error || error == -ENOENT || error == -E2BIG || error == -ENODATA);
	}
	elf_end(elf);
	free(copy);
	if (error)
		return;
	/* A chain of such files would be libdw's to follow. */
	fuzz_must(dwelf_dwarf_gnu_debugaltlink(shared.dwarf, &path, &link) == 0);
	dwarf_shared_close(&shared);
	build_id[0] ^= 1;
	fuzz_must(dwarf_shared_open(fd, build_id, (size_t)size, &shared) == -ENOENT);
	fuzz_must(dwarf_shared_open(fd, build_id, (size_t)size - 1, &shared) == -ENOENT);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_input input = { data, size }, module;
	int fd;

	module.at = fuzz_take(&input, (size_t)fuzz_number(&input, 2), &module.left);
	fd = fuzz_file(input.at, input.left);
	only_shared = true;
	read_shared(&input, fd);
	read_module(fuzz_copy(&module), module.left, fd);
	only_shared = false;
	close(fd);
	return 0;
}
