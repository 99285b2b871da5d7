/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether a process is in a control group, told by /proc/PID/cgroup, so that it
 * makes no difference which versions are mounted, and where. The text is
 * hostile input: whoever may make a cgroup names it.
 *
 * What is wanted is written as
 *
 *   /sys/fs/cgroup/a/b.slice    where it is mounted, with version 1 below a controller
 *   a/b.slice, /a/b.slice       its path from the root; with version 1 that of any controller
 *   nginx, nginx.service        a name: of any cgroup on the way, as it is or with systemd's
 *                               .service, .scope or .slice
 *   0123456789ab                12 digits or more of a container's id
 *   web                         a container's name (container_name.h)
 *
 * and means that cgroup with all below it.
 */
#ifndef PIEPROFD_ATTACH_CGROUP_H
#define PIEPROFD_ATTACH_CGROUP_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* The text of /proc/PID/cgroup (size bytes, need not end in NUL). Pure. */
bool cgroup_matches(const char *text, size_t size, const char *wanted);

/* False also when it cannot be told. */
bool cgroup_contains(pid_t pid, const char *wanted);

#endif
