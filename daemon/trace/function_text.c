/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/trace/function_text.h"

#include "common/clock.h"
#include "daemon/report/encode/escape.h"
#include "daemon/report/encode/figure.h"
#include "daemon/report/format/json_value.h"

#include <inttypes.h>

#define NAME_MAX_BYTES 300
#define ROWS_MAX       10000
/* Of the time that was recorded, what probes may take without a word. */
#define BIAS_SHARE 0.05

static void put_rows(const struct text_layout *layout, const struct trace_analysis *analysis,
		     size_t rows)
{
	const struct function_analysis *functions = &analysis->python;

	if (!functions->count)
		return;
	text_line(layout, "  %10s %7s %10s %9s %10s  %s", "self", "", "total", "calls", "longest",
		  "function");
	for (size_t i = 0; i < functions->count && i < rows; i++) {
		const struct function_row *row = &functions->rows[i];
		const struct call_frame *frame =
			call_paths_frame(analysis->trace->paths, row->path);
		bool whole = row->longest_ns != 0;

		if (!frame)
			continue;
		text_line(layout, "  %10s %7s %10s %9" PRIu64 " %10s  %s (%s:%d)",
			  figure_ns(row->self_ns).text,
			  figure_part(row->self_ns, functions->self_ns).text,
			  figure_ns(row->ns).text, row->calls,
			  whole ? figure_ns(row->longest_ns).text : "-", frame->function,
			  path_last(frame->file), frame->line);
	}
	if (functions->count > rows)
		text_line(layout, "  and %zu more: --details", functions->count - rows);
}

/* Functions that are called often look slower than they are. */
static void put_bias(const struct text_layout *layout, const struct function_analysis *functions)
{
	char words[300];

	if (!functions->self_ns ||
	    (double)functions->probes_ns < BIAS_SHARE * (double)functions->self_ns)
		return;
	snprintf(words, sizeof(words),
		 "about %s of that time went into the probes themselves: functions that are called "
		 "often look slower than they are, and so do their callers. pieprofd PID tells "
		 "shares without that.",
		 figure_part(functions->probes_ns, functions->self_ns).text);
	text_wrapped(layout, "  ", words);
}

/* How much of the time was seen, and why not all of it. */
static void put_limit(const struct text_layout *layout, const struct trace_analysis *analysis)
{
	const struct function_analysis *functions = &analysis->python;
	const struct function_choice *choice = &analysis->trace->spans->functions;
	double share = choice->max_overhead > 0 ? choice->max_overhead : FUNCTION_OVERHEAD;
	const struct function_counts *counts = &functions->counts;
	uint64_t passed = counts->begun + counts->passed_over + counts->too_deep + counts->no_room;
	uint64_t rate = functions->observed_ns ? (uint64_t)((double)passed * NS_PER_SECOND /
							    (double)functions->observed_ns)
					       : 0;
	char words[400];

	if (!functions->pauses)
		return;
	snprintf(words, sizeof(words),
		 "seen for %s of the time, in %" PRIu64 " pieces: about %" PRIu64
		 " calls a second passed the probes, which may cost %s of "
		 "the time. --max-overhead 100%% sees all, and slows the process down.",
		 figure_part(functions->observed_ns, functions->asked_ns).text,
		 functions->pauses + 1, rate, figure_share(share).text);
	text_wrapped(layout, "  ", words);
}

static void put_count(const struct text_layout *layout, uint64_t count, const char *what)
{
	if (count)
		text_line(layout, "  and %" PRIu64 " call%s %s", count, figure_plural(count), what);
}

static void put_remarks(const struct text_layout *layout, const struct trace_analysis *analysis)
{
	const struct function_analysis *functions = &analysis->python;
	const struct function_choice *choice = &analysis->trace->spans->functions;
	const struct function_counts *counts = &functions->counts;
	uint64_t partly = 0;

	for (size_t i = 0; i < functions->count; i++)
		partly += functions->rows[i].partly;
	if (counts->short_ones)
		text_line(layout, "  and %" PRIu64 " shorter than %s, %s in all",
			  (uint64_t)counts->short_ones, figure_ns(choice->least_ns).text,
			  figure_ns(counts->short_ns).text);
	put_count(layout, counts->too_deep, "deeper than --depth");
	put_count(layout, counts->passed_over, "of functions that were not asked for");
	put_count(layout, partly, "not seen from beginning to end");
	put_count(layout, counts->over_limit, "for which there was no room");
	put_count(layout, counts->no_room, "too deep in each other, or of too many threads");
	put_count(layout, functions->unknown, "of functions that were gone before they were read");
	put_count(layout, counts->unreadable + counts->codes_left_out,
		  "of functions that could not be read");
	if (counts->compiled)
		text_line(layout,
			  "  calls are missing: the interpreter's JIT ran code of its own %" PRIu64
			  " time%s, in which none is seen",
			  (uint64_t)counts->compiled, figure_plural(counts->compiled));
	if (!counts->traps)
		text_wrapped(layout, "  ",
			     "no call began or ended: it ran in one all the time, in none, or in "
			     "code that the interpreter's JIT had made by then, in which none is "
			     "seen.");
	put_bias(layout, functions);
	put_limit(layout, analysis);
}

void function_text_put(const struct text_layout *layout, const struct trace_analysis *analysis,
		       size_t rows)
{
	const struct function_analysis *functions = &analysis->python;

	if (functions->span < 0)
		return;
	text_heading(layout, "PYTHON FUNCTIONS", "%" PRIu64 " call%s of %zu function%s, in %s",
		     functions->calls, figure_plural(functions->calls), functions->count,
		     figure_plural(functions->count), figure_ns(functions->observed_ns).text);
	put_rows(layout, analysis, rows);
	put_remarks(layout, analysis);
}

/* ---- JSON ---- */

static json_t *row_json(const struct trace_analysis *analysis, const struct function_row *row)
{
	const struct call_frame *frame = call_paths_frame(analysis->trace->paths, row->path);
	json_t *object = json_object();

	object = json_with(object, "function", json_text(frame ? frame->function : "?"));
	object = json_with(object, "file", json_text(frame ? frame->file : "?"));
	object = json_with(object, "first_line", json_integer(frame ? frame->line : 0));
	object = json_with(object, "calls", json_count(row->calls));
	object = json_with(object, "raised", json_count(row->raised));
	object = json_with(object, "partly_seen", json_count(row->partly));
	object = json_with(object, "ns", json_count(row->ns));
	object = json_with(object, "self_ns", json_count(row->self_ns));
	return json_with(object, "longest_ns", json_count(row->longest_ns));
}

json_t *function_json(const struct trace_analysis *analysis)
{
	const struct function_analysis *functions = &analysis->python;
	const struct function_counts *counts = &functions->counts;
	const struct function_choice *choice;
	json_t *object, *rows;

	if (functions->span < 0)
		return json_null();
	choice = &analysis->trace->spans->functions;
	object = json_object(), rows = json_array();
	for (size_t i = 0; i < functions->count && i < ROWS_MAX; i++)
		rows = json_appended(rows, row_json(analysis, &functions->rows[i]));
	object = json_with(object, "calls", json_count(functions->calls));
	object = json_with(object, "self_ns", json_count(functions->self_ns));
	object = json_with(object, "observed_ns", json_count(functions->observed_ns));
	object = json_with(object, "traced_ns", json_count(functions->asked_ns));
	object = json_with(
		object, "max_overhead",
		json_figure(choice->max_overhead > 0 ? choice->max_overhead : FUNCTION_OVERHEAD));
	object = json_with(object, "probes_ns", json_count(functions->probes_ns));
	object = json_with(object, "pauses", json_count(functions->pauses));
	object = json_with(object, "probe_hits", json_count(counts->traps));
	object = json_with(object, "least_ns", json_count(choice->least_ns));
	object = json_with(object, "shorter", json_count(counts->short_ones));
	object = json_with(object, "shorter_ns", json_count(counts->short_ns));
	object = json_with(object, "too_deep", json_count(counts->too_deep));
	object = json_with(object, "not_asked_for", json_count(counts->passed_over));
	object = json_with(object, "unrecorded", json_count(counts->over_limit + counts->no_room));
	object = json_with(object, "unrecorded_ns", json_count(counts->over_ns));
	object = json_with(
		object, "unreadable",
		json_count(counts->unreadable + counts->codes_left_out + functions->unknown));
	object = json_with(object, "jit_entered", json_count(counts->compiled));
	object = json_with(object, "crossed", json_count(functions->crossed));
	return json_with(object, "functions", rows);
}
