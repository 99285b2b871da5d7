/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the symbolize tests share: this process as the target (its own map,
 * files and memory), and the ELF files of this machine to try things on.
 */
#ifndef PIEPROFD_TESTS_UNIT_SYMBOLIZE_SELF_H
#define PIEPROFD_TESTS_UNIT_SYMBOLIZE_SELF_H

#include "common/mapping.h"
#include "common/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sysmacros.h>
#include <sys/uio.h>
#include <unistd.h>

#define SELF_UNUSED __attribute__((unused))

/* This process's map. The caller frees it with mapping_list_deinit. */
SELF_UNUSED static void self_read_maps(struct mapping_list *ret_list)
{
	struct mapping_list list = { .generation = 1 };
	FILE *file = fopen("/proc/self/maps", "re");
	size_t capacity = 4096, path_room = 1 << 20, path_used = 0;
	char line[4400];

	if (!file)
		abort();
	list.mappings = calloc(capacity, sizeof(list.mappings[0]));
	list.paths = malloc(path_room);
	if (!list.mappings || !list.paths)
		abort();
	while (fgets(line, sizeof(line), file)) {
		struct mapping *mapping = &list.mappings[list.count];
		unsigned int device_major, device_minor;
		unsigned long start, end, offset, inode;
		char *path = list.paths + path_used;
		char protection[5];
		char *deleted;
		int consumed = 0;

		if (sscanf(line, "%lx-%lx %4s %lx %x:%x %lu %n", &start, &end, protection, &offset,
			   &device_major, &device_minor, &inode, &consumed) < 7 ||
		    list.count == capacity || path_used + sizeof(line) > path_room)
			abort();
		line[strcspn(line, "\n")] = '\0';
		strcpy(path, line + consumed);
		*mapping = (struct mapping){ .start = start,
					     .end = end,
					     .file_offset = offset,
					     .device = makedev(device_major, device_minor),
					     .inode = inode,
					     .path = path };
		mapping->protection = (protection[0] == 'r' ? PROT_READ : 0) |
				      (protection[1] == 'w' ? PROT_WRITE : 0) |
				      (protection[2] == 'x' ? PROT_EXEC : 0);
		deleted = strstr(path, " (deleted)");
		if (deleted) {
			mapping->deleted = true;
			*deleted = '\0';
		}
		path_used += strlen(path) + 1;
		list.count++;
	}
	fclose(file);
	*ret_list = list;
}

/* Opens by path, as a simple opener does; context may be an int that counts the calls. */
SELF_UNUSED static int self_open(void *context, const struct mapping *mapping)
{
	int fd = open(mapping->path, O_RDONLY | O_CLOEXEC);

	if (context)
		++*(int *)context;
	return fd < 0 ? -errno : fd;
}

SELF_UNUSED static int self_read(void *context, struct memory_range *ranges, size_t count)
{
	(void)context;
	for (size_t i = 0; i < count; i++) {
		struct iovec local = { ranges[i].buffer, ranges[i].size };
		struct iovec remote = { (void *)(uintptr_t)ranges[i].address, ranges[i].size };
		ssize_t copied = process_vm_readv(getpid(), &local, 1, &remote, 1, 0);

		ranges[i].error = copied == (ssize_t)ranges[i].size ? 0 : -EFAULT;
	}
	return 0;
}

/*
 * Adds the paths a pattern matches, below $HOME when it starts with "~/".
 * Nothing found is no error.
 */
SELF_UNUSED static void self_glob(glob_t *found, const char *pattern, bool append)
{
	char path[4096];
	const char *home = getenv("HOME");

	if (strncmp(pattern, "~/", 2) == 0)
		snprintf(path, sizeof(path), "%s%s", home ? home : "/nonexistent", pattern + 1);
	else
		snprintf(path, sizeof(path), "%s", pattern);
	(void)glob(path, append ? GLOB_APPEND : 0, NULL, found);
}

/* Interpreters and libraries of this machine; some may be symbolic links to others. */
SELF_UNUSED static void self_find_elf_files(glob_t *found)
{
	memset(found, 0, sizeof(*found));
	self_glob(found, "/proc/self/exe", false);
	self_glob(found, "/usr/bin/python3.[0-9]*[0-9]", true);
	self_glob(found, "~/.pyenv/versions/*/lib/libpython3.*.so.1.0", true);
	self_glob(found, "/lib/x86_64-linux-gnu/libc.so.6", true);
	self_glob(found, "/lib/x86_64-linux-gnu/libdw.so.1", true);
	self_glob(found, "/lib64/ld-linux-x86-64.so.2", true);
	self_glob(found, "/usr/lib/python3/dist-packages/numpy/core/_multiarray_umath*.so", true);
}

#endif
