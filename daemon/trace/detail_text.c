/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/trace/detail_text.h"

#include "daemon/report/encode/figure.h"
#include "daemon/report/format/json_value.h"
#include "daemon/trace/system_call.h"

#include <inttypes.h>

#define WORDS_MAX 400 /* of a path */
#define ROWS_MAX  10000
/* Of a thread's reasons, in one line. */
#define PARTS_MAX 3

static void put_paths(const struct text_layout *layout, const struct call_paths *call_paths,
		      const struct detail_analysis *details, const struct detail_reason *reason,
		      size_t rows)
{
	size_t shown = 0;

	for (size_t i = 0; i < details->path_count && shown < rows; i++) {
		const struct detail_path *path = &details->paths[i];
		char words[WORDS_MAX] = "";

		if (path->detail != reason->detail || !call_paths)
			continue;
		call_paths_words(call_paths, path->path, words, sizeof(words));
		if (!words[0])
			continue;
		text_line(layout, "  %28s %9" PRIu64 " %10s %7s %10s  at %s", "", path->sums.count,
			  figure_ns(path->sums.ns).text,
			  figure_part(path->sums.ns, details->sums.ns).text,
			  figure_ns(path->sums.longest_ns).text, words);
		shown++;
	}
}

static void put_reasons(const struct text_layout *layout, const struct call_paths *call_paths,
			const struct detail_analysis *details, size_t rows)
{
	text_line(layout, "  %-28s %9s %10s %7s %10s", "", "times", "time", "", "longest");
	for (size_t i = 0; i < details->reason_count && i < rows; i++) {
		const struct detail_reason *reason = &details->reasons[i];
		char words[SPAN_NAME_BYTES];

		span_detail_words(details->kind, reason->detail, words);
		text_line(layout, "  %-28s %9" PRIu64 " %10s %7s %10s", words, reason->sums.count,
			  figure_ns(reason->sums.ns).text,
			  figure_part(reason->sums.ns, details->sums.ns).text,
			  figure_ns(reason->sums.longest_ns).text);
		put_paths(layout, call_paths, details, reason, rows);
	}
	if (details->reason_count > rows)
		text_line(layout, "  and %zu more: --details", details->reason_count - rows);
}

static void put_threads(const struct text_layout *layout, const struct trace *trace,
			const struct detail_analysis *details, size_t rows)
{
	for (size_t i = 0; i < details->thread_count && i < rows; i++) {
		const struct detail_thread *thread = &details->threads[i];
		char words[SPAN_NAME_BYTES], all[400];
		size_t used = 0, shown = 0;

		all[0] = '\0';
		for (size_t k = 0; k < details->part_count && shown < PARTS_MAX; k++) {
			const struct detail_thread *part = &details->parts[k];
			int length;

			if (part->process != thread->process || part->thread != thread->thread)
				continue;
			span_detail_words(details->kind, part->detail, words);
			length = snprintf(all + used, sizeof(all) - used, "%s%s %s",
					  shown ? ", " : "", words, figure_ns(part->sums.ns).text);
			if (length < 0 || (size_t)length >= sizeof(all) - used)
				break;
			used += (size_t)length;
			shown++;
		}
		text_line(layout, "  thread %u of pid %d: %s%s, %" PRIu64 " time%s: %s",
			  thread->thread, (int)trace->processes[thread->process]->pid,
			  figure_ns(thread->sums.ns).text,
			  details->kind == SPAN_SWITCH ? " off" : "", thread->sums.count,
			  figure_plural(thread->sums.count), all);
	}
	if (details->thread_count > rows)
		text_line(layout, "  and %zu more threads: --details",
			  details->thread_count - rows);
}

void detail_text_put(const struct text_layout *layout, const struct trace_analysis *analysis,
		     const struct detail_analysis *details, size_t rows)
{
	const struct trace *trace = analysis->trace;
	const struct span_figures *figures;

	if (details->span < 0)
		return;
	figures = &analysis->spans.spans[details->span];
	text_heading(layout, details->kind == SPAN_SWITCH ? "OFF THE PROCESSOR" : "PAGE FAULTS",
		     "%s of all threads, in %s", figure_ns(details->sums.ns).text,
		     figure_ns(trace->end_ns - trace->begin_ns).text);
	put_reasons(layout, trace->paths, details, rows);
	put_threads(layout, trace, details, rows);
	if (figures->short_ones)
		text_line(layout, "  and %" PRIu64 " time%s less than %s, %s in all",
			  figures->short_ones, figure_plural(figures->short_ones),
			  figure_ns(trace->spans->items[details->span].least_ns).text,
			  figure_ns(figures->short_ns).text);
	if (figures->unrecorded)
		text_line(layout,
			  "  and %" PRIu64 " times beyond the limit of %d a second and process, "
			  "%s in all",
			  figures->unrecorded, (int)(SWITCH_LIMIT * (1000000000 / MPI_WINDOW_NS)),
			  figure_ns(figures->unrecorded_ns).text);
	if (figures->not_seen_to_end)
		text_line(layout, "  and %" PRIu64 " that were not seen to end",
			  figures->not_seen_to_end);
}

/* ---- JSON ---- */

static json_t *with_reason(json_t *object, enum span_kind kind, int32_t detail,
			   const struct span_sums *sums)
{
	char words[SPAN_NAME_BYTES];

	span_detail_words(kind, detail, words);
	object = json_with(object, "what", json_text(words));
	if (kind == SPAN_SWITCH) {
		object = json_with(
			object, "system_call",
			json_text_or_null(detail >= 0 ? system_call_name((unsigned)detail) : NULL));
		object = json_with(object, "system_call_number",
				   detail >= 0 ? json_integer(detail) : json_null());
	}
	object = json_with(object, "count", json_count(sums->count));
	object = json_with(object, "ns", json_count(sums->ns));
	return json_with(object, "longest_ns", json_count(sums->longest_ns));
}

json_t *detail_json(const struct trace_analysis *analysis, const struct detail_analysis *details,
		    json_t *(*path)(const struct trace_analysis *analysis, uint32_t path))
{
	json_t *reasons, *paths, *threads, *object;

	if (details->span < 0)
		return json_null();
	reasons = json_array(), paths = json_array(), threads = json_array();
	for (size_t i = 0; i < details->reason_count && i < ROWS_MAX; i++)
		reasons = json_appended(reasons, with_reason(json_object(), details->kind,
							     details->reasons[i].detail,
							     &details->reasons[i].sums));
	for (size_t i = 0; i < details->path_count && i < ROWS_MAX; i++) {
		const struct detail_path *row = &details->paths[i];

		object = with_reason(json_object(), details->kind, row->detail, &row->sums);
		paths = json_appended(paths, json_with(object, "path", path(analysis, row->path)));
	}
	for (size_t i = 0; i < details->part_count && i < ROWS_MAX; i++) {
		const struct detail_thread *row = &details->parts[i];
		const struct trace_process *process = analysis->trace->processes[row->process];

		object = json_with(json_object(), "pid", json_integer(process->pid));
		object = json_with(object, "thread", json_count(row->thread));
		threads = json_appended(
			threads, with_reason(object, details->kind, row->detail, &row->sums));
	}
	object = json_with(json_object(), "ns", json_count(details->sums.ns));
	object = json_with(object, "reasons", reasons);
	object = json_with(object, "paths", paths);
	return json_with(object, "threads", threads);
}
