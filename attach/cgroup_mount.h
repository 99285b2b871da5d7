/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a control group's folder is called in /proc/PID/cgroup. In a container without a
 * namespace of control groups, the paths there begin at the host's root, but what is mounted
 * is a group further in:
 *
 *   /proc/self/mountinfo    /machine/web  is mounted on  /sys/fs/cgroup
 *   the folder              /sys/fs/cgroup/workers
 *   /proc/PID/cgroup        0::/machine/web/workers
 */
#ifndef PIEPROFD_ATTACH_CGROUP_MOUNT_H
#define PIEPROFD_ATTACH_CGROUP_MOUNT_H

#include <stdbool.h>

#define CGROUP_PATH_SIZE 4096

/* The mount that a folder is in, once every line was taken. All zeros: none is known. */
struct cgroup_mount {
	char root[CGROUP_PATH_SIZE]; /* what is mounted there; "": no control groups */
	char point[CGROUP_PATH_SIZE];
};

/*
 * A line of mountinfo, whose paths are hostile input: whoever may make a cgroup names it. Of
 * those mounted on folder, or on a folder that it is in, the last one counts. Pure.
 */
void cgroup_mount_take(struct cgroup_mount *mount, const char *line, const char *folder);

/*
 * The folder's path as /proc/PID/cgroup has it. False: the folder is in no such mount, or the
 * root of the groups is mounted there, so that the rest of its path is the group's. Pure.
 */
bool cgroup_mount_path(const struct cgroup_mount *mount, const char *folder,
		       char path[CGROUP_PATH_SIZE]);

/* The same by this process's own mounts. */
bool cgroup_mount_find(const char *folder, char path[CGROUP_PATH_SIZE]);

#endif
