/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The page of a trace (daemon/report/html/page/trace.html): what it says as HTML, which is there
 * without JavaScript, and what its timeline draws as data (trace_html_data.h). Every string of the
 * target goes through html_text() or escape_json().
 */
#include "daemon/report/encode/figure.h"
#include "daemon/report/html/html_data.h"
#include "daemon/report/html/html_fill.h"
#include "daemon/report/html/html_sections.h"
#include "daemon/trace/mpi_function.h"
#include "daemon/trace/trace_html_data.h"
#include "daemon/trace/trace_words.h"
#include "daemon/trace/trace_writer.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define ROWS_MAX  200 /* of a table */
#define WORDS_MAX 400 /* of a path */

typedef int put_part(FILE *file, const struct trace_analysis *analysis);

static int32_t rank_at(const struct trace_analysis *analysis, size_t place)
{
	return analysis->trace->processes[place]->rank;
}

static uint64_t run_of(const struct trace_analysis *analysis)
{
	return analysis->end_ns - analysis->begin_ns;
}

/* ---- head */

static int put_title(FILE *file, const struct trace_analysis *analysis)
{
	const struct trace *trace = analysis->trace;
	struct timespec now = { 0 };

	(void)clock_gettime(CLOCK_REALTIME, &now);
	fprintf(file, "Trace of %zu %s%s", trace->count, trace_library(trace) ? "rank" : "process",
		trace->count == 1      ? ""
		: trace_library(trace) ? "s"
				       : "es");
	html_moment(file, (uint64_t)now.tv_sec * 1000000000);
	return 0;
}

static int put_command(FILE *file, const struct trace_analysis *analysis)
{
	const struct trace *trace = analysis->trace;
	char words[TRACE_WORDS_BYTES];

	fputs("<p class=\"command\"><code>", file);
	if (trace->count && html_text(file, trace->processes[0]->name) < 0)
		return -ENOMEM;
	fprintf(file, "</code></p>\n<p>%" PRIu64 " MPI calls &middot; %s &middot; %s &middot; ",
		analysis->calls, figure_ns(run_of(analysis)).text,
		analysis->from_beginning ? "from MPI_Init on" : "from the middle");
	trace_words_method(trace, words);
	if (html_text(file, words) < 0)
		return -ENOMEM;
	fputs(" &middot; pieprofd " PIEPROFD_VERSION "</p>\n", file);
	return 0;
}

/* ---- tables */

struct column {
	const char *title; /* "" of the one for words */
	bool number;
};

/* Closed by end_table(). */
static void begin_table(FILE *file, const char *name, const struct column *columns, size_t count)
{
	fprintf(file,
		"<div class=\"wide\" tabindex=\"0\" role=\"region\" aria-label=\"Table of %s\">\n"
		"<table>\n<thead><tr>",
		name);
	for (size_t i = 0; i < count; i++)
		fprintf(file, "<th scope=\"col\"%s>%s</th>",
			columns[i].number ? " class=\"number\"" : "", columns[i].title);
	fputs("</tr></thead>\n<tbody>\n", file);
}

#define BEGIN_TABLE(file, name, ...)                                                               \
	begin_table(file, name, (const struct column[]){ __VA_ARGS__ },                            \
		    sizeof((const struct column[]){ __VA_ARGS__ }) / sizeof(struct column))

static void end_table(FILE *file, size_t count)
{
	fputs("</tbody></table></div>\n", file);
	if (count > ROWS_MAX)
		fprintf(file, "<p class=\"hint\">%zu more rows are left out here.</p>\n",
			count - ROWS_MAX);
}

static void put_time(FILE *file, uint64_t ns)
{
	fprintf(file, "<td class=\"number\">%s</td>", ns ? figure_ns(ns).text : "-");
}

static void put_count(FILE *file, uint64_t count)
{
	fprintf(file, "<td class=\"number\">%" PRIu64 "</td>", count);
}

static void put_bytes(FILE *file, uint64_t bytes)
{
	fprintf(file, "<td class=\"number\">%s</td>", bytes ? figure_bytes(bytes).text : "-");
}

/* The lines of a path in an element of their own; other words where they are not known. */
static int put_lines(FILE *file, const struct trace_analysis *analysis, const char *element,
		     uint32_t path, const char *otherwise)
{
	char words[WORDS_MAX] = "";
	int result;

	if (analysis->trace->paths)
		call_paths_words(analysis->trace->paths, path, words, sizeof(words));
	fprintf(file, "<%s>", element);
	if (words[0])
		fputs("<code>", file);
	result = html_text(file, words[0] ? words : otherwise);
	fprintf(file, "%s</%.2s>", words[0] ? "</code>" : "", element);
	return result;
}

/* ---- efficiencies */

static void put_metric(FILE *file, const char *name, const char *meaning, double share)
{
	fprintf(file,
		"<tr><th scope=\"row\">%s <span class=\"hint\">%s</span></th>"
		"<td class=\"number\">%s<progress max=\"1\" value=\"%.4f\" "
		"aria-label=\"%s\"></progress></td></tr>\n",
		name, meaning, figure_share(share).text, share, name);
}

static int put_efficiencies(FILE *file, const struct trace_analysis *analysis)
{
	char words[TRACE_WORDS_BYTES];

	fprintf(file, "<p class=\"headline\">Parallel efficiency %s</p>\n<p>",
		figure_share(analysis->parallel_efficiency).text);
	trace_words_reason(analysis, words);
	if (html_text(file, words) < 0)
		return -ENOMEM;
	fputs("</p>\n<p>", file);
	trace_words_split(analysis, words);
	if (html_text(file, words) < 0)
		return -ENOMEM;
	fputs("</p>\n", file);
	BEGIN_TABLE(file, "efficiencies", { "Efficiency", false }, { "Share", true });
	put_metric(file, "Parallel",
		   "load balance times communication: what an average rank "
		   "computes, of the time",
		   analysis->parallel_efficiency);
	put_metric(file, "Load balance", "what the average rank computes, of what the busiest does",
		   analysis->load_balance);
	put_metric(file, "Communication", "what the busiest rank computes, of the time",
		   analysis->communication_efficiency);
	if (analysis->ideal.state == IDEAL_KNOWN) {
		put_metric(file, "Serialisation",
			   "of communication: the rest is ranks that wait "
			   "in turn",
			   analysis->serialisation_efficiency);
		put_metric(file, "Transfer", "of communication: the rest is messages and MPI",
			   analysis->transfer_efficiency);
	}
	end_table(file, 0);
	return 0;
}

/* ---- waiting */

static int put_wait(FILE *file, const struct trace_analysis *analysis,
		    const struct wait_figures *wait)
{
	fprintf(file, "<tr><th scope=\"row\">rank %d in %s, for rank %d</th>",
		(int)rank_at(analysis, wait->who), mpi_function_name(wait->function),
		(int)rank_at(analysis, wait->whom));
	put_time(file, wait->ns);
	put_count(file, wait->count);
	if (put_lines(file, analysis, "td", wait->path, "-") ||
	    put_lines(file, analysis, "td", wait->late_path, "-"))
		return -ENOMEM;
	fputs("</tr>\n", file);
	return 0;
}

static int put_waits(FILE *file, const struct trace_analysis *analysis)
{
	size_t latest = trace_analysis_latest(analysis);
	double part;

	if (latest == SIZE_MAX || !analysis->mpi_ns)
		return 0;
	part = (double)analysis->ranks[latest].holds_up_ns / (double)analysis->mpi_ns;
	fprintf(file,
		"<section id=\"waits\" aria-labelledby=\"waits-heading\">\n"
		"<h2 id=\"waits-heading\">Held up</h2>\n"
		"<p class=\"headline\">By rank %d: others waited %s because of it, %s of all time "
		"in MPI</p>\n",
		(int)rank_at(analysis, latest), figure_ns(analysis->ranks[latest].holds_up_ns).text,
		figure_share(part > 1 ? 1 : part).text);
	BEGIN_TABLE(file, "waits", { "Who waits for whom", false }, { "Time", true },
		    { "Times", true }, { "Waits at", false }, { "Late at", false });
	for (size_t i = 0; i < analysis->wait_count && i < ROWS_MAX; i++)
		if (put_wait(file, analysis, &analysis->waits[i]))
			return -ENOMEM;
	end_table(file, analysis->wait_count);
	fputs("</section>\n", file);
	return 0;
}

/* One region is the whole. */
static int put_regions(FILE *file, const struct trace_analysis *analysis)
{
	const struct trace_regions *regions = &analysis->regions;

	if (regions->count < 2)
		return 0;
	fputs("<section id=\"regions\" aria-labelledby=\"regions-heading\">\n"
	      "<h2 id=\"regions-heading\">By region</h2>\n"
	      "<p class=\"hint\">A region is a line of the program's main loop: the calls of MPI "
	      "that it leads to, and what is computed before each. The one that loses most comes "
	      "first.</p>\n",
	      file);
	BEGIN_TABLE(file, "regions", { "Region", false }, { "Lost", true }, { "Elapsed", true },
		    { "Parallel", true }, { "Load balance", true }, { "Communication", true },
		    { "Busiest", true }, { "Calls", true });
	for (size_t i = 0; i < regions->count && i < ROWS_MAX; i++) {
		const struct trace_region *region = &regions->items[i];
		char name[TRACE_REGION_NAME_BYTES];

		trace_region_name(regions, region, name);
		fputs("<tr><th scope=\"row\"><code>", file);
		if (html_text(file, name) < 0)
			return -ENOMEM;
		fputs("</code></th>", file);
		put_time(file, trace_region_lost(region, analysis->judged));
		put_time(file, region->elapsed_ns);
		fprintf(file,
			"<td class=\"number\">%s</td><td class=\"number\">%s</td>"
			"<td class=\"number\">%s</td><td class=\"number\">rank %d</td>",
			figure_share(region->parallel_efficiency).text,
			figure_share(region->load_balance).text,
			figure_share(region->communication_efficiency).text,
			(int)rank_at(analysis, region->busiest));
		put_count(file, region->calls);
		fputs("</tr>\n", file);
	}
	end_table(file, regions->count);
	fputs("</section>\n", file);
	return 0;
}

static void put_rank(FILE *file, const struct trace_analysis *analysis, size_t place)
{
	const struct rank_figures *rank = &analysis->ranks[place];

	fprintf(file, "<tr><th scope=\"row\">%d</th><td class=\"number\">%d</td>",
		(int)rank_at(analysis, place), (int)analysis->trace->processes[place]->pid);
	if (!rank->called) {
		fputs("<td colspan=\"6\">called nothing: it computes, or waits in one call since "
		      "before</td></tr>\n",
		      file);
		return;
	}
	put_time(file, rank->useful_ns);
	fprintf(file, "<td class=\"number\">%s</td>",
		figure_part(rank->useful_ns, run_of(analysis)).text);
	put_time(file, rank->mpi_ns);
	put_time(file, rank->waits_ns);
	put_time(file, rank->holds_up_ns);
	put_bytes(file, rank->sent_bytes);
	fputs("</tr>\n", file);
}

static void put_ranks(FILE *file, const struct trace_analysis *analysis)
{
	const struct trace *trace = analysis->trace;

	fprintf(file,
		"<section id=\"ranks\" aria-labelledby=\"ranks-heading\">\n"
		"<h2 id=\"ranks-heading\">Ranks</h2>\n<p class=\"hint\">%s.</p>\n",
		trace->ranks_known ? "As the launcher has numbered them"
				   : "Not known: numbered by process id");
	BEGIN_TABLE(file, "ranks", { "Rank", false }, { "Pid", true }, { "Useful", true },
		    { "Of the time", true }, { "In MPI", true }, { "Waits", true },
		    { "Holds up", true }, { "Sent", true });
	for (size_t i = 0; i < trace->count && i < ROWS_MAX; i++)
		put_rank(file, analysis, i);
	end_table(file, trace->count);
	fputs("</section>\n", file);
}

static void put_messages(FILE *file, const struct trace_analysis *analysis)
{
	const struct messages *messages = &analysis->messages;

	fprintf(file,
		"<section id=\"quality\" aria-labelledby=\"quality-heading\">\n"
		"<h2 id=\"quality-heading\">Data quality</h2>\n<ul class=\"facts\">\n"
		"<li>%zu messages with sender, receiver, tag and size</li>\n",
		messages->count);
	if (messages->unmatched_sends || messages->unmatched_receives)
		fprintf(file,
			"<li>%" PRIu64 " sent, not seen to be received; %" PRIu64
			" received, not seen to be sent</li>\n",
			messages->unmatched_sends, messages->unmatched_receives);
	if (messages->of_anybody)
		fprintf(file,
			"<li>%" PRIu64 " received from anybody, whom no status tells; %" PRIu64
			" sent to ranks that do so</li>\n",
			messages->of_anybody, messages->uncertain);
	if (messages->elsewhere)
		fprintf(file,
			"<li>%" PRIu64
			" ends of messages in communicators that are not known</li>\n",
			messages->elsewhere);
	if (analysis->unknown_paths)
		fprintf(file, "<li>%" PRIu64 " calls whose line was not read</li>\n",
			analysis->unknown_paths);
}

static int put_quality(FILE *file, const struct trace_analysis *analysis)
{
	char words[TRACE_WORDS_BYTES];
	int result = 0;

	put_messages(file, analysis);
	if (trace_words_missing(analysis, words)) {
		fputs("<li>Missing: ", file);
		result = html_text(file, words);
		fputs("</li>\n", file);
	}
	fputs("</ul>\n</section>\n", file);
	return result;
}

static int put_overview(FILE *file, const struct trace_analysis *analysis)
{
	int result;

	if (!trace_library(analysis->trace)) {
		fputs("<p>No process calls MPI: the tables of <a href=\"#calls\">calls</a> and the "
		      "<a href=\"#text\">text</a> have what was traced.</p>\n",
		      file);
		return 0;
	}
	fputs("<section id=\"efficiency\" aria-labelledby=\"efficiency-heading\">\n"
	      "<h2 id=\"efficiency-heading\">How well the ranks work together</h2>\n",
	      file);
	if (analysis->end_ns == analysis->begin_ns) {
		fputs("<p>There was no time in which all ranks ran, and called MPI.</p>\n", file);
		result = 0;
	} else {
		result = put_efficiencies(file, analysis);
	}
	fputs("</section>\n", file);
	if (!result)
		result = put_regions(file, analysis);
	if (!result)
		result = put_waits(file, analysis);
	put_ranks(file, analysis);
	return result ? result : put_quality(file, analysis);
}

/* ---- calls */

static void put_sums(FILE *file, const struct trace_analysis *analysis,
		     const struct call_sums *sums)
{
	put_time(file, sums->ns);
	fprintf(file, "<td class=\"number\">%s</td>", figure_part(sums->ns, analysis->mpi_ns).text);
	put_time(file, sums->waits_ns);
	put_time(file, sums->longest_ns);
	put_count(file, sums->calls);
	put_bytes(file, sums->bytes);
	fputs("</tr>\n", file);
}

static void put_functions(FILE *file, const struct trace_analysis *analysis)
{
	fputs("<section id=\"functions\" aria-labelledby=\"functions-heading\">\n"
	      "<h2 id=\"functions-heading\">By function</h2>\n",
	      file);
	BEGIN_TABLE(file, "functions", { "Function", false }, { "Time", true }, { "Of MPI", true },
		    { "Of it waits", true }, { "Longest", true }, { "Calls", true },
		    { "Bytes", true });
	for (size_t i = 0; i < analysis->function_count && i < ROWS_MAX; i++) {
		fprintf(file, "<tr><th scope=\"row\">%s</th>",
			mpi_function_name(analysis->functions[i].function));
		put_sums(file, analysis, &analysis->functions[i].sums);
	}
	end_table(file, analysis->function_count);
	fputs("</section>\n", file);
}

static int put_paths(FILE *file, const struct trace_analysis *analysis)
{
	fputs("<section id=\"lines\" aria-labelledby=\"lines-heading\">\n"
	      "<h2 id=\"lines-heading\">By line</h2>\n"
	      "<p class=\"hint\">The program's own lines that call MPI, all ranks together.</p>\n",
	      file);
	BEGIN_TABLE(file, "lines", { "Line", false }, { "Function", false }, { "Time", true },
		    { "Of MPI", true }, { "Of it waits", true }, { "Longest", true },
		    { "Calls", true }, { "Bytes", true });
	for (size_t i = 0; i < analysis->path_count && i < ROWS_MAX; i++) {
		const struct path_figures *path = &analysis->paths[i];

		fputs("<tr>", file);
		if (put_lines(file, analysis, "th scope=\"row\"", path->path,
			      "a line that is not known"))
			return -ENOMEM;
		fprintf(file, "<td>%s</td>", mpi_function_name(path->function));
		put_sums(file, analysis, &path->sums);
	}
	end_table(file, analysis->path_count);
	fputs("</section>\n", file);
	return 0;
}

static int put_spans(FILE *file, const struct trace_analysis *analysis)
{
	unsigned count = span_analysis_count(&analysis->spans);

	if (!count)
		return 0;
	fputs("<section id=\"spans\" aria-labelledby=\"spans-heading\">\n"
	      "<h2 id=\"spans-heading\">Also traced</h2>\n"
	      "<p class=\"hint\">Lines, and what was not seen, are in the "
	      "<a href=\"#text\">text</a>.</p>\n",
	      file);
	BEGIN_TABLE(file, "what else was traced", { "What", false }, { "Time", true },
		    { "Longest", true }, { "Times", true });
	for (unsigned i = 0; i < count; i++) {
		const struct span_sums *sums = &analysis->spans.spans[i].sums;

		fputs("<tr><th scope=\"row\">", file);
		if (html_text(file, analysis->trace->spans->items[i].name) < 0)
			return -ENOMEM;
		fputs("</th>", file);
		put_time(file, sums->ns);
		put_time(file, sums->longest_ns);
		put_count(file, sums->count);
		fputs("</tr>\n", file);
	}
	end_table(file, count);
	fputs("</section>\n", file);
	return 0;
}

static int put_calls(FILE *file, const struct trace_analysis *analysis)
{
	int result = 0;

	fputs("<div id=\"calls\">\n", file);
	if (trace_library(analysis->trace)) {
		put_functions(file, analysis);
		result = put_paths(file, analysis);
	}
	if (!result)
		result = put_spans(file, analysis);
	fputs("</div>\n", file);
	return result;
}

/* ---- text and data */

static int put_text(FILE *file, const struct trace_analysis *analysis)
{
	static const struct writer_options options = { .columns = 110 };
	char *text = NULL, *line, *saved;
	size_t size;
	FILE *memory = open_memstream(&text, &size);
	int result = memory ? trace_text_write(analysis, &options, memory) : -ENOMEM;

	if (memory && fclose(memory) && !result)
		result = -ENOMEM;
	saved = text;
	while (!result && (line = strsep(&saved, "\n"))) {
		result = html_text(file, line);
		fputc('\n', file);
	}
	free(text);
	return result;
}

static int put_data_json(FILE *file, const void *context)
{
	return trace_html_data_write(context, file);
}

static int put_data(FILE *file, const struct trace_analysis *analysis)
{
	return html_data(file, "trace-data", analysis, put_data_json);
}

/* ---- the page */

static size_t put_named(FILE *file, const void *context, const char *text, size_t size,
			int *ret_result)
{
	static const struct {
		const char *name;
		put_part *put;
	} parts[] = {
		{ "@TITLE@", put_title },       { "@COMMAND@", put_command },
		{ "@OVERVIEW@", put_overview }, { "@CALLS@", put_calls },
		{ "@TEXT@", put_text },         { "@DATA@", put_data },
	};
	size_t frame = html_put_frame(file, html_style(), html_trace_script(), text, size);

	if (frame)
		return frame;
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		size_t length = html_part_at(parts[i].name, text, size);

		if (!length)
			continue;
		*ret_result = parts[i].put(file, context);
		return length;
	}
	return 0;
}

int trace_html_write(const struct trace_analysis *analysis, FILE *file)
{
	return html_fill(file, html_trace_page(), put_named, analysis);
}
