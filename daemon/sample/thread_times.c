/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/sample/thread_times.h"

#include "common/array.h"

#include <errno.h>
#include <stdio.h>

int thread_times_init(struct thread_times *times)
{
	*times = (struct thread_times){ 0 };
	if (!ARRAY_ROOM(times->items, 0, times->capacity))
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
	if (!ARRAY_ROOM(times->items, times->count, times->capacity))
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
