/* SPDX-License-Identifier: Apache-2.0 */
#include "attach/thread_schedule.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int thread_schedule_open(pid_t pid, pid_t tid)
{
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/schedstat", pid, tid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

/* A number and the white space before it; *at moves behind it. */
static int take_schedule_number(const char **at, uint64_t *ret_number)
{
	char *end;

	errno = 0;
	*ret_number = strtoull(*at, &end, 10);
	if (end == *at || errno)
		return -EPROTO;
	*at = end;
	return 0;
}

int thread_schedule_read(int fd, struct thread_schedule *ret_schedule)
{
	struct thread_schedule schedule;
	char text[96];
	const char *at = text;
	ssize_t size = pread(fd, text, sizeof(text) - 1, 0);

	if (size < 0)
		return -errno;
	if (size == 0)
		return -ESRCH;
	text[size] = '\0';
	if (take_schedule_number(&at, &schedule.run_ns) ||
	    take_schedule_number(&at, &schedule.queued_ns) ||
	    take_schedule_number(&at, &schedule.turns))
		return -EPROTO;
	/* Kernels without the counters, or with them switched off, show zeros. */
	if (!schedule.turns)
		return -ENODATA;
	*ret_schedule = schedule;
	return 0;
}
