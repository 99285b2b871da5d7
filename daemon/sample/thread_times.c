/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/sample/thread_times.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

int thread_times_init(struct thread_times *times)
{
	/* All at once, as pointers into it are kept; the kernel gives pages only to those that are
	 * there. */
	*times =
		(struct thread_times){ .items = calloc(THREAD_TIMES_MAX, sizeof(times->items[0])) };
	if (!times->items)
		return -ENOMEM;
	times->items[times->count++] = (struct profile_thread){ .name = "others" };
	return 0;
}

void thread_times_deinit(struct thread_times *times)
{
	free(times->items);
	*times = (struct thread_times){ 0 };
}

size_t thread_times_add(struct thread_times *times, pid_t tid, const char *name)
{
	if (times->count >= THREAD_TIMES_MAX)
		return 0;
	times->items[times->count] = (struct profile_thread){ .tid = tid };
	snprintf(times->items[times->count].name, sizeof(times->items[0].name), "%s", name);
	return times->count++;
}

void thread_times_charge(struct thread_times *times, size_t index, enum time_class time_class,
			 uint64_t time_ns)
{
	times->items[index].time_ns[time_class] += time_ns;
}

const char *profile_thread_mark(const struct profile_thread *thread)
{
	uint64_t time_ns = 0;

	if (!thread->unstopped_ns)
		return NULL;
	for (unsigned c = 0; c < TIME_CLASS_COUNT; c++)
		time_ns += thread->time_ns[c];
	/* A tenth: what it ran before it was known to block them, or with no clock of ours. */
	return thread->unstopped_ns + time_ns / 10 < time_ns
		       ? "read without stops for a part of its time: it blocked signals"
		       : "read without stops: it blocks signals";
}
