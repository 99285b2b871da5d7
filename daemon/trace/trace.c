/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/trace/trace.h"

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
