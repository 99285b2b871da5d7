/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/trace/detail_analysis.h"

#include "common/array.h"

#include <errno.h>
#include <stdlib.h>

static int add_reason(struct detail_analysis *analysis, const struct trace_event *event)
{
	const struct sum_key key = { { (uint32_t)event->tag } };
	size_t at;

	if (sum_table_find(&analysis->reasons_found, &key, &at) ||
	    !ARRAY_ROOM(analysis->reasons, at, analysis->reason_capacity))
		return -ENOMEM;
	if (at == analysis->reason_count)
		analysis->reasons[analysis->reason_count++] =
			(struct detail_reason){ .detail = event->tag };
	span_sums_add(&analysis->reasons[at].sums, event);
	return 0;
}

static int add_path(struct detail_analysis *analysis, const struct trace_event *event)
{
	const struct sum_key key = { { (uint32_t)event->tag, event->path } };
	size_t at;

	if (sum_table_find(&analysis->paths_found, &key, &at) ||
	    !ARRAY_ROOM(analysis->paths, at, analysis->path_capacity))
		return -ENOMEM;
	if (at == analysis->path_count)
		analysis->paths[analysis->path_count++] =
			(struct detail_path){ .detail = event->tag, .path = event->path };
	span_sums_add(&analysis->paths[at].sums, event);
	return 0;
}

static int add_thread(struct detail_analysis *analysis, uint32_t place,
		      const struct trace_event *event)
{
	const struct sum_key key = { { place, event->thread } };
	const struct sum_key part_key = { { place, event->thread, (uint32_t)event->tag } };
	const struct detail_thread thread = { .process = place,
					      .thread = event->thread,
					      .detail = event->tag };
	size_t at, part_at;

	if (sum_table_find(&analysis->threads_found, &key, &at) ||
	    sum_table_find(&analysis->parts_found, &part_key, &part_at) ||
	    !ARRAY_ROOM(analysis->threads, at, analysis->thread_capacity) ||
	    !ARRAY_ROOM(analysis->parts, part_at, analysis->part_capacity))
		return -ENOMEM;
	if (at == analysis->thread_count)
		analysis->threads[analysis->thread_count++] = thread;
	if (part_at == analysis->part_count)
		analysis->parts[analysis->part_count++] = thread;
	span_sums_add(&analysis->threads[at].sums, event);
	span_sums_add(&analysis->parts[part_at].sums, event);
	return 0;
}

static int compare_sums(const struct span_sums *a, const struct span_sums *b)
{
	return a->ns > b->ns ? -1 : a->ns < b->ns;
}

static int compare_reasons(const void *left, const void *right)
{
	const struct detail_reason *a = left, *b = right;
	int order = compare_sums(&a->sums, &b->sums);

	return order ? order : a->detail < b->detail ? -1 : a->detail > b->detail;
}

static int compare_paths(const void *left, const void *right)
{
	const struct detail_path *a = left, *b = right;
	int order = compare_sums(&a->sums, &b->sums);

	if (order || a->detail != b->detail)
		return order ? order : a->detail < b->detail ? -1 : 1;
	return a->path < b->path ? -1 : a->path > b->path;
}

static int compare_threads(const void *left, const void *right)
{
	const struct detail_thread *a = left, *b = right;
	int order = compare_sums(&a->sums, &b->sums);

	if (order || a->process != b->process)
		return order ? order : a->process < b->process ? -1 : 1;
	if (a->thread != b->thread)
		return a->thread < b->thread ? -1 : 1;
	return a->detail < b->detail ? -1 : a->detail > b->detail;
}

static void sort(struct detail_analysis *analysis)
{
	if (!analysis->reason_count)
		return;
	qsort(analysis->reasons, analysis->reason_count, sizeof(analysis->reasons[0]),
	      compare_reasons);
	qsort(analysis->paths, analysis->path_count, sizeof(analysis->paths[0]), compare_paths);
	qsort(analysis->threads, analysis->thread_count, sizeof(analysis->threads[0]),
	      compare_threads);
	qsort(analysis->parts, analysis->part_count, sizeof(analysis->parts[0]), compare_threads);
}

int detail_analysis_init(struct detail_analysis *analysis, const struct trace *trace,
			 enum span_kind kind)
{
	*analysis = (struct detail_analysis){
		.kind = kind,
		.span = trace->spans ? span_list_find(trace->spans, kind) : -1,
	};
	for (uint32_t i = 0; i < trace->count && analysis->span >= 0; i++) {
		const struct trace_file *file = &trace->processes[i]->file;

		for (uint64_t k = 0; k < file->count; k++) {
			const struct trace_event *event = &file->events[k];

			if (event->kind != TRACE_SPAN || event->function != analysis->span)
				continue;
			span_sums_add(&analysis->sums, event);
			if (add_reason(analysis, event) || add_path(analysis, event) ||
			    add_thread(analysis, i, event))
				return -ENOMEM;
		}
	}
	sort(analysis);
	return 0;
}

void detail_analysis_deinit(struct detail_analysis *analysis)
{
	free(analysis->reasons);
	free(analysis->paths);
	free(analysis->threads);
	free(analysis->parts);
	sum_table_deinit(&analysis->reasons_found);
	sum_table_deinit(&analysis->paths_found);
	sum_table_deinit(&analysis->threads_found);
	sum_table_deinit(&analysis->parts_found);
	*analysis = (struct detail_analysis){ .span = -1 };
}
