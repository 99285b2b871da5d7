/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/report/html_sections.h"

#include "daemon/report/escape.h"
#include "daemon/report/profile_sources.h"
#include "daemon/report/text_layout.h"
#include "daemon/report/verdict.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define LINES_MAX   20
#define THREADS_MAX 20

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

int html_title(FILE *file, const struct profile *profile)
{
	const struct profile_target *target = &profile->facts.target;
	char name[sizeof(target->comm) + 1];

	snprintf(name, sizeof(name), "%.*s", (int)sizeof(target->comm), target->comm);
	if (html_text(file, name) < 0)
		return -ENOMEM;
	fprintf(file, " %d", (int)target->pid);
	return 0;
}

int html_command(FILE *file, const struct profile *profile)
{
	const struct profile_facts *facts = &profile->facts;
	const struct profile_target *target = &facts->target;

	fputs("<p class=\"command\"><code>", file);
	for (size_t i = 0; target->command && target->command[i]; i++) {
		if (i)
			fputc(' ', file);
		if (html_text(file, target->command[i]) < 0)
			return -ENOMEM;
	}
	fputs("</code></p>\n<p>", file);
	if (target->python.major)
		fprintf(file, "Python %d.%d.%d", target->python.major, target->python.minor,
			target->python.micro);
	else
		fputs("A Python that could not be read: native frames alone", file);
	fprintf(file, " &middot; %s &middot; %" PRIu64 " samples &middot; %s of CPU time%s",
		figure_ns(facts->duration_ns).text, facts->samples,
		figure_ns(profile_time_sum(profile->time_ns)).text,
		facts->target_exited ? " &middot; the target exited meanwhile" : "");
	fputs(" &middot; pieprofd ", file);
	if (html_text(file, facts->version) < 0)
		return -ENOMEM;
	fputs("</p>\n", file);
	return 0;
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

static int put_place(FILE *file, const struct profile_line *line)
{
	fputs("<p class=\"place\"><span class=\"where\">", file);
	if (put_where(file, line) < 0)
		return -ENOMEM;
	fputs("</span> in <span class=\"function\">", file);
	if (html_text(file, line->function) < 0)
		return -ENOMEM;
	fputs("</span>", file);
	if (line->source && *line->source) {
		fputs("<code class=\"source\">", file);
		if (html_text(file, line->source) < 0)
			return -ENOMEM;
		fputs("</code>", file);
	}
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

static int put_verdict(FILE *file, const struct verdict *verdict)
{
	int result = 0;

	fputs("<p class=\"headline\">", file);
	result = html_text(file, verdict->headline);
	fputs("</p>\n", file);
	for (size_t i = 0; i <= verdict->sentence_count && result == 0; i++) {
		if (verdict->line && i == verdict->line_position)
			result = put_place(file, verdict->line);
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
	const struct profile_line **by_self, **by_waste;
	struct verdict verdict;
	int result = -ENOMEM;

	by_self = sorted_lines(profile, profile_line_by_self);
	by_waste = sorted_lines(profile, profile_line_by_avoidable);
	if (by_self && by_waste) {
		verdict_find(profile, by_self[0], by_waste[0], &verdict);
		result = put_verdict(file, &verdict);
	}
	free(by_self);
	free(by_waste);
	return result;
}

static void put_share(FILE *file, uint64_t part, uint64_t whole)
{
	fprintf(file, "<td class=\"number\">%s</td>", figure_part(part, whole).text);
}

static int put_row(FILE *file, const struct profile_line *line, uint64_t total_ns)
{
	const uint64_t *self_ns = line->self_ns;

	fputs("<tr><th scope=\"row\"><span class=\"where\">", file);
	if (put_where(file, line) < 0)
		return -ENOMEM;
	fputs("</span><code class=\"source\">", file);
	if (html_text(file, line->source && *line->source ? line->source : line->function) < 0)
		return -ENOMEM;
	fputs("</code></th>", file);
	put_share(file, profile_time_sum(self_ns), total_ns);
	put_share(file, self_ns[TIME_PYTHON], total_ns);
	put_share(file, self_ns[TIME_NATIVE], total_ns);
	put_share(file, self_ns[TIME_SYSTEM], total_ns);
	put_share(file, line->total_ns, total_ns);
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
	const struct profile_line **lines = sorted_lines(profile, profile_line_by_self);
	uint64_t total_ns = profile_time_sum(profile->time_ns);
	int result = 0;
	size_t shown = 0;

	if (!lines)
		return -ENOMEM;
	fputs("<table><caption>Lines with most time of their own, as shares of the CPU "
	      "time</caption>\n<thead><tr><th scope=\"col\">Line</th>"
	      "<th scope=\"col\" class=\"number\">Self</th>"
	      "<th scope=\"col\" class=\"number\">Python</th>"
	      "<th scope=\"col\" class=\"number\">Native</th>"
	      "<th scope=\"col\" class=\"number\">System</th>"
	      "<th scope=\"col\" class=\"number\">Total</th>"
	      "<th scope=\"col\" class=\"number\">Avoidable</th>"
	      "<th scope=\"col\" class=\"number\">95% interval</th>"
	      "<th scope=\"col\">Category</th></tr></thead>\n<tbody>\n",
	      file);
	for (; shown < profile->line_count && shown < LINES_MAX && result == 0; shown++)
		result = put_row(file, lines[shown], total_ns);
	fputs("</tbody></table>\n", file);
	if (shown < profile->line_count)
		fprintf(file, "<p>%zu more lines are shown with JavaScript.</p>\n",
			profile->line_count - shown);
	free(lines);
	return result;
}

static int put_thread(FILE *file, const struct profile_thread *thread, uint64_t total_ns)
{
	const uint64_t *time_ns = thread->time_ns;

	fputs("<tr><th scope=\"row\">", file);
	if (html_text(file, thread->name) < 0)
		return -ENOMEM;
	if (thread->tid)
		fprintf(file, " <span class=\"where\">%d</span>", (int)thread->tid);
	fputs("</th>", file);
	put_share(file, profile_time_sum(time_ns), total_ns);
	put_share(file, time_ns[TIME_PYTHON], total_ns);
	put_share(file, time_ns[TIME_NATIVE], total_ns);
	put_share(file, time_ns[TIME_SYSTEM], total_ns);
	fputs("</tr>\n", file);
	return 0;
}

int html_threads(FILE *file, const struct profile *profile)
{
	const struct profile_facts *facts = &profile->facts;
	uint64_t total_ns = profile_time_sum(profile->time_ns);
	size_t shown = 0;
	int result = 0;

	fputs("<table><caption>Threads with most CPU time, as shares of it</caption>\n"
	      "<thead><tr><th scope=\"col\">Thread</th>"
	      "<th scope=\"col\" class=\"number\">Total</th>"
	      "<th scope=\"col\" class=\"number\">Python</th>"
	      "<th scope=\"col\" class=\"number\">Native</th>"
	      "<th scope=\"col\" class=\"number\">System</th></tr></thead>\n<tbody>\n",
	      file);
	for (; shown < facts->thread_count && shown < THREADS_MAX && result == 0; shown++)
		result = put_thread(file, &facts->threads[shown], total_ns);
	fputs("</tbody></table>\n", file);
	if (shown < facts->thread_count)
		fprintf(file, "<p>%zu more threads are shown with JavaScript.</p>\n",
			facts->thread_count - shown);
	return result;
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

static void put_losses(FILE *file, const struct losses *losses)
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
static int put_source(FILE *file, char *sentence)
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
	put_accesses(file, "Loads", &profile->accesses[PAIR_LOAD]);
	put_accesses(file, "Stores", &profile->accesses[PAIR_STORE]);
	fprintf(file,
		"<dt>Stop time</dt><dd>p50 %s, p99 %s, max %s over %" PRIu64
		" stops of one thread each; to sample p50 %s, p99 %s over %" PRIu64
		"; at breakpoints p50 %s, p99 %s over %" PRIu64 "</dd>\n",
		figure_ns(facts->stops.p50_ns).text, figure_ns(facts->stops.p99_ns).text,
		figure_ns(facts->stops.max_ns).text, facts->stops.count,
		figure_ns(facts->sample_stops.p50_ns).text,
		figure_ns(facts->sample_stops.p99_ns).text, facts->sample_stops.count,
		figure_ns(facts->breakpoint_stops.p50_ns).text,
		figure_ns(facts->breakpoint_stops.p99_ns).text, facts->breakpoint_stops.count);
	fprintf(file, "<dt>Overhead</dt><dd>%s of the target&#39;s CPU time, limit %s</dd>\n",
		figure_share(facts->overhead).text, figure_share(facts->overhead_limit).text);
	if (facts->kernel_time_refused)
		fputs("<dt>System</dt><dd>not measured: it takes root, CAP_PERFMON, or sysctl "
		      "kernel.perf_event_paranoid=1; shares are of the time in user code</dd>\n",
		      file);
	if (put_source(file, profile_sources_newer(profile)) < 0 ||
	    put_source(file, profile_sources_differing(profile)) < 0)
		return -ENOMEM;
	fputs("<dt>Intervals</dt><dd>are of 95%: how far the figure could be off by the chance of "
	      "sampling alone. They do not cover errors of the model behind avoidable "
	      "time.</dd>\n</dl>\n",
	      file);
	put_losses(file, &facts->losses);
	return 0;
}
