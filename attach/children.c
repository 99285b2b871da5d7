/* SPDX-License-Identifier: Apache-2.0 */
#include "attach/children.h"

#include "attach/procfs.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int children_take(FILE *file, struct pid_list *children)
{
	int child, error = 0;

	while (!error && fscanf(file, "%d", &child) == 1)
		if (child > 0)
			error = pid_list_add(children, child);
	return error;
}

static int read_of_thread(pid_t pid, pid_t tid, struct pid_list *children)
{
	char path[64];
	FILE *file;
	int error;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", pid, tid);
	file = fopen(path, "re");
	if (!file)
		return -errno;
	error = children_take(file, children);
	fclose(file);
	return error;
}

static int read_by_parent(pid_t pid, struct pid_list *children)
{
	DIR *folder = opendir("/proc");
	struct dirent *entry;
	int error = 0;

	if (!folder)
		return -errno;
	while (!error && (entry = readdir(folder))) {
		struct process_status status;
		pid_t candidate = isdigit((unsigned char)entry->d_name[0])
					  ? (pid_t)strtol(entry->d_name, NULL, 10)
					  : 0;

		if (candidate > 0 && !procfs_read_status(candidate, 0, &status) &&
		    status.parent == pid)
			error = pid_list_add(children, candidate);
	}
	closedir(folder);
	return error;
}

int children_read(pid_t pid, struct pid_list *ret_children)
{
	const struct dirent *entry;
	bool by_parent = false;
	int error = 0;
	char path[64];
	DIR *threads;

	ret_children->count = 0;
	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	threads = opendir(path);
	if (!threads)
		return errno == ENOENT ? -ESRCH : -errno;
	/* One that has ended by now has no children any more. */
	while (error != -ENOMEM && !by_parent && (entry = readdir(threads))) {
		pid_t tid = (pid_t)strtol(entry->d_name, NULL, 10);

		if (tid <= 0)
			continue;
		error = read_of_thread(pid, tid, ret_children);
		/* The main thread's file is there for as long as the process is. */
		by_parent = error == -ENOENT && tid == pid && !access("/proc/self/stat", R_OK) &&
			    access("/proc/thread-self/children", R_OK);
	}
	closedir(threads);
	if (by_parent)
		return read_by_parent(pid, ret_children);
	return error == -ENOMEM ? error : 0;
}
