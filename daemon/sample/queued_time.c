/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/sample/queued_time.h"

#include "attach/thread_schedule.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define UPDATE_NS 1000000000ull

/* 0 or a negative errno; a thread that was not on a CPU yet has no figures. */
static int queued_read_thread(pid_t pid, pid_t tid, uint64_t *ret_queued_ns)
{
	struct thread_schedule schedule = { 0 };
	int fd = thread_schedule_open(pid, tid), error;

	if (fd < 0)
		return fd;
	error = thread_schedule_read(fd, &schedule);
	close(fd);
	if (error)
		return error;
	*ret_queued_ns = schedule.queued_ns;
	return 0;
}

static int queued_compare(const void *left, const void *right)
{
	const struct queued_thread *a = left, *b = right;

	return a->tid < b->tid ? -1 : a->tid > b->tid;
}

/* Those threads that have figures. -ENODATA: none has; -E2BIG: there are too many. */
static int queued_read_all(pid_t pid, struct queued_thread threads[QUEUED_THREADS_MAX],
			   size_t *ret_count)
{
	const struct dirent *entry;
	size_t count = 0;
	char path[64];
	int error = 0;
	DIR *tasks;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	tasks = opendir(path);
	if (!tasks)
		return -errno;
	while (!error && (entry = readdir(tasks))) {
		pid_t tid = (pid_t)strtol(entry->d_name, NULL, 10);
		uint64_t queued_ns;

		if (tid <= 0 || queued_read_thread(pid, tid, &queued_ns))
			continue;
		if (count == QUEUED_THREADS_MAX)
			error = -E2BIG;
		else
			threads[count++] = (struct queued_thread){ tid, queued_ns };
	}
	closedir(tasks);
	if (error || !count)
		return error ? error : -ENODATA;
	qsort(threads, count, sizeof(threads[0]), queued_compare);
	*ret_count = count;
	return 0;
}

void queued_time_begin(struct queued_time *time, pid_t pid, uint64_t now_ns)
{
	time->count = 0;
	time->read_ns = now_ns;
	time->known = !queued_read_all(pid, time->threads, &time->count);
	cpu_supply_read(pid, &time->supply);
}

static uint64_t grown(uint64_t over, uint64_t before, uint64_t now)
{
	return over + (now > before ? now - before : 0);
}

static void read_supply(struct queued_time *time, pid_t pid)
{
	const struct cpu_supply *over = &time->over_supply, *before = &time->supply;
	struct cpu_supply now;

	cpu_supply_read(pid, &now);
	time->supplied = (struct cpu_supply){
		.throttled_ns = grown(over->throttled_ns, before->throttled_ns, now.throttled_ns),
		.idle_ns = grown(over->idle_ns, before->idle_ns, now.idle_ns),
		.all_ns = grown(over->all_ns, before->all_ns, now.all_ns),
	};
}

static void read_now(struct queued_time *time, pid_t pid)
{
	struct queued_thread *now = calloc(QUEUED_THREADS_MAX, sizeof(*now));
	uint64_t since_ns = 0;
	size_t count = 0;

	/* The target may have gone: the earlier figures are too old. */
	if (!now || !time->known || queued_read_all(pid, now, &count)) {
		time->known = false;
		free(now);
		return;
	}
	read_supply(time, pid);
	for (size_t i = 0; i < count; i++) {
		const struct queued_thread *before = bsearch(&now[i], time->threads, time->count,
							     sizeof(now[i]), queued_compare);
		uint64_t before_ns = before ? before->queued_ns : 0;

		since_ns += now[i].queued_ns > before_ns ? now[i].queued_ns - before_ns : 0;
	}
	/* Threads that ended since the last update are left out. */
	if (time->over_ns + since_ns > time->time_ns)
		time->time_ns = time->over_ns + since_ns;
	free(now);
}

void queued_time_update(struct queued_time *time, pid_t pid, uint64_t now_ns)
{
	if (!time->known || now_ns - time->read_ns < UPDATE_NS)
		return;
	time->read_ns = now_ns;
	read_now(time, pid);
}

void queued_time_end(struct queued_time *time, pid_t pid)
{
	read_now(time, pid);
	time->over_ns = time->time_ns;
	time->over_supply = time->supplied;
}
