/* SPDX-License-Identifier: Apache-2.0 */
/* The HTML report's section of processes, where there are several. */
#include "daemon/report/format/text_layout.h"
#include "daemon/report/html/html_sections.h"
#include "daemon/report/merge/profile_merge.h"
#include "daemon/report/model/container_text.h"
#include "daemon/report/model/verdict.h"

#include <errno.h>
#include <inttypes.h>

#define PROCESSES_MAX 50

static int html_put_process(FILE *file, const struct profile_facts *facts,
			    const struct profile_process *process, uint64_t total_ns)
{
	const uint64_t *time_ns = process->time_ns;

	if (process->pid)
		fprintf(file, "<tr><th scope=\"row\">%d</th>", (int)process->pid);
	else
		fputs("<tr><th scope=\"row\">all others</th>", file);
	fprintf(file, "<td>%s</td>", figure_end(process).text);
	html_sampled(file, time_sum(time_ns), total_ns, facts->samples);
	html_classes(file, facts, time_ns, total_ns);
	fprintf(file, "<td class=\"number\">%" PRIu64 "</td><td class=\"number\">",
		process->samples);
	if (process->pid)
		fprintf(file, "%d", (int)process->parent);
	fputs("</td><td class=\"command\"><code>", file);
	if (html_text(file, process_title(process->command)) < 0 ||
	    html_text(file, container_suffix(&process->container).text) < 0)
		return -ENOMEM;
	fputs("</code></td></tr>\n", file);
	return 0;
}

int html_processes(FILE *file, const struct profile *profile)
{
	uint64_t total_ns = time_sum(profile->time_ns);
	size_t count = profile->process_count, shown = 0;
	int result = 0;

	if (count < 2)
		return 0;
	fprintf(file,
		"<section id=\"processes\" aria-labelledby=\"processes-heading\">\n"
		"<h2 id=\"processes-heading\">Processes</h2>\n"
		"<div class=\"wide\" id=\"process-table\" tabindex=\"0\" role=\"region\" "
		"aria-label=\"Table of processes\">\n"
		"<table><caption>%zu processes, as shares of the CPU time of all; an end of - is "
		"one "
		"that was not seen</caption>\n<thead><tr><th scope=\"col\">Process</th>",
		count);
	/* What matters most is what a narrow screen shows. */
	fputs("<th scope=\"col\">End</th>"
	      "<th scope=\"col\" class=\"number\">CPU</th>",
	      file);
	html_class_heads(file, &profile->facts);
	fputs("<th scope=\"col\" class=\"number\">Samples</th>"
	      "<th scope=\"col\" class=\"number\">Parent</th>"
	      "<th scope=\"col\">Command</th></tr></thead>\n<tbody>\n",
	      file);
	for (; shown < count && shown < PROCESSES_MAX && result == 0; shown++)
		result = html_put_process(file, &profile->facts, &profile->processes[shown],
					  total_ns);
	fputs("</tbody></table>\n</div>\n", file);
	if (shown < count)
		fprintf(file,
			"<p>%zu more processes, with less time, are in the JSON report.</p>\n",
			count - shown);
	fputs("</section>\n", file);
	return result;
}
