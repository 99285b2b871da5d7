/* SPDX-License-Identifier: Apache-2.0 */
/* What a trace says, for people: how well the ranks work together, and why not better. */
#include "common/clock.h"
#include "daemon/report/format/text_layout.h"
#include "daemon/trace/function_text.h"
#include "daemon/trace/mpi_function.h"
#include "daemon/trace/span_text.h"
#include "daemon/trace/switch_text.h"
#include "daemon/trace/trace_writer.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define RANKS_BRIEF       8
#define FUNCTIONS_BRIEF   6
#define WAITS_BRIEF       3
#define PATHS_BRIEF       4
#define SPAN_ROWS_BRIEF   3
#define PYTHON_ROWS_BRIEF 15
#define WORDS_MAX         400 /* of a path */
#define ROWS_ALL          100
/* Efficiencies from here on are not worth a sentence. */
#define GOOD 0.95

static int32_t rank_at(const struct trace_analysis *analysis, size_t place)
{
	return analysis->trace->processes[place]->rank;
}

/* ---- the first lines ---- */

static void put_method(const struct text_layout *layout, const struct trace *trace)
{
	const struct mpi_library *library = trace_library(trace);
	unsigned spans = trace->spans ? trace->spans->count : 0;
	bool switches = spans && span_list_switches(trace->spans) >= 0;
	bool beside = spans > switches;
	char words[900];

	if (library)
		snprintf(words, sizeof(words),
			 "Traced by breakpoints of the kernel (uprobes) in %s, %s, %sof these "
			 "processes: they were written into its code while this ran, and are gone.",
			 library->path, mpi_library_kind_name(library),
			 beside ? "and in what else was asked for, " : "");
	else if (switches && !beside)
		snprintf(words, sizeof(words),
			 "Traced by a program in the kernel at switches of threads: nothing was "
			 "written to these processes.");
	else
		snprintf(words, sizeof(words),
			 "Traced by breakpoints of the kernel (uprobes) in the libraries of these "
			 "processes: they were written into their code while this ran, and are "
			 "gone.");
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

/* Why the busiest rank does not compute all the time. */
static void reason_of_communication(const struct trace_analysis *analysis, char *ret_words,
				    size_t size)
{
	struct figure share = figure_share(analysis->communication_efficiency);

	if (analysis->ideal.state != IDEAL_KNOWN)
		snprintf(ret_words, size,
			 "Mostly for communication: even the busiest rank computes for only %s of "
			 "the time.",
			 share.text);
	else if (analysis->serialisation_efficiency < analysis->transfer_efficiency)
		snprintf(ret_words, size,
			 "Mostly as ranks wait in turn: even the busiest one computes for only %s "
			 "of the time, and with messages that take no time it would for %s.",
			 share.text, figure_share(analysis->serialisation_efficiency).text);
	else
		snprintf(ret_words, size,
			 "Mostly for the time that messages and MPI itself take: even the busiest "
			 "rank computes for only %s of the time, and without that it would for %s.",
			 share.text, figure_share(analysis->serialisation_efficiency).text);
}

static void put_reason(const struct text_layout *layout, const struct trace_analysis *analysis)
{
	double balance = analysis->load_balance;
	double communication = analysis->communication_efficiency;
	char words[300];

	if (analysis->parallel_efficiency >= GOOD)
		snprintf(words, sizeof(words), "The ranks compute for nearly all of the time.");
	else if (balance < communication)
		snprintf(words, sizeof(words),
			 "Mostly for uneven work: the average rank computes for %s of what the "
			 "busiest one does.",
			 figure_share(balance).text);
	else
		reason_of_communication(analysis, words, sizeof(words));
	text_wrapped(layout, "  ", words);
}

static void put_split(const struct text_layout *layout, const struct trace_analysis *analysis)
{
	const struct ideal_run *ideal = &analysis->ideal;
	char reason[200], words[300];

	if (ideal->state == IDEAL_KNOWN) {
		snprintf(words, sizeof(words),
			 "Communication %s = serialisation %s x transfer %s: if messages took no "
			 "time, it would have lasted %s, not %s.",
			 figure_share(analysis->communication_efficiency).text,
			 figure_share(analysis->serialisation_efficiency).text,
			 figure_share(analysis->transfer_efficiency).text,
			 figure_ns(ideal->ns).text,
			 figure_ns(analysis->end_ns - analysis->begin_ns).text);
	} else {
		ideal_run_reason(ideal, reason, sizeof(reason));
		snprintf(words, sizeof(words), "Serialisation and transfer are not known, as %s.",
			 reason);
	}
	text_wrapped(layout, "  ", words);
}

static void put_efficiency(const struct text_layout *layout, const struct trace_analysis *analysis)
{
	text_heading(layout, "PARALLEL EFFICIENCY", "%s = load balance %s x communication %s",
		     figure_share(analysis->parallel_efficiency).text,
		     figure_share(analysis->load_balance).text,
		     figure_share(analysis->communication_efficiency).text);
	put_split(layout, analysis);
	put_reason(layout, analysis);
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

/* ---- what is missing ---- */

static void put_missing(const struct text_layout *layout, const struct trace_analysis *analysis)
{
	char words[400];

	if (!analysis->unrecorded_calls && !analysis->left_out_events &&
	    !analysis->left_out_requests)
		return;
	snprintf(words, sizeof(words),
		 "%" PRIu64 " calls over the limit of %d a second and process (their time is "
		 "counted), %" PRIu64 " events and %" PRIu64
		 " requests beyond what is kept: messages may be matched wrongly after that.",
		 analysis->unrecorded_calls,
		 (int)(analysis->trace->processes[0]->counts.limit *
		       (NS_PER_SECOND / MPI_WINDOW_NS)),
		 analysis->left_out_events, analysis->left_out_requests);
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
		switch_text_put(&layout, analysis, rows ? rows : SPAN_ROWS_BRIEF);
		return ferror(file) ? -EIO : 0;
	}
	put_job(&layout, analysis);
	if (analysis->end_ns == analysis->begin_ns)
		text_line(&layout, "There was no time in which all ranks ran, and called MPI.");
	else
		put_efficiency(&layout, analysis);
	put_latest(&layout, analysis);
	put_waits(&layout, analysis, rows ? rows : WAITS_BRIEF);
	put_ranks(&layout, analysis, rows ? rows : RANKS_BRIEF);
	put_functions(&layout, analysis, rows ? rows : FUNCTIONS_BRIEF);
	put_paths(&layout, analysis, rows ? rows : PATHS_BRIEF);
	put_messages(&layout, analysis, details);
	span_text_put(&layout, analysis, rows ? rows : SPAN_ROWS_BRIEF);
	function_text_put(&layout, analysis, rows ? rows : PYTHON_ROWS_BRIEF);
	switch_text_put(&layout, analysis, rows ? rows : SPAN_ROWS_BRIEF);
	put_missing(&layout, analysis);
	return ferror(file) ? -EIO : 0;
}
