/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which container a process runs in, told by the names that container
 * runtimes give to its cgroups. The text is hostile input: whoever may make a
 * cgroup names it. container_name.h reads it of a process.
 */
#ifndef PIEPROFD_ATTACH_CONTAINER_H
#define PIEPROFD_ATTACH_CONTAINER_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#define CONTAINER_NAME_BYTES 128

struct container {
	const char *runtime; /* "docker", "podman", "kubernetes", "lxc", "nspawn", "container" */
	char id[65];         /* 64 hexadecimal digits, or a name */
	char name[CONTAINER_NAME_BYTES]; /* "": none, or not known */
};

/* So many hexadecimal digits as runtimes use. Pure. */
bool container_is_id(const char *text, size_t size);

/* From the text of /proc/PID/cgroup (size bytes, need not end in NUL). 0, or -ENOENT: none. Pure.
 */
__attribute__((warn_unused_result)) int container_parse(const char *text, size_t size,
							struct container *ret_container);

#endif
