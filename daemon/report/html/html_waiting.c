/* SPDX-License-Identifier: Apache-2.0 */
/* The HTML report's section on threads that sleep, which is no CPU time. */
#include "daemon/report/format/text_layout.h"
#include "daemon/report/html/html_sections.h"
#include "daemon/report/model/verdict.h"

#include <errno.h>
#include <stdlib.h>

#define LINES_MAX   20
#define THREADS_MAX 20

static const char *const titles[WAIT_KIND_COUNT] = {
	[WAIT_LOCK] = "Lock",   [WAIT_GIL] = "GIL",     [WAIT_IO] = "I/O",
	[WAIT_SLEEP] = "Sleep", [WAIT_CHILD] = "Child", [WAIT_OTHER] = "Other",
};

static bool anything(const struct profile *profile)
{
	return profile->facts.waits && side_time_waiting_ns(&profile->side);
}

int html_waiting_link(FILE *file, const struct profile *profile)
{
	if (anything(profile))
		fputs("<li><a href=\"#waiting\">Waiting</a></li>\n", file);
	return 0;
}

static void put_duration(FILE *file, uint64_t ns)
{
	fprintf(file, "<td class=\"number\">%s</td>", ns ? figure_ns(ns).text : "-");
}

/* A column for each kind that there is. */
static void put_kind_heads(FILE *file, const struct side_time *all)
{
	for (size_t i = 0; i < WAIT_KIND_COUNT; i++)
		if (all->waiting_ns[i])
			fprintf(file, "<th scope=\"col\" class=\"number\">%s</th>", titles[i]);
	fputs("</tr></thead>\n<tbody>\n", file);
}

static int html_waiting_put_line(FILE *file, const struct profile_line *line,
				 const struct side_time *all)
{
	if (html_line_head(file, line) < 0)
		return -ENOMEM;
	put_duration(file, side_time_waiting_ns(&line->side));
	for (size_t i = 0; i < WAIT_KIND_COUNT; i++)
		if (all->waiting_ns[i])
			put_duration(file, line->side.waiting_ns[i]);
	fputs("</tr>\n", file);
	return 0;
}

static int put_lines(FILE *file, const struct profile *profile)
{
	size_t waiting, shown = 0;
	const struct profile_line **lines = profile_lines_by_waiting(profile, &waiting);
	int result = 0;

	if (!lines)
		return -ENOMEM;
	fputs("<div class=\"wide\" id=\"waiting-lines\" tabindex=\"0\" role=\"region\" "
	      "aria-label=\"Table of lines by waiting\">\n"
	      "<table><caption>Lines in which threads slept longest, and what for: the times of "
	      "all "
	      "threads added up</caption>\n<thead><tr><th scope=\"col\">Line</th>"
	      "<th scope=\"col\" class=\"number\">Asleep</th>",
	      file);
	put_kind_heads(file, &profile->side);
	for (; shown < waiting && shown < LINES_MAX && result == 0; shown++)
		result = html_waiting_put_line(file, lines[shown], &profile->side);
	fputs("</tbody></table>\n", file);
	if (shown < waiting)
		fprintf(file, "<p>%zu more lines are shown with JavaScript.</p>\n",
			waiting - shown);
	fputs("</div>\n", file);
	free(lines);
	return result;
}

static int html_waiting_put_thread(FILE *file, const struct profile *profile,
				   const struct profile_thread *thread)
{
	uint64_t duration_ns = profile->facts.duration_ns;

	if (html_thread_head(file, thread) < 0)
		return -ENOMEM;
	html_share(file, time_sum(thread->time_ns), duration_ns);
	html_share(file, side_time_waiting_ns(&thread->side), duration_ns);
	for (size_t i = 0; i < WAIT_KIND_COUNT; i++)
		if (profile->side.waiting_ns[i])
			html_share(file, thread->side.waiting_ns[i], duration_ns);
	fputs("</tr>\n", file);
	return 0;
}

static int html_waiting_put_threads(FILE *file, const struct profile *profile)
{
	const struct profile_facts *facts = &profile->facts;
	size_t shown = 0;
	int result = 0;

	fprintf(file,
		"<div class=\"wide\" id=\"waiting-threads\" tabindex=\"0\" role=\"region\" "
		"aria-label=\"Table of threads by waiting\">\n"
		"<table><caption>Threads, those with most CPU time first: on a CPU, and asleep, as "
		"shares of the %s watched</caption>\n<thead><tr><th scope=\"col\">Thread</th>"
		"<th scope=\"col\" class=\"number\">CPU</th>"
		"<th scope=\"col\" class=\"number\">Asleep</th>",
		figure_ns(facts->duration_ns).text);
	put_kind_heads(file, &profile->side);
	for (; shown < facts->thread_count && shown < THREADS_MAX && result == 0; shown++)
		result = html_waiting_put_thread(file, profile, &facts->threads[shown]);
	fputs("</tbody></table>\n", file);
	if (shown < facts->thread_count)
		fprintf(file, "<p>%zu more threads are shown with JavaScript.</p>\n",
			facts->thread_count - shown);
	fputs("</div>\n", file);
	return result;
}

int html_waiting(FILE *file, const struct profile *profile)
{
	int result;

	if (!anything(profile))
		return 0;
	fprintf(file,
		"<section id=\"waiting\" aria-labelledby=\"waiting-heading\">\n"
		"<h2 id=\"waiting-heading\">Waiting</h2>\n"
		"<p class=\"hint\">Threads were asleep for <strong>%s</strong>, all added up. That "
		"is no "
		"CPU time, and in none of the times above<span class=\"script\" hidden>, unless "
		"the "
		"<a href=\"#flame\">flame graph</a> is asked to show it</span>.</p>\n",
		figure_ns(side_time_waiting_ns(&profile->side)).text);
	result = put_lines(file, profile);
	if (result == 0)
		result = html_waiting_put_threads(file, profile);
	fputs("</section>\n", file);
	return result;
}
