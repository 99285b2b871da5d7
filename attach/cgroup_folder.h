/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The folders of a process's control group and of all groups that it is in, where versions 1 and 2
 * are commonly mounted: what a limit says, and what was counted, stands in their files. The path
 * of a group is hostile: whoever may make one names it.
 */
#ifndef PIEPROFD_ATTACH_CGROUP_FOLDER_H
#define PIEPROFD_ATTACH_CGROUP_FOLDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define CGROUP_FOLDER_SIZE 2048
#define CGROUP_FILE_SIZE   4096

struct cgroup_folder {
	char path[CGROUP_FOLDER_SIZE];
	int version;
	bool own; /* of the process's own group, not of one further out */
};

typedef void (*cgroup_folder_visitor)(void *context, const struct cgroup_folder *folder);

/* From the inside out, of the version 1 hierarchy with this controller ("cpu") and of version 2. */
void cgroup_folders_visit(pid_t pid, const char *controller, cgroup_folder_visitor visit,
			  void *context);

/* The first bytes of a file there as a string; false: it cannot be read, or is empty. */
bool cgroup_folder_read(const struct cgroup_folder *folder, const char *name,
			char text[CGROUP_FILE_SIZE]);

/* Of a text with lines "NAME COUNT"; without such a line: 0. Pure. */
uint64_t cgroup_line_value(const char *text, const char *name);

#endif
