/* SPDX-License-Identifier: Apache-2.0 */
#include "attach/newcomers.h"

#include "attach/last_pid.h"
#include "attach/procfs.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void tell(pid_t pid, void (*found)(void *context, const struct newcomer *newcomer),
		 void *context)
{
	struct process_status status;
	struct newcomer newcomer = { .pid = pid };

	/* A thread's number can be looked up, too. */
	if (procfs_read_status(pid, 0, &status) || status.thread_group != pid)
		return;
	newcomer.parent = status.parent;
	found(context, &newcomer);
}

/* Of those in the directory, in order, those that were not there before. */
static int tell_listed(struct newcomers *newcomers,
		       void (*found)(void *context, const struct newcomer *newcomer), void *context)
{
	DIR *folder = opendir("/proc");
	struct pid_list now = { 0 };
	const struct dirent *entry;
	size_t before = 0;
	int error = 0;

	if (!folder)
		return -errno;
	while (!error && (entry = readdir(folder)))
		if (isdigit((unsigned char)entry->d_name[0]))
			error = pid_list_add(&now, (pid_t)strtol(entry->d_name, NULL, 10));
	closedir(folder);
	for (size_t i = 0; !error && i < now.count; i++) {
		while (before < newcomers->listed.count &&
		       newcomers->listed.items[before] < now.items[i])
			before++;
		if (found && (before == newcomers->listed.count ||
			      newcomers->listed.items[before] != now.items[i]))
			tell(now.items[i], found, context);
	}
	pid_list_deinit(&newcomers->listed);
	newcomers->listed = now;
	return error;
}

int newcomers_open(struct newcomers *newcomers)
{
	pid_t last;
	int error;

	*newcomers = (struct newcomers){ .open = true, .fd = last_pid_open() };
	error = newcomers->fd < 0 ? newcomers->fd : last_pid_read(newcomers->fd, &last);
	for (size_t i = 0; !error && i < NEWCOMERS_LOOKS; i++)
		newcomers->last[i] = last;
	if (!error)
		return 0;
	if (newcomers->fd >= 0)
		close(newcomers->fd);
	newcomers->fd = -1;
	error = tell_listed(newcomers, NULL, NULL);
	if (error)
		newcomers_close(newcomers);
	return error;
}

void newcomers_close(struct newcomers *newcomers)
{
	if (newcomers->open && newcomers->fd >= 0)
		close(newcomers->fd);
	pid_list_deinit(&newcomers->listed);
	*newcomers = (struct newcomers){ .fd = -1 };
}

int newcomers_look(struct newcomers *newcomers,
		   void (*found)(void *context, const struct newcomer *newcomer), void *context)
{
	pid_t first = newcomers->last[0], last;
	int error;

	if (newcomers->fd < 0)
		return tell_listed(newcomers, found, context);
	error = last_pid_read(newcomers->fd, &last);
	if (error)
		return error;
	memmove(newcomers->last, newcomers->last + 1,
		(NEWCOMERS_LOOKS - 1) * sizeof(newcomers->last[0]));
	newcomers->last[NEWCOMERS_LOOKS - 1] = last;
	if (last < first || last - first > NEWCOMERS_MAX) {
		/* All there are. */
		error = tell_listed(newcomers, found, context);
		newcomers->listed.count = 0;
		return error;
	}
	for (pid_t pid = first + 1; pid <= last; pid++)
		tell(pid, found, context);
	return 0;
}
