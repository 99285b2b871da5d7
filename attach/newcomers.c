/* SPDX-License-Identifier: Apache-2.0 */
#include "attach/newcomers.h"

#include "attach/procfs.h"

#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/vfs.h>
#include <unistd.h>

/* "0.00 0.00 0.00 1/123 4567": the last word. */
static int read_last(int fd, pid_t *ret_last)
{
	char text[128], *word;
	ssize_t size = pread(fd, text, sizeof(text) - 1, 0);
	long last;

	if (size <= 0)
		return size ? -errno : -EPROTO;
	text[size] = '\0';
	word = strrchr(text, ' ');
	last = word ? strtol(word, NULL, 10) : 0;
	if (last <= 0 || last > INT32_MAX)
		return -EPROTO;
	*ret_last = (pid_t)last;
	return 0;
}

/* Of this very pid namespace, and by the kernel itself: LXC puts other files there. */
static bool is_ours(int fd)
{
	char self[16] = "";
	struct statfs status;

	return !fstatfs(fd, &status) && status.f_type == PROC_SUPER_MAGIC &&
	       readlink("/proc/self", self, sizeof(self) - 1) > 0 && atoi(self) == getpid();
}

int newcomers_open(struct newcomers *newcomers)
{
	pid_t last;
	int error;

	newcomers->fd = open("/proc/loadavg", O_RDONLY | O_CLOEXEC);
	if (newcomers->fd < 0)
		return -errno;
	error = is_ours(newcomers->fd) ? read_last(newcomers->fd, &last) : -ENOTSUP;
	if (error) {
		newcomers_close(newcomers);
		return error;
	}
	for (size_t i = 0; i < NEWCOMERS_LOOKS; i++)
		newcomers->last[i] = last;
	return 0;
}

void newcomers_close(struct newcomers *newcomers)
{
	if (newcomers->fd >= 0)
		close(newcomers->fd);
	newcomers->fd = -1;
}

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

static int tell_all(void (*found)(void *context, const struct newcomer *newcomer), void *context)
{
	DIR *folder = opendir("/proc");
	struct dirent *entry;

	if (!folder)
		return -errno;
	while ((entry = readdir(folder)))
		if (isdigit((unsigned char)entry->d_name[0]))
			tell((pid_t)strtol(entry->d_name, NULL, 10), found, context);
	closedir(folder);
	return 0;
}

int newcomers_look(struct newcomers *newcomers,
		   void (*found)(void *context, const struct newcomer *newcomer), void *context)
{
	pid_t first = newcomers->last[0], last;
	int error = read_last(newcomers->fd, &last);

	if (error)
		return error;
	memmove(newcomers->last, newcomers->last + 1,
		(NEWCOMERS_LOOKS - 1) * sizeof(newcomers->last[0]));
	newcomers->last[NEWCOMERS_LOOKS - 1] = last;
	if (last < first || last - first > NEWCOMERS_MAX)
		return tell_all(found, context);
	for (pid_t pid = first + 1; pid <= last; pid++)
		tell(pid, found, context);
	return 0;
}
