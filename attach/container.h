/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which container a process runs in, told by the names that container
 * runtimes give to its cgroups. The text is hostile input: whoever may make a
 * cgroup names it.
 */
#ifndef PIEPROFD_ATTACH_CONTAINER_H
#define PIEPROFD_ATTACH_CONTAINER_H

#include <stddef.h>
#include <sys/types.h>

struct container {
	const char *runtime; /* "docker", "podman", "kubernetes", "lxc", "nspawn", "container" */
	char id[65];         /* 64 hexadecimal digits, or a name */
};

/* From the text of /proc/PID/cgroup (size bytes, need not end in NUL). 0, or -ENOENT: none. Pure.
 */
__attribute__((warn_unused_result)) int container_parse(const char *text, size_t size,
							struct container *ret_container);

/* 0, -ENOENT: in none that can be told, or another negative errno. */
__attribute__((warn_unused_result)) int container_read(pid_t pid, struct container *ret_container);

#endif
