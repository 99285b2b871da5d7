/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/trace/span_text.h"

#include "daemon/report/encode/figure.h"
#include "daemon/report/format/json_value.h"

#include <inttypes.h>

#define WORDS_MAX 400 /* of a path */
#define ROWS_MAX  10000

static void put_paths(const struct text_layout *layout, const struct trace_analysis *analysis,
		      unsigned span, size_t rows)
{
	const struct span_analysis *spans = &analysis->spans;
	size_t shown = 0;

	for (size_t i = 0; i < spans->path_count && shown < rows; i++) {
		const struct span_path *path = &spans->paths[i];
		char words[WORDS_MAX] = "";

		if (path->span != span)
			continue;
		if (analysis->trace->paths)
			call_paths_words(analysis->trace->paths, path->path, words, sizeof(words));
		/* One line that is not known says nothing. */
		if (!words[0] && path->sums.count == spans->spans[span].sums.count)
			continue;
		text_line(layout, "  %24s %9" PRIu64 " %10s %7s %10s  at %s", "", path->sums.count,
			  figure_ns(path->sums.ns).text,
			  figure_part(path->sums.ns, spans->spans[span].sums.ns).text,
			  figure_ns(path->sums.longest_ns).text,
			  words[0] ? words : "a line that is not known");
		shown++;
	}
}

static void put_processes(const struct text_layout *layout, const struct trace_analysis *analysis,
			  unsigned span, size_t rows)
{
	const struct span_analysis *spans = &analysis->spans;
	size_t shown = 0;

	if (analysis->trace->count < 2)
		return;
	for (size_t i = 0; i < spans->process_count && shown < rows; i++) {
		const struct span_in_process *row = &spans->processes[i];
		char title[128];

		if (row->span != span)
			continue;
		trace_process_title(analysis->trace->processes[row->process], title, sizeof(title));
		text_line(layout, "  %24s %9" PRIu64 " %10s %7s %10s  in %d, %s", "",
			  row->sums.count, figure_ns(row->sums.ns).text,
			  figure_part(row->sums.ns, spans->spans[span].sums.ns).text,
			  figure_ns(row->sums.longest_ns).text,
			  (int)analysis->trace->processes[row->process]->pid, title);
		shown++;
	}
}

/* What of it is not in the rows above. */
static void put_remarks(const struct text_layout *layout, const struct span_figures *figures,
			const struct span *span)
{
	if (!figures->set)
		text_line(layout, "  %24s %s", "",
			  figures->refused ? "could not be traced, see above"
					   : "no process has loaded it");
	if (figures->short_ones)
		text_line(layout, "  %24s and %" PRIu64 " shorter than %s, %s in all", "",
			  figures->short_ones, figure_ns(span->least_ns).text,
			  figure_ns(figures->short_ns).text);
	if (figures->unrecorded)
		text_line(layout, "  %24s and %" PRIu64 " beyond the limit of records, %s in all",
			  "", figures->unrecorded, figure_ns(figures->unrecorded_ns).text);
	if (figures->relieved)
		text_line(layout,
			  "  %24s left alone after %s in %zu process%s: it came more than %d times "
			  "a second",
			  "", figure_ns(figures->relieved_after_ns).text, figures->relieved,
			  figures->relieved == 1 ? "" : "es", SPAN_RATE_MAX);
	if (figures->not_seen_to_end)
		text_line(layout, "  %24s and %" PRIu64 " that were not seen to end", "",
			  figures->not_seen_to_end);
	if (figures->limit)
		text_line(layout, "  %24s %s", "", figures->limit);
}

/* What the kernel notes and Python functions are told by themselves. */
static bool has_others(const struct trace_analysis *analysis)
{
	unsigned count = span_analysis_count(&analysis->spans);

	return count > (unsigned)(analysis->switches.span >= 0) +
			       (unsigned)(analysis->faults.span >= 0) +
			       (unsigned)(analysis->python.span >= 0);
}

void span_text_put(const struct text_layout *layout, const struct trace_analysis *analysis,
		   size_t rows)
{
	const struct span_analysis *spans = &analysis->spans;
	unsigned count = span_analysis_count(spans);

	if (!has_others(analysis))
		return;
	text_heading(layout, "ALSO TRACED", "of all threads, in %s",
		     figure_ns(analysis->trace->end_ns - analysis->trace->begin_ns).text);
	text_line(layout, "  %-24s %9s %10s %7s %10s", "", "times", "time", "", "longest");
	for (unsigned i = 0; i < count; i++) {
		const struct span_figures *figures = &spans->spans[i];
		const struct span *span = &analysis->trace->spans->items[i];

		if (span_kind_is_kernel(span->kind) || span->kind == SPAN_PYTHON)
			continue;
		text_line(layout, "  %-24s %9" PRIu64 " %10s %7s %10s%s", span->name,
			  figures->sums.count, figure_ns(figures->sums.ns).text, "",
			  figure_ns(figures->sums.longest_ns).text,
			  figures->open ? "  (not all had ended)" : "");
		put_paths(layout, analysis, i, rows);
		put_processes(layout, analysis, i, rows);
		put_remarks(layout, figures, span);
	}
}

/* ---- JSON ---- */

static json_t *with_sums(json_t *object, const struct span_sums *sums)
{
	object = json_with(object, "count", json_count(sums->count));
	object = json_with(object, "ns", json_count(sums->ns));
	return json_with(object, "longest_ns", json_count(sums->longest_ns));
}

static json_t *span_object(const struct trace_analysis *analysis, unsigned number,
			   json_t *(*path_of)(const struct trace_analysis *, uint32_t))
{
	const struct span *span = &analysis->trace->spans->items[number];
	const struct span_figures *figures = &analysis->spans.spans[number];
	json_t *object = json_object(), *processes = json_array(), *paths = json_array();

	object = json_with(object, "name", json_text(span->name));
	object = json_with(object, "kind", json_text(span_kind_name(span->kind)));
	object = with_sums(object, &figures->sums);
	object = json_with(object, "open", json_count(figures->open));
	object = json_with(object, "least_ns", json_count(span->least_ns));
	object = json_with(object, "shorter", json_count(figures->short_ones));
	object = json_with(object, "shorter_ns", json_count(figures->short_ns));
	object = json_with(object, "unrecorded", json_count(figures->unrecorded));
	object = json_with(object, "unrecorded_ns", json_count(figures->unrecorded_ns));
	object = json_with(object, "not_seen_to_end", json_count(figures->not_seen_to_end));
	object = json_with(object, "processes_traced", json_count(figures->set));
	object = json_with(object, "processes_refused", json_count(figures->refused));
	object = json_with(object, "processes_relieved", json_count(figures->relieved));
	object = json_with(object, "limit", json_text_or_null(figures->limit));
	for (size_t i = 0; i < analysis->spans.process_count && i < ROWS_MAX; i++) {
		const struct span_in_process *row = &analysis->spans.processes[i];
		const struct trace_process *process = analysis->trace->processes[row->process];
		json_t *item;

		if (row->span != number)
			continue;
		item = json_with(json_object(), "pid", json_integer(process->pid));
		item = json_with(item, "rank", json_integer(process->rank));
		processes = json_appended(processes, with_sums(item, &row->sums));
	}
	for (size_t i = 0; i < analysis->spans.path_count && i < ROWS_MAX; i++) {
		const struct span_path *row = &analysis->spans.paths[i];

		if (row->span == number)
			paths = json_appended(paths,
					      with_sums(json_with(json_object(), "path",
								  path_of(analysis, row->path)),
							&row->sums));
	}
	object = json_with(object, "processes", processes);
	return json_with(object, "paths", paths);
}

json_t *span_json(const struct trace_analysis *analysis,
		  json_t *(*path)(const struct trace_analysis *analysis, uint32_t path))
{
	unsigned count = span_analysis_count(&analysis->spans);
	json_t *array = json_array();

	for (unsigned i = 0; i < count; i++)
		if (analysis->trace->spans->items[i].kind != SPAN_PYTHON)
			array = json_appended(array, span_object(analysis, i, path));
	return array;
}
