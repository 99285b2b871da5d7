/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/trace/counter_analysis.h"

#include "common/array.h"

#include <errno.h>
#include <stdlib.h>

static int add(struct counter_analysis *analysis, uint32_t place, const struct trace_event *event)
{
	const struct sum_key key = { { event->function, place, event->thread } };
	size_t at;

	if (sum_table_find(&analysis->found, &key, &at) ||
	    !ARRAY_ROOM(analysis->rows, at, analysis->capacity))
		return -ENOMEM;
	if (at == analysis->count)
		analysis->rows[analysis->count++] =
			(struct counter_row){ .kind = (enum counter_kind)event->function,
					      .process = place,
					      .thread = event->thread };
	analysis->rows[at].sum += event->bytes;
	analysis->rows[at].events++;
	analysis->sums[event->function] += event->bytes;
	analysis->kinds |= 1u << event->function;
	return 0;
}

static int compare(const void *left, const void *right)
{
	const struct counter_row *a = left, *b = right;

	if (a->kind != b->kind)
		return a->kind < b->kind ? -1 : 1;
	if (a->sum != b->sum)
		return a->sum > b->sum ? -1 : 1;
	if (a->process != b->process)
		return a->process < b->process ? -1 : 1;
	return a->thread < b->thread ? -1 : a->thread > b->thread;
}

int counter_analysis_init(struct counter_analysis *analysis, const struct trace *trace)
{
	*analysis = (struct counter_analysis){ .kinds = trace->spans ? trace->spans->counters : 0 };
	for (uint32_t i = 0; i < trace->count; i++) {
		const struct trace_file *file = &trace->processes[i]->file;

		for (uint64_t k = 0; k < file->count; k++)
			if (file->events[k].kind == TRACE_COUNTER &&
			    file->events[k].function < COUNTER_KINDS &&
			    add(analysis, i, &file->events[k]))
				return -ENOMEM;
		analysis->threads_left_out += trace->processes[i]->counters.threads_left_out;
	}
	if (analysis->count)
		qsort(analysis->rows, analysis->count, sizeof(analysis->rows[0]), compare);
	return 0;
}

void counter_analysis_deinit(struct counter_analysis *analysis)
{
	free(analysis->rows);
	sum_table_deinit(&analysis->found);
	*analysis = (struct counter_analysis){ 0 };
}
