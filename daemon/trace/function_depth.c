/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/trace/function_depth.h"

#include "attach/bpf/function_record.h"
#include "common/array.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

/* Calls of one thread that go on, innermost last. */
struct thread {
	uint32_t number;
	unsigned count;
	uint64_t ends_ns[FUNCTION_DEPTH_MAX];
};

struct threads {
	struct thread *items;
	size_t count, capacity;
};

static struct thread *find(struct threads *threads, uint32_t number)
{
	for (size_t i = threads->count; i-- > 0;)
		if (threads->items[i].number == number)
			return &threads->items[i];
	if (!ARRAY_ROOM(threads->items, threads->count, threads->capacity))
		return NULL;
	threads->items[threads->count] = (struct thread){ .number = number };
	return &threads->items[threads->count++];
}

static bool is_too_deep(struct thread *thread, const struct trace_event *event, unsigned depth_max)
{
	while (thread->count && thread->ends_ns[thread->count - 1] <= event->begin_ns)
		thread->count--;
	if (thread->count >= depth_max)
		return true;
	if (thread->count < FUNCTION_DEPTH_MAX)
		thread->ends_ns[thread->count++] = event->end_ns;
	return false;
}

/* Threads first: when all are there, nothing can fail. */
static int find_threads(const struct trace_file *file, unsigned span, struct threads *threads)
{
	for (uint64_t i = 0; i < file->count; i++)
		if (file->events[i].kind == TRACE_SPAN && file->events[i].function == span &&
		    !find(threads, file->events[i].thread))
			return -ENOMEM;
	return 0;
}

int function_depth_limit(struct trace_file *file, unsigned span, unsigned depth_max,
			 uint64_t *ret_left_out)
{
	struct threads threads = { 0 };
	int error = find_threads(file, span, &threads);
	uint64_t kept = 0;

	for (uint64_t i = 0; i < file->count && !error; i++) {
		const struct trace_event *event = &file->events[i];

		if (event->kind == TRACE_SPAN && event->function == span) {
			struct thread *thread = find(&threads, event->thread);

			if (thread && is_too_deep(thread, event, depth_max))
				continue;
		}
		file->events[kept++] = *event;
	}
	free(threads.items);
	if (error)
		return error;
	*ret_left_out = file->count - kept;
	file->count = kept;
	return 0;
}
