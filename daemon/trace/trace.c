/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/trace/trace.h"

#include <stdio.h>
#include <stdlib.h>

static int compare_ranks(const void *left, const void *right)
{
	const struct trace_process *a = *(struct trace_process *const *)left;
	const struct trace_process *b = *(struct trace_process *const *)right;

	if (a->rank_known != b->rank_known)
		return a->rank_known ? -1 : 1;
	if (a->rank_known && a->rank != b->rank)
		return a->rank < b->rank ? -1 : 1;
	return a->pid < b->pid ? -1 : a->pid > b->pid;
}

void trace_number_ranks(struct trace *trace)
{
	if (trace->count)
		qsort(trace->processes, trace->count, sizeof(trace->processes[0]), compare_ranks);
	/* One that was started without a launcher is a job of its own. */
	if (trace->count == 1 && !trace->processes[0]->rank_known) {
		trace->processes[0]->rank_known = true;
		trace->processes[0]->rank = 0;
	}
	trace->ranks_known = true;
	for (size_t i = 0; i < trace->count; i++)
		if (!trace->processes[i]->rank_known ||
		    (i && trace->processes[i]->rank == trace->processes[i - 1]->rank))
			trace->ranks_known = false;
	for (size_t i = 0; i < trace->count && !trace->ranks_known; i++)
		trace->processes[i]->rank = (int32_t)i;
}

const struct span *trace_span(const struct trace *trace, const struct trace_event *event)
{
	return trace->spans && event->function < trace->spans->count
		       ? &trace->spans->items[event->function]
		       : NULL;
}

const char *trace_span_name(const struct trace *trace, const struct span *span,
			    const struct trace_event *event, char words[static SPAN_NAME_BYTES])
{
	const struct call_frame *frame = span->kind == SPAN_PYTHON && trace->paths
						 ? call_paths_frame(trace->paths, event->path)
						 : NULL;

	if (frame)
		return frame->function;
	if (!span_kind_is_kernel(span->kind))
		return span->name;
	span_detail_words(span->kind, event->tag, words);
	return words;
}

void trace_process_title(const struct trace_process *process, char *ret_title, size_t size)
{
	if (process->library)
		snprintf(ret_title, size, "rank %d: %s", (int)process->rank, process->name);
	else
		snprintf(ret_title, size, "%s", process->name);
}

const struct mpi_library *trace_library(const struct trace *trace)
{
	for (size_t i = 0; i < trace->count; i++)
		if (trace->processes[i]->library)
			return trace->processes[i]->library;
	return NULL;
}
