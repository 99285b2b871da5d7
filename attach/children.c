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

static int read_of_thread(pid_t pid, pid_t tid, pid_t *pids, size_t maximum, size_t *count)
{
	char path[64];
	FILE *file;
	int child;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", pid, tid);
	file = fopen(path, "re");
	if (!file)
		return -errno;
	while (*count < maximum && fscanf(file, "%d", &child) == 1)
		if (child > 0)
			pids[(*count)++] = child;
	fclose(file);
	return 0;
}

static int read_by_parent(pid_t pid, pid_t *pids, size_t maximum, size_t *ret_count)
{
	DIR *folder = opendir("/proc");
	struct dirent *entry;
	size_t count = 0;

	if (!folder)
		return -errno;
	while (count < maximum && (entry = readdir(folder))) {
		struct process_status status;
		pid_t candidate = isdigit((unsigned char)entry->d_name[0])
					  ? (pid_t)strtol(entry->d_name, NULL, 10)
					  : 0;

		if (candidate > 0 && !procfs_read_status(candidate, 0, &status) &&
		    status.parent == pid)
			pids[count++] = candidate;
	}
	closedir(folder);
	*ret_count = count;
	return 0;
}

int children_read(pid_t pid, pid_t *pids, size_t maximum, size_t *ret_count)
{
	pid_t tids[THREADS_LOOKED_AT];
	size_t threads, count = 0;
	int error = procfs_read_threads(pid, tids, THREADS_LOOKED_AT, &threads);

	if (error)
		return error;
	for (size_t i = 0; i < threads; i++) {
		error = read_of_thread(pid, tids[i], pids, maximum, &count);
		/* The main thread's file is there for as long as the process is. */
		if (error == -ENOENT && tids[i] == pid && !access("/proc/self/stat", R_OK) &&
		    access("/proc/thread-self/children", R_OK))
			return read_by_parent(pid, pids, maximum, ret_count);
	}
	*ret_count = count;
	return 0;
}
