/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/report/html/html_sections.h"

#include "daemon/report/encode/escape.h"
#include "daemon/report/format/text_layout.h"
#include "daemon/report/model/line_mark.h"
#include "daemon/report/model/profile_sources.h"
#include "daemon/report/model/verdict.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define LINES_MAX   20
#define THREADS_MAX 20
#define NOTEWORTHY  200 /* of the CPU time: one part in so many */

int html_text(FILE *file, const char *text)
{
	char *printable = escape_printable(text, '\0');

	if (!printable)
		return -ENOMEM;
	for (const char *at = printable; *at; at++) {
		switch (*at) {
		case '&':
			fputs("&amp;", file);
			break;
		case '<':
			fputs("&lt;", file);
			break;
		case '>':
			fputs("&gt;", file);
			break;
		case '"':
			fputs("&quot;", file);
			break;
		case '\'':
			fputs("&#39;", file);
			break;
		default:
			fputc(*at, file);
		}
	}
	free(printable);
	return 0;
}

/* The first bytes alone. */
static int html_bytes(FILE *file, const char *text, size_t bytes)
{
	char *part = strndup(text, bytes);
	int result = part ? html_text(file, part) : -ENOMEM;

	free(part);
	return result;
}

/* "FILE:LINE"; a native function has no line. */
static int put_where(FILE *file, const struct profile_line *line)
{
	if (html_text(file, line->file) < 0)
		return -ENOMEM;
	if (line->line)
		fprintf(file, ":%d", line->line);
	return 0;
}

/* With the expression of the line's finding marked; without source, the function's name. */
static int put_source(FILE *file, const struct profile_line *line)
{
	const char *text = line->source && *line->source ? line->source : line->function;
	size_t from = 0, to = 0;

	line_mark(line, &from, &to);
	fputs("<code class=\"source\">", file);
	if (to > from) {
		if (html_bytes(file, text, from) < 0)
			return -ENOMEM;
		fputs("<mark>", file);
		if (html_bytes(file, text + from, to - from) < 0)
			return -ENOMEM;
		fputs("</mark>", file);
	}
	if (html_text(file, text + to) < 0)
		return -ENOMEM;
	fputs("</code>", file);
	return 0;
}

static int html_section_put_place(FILE *file, const struct profile_line *line)
{
	fputs("<p class=\"place\"><span class=\"where\">", file);
	if (put_where(file, line) < 0)
		return -ENOMEM;
	fputs("</span> in <span class=\"function\">", file);
	if (html_text(file, line->function) < 0)
		return -ENOMEM;
	fputs("</span>", file);
	if (line->source && *line->source && put_source(file, line) < 0)
		return -ENOMEM;
	fputs("</p>\n", file);
	return 0;
}

/* The lines in an order; the caller frees. NULL: no memory. */
static const struct profile_line **sorted_lines(const struct profile *profile,
						int (*compare)(const void *, const void *))
{
	const struct profile_line **lines = calloc(profile->line_count + 1, sizeof(*lines));

	if (!lines)
		return NULL;
	for (size_t i = 0; i < profile->line_count; i++)
		lines[i] = &profile->lines[i];
	qsort(lines, profile->line_count, sizeof(*lines), compare);
	return lines;
}

static int html_section_put_verdict(FILE *file, const struct verdict *verdict)
{
	int result = 0;

	fputs("<p class=\"headline\">", file);
	result = html_text(file, verdict->headline);
	fputs("</p>\n", file);
	for (size_t i = 0, place = 0; i <= verdict->sentence_count && result == 0; i++) {
		while (place < verdict->place_count && verdict->places[place].position == i &&
		       result == 0)
			result = html_section_put_place(file, &verdict->places[place++].line);
		if (i < verdict->sentence_count && result == 0) {
			fputs("<p>", file);
			result = html_text(file, verdict->sentences[i]);
			fputs("</p>\n", file);
		}
	}
	return result;
}

int html_verdict(FILE *file, const struct profile *profile)
{
	struct verdict verdict;

	if (verdict_find(profile, &verdict))
		return -ENOMEM;
	return html_section_put_verdict(file, &verdict);
}

void html_share(FILE *file, uint64_t part, uint64_t whole)
{
	fprintf(file, "<td class=\"number\">%s</td>", figure_part(part, whole).text);
}

void html_sampled(FILE *file, uint64_t part, uint64_t whole, uint64_t samples)
{
	fprintf(file, "<td class=\"number\">%s</td>", figure_sampled(part, whole, samples).text);
}

void html_class_heads(FILE *file, const struct profile_facts *facts)
{
	static const char *const titles[TIME_CLASS_COUNT] = { "Python", "Native", "System" };

	for (size_t c = 0; c < TIME_CLASS_COUNT; c++)
		if (c != TIME_NATIVE || !facts->native_unknown)
			fprintf(file, "<th scope=\"col\" class=\"number\">%s</th>",
				c == TIME_PYTHON && facts->native_unknown ? "User" : titles[c]);
}

void html_classes(FILE *file, const struct profile_facts *facts,
		  const uint64_t time_ns[TIME_CLASS_COUNT], uint64_t total_ns)
{
	if (facts->native_unknown) {
		html_sampled(file, time_user(time_ns), total_ns, facts->samples);
	} else {
		html_sampled(file, time_ns[TIME_PYTHON], total_ns, facts->samples);
		html_sampled(file, time_ns[TIME_NATIVE], total_ns, facts->samples);
	}
	html_sampled(file, time_ns[TIME_SYSTEM], total_ns, facts->samples);
}

int html_line_head(FILE *file, const struct profile_line *line)
{
	fputs("<tr><th scope=\"row\"><span class=\"where\">", file);
	if (put_where(file, line) < 0)
		return -ENOMEM;
	fputs("</span>", file);
	if (put_source(file, line) < 0)
		return -ENOMEM;
	fputs("</th>", file);
	return 0;
}

static bool could_save(const struct profile_line *line)
{
	return line->avoidable_ns || line->avoidable_high_ns || line->category != CATEGORY_UNCLEAR;
}

/* savings: whether any line could save anything. */
static int html_section_put_row(FILE *file, const struct profile_facts *facts,
				const struct profile_line *line, uint64_t total_ns, bool savings)
{
	if (html_line_head(file, line) < 0)
		return -ENOMEM;
	html_sampled(file, time_sum(line->self_ns), total_ns, facts->samples);
	html_classes(file, facts, line->self_ns, total_ns);
	html_sampled(file, line->total_ns, total_ns, facts->samples);
	if (!savings) {
		fputs("</tr>\n", file);
		return 0;
	}
	if (line->avoidable_ns || line->avoidable_high_ns)
		fprintf(file, "<td class=\"number\">%s</td><td class=\"number\">%s to %s</td>",
			figure_ns(line->avoidable_ns).text, figure_ns(line->avoidable_low_ns).text,
			figure_ns(line->avoidable_high_ns).text);
	else
		fputs("<td class=\"number\">-</td><td class=\"number\">-</td>", file);
	fprintf(file, "<td>%s</td></tr>\n",
		line->category != CATEGORY_UNCLEAR ? category_name(line->category) : "");
	return 0;
}

int html_lines(FILE *file, const struct profile *profile)
{
	bool savings = false;
	const struct profile_line **lines = sorted_lines(profile, profile_line_by_self);
	uint64_t total_ns = time_sum(profile->time_ns);
	int result = 0;
	size_t count = 0, shown = 0;

	if (!lines)
		return -ENOMEM;
	/* Not those that threads only slept in. */
	for (size_t i = 0; i < profile->line_count; i++)
		if (lines[i]->total_ns || lines[i]->accesses[PAIR_LOAD].sampled ||
		    lines[i]->accesses[PAIR_STORE].sampled)
			lines[count++] = lines[i];
	for (size_t i = 0; i < count && i < LINES_MAX; i++)
		savings = savings || could_save(lines[i]);
	fprintf(file,
		"<table><caption>Lines with most time of their own, as shares of the CPU "
		"time%s</caption>\n<thead><tr><th scope=\"col\">Line</th>"
		"<th scope=\"col\" class=\"number\">Self</th>",
		profile->facts.native_unknown ? "; user: Python and native, not told apart" : "");
	html_class_heads(file, &profile->facts);
	fputs("<th scope=\"col\" class=\"number\">Total</th>", file);
	if (savings)
		fputs("<th scope=\"col\" class=\"number\">Could save</th>"
		      "<th scope=\"col\" class=\"number\">95% interval</th>"
		      "<th scope=\"col\">Category</th>",
		      file);
	fputs("</tr></thead>\n<tbody>\n", file);
	for (; shown < count && shown < LINES_MAX && result == 0; shown++)
		result = html_section_put_row(file, &profile->facts, lines[shown], total_ns,
					      savings);
	fputs("</tbody></table>\n", file);
	if (shown < count)
		fprintf(file, "<p>%zu more lines are shown with JavaScript.</p>\n", count - shown);
	free(lines);
	return result;
}

int html_thread_head(FILE *file, const struct profile_thread *thread)
{
	fputs("<tr><th scope=\"row\">", file);
	if (thread->pid)
		fprintf(file, "<span class=\"where\">pid %d:</span> ", (int)thread->pid);
	if (html_text(file, thread->name) < 0)
		return -ENOMEM;
	/* A main thread's is its process's. */
	if (thread->tid && thread->tid != thread->pid)
		fprintf(file, " <span class=\"where\">%d</span>", (int)thread->tid);
	if (profile_thread_mark(thread))
		fprintf(file, "<span class=\"where\">, %s</span>", profile_thread_mark(thread));
	fputs("</th>", file);
	return 0;
}

static int html_section_put_thread(FILE *file, const struct profile_facts *facts,
				   const struct profile_thread *thread, uint64_t total_ns)
{
	const uint64_t *time_ns = thread->time_ns;

	if (html_thread_head(file, thread) < 0)
		return -ENOMEM;
	html_sampled(file, time_sum(time_ns), total_ns, facts->samples);
	html_classes(file, facts, time_ns, total_ns);
	if (facts->gil_known)
		html_share(file, thread->gil_ns, facts->duration_ns);
	fputs("</tr>\n", file);
	return 0;
}

int html_threads(FILE *file, const struct profile *profile)
{
	const struct profile_facts *facts = &profile->facts;
	uint64_t total_ns = time_sum(profile->time_ns);
	size_t busy = 0, shown = 0;
	int result = 0;

	fprintf(file,
		"<table><caption>Threads with most CPU time, as shares of it%s</caption>\n"
		"<thead><tr><th scope=\"col\">Thread</th>"
		"<th scope=\"col\" class=\"number\">Total</th>",
		facts->gil_known ? "; GIL: for how much of the run the thread ran with it" : "");
	html_class_heads(file, facts);
	fprintf(file, "%s</tr></thead>\n<tbody>\n",
		facts->gil_known ? "<th scope=\"col\" class=\"number\">GIL</th>" : "");
	/* Those that only slept are behind them. */
	while (busy < facts->thread_count && time_sum(facts->threads[busy].time_ns))
		busy++;
	for (; shown < busy && shown < THREADS_MAX && result == 0; shown++)
		result = html_section_put_thread(file, facts, &facts->threads[shown], total_ns);
	fputs("</tbody></table>\n", file);
	if (shown < busy)
		fprintf(file, "<p>%zu more threads are shown with JavaScript.</p>\n", busy - shown);
	return result;
}

int html_interpreter(FILE *file, const struct profile *profile)
{
	const struct profile_facts *facts = &profile->facts;
	uint64_t total_ns = time_sum(profile->time_ns);
	const struct side_time *side = &profile->side;
	/* Of several processes, each has a GIL of its own. */
	bool gil = facts->gil_known && facts->thread_count > 1 && !profile->process_count;
	bool collects = side->collecting_ns * NOTEWORTHY > total_ns;
	bool contends = side->contending_ns * NOTEWORTHY > total_ns;

	if (!collects && !contends && !gil)
		return 0;
	fputs("<ul class=\"facts\">", file);
	if (gil)
		fprintf(file, "<li>GIL: held by running code for <strong>%s</strong> of the run",
			figure_part(profile->gil_ns, facts->duration_ns).text);
	if (gil && facts->waits)
		fprintf(file, "; threads waited for it for %s in all",
			figure_ns(side->waiting_ns[WAIT_GIL]).text);
	if (gil)
		fputs("</li>\n", file);
	if (collects)
		fprintf(file, "<li>Garbage collector: <strong>%s</strong> of the CPU time</li>\n",
			figure_sampled(side->collecting_ns, total_ns, facts->samples).text);
	if (contends)
		fprintf(file, "<li>Asking for the GIL: %s of the CPU time</li>\n",
			figure_sampled(side->contending_ns, total_ns, facts->samples).text);
	fputs("</ul>\n", file);
	return 0;
}

static void put_accesses(FILE *file, const char *label, const struct access_counts *counts)
{
	if (counts->sampled)
		fprintf(file,
			"<dt>%s</dt><dd>%" PRIu64 " watched: %" PRIu64 " accessed again, %" PRIu64
			" with the same value, %" PRIu64 " within 1%%</dd>\n",
			label, counts->sampled, counts->reaccessed, counts->redundant,
			counts->approximate);
}

static void html_section_put_losses(FILE *file, const struct losses *losses)
{
	bool lost = false;

	fputs("<h3>Not used</h3>\n", file);
	for (size_t i = 0; i < LOSS_COUNT; i++) {
		if (losses->counts[i] == 0)
			continue;
		fprintf(file, "%s<tr><td class=\"number\">%" PRIu64 "</td><td>%s</td></tr>\n",
			lost ? ""
			     : "<table class=\"losses\"><thead><tr><th scope=\"col\" "
			       "class=\"number\">Times</th><th scope=\"col\">Reason</th></tr>"
			       "</thead><tbody>\n",
			losses->counts[i], loss_words((enum loss)i));
		lost = true;
	}
	fputs(lost ? "</tbody></table>\n" : "<p>Nothing was lost.</p>\n", file);
}

/* Whether the lines shown are what ran; a sentence is freed here. */
static int html_section_put_source(FILE *file, char *sentence)
{
	int result = 0;

	if (sentence) {
		fputs("<dt>Source</dt><dd>", file);
		result = html_text(file, sentence);
		fputs("</dd>\n", file);
	}
	free(sentence);
	return result;
}

int html_quality(FILE *file, const struct profile *profile)
{
	const struct profile_facts *facts = &profile->facts;

	fprintf(file, "<dl>\n<dt>Samples</dt><dd>%" PRIu64 " in %s, sampler: ", facts->samples,
		figure_ns(facts->duration_ns).text);
	if (html_text(file, facts->sampler) < 0)
		return -ENOMEM;
	fprintf(file, ", one every %s of %s a thread</dd>\n", figure_ns(facts->period_ns).text,
		facts->sampler_limits ? "running" : "CPU time");
	if (facts->sampler_limits) {
		fputs("<dt>Limits</dt><dd>", file);
		if (html_text(file, facts->sampler_limits) < 0)
			return -ENOMEM;
		fputs("</dd>\n", file);
	}
	if (facts->target.python.free_threaded)
		fputs("<dt>Limits</dt><dd>" PYTHON_FREE_THREADED_LIMITS "</dd>\n", file);
	put_accesses(file, "Loads", &profile->accesses[PAIR_LOAD]);
	put_accesses(file, "Stores", &profile->accesses[PAIR_STORE]);
	if (!facts->stops.count)
		fputs("<dt>Stop time</dt><dd>none: no thread was stopped</dd>\n", file);
	else
		fprintf(file,
			"<dt>Stop time</dt><dd>p50 %s, p99 %s, max %s over %" PRIu64
			" stops of one thread each; to sample p50 %s, p99 %s over %" PRIu64
			"; at breakpoints p50 %s, p99 %s over %" PRIu64 "</dd>\n",
			figure_ns(facts->stops.p50_ns).text, figure_ns(facts->stops.p99_ns).text,
			figure_ns(facts->stops.max_ns).text, facts->stops.count,
			figure_ns(facts->sample_stops.p50_ns).text,
			figure_ns(facts->sample_stops.p99_ns).text, facts->sample_stops.count,
			figure_ns(facts->breakpoint_stops.p50_ns).text,
			figure_ns(facts->breakpoint_stops.p99_ns).text,
			facts->breakpoint_stops.count);
	fprintf(file, "<dt>Overhead</dt><dd>%s of the target&#39;s CPU time, limit %s</dd>\n",
		figure_share(facts->overhead).text, figure_share(facts->overhead_limit).text);
	if (facts->kernel_time_refused)
		fputs("<dt>System</dt><dd>not measured: it takes root, CAP_PERFMON, or sysctl "
		      "kernel.perf_event_paranoid=1; shares are of the time in user code</dd>\n",
		      file);
	if (html_section_put_source(file, profile_sources_newer(profile)) < 0 ||
	    html_section_put_source(file, profile_sources_differing(profile)) < 0)
		return -ENOMEM;
	fputs("<dt>Intervals</dt><dd>are of 95%: how far the figure could be off by the chance of "
	      "sampling alone. They do not cover errors of the model behind what could "
	      "be saved.</dd>\n</dl>\n",
	      file);
	html_section_put_losses(file, &facts->losses);
	return 0;
}
