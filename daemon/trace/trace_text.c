/* SPDX-License-Identifier: Apache-2.0 */
/* What a trace says, for people: how well the ranks work together, and why not better. */
#include "daemon/report/format/text_layout.h"
#include "daemon/trace/clock_text.h"
#include "daemon/trace/counter_text.h"
#include "daemon/trace/detail_text.h"
#include "daemon/trace/function_text.h"
#include "daemon/trace/mpi_function.h"
#include "daemon/trace/span_text.h"
#include "daemon/trace/trace_words.h"
#include "daemon/trace/trace_writer.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define RANKS_BRIEF       8
#define FUNCTIONS_BRIEF   6
#define WAITS_BRIEF       3
#define PATHS_BRIEF       4
#define REGIONS_BRIEF     4
#define NODES_BRIEF       4
#define SPAN_ROWS_BRIEF   3
#define PYTHON_ROWS_BRIEF 15
#define WORDS_MAX         400 /* of a path */
#define ROWS_ALL          100

static int32_t rank_at(const struct trace_analysis *analysis, size_t place)
{
	return analysis->trace->processes[place]->rank;
}

/* ---- the first lines ---- */

static void put_method(const struct text_layout *layout, const struct trace *trace)
{
	char words[TRACE_WORDS_BYTES];

	trace_words_method(trace, words);
	text_wrapped(layout, "", words);
}

static void put_job(const struct text_layout *layout, const struct trace_analysis *analysis)
{
	const struct trace *trace = analysis->trace;
	char words[512];

	snprintf(words, sizeof(words), "%zu rank%s, %" PRIu64 " MPI calls in %s, %s: %s",
		 trace->count, figure_plural(trace->count), analysis->calls,
		 figure_ns(analysis->end_ns - analysis->begin_ns).text,
		 analysis->from_beginning ? "from MPI_Init on" : "from the middle",
		 trace->count ? trace->processes[0]->name : "nothing");
	text_last_cell(layout, words, layout->columns);
}

/* Without MPI. */
static void put_processes(const struct text_layout *layout, const struct trace *trace)
{
	for (size_t i = 0; i < trace->count && i < RANKS_BRIEF; i++)
		text_line(layout, "pid %d: %s", (int)trace->processes[i]->pid,
			  trace->processes[i]->name);
	if (trace->count > RANKS_BRIEF)
		text_line(layout, "and %zu more", trace->count - RANKS_BRIEF);
}

/* ---- efficiencies ---- */

static void put_efficiency_words(const struct text_layout *layout,
				 const struct trace_analysis *analysis)
{
	char words[TRACE_WORDS_BYTES];

	trace_words_split(analysis, words);
	text_wrapped(layout, "  ", words);
	trace_words_reason(analysis, words);
	text_wrapped(layout, "  ", words);
}

static void put_efficiency(const struct text_layout *layout, const struct trace_analysis *analysis)
{
	text_heading(layout, "PARALLEL EFFICIENCY", "%s = load balance %s x communication %s",
		     figure_share(analysis->parallel_efficiency).text,
		     figure_share(analysis->load_balance).text,
		     figure_share(analysis->communication_efficiency).text);
	put_efficiency_words(layout, analysis);
}

/* One region is the whole. */
static void put_regions(const struct text_layout *layout, const struct trace_analysis *analysis,
			size_t rows)
{
	const struct trace_regions *regions = &analysis->regions;

	if (regions->count < 2)
		return;
	text_heading(layout, "REGIONS", "lines that lead to MPI, with what is computed before");
	text_line(layout, "  %10s %10s %8s %8s %8s  %s", "elapsed", "lost", "parallel", "balance",
		  "communic.", "busiest");
	for (size_t i = 0; i < regions->count && i < rows; i++) {
		const struct trace_region *region = &regions->items[i];
		char name[TRACE_REGION_NAME_BYTES];

		trace_region_name(regions, region, name);
		text_line(layout, "  %10s %10s %8s %8s %9s  rank %d",
			  figure_ns(region->elapsed_ns).text,
			  figure_ns(trace_region_lost(region, analysis->judged)).text,
			  figure_share(region->parallel_efficiency).text,
			  figure_share(region->load_balance).text,
			  figure_share(region->communication_efficiency).text,
			  (int)rank_at(analysis, region->busiest));
		text_line(layout, "  %10s at %s", "", name);
	}
	if (regions->count > rows)
		text_line(layout, "  and %zu more: --details", regions->count - rows);
}

static void put_latest(const struct text_layout *layout, const struct trace_analysis *analysis)
{
	size_t latest = trace_analysis_latest(analysis);
	double part;

	if (latest == SIZE_MAX || !analysis->mpi_ns)
		return;
	part = (double)analysis->ranks[latest].holds_up_ns / (double)analysis->mpi_ns;
	text_heading(layout, "HELD UP",
		     "by rank %d: others waited %s because of it, %s of all time in MPI",
		     (int)rank_at(analysis, latest),
		     figure_ns(analysis->ranks[latest].holds_up_ns).text,
		     figure_share(part > 1 ? 1 : part).text);
}

/* The lines of a path; false: it has none. */
static bool words_of(const struct trace_analysis *analysis, uint32_t path, char *ret_words,
		     size_t size)
{
	ret_words[0] = '\0';
	if (analysis->trace->paths)
		call_paths_words(analysis->trace->paths, path, ret_words, size);
	return ret_words[0];
}

static void put_waits(const struct text_layout *layout, const struct trace_analysis *analysis,
		      size_t rows)
{
	for (size_t i = 0; i < analysis->wait_count && i < rows; i++) {
		const struct wait_figures *wait = &analysis->waits[i];
		char words[WORDS_MAX];

		text_line(layout, "  %10s  rank %d in %s, for rank %d, %" PRIu64 " time%s",
			  figure_ns(wait->ns).text, (int)rank_at(analysis, wait->who),
			  mpi_function_name(wait->function), (int)rank_at(analysis, wait->whom),
			  wait->count, figure_plural(wait->count));
		if (words_of(analysis, wait->path, words, sizeof(words)))
			text_line(layout, "  %10s  waits at  %s", "", words);
		if (words_of(analysis, wait->late_path, words, sizeof(words)))
			text_line(layout, "  %10s  late at   %s", "", words);
	}
}

/* ---- tables ---- */

static void put_ranks(const struct text_layout *layout, const struct trace_analysis *analysis,
		      size_t rows)
{
	const struct trace *trace = analysis->trace;
	uint64_t run_ns = analysis->end_ns - analysis->begin_ns;

	text_heading(layout, "RANKS", "%s",
		     trace->ranks_known ? "as the launcher has numbered them"
					: "not known: numbered by process id");
	text_line(layout, "  %6s %8s %10s %7s %10s %12s %12s %9s %10s", "rank", "pid", "useful", "",
		  "in MPI", "waits", "holds up", "messages", "sent");
	for (size_t i = 0; i < trace->count && i < rows; i++) {
		const struct rank_figures *rank = &analysis->ranks[i];

		if (!rank->called) {
			text_line(layout,
				  "  %6d %8d called nothing: it computes, or waits in one "
				  "call since before",
				  (int)rank_at(analysis, i), (int)trace->processes[i]->pid);
			continue;
		}
		text_line(layout, "  %6d %8d %10s %7s %10s %12s %12s %9" PRIu64 " %10s",
			  (int)rank_at(analysis, i), (int)trace->processes[i]->pid,
			  figure_ns(rank->useful_ns).text,
			  figure_part(rank->useful_ns, run_ns).text, figure_ns(rank->mpi_ns).text,
			  figure_ns(rank->waits_ns).text, figure_ns(rank->holds_up_ns).text,
			  rank->sent, figure_bytes(rank->sent_bytes).text);
	}
	if (trace->count > rows)
		text_line(layout, "  and %zu more: --details", trace->count - rows);
}

static void put_functions(const struct text_layout *layout, const struct trace_analysis *analysis,
			  size_t rows)
{
	text_heading(layout, "MPI CALLS", "%s in all, of %s of all ranks",
		     figure_ns(analysis->mpi_ns).text,
		     figure_ns((analysis->end_ns - analysis->begin_ns) * analysis->judged).text);
	text_line(layout, "  %-24s %9s %10s %7s %10s %10s %10s", "", "calls", "time", "",
		  "of it waits", "longest", "bytes");
	for (size_t i = 0; i < analysis->function_count && i < rows; i++) {
		const struct function_figures *function = &analysis->functions[i];

		text_line(layout, "  %-24s %9" PRIu64 " %10s %7s %10s %10s %10s",
			  mpi_function_name(function->function), function->sums.calls,
			  figure_ns(function->sums.ns).text,
			  figure_part(function->sums.ns, analysis->mpi_ns).text,
			  figure_ns(function->sums.waits_ns).text,
			  figure_ns(function->sums.longest_ns).text,
			  function->sums.bytes ? figure_bytes(function->sums.bytes).text : "-");
	}
	if (analysis->function_count > rows)
		text_line(layout, "  and %zu more: --details", analysis->function_count - rows);
}

static void put_paths(const struct text_layout *layout, const struct trace_analysis *analysis,
		      size_t rows)
{
	if (analysis->unknown_paths >= analysis->calls)
		return;
	text_heading(layout, "MPI BY LINE", "the program's own lines that call MPI");
	for (size_t i = 0; i < analysis->path_count && i < rows; i++) {
		const struct path_figures *path = &analysis->paths[i];
		char words[WORDS_MAX];

		if (!words_of(analysis, path->path, words, sizeof(words)))
			snprintf(words, sizeof(words), "a line that is not known");
		text_line(layout, "  %10s %7s  %s, %" PRIu64 " call%s, %s of it waits",
			  figure_ns(path->sums.ns).text,
			  figure_part(path->sums.ns, analysis->mpi_ns).text,
			  mpi_function_name(path->function), path->sums.calls,
			  figure_plural(path->sums.calls), figure_ns(path->sums.waits_ns).text);
		text_line(layout, "  %18s  at %s", "", words);
	}
	if (analysis->path_count > rows)
		text_line(layout, "  and %zu more: --details", analysis->path_count - rows);
	if (analysis->unknown_paths)
		text_line(layout, "  %" PRIu64 " calls whose line was not read",
			  analysis->unknown_paths);
}

static void put_sizes(const struct text_layout *layout, const struct trace_analysis *analysis)
{
	uint64_t least = 0;

	for (unsigned i = 0; i < TRACE_SIZES_MAX; i++) {
		if (analysis->sizes[i].messages)
			text_line(layout, "  from %12s  %9" PRIu64 " message%s, %s",
				  figure_bytes(least).text, analysis->sizes[i].messages,
				  figure_plural(analysis->sizes[i].messages),
				  figure_bytes(analysis->sizes[i].bytes).text);
		least = least ? least * 10 : 1;
	}
}

static void put_messages(const struct text_layout *layout, const struct trace_analysis *analysis,
			 bool details)
{
	const struct messages *messages = &analysis->messages;
	uint64_t left = messages->unmatched_sends + messages->uncertain;

	if (!messages->count && !left && !messages->unmatched_receives && !messages->of_anybody &&
	    !messages->elsewhere)
		return;
	text_heading(layout, "MESSAGES", "%zu with sender, receiver, tag and size%s",
		     messages->count, left ? "" : ", and none that was not matched");
	if (details)
		put_sizes(layout, analysis);
	if (messages->unmatched_sends)
		text_line(layout, "  %" PRIu64 " sent, not seen to be received",
			  messages->unmatched_sends);
	if (messages->unmatched_receives)
		text_line(layout, "  %" PRIu64 " received, not seen to be sent",
			  messages->unmatched_receives);
	if (messages->of_anybody)
		text_line(layout,
			  "  %" PRIu64 " received from anybody, whom no status tells; %" PRIu64
			  " sent to ranks that do so",
			  messages->of_anybody, messages->uncertain);
	if (messages->elsewhere)
		text_line(layout,
			  "  %" PRIu64 " ends of messages in communicators that are not known",
			  messages->elsewhere);
}

/* ---- what the kernel notes ---- */

static void put_details(const struct text_layout *layout, const struct trace_analysis *analysis,
			size_t rows)
{
	detail_text_put(layout, analysis, &analysis->switches, rows);
	detail_text_put(layout, analysis, &analysis->faults, rows);
	counter_text_put(layout, analysis, rows);
}

/* ---- what is missing ---- */

static void put_missing(const struct text_layout *layout, const struct trace_analysis *analysis)
{
	char words[TRACE_WORDS_BYTES];

	if (!trace_words_missing(analysis, words))
		return;
	fputc('\n', layout->file);
	text_wrapped(layout, "MISSING  ", words);
}

int trace_text_write(const struct trace_analysis *analysis, const struct writer_options *options,
		     FILE *file)
{
	const struct text_layout layout = { file, text_columns(options->columns), options->colour };
	bool details = !options->brief;
	size_t rows = options->lines_max ? options->lines_max : details ? ROWS_ALL : 0;

	put_method(&layout, analysis->trace);
	if (!trace_library(analysis->trace)) {
		put_processes(&layout, analysis->trace);
		span_text_put(&layout, analysis, rows ? rows : SPAN_ROWS_BRIEF);
		function_text_put(&layout, analysis, rows ? rows : PYTHON_ROWS_BRIEF);
		put_details(&layout, analysis, rows ? rows : SPAN_ROWS_BRIEF);
		return ferror(file) ? -EIO : 0;
	}
	put_job(&layout, analysis);
	if (analysis->end_ns == analysis->begin_ns)
		text_line(&layout, "There was no time in which all ranks ran, and called MPI.");
	else
		put_efficiency(&layout, analysis);
	put_regions(&layout, analysis, rows ? rows : REGIONS_BRIEF);
	put_latest(&layout, analysis);
	put_waits(&layout, analysis, rows ? rows : WAITS_BRIEF);
	put_ranks(&layout, analysis, rows ? rows : RANKS_BRIEF);
	put_functions(&layout, analysis, rows ? rows : FUNCTIONS_BRIEF);
	put_paths(&layout, analysis, rows ? rows : PATHS_BRIEF);
	put_messages(&layout, analysis, details);
	span_text_put(&layout, analysis, rows ? rows : SPAN_ROWS_BRIEF);
	function_text_put(&layout, analysis, rows ? rows : PYTHON_ROWS_BRIEF);
	put_details(&layout, analysis, rows ? rows : SPAN_ROWS_BRIEF);
	clock_text_put(&layout, analysis->trace, rows ? rows : NODES_BRIEF);
	put_missing(&layout, analysis);
	return ferror(file) ? -EIO : 0;
}
