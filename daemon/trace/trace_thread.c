/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/trace/trace_thread.h"

unsigned trace_threads_place(const struct trace_threads *threads, uint32_t thread)
{
	for (unsigned i = 1; i < threads->count; i++)
		if (threads->items[i] == thread)
			return i;
	return 0;
}

void trace_threads_find(const struct trace_analysis *analysis, size_t place,
			struct trace_threads *ret_threads)
{
	const struct trace_process *process = analysis->trace->processes[place];
	uint32_t first = analysis->ranks[place].thread;

	ret_threads->items[0] = first ? first : (uint32_t)process->pid;
	ret_threads->count = 1;
	for (uint64_t i = 0; i < process->file.count; i++) {
		uint32_t thread = process->file.events[i].thread;

		if (thread == ret_threads->items[0] ||
		    trace_threads_place(ret_threads, thread) != 0 ||
		    ret_threads->count == TRACE_THREADS_MAX)
			continue;
		ret_threads->items[ret_threads->count++] = thread;
	}
}
