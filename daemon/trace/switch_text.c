/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/trace/switch_text.h"

#include "daemon/report/encode/figure.h"
#include "daemon/report/format/json_value.h"
#include "daemon/trace/system_call.h"

#include <inttypes.h>

#define WORDS_MAX 400 /* of a path */
#define ROWS_MAX  10000
/* Of a thread's reasons, in one line. */
#define PARTS_MAX 3

static void put_paths(const struct text_layout *layout, const struct trace_analysis *analysis,
		      const struct switch_reason *reason, size_t rows)
{
	const struct switch_analysis *switches = &analysis->switches;
	size_t shown = 0;

	for (size_t i = 0; i < switches->path_count && shown < rows; i++) {
		const struct switch_path *path = &switches->paths[i];
		char words[WORDS_MAX] = "";

		if (path->detail != reason->detail || !analysis->trace->paths)
			continue;
		call_paths_words(analysis->trace->paths, path->path, words, sizeof(words));
		if (!words[0])
			continue;
		text_line(layout, "  %28s %9" PRIu64 " %10s %7s %10s  at %s", "", path->sums.count,
			  figure_ns(path->sums.ns).text,
			  figure_part(path->sums.ns, switches->sums.ns).text,
			  figure_ns(path->sums.longest_ns).text, words);
		shown++;
	}
}

static void put_reasons(const struct text_layout *layout, const struct trace_analysis *analysis,
			size_t rows)
{
	const struct switch_analysis *switches = &analysis->switches;

	text_line(layout, "  %-28s %9s %10s %7s %10s", "", "times", "time", "", "longest");
	for (size_t i = 0; i < switches->reason_count && i < rows; i++) {
		const struct switch_reason *reason = &switches->reasons[i];
		char words[SPAN_NAME_BYTES];

		span_switch_words(reason->detail, words);
		text_line(layout, "  %-28s %9" PRIu64 " %10s %7s %10s", words, reason->sums.count,
			  figure_ns(reason->sums.ns).text,
			  figure_part(reason->sums.ns, switches->sums.ns).text,
			  figure_ns(reason->sums.longest_ns).text);
		put_paths(layout, analysis, reason, rows);
	}
	if (switches->reason_count > rows)
		text_line(layout, "  and %zu more: --details", switches->reason_count - rows);
}

static void put_threads(const struct text_layout *layout, const struct trace_analysis *analysis,
			size_t rows)
{
	const struct switch_analysis *switches = &analysis->switches;

	for (size_t i = 0; i < switches->thread_count && i < rows; i++) {
		const struct switch_thread *thread = &switches->threads[i];
		char words[SPAN_NAME_BYTES], all[400];
		size_t used = 0, shown = 0;

		all[0] = '\0';
		for (size_t k = 0; k < switches->part_count && shown < PARTS_MAX; k++) {
			const struct switch_thread *part = &switches->parts[k];
			int length;

			if (part->process != thread->process || part->thread != thread->thread)
				continue;
			span_switch_words(part->detail, words);
			length = snprintf(all + used, sizeof(all) - used, "%s%s %s",
					  shown ? ", " : "", words, figure_ns(part->sums.ns).text);
			if (length < 0 || (size_t)length >= sizeof(all) - used)
				break;
			used += (size_t)length;
			shown++;
		}
		text_line(layout, "  thread %u of pid %d: %s off, %" PRIu64 " time%s: %s",
			  thread->thread, (int)analysis->trace->processes[thread->process]->pid,
			  figure_ns(thread->sums.ns).text, thread->sums.count,
			  figure_plural(thread->sums.count), all);
	}
	if (switches->thread_count > rows)
		text_line(layout, "  and %zu more threads: --details",
			  switches->thread_count - rows);
}

void switch_text_put(const struct text_layout *layout, const struct trace_analysis *analysis,
		     size_t rows)
{
	const struct switch_analysis *switches = &analysis->switches;
	const struct span_figures *figures;

	if (switches->span < 0)
		return;
	figures = &analysis->spans.spans[switches->span];
	text_heading(layout, "OFF THE PROCESSOR", "%s of all threads, in %s",
		     figure_ns(switches->sums.ns).text,
		     figure_ns(analysis->trace->end_ns - analysis->trace->begin_ns).text);
	put_reasons(layout, analysis, rows);
	put_threads(layout, analysis, rows);
	if (figures->short_ones)
		text_line(layout, "  and %" PRIu64 " time%s less than %s, %s in all",
			  figures->short_ones, figure_plural(figures->short_ones),
			  figure_ns(SPAN_SWITCH_LEAST_NS).text, figure_ns(figures->short_ns).text);
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

static json_t *with_reason(json_t *object, int32_t detail, const struct span_sums *sums)
{
	char words[SPAN_NAME_BYTES];

	span_switch_words(detail, words);
	object = json_with(object, "what", json_text(words));
	object = json_with(
		object, "system_call",
		json_text_or_null(detail >= 0 ? system_call_name((unsigned)detail) : NULL));
	object = json_with(object, "system_call_number",
			   detail >= 0 ? json_integer(detail) : json_null());
	object = json_with(object, "count", json_count(sums->count));
	object = json_with(object, "ns", json_count(sums->ns));
	return json_with(object, "longest_ns", json_count(sums->longest_ns));
}

json_t *switch_json(const struct trace_analysis *analysis,
		    json_t *(*path)(const struct trace_analysis *analysis, uint32_t path))
{
	const struct switch_analysis *switches = &analysis->switches;
	json_t *reasons, *paths, *threads, *object;

	if (switches->span < 0)
		return json_null();
	reasons = json_array(), paths = json_array(), threads = json_array();
	for (size_t i = 0; i < switches->reason_count && i < ROWS_MAX; i++)
		reasons = json_appended(reasons,
					with_reason(json_object(), switches->reasons[i].detail,
						    &switches->reasons[i].sums));
	for (size_t i = 0; i < switches->path_count && i < ROWS_MAX; i++) {
		const struct switch_path *row = &switches->paths[i];

		object = with_reason(json_object(), row->detail, &row->sums);
		paths = json_appended(paths, json_with(object, "path", path(analysis, row->path)));
	}
	for (size_t i = 0; i < switches->part_count && i < ROWS_MAX; i++) {
		const struct switch_thread *row = &switches->parts[i];
		const struct trace_process *process = analysis->trace->processes[row->process];

		object = json_with(json_object(), "pid", json_integer(process->pid));
		object = json_with(object, "thread", json_count(row->thread));
		threads = json_appended(threads, with_reason(object, row->detail, &row->sums));
	}
	object = json_with(json_object(), "ns", json_count(switches->sums.ns));
	object = json_with(object, "reasons", reasons);
	object = json_with(object, "paths", paths);
	return json_with(object, "threads", threads);
}
