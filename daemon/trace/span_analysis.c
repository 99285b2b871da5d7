/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/trace/span_analysis.h"

#include "common/array.h"

#include <errno.h>
#include <stdlib.h>

unsigned span_analysis_count(const struct span_analysis *analysis)
{
	return analysis->trace->spans ? analysis->trace->spans->count : 0;
}

void span_sums_add(struct span_sums *sums, const struct trace_event *event)
{
	uint64_t ns = event->end_ns - event->begin_ns;

	sums->count++;
	sums->ns += ns;
	if (ns > sums->longest_ns)
		sums->longest_ns = ns;
}

static int add_event(struct span_analysis *analysis, uint32_t place,
		     const struct trace_event *event)
{
	const struct sum_key process = { { event->function, place } };
	const struct sum_key path = { { event->function, event->path } };
	size_t in_process, of_path;

	if (sum_table_find(&analysis->processes_found, &process, &in_process) ||
	    sum_table_find(&analysis->paths_found, &path, &of_path) ||
	    !ARRAY_ROOM(analysis->processes, in_process, analysis->process_capacity) ||
	    !ARRAY_ROOM(analysis->paths, of_path, analysis->path_capacity))
		return -ENOMEM;
	if (in_process == analysis->process_count)
		analysis->processes[analysis->process_count++] =
			(struct span_in_process){ .span = event->function, .process = place };
	if (of_path == analysis->path_count)
		analysis->paths[analysis->path_count++] =
			(struct span_path){ .span = event->function, .path = event->path };
	span_sums_add(&analysis->spans[event->function].sums, event);
	span_sums_add(&analysis->processes[in_process].sums, event);
	span_sums_add(&analysis->paths[of_path].sums, event);
	analysis->spans[event->function].open += (event->flags & TRACE_OPEN) != 0;
	return 0;
}

/* What the program in the kernel has counted, and whether it was there at all. */
static void add_counts(struct span_figures *figures, const struct trace_process *process,
		       const struct span_watch *watch)
{
	const struct span_counts *counts = &watch->counts;
	bool relieved = watch->state == SPAN_RELIEVED;

	figures->set += watch->state == SPAN_SET || relieved;
	figures->refused += watch->state == SPAN_REFUSED;
	figures->short_ones += counts->short_ones;
	figures->short_ns += counts->short_ns;
	figures->unrecorded += counts->over_limit;
	figures->unrecorded_ns += counts->over_ns;
	if (counts->begun > counts->ended)
		figures->not_seen_to_end += counts->begun - counts->ended;
	if (watch->limit)
		figures->limit = watch->limit;
	if (!relieved)
		return;
	if (!figures->relieved ||
	    watch->relieved_ns - process->begin_ns < figures->relieved_after_ns)
		figures->relieved_after_ns = watch->relieved_ns - process->begin_ns;
	figures->relieved++;
}

static int compare_sums(const struct span_sums *a, const struct span_sums *b)
{
	return a->ns > b->ns ? -1 : a->ns < b->ns;
}

static int compare_processes(const void *left, const void *right)
{
	const struct span_in_process *a = left, *b = right;
	int order = compare_sums(&a->sums, &b->sums);

	return order                     ? order
	       : a->span != b->span      ? (a->span < b->span ? -1 : 1)
	       : a->process < b->process ? -1
					 : a->process > b->process;
}

static int compare_paths(const void *left, const void *right)
{
	const struct span_path *a = left, *b = right;
	int order = compare_sums(&a->sums, &b->sums);

	return order                ? order
	       : a->span != b->span ? (a->span < b->span ? -1 : 1)
	       : a->path < b->path  ? -1
				    : a->path > b->path;
}

int span_analysis_init(struct span_analysis *analysis, const struct trace *trace)
{
	unsigned count = trace->spans ? trace->spans->count : 0;

	*analysis = (struct span_analysis){ .trace = trace };
	for (uint32_t i = 0; i < trace->count && count; i++) {
		const struct trace_process *process = trace->processes[i];

		for (uint64_t k = 0; k < process->file.count; k++)
			/* Functions of Python lie in each other: function_analysis.h has them. */
			if (process->file.events[k].kind == TRACE_SPAN &&
			    process->file.events[k].function < count &&
			    trace->spans->items[process->file.events[k].function].kind !=
				    SPAN_PYTHON &&
			    add_event(analysis, i, &process->file.events[k]))
				return -ENOMEM;
		for (unsigned k = 0; k < count; k++)
			add_counts(&analysis->spans[k], process, &process->spans[k]);
	}
	/* Those that had not ended are among the events. */
	for (unsigned k = 0; k < count; k++)
		analysis->spans[k].not_seen_to_end -=
			analysis->spans[k].open < analysis->spans[k].not_seen_to_end
				? analysis->spans[k].open
				: analysis->spans[k].not_seen_to_end;
	if (analysis->process_count)
		qsort(analysis->processes, analysis->process_count, sizeof(analysis->processes[0]),
		      compare_processes);
	if (analysis->path_count)
		qsort(analysis->paths, analysis->path_count, sizeof(analysis->paths[0]),
		      compare_paths);
	return 0;
}

void span_analysis_deinit(struct span_analysis *analysis)
{
	free(analysis->processes);
	free(analysis->paths);
	sum_table_deinit(&analysis->processes_found);
	sum_table_deinit(&analysis->paths_found);
	*analysis = (struct span_analysis){ 0 };
}
