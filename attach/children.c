/* SPDX-License-Identifier: Apache-2.0 */
#include "attach/children.h"

#include "attach/procfs.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define THREADS_LOOKED_AT 4096

static int read_of_thread(pid_t pid, pid_t tid, struct pid_list *children)
{
	char path[64];
	FILE *file;
	int child, error = 0;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", pid, tid);
	file = fopen(path, "re");
	if (!file)
		return -errno;
	while (!error && fscanf(file, "%d", &child) == 1)
		if (child > 0)
			error = pid_list_add(children, child);
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
	pid_t tids[THREADS_LOOKED_AT];
	size_t threads;
	int error = procfs_read_threads(pid, tids, THREADS_LOOKED_AT, &threads);

	ret_children->count = 0;
	if (error)
		return error;
	for (size_t i = 0; i < threads; i++) {
		error = read_of_thread(pid, tids[i], ret_children);
		if (error == -ENOMEM)
			return error;
		/* The main thread's file is there for as long as the process is. */
		if (error == -ENOENT && tids[i] == pid && !access("/proc/self/stat", R_OK) &&
		    access("/proc/thread-self/children", R_OK))
			return read_by_parent(pid, ret_children);
	}
	return 0;
}
