/* SPDX-License-Identifier: Apache-2.0 */
/* The HTML report's section on resident memory: what was there over time, and the lines that made
 * it grow. */
#include "daemon/report/html/html_sections.h"

#include "daemon/report/encode/figure.h"
#include "daemon/report/model/memory_lines.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#define LINES_MAX 20
/* Of the chart, in units of its own: the page scales it. */
#define CHART_WIDTH  600
#define CHART_HEIGHT 80

static double part_of(uint64_t part, uint64_t whole)
{
	return whole ? (double)part / (double)whole : 0;
}

/* From zero to the peak. A step lasts until the next look. */
static void put_chart(FILE *file, const struct profile_facts *facts)
{
	const struct resident_figures *resident = &facts->resident;
	uint64_t highest = 1, last_ns = 1;

	if (resident->point_count < 2)
		return;
	for (size_t i = 0; i < resident->point_count; i++) {
		if (resident->points[i].bytes > highest)
			highest = resident->points[i].bytes;
		if (resident->points[i].time_ns > last_ns)
			last_ns = resident->points[i].time_ns;
	}
	fprintf(file,
		"<svg class=\"memory\" viewBox=\"0 0 %d %d\" preserveAspectRatio=\"none\" "
		"role=\"img\" "
		"aria-label=\"Resident memory over time, from %s to %s, at most %s\">"
		"<polygon points=\"0,%d",
		CHART_WIDTH, CHART_HEIGHT, figure_bytes(resident->counts.start_bytes).text,
		figure_bytes(resident->counts.end_bytes).text, figure_bytes(highest).text,
		CHART_HEIGHT);
	for (size_t i = 0; i < resident->point_count; i++) {
		double y = CHART_HEIGHT * (1 - part_of(resident->points[i].bytes, highest));

		if (i)
			fprintf(file, " %.1f,%.1f",
				CHART_WIDTH * part_of(resident->points[i].time_ns, last_ns),
				CHART_HEIGHT *
					(1 - part_of(resident->points[i - 1].bytes, highest)));
		fprintf(file, " %.1f,%.1f",
			CHART_WIDTH * part_of(resident->points[i].time_ns, last_ns), y);
	}
	fprintf(file, " %d,%d\"/></svg>\n<p class=\"where\">0 to %s; %s at most</p>\n", CHART_WIDTH,
		CHART_HEIGHT, figure_ns(last_ns).text, figure_bytes(highest).text);
}

static void put_bytes(FILE *file, uint64_t bytes)
{
	fprintf(file, "<td class=\"number\">%s</td>", bytes ? figure_bytes(bytes).text : "-");
}

static int html_memory_put_line(FILE *file, const struct profile_line *line)
{
	if (html_line_head(file, line) < 0)
		return -ENOMEM;
	put_bytes(file, side_time_fresh_bytes(&line->side));
	put_bytes(file, line->side.fresh_bytes[FRESH_PYTHON]);
	put_bytes(file, line->side.fresh_bytes[FRESH_NATIVE]);
	fputs("</tr>\n", file);
	return 0;
}

static int html_memory_put_lines(FILE *file, const struct profile *profile)
{
	size_t count, shown = 0;
	const struct profile_line **lines = memory_lines_sorted(profile, &count);
	int result = 0;

	if (!lines)
		return -ENOMEM;
	if (count)
		fputs("<div class=\"wide\" id=\"memory-lines\" tabindex=\"0\" role=\"region\" "
		      "aria-label=\"Table of lines by memory\">\n<table>\n<thead><tr>"
		      "<th scope=\"col\">Line</th>"
		      "<th scope=\"col\" class=\"number\">Fresh</th>"
		      "<th scope=\"col\" class=\"number\">Python</th>"
		      "<th scope=\"col\" class=\"number\">Native</th></tr></thead>\n<tbody>\n",
		      file);
	for (; shown < count && shown < LINES_MAX && result == 0; shown++)
		result = html_memory_put_line(file, lines[shown]);
	if (count)
		fputs("</tbody></table></div>\n", file);
	if (shown < count)
		fprintf(file, "<p>%zu further lines have less; the JSON report has all.</p>\n",
			count - shown);
	free(lines);
	return result;
}

static int html_memory_put_copy(FILE *file, const struct profile *profile,
				const struct profile_line *line)
{
	if (html_line_head(file, line) < 0)
		return -ENOMEM;
	fprintf(file, "<td class=\"number\">%s</td><td class=\"number\">%s</td>",
		figure_ns(line->side.copying_ns).text,
		figure_sampled(line->side.copying_ns, time_sum(profile->time_ns),
			       profile->facts.samples)
			.text);
	put_bytes(file, line->side.copied_low_bytes);
	put_bytes(file, line->side.copied_high_bytes);
	fputs("</tr>\n", file);
	return 0;
}

static int html_memory_put_copies(FILE *file, const struct profile *profile)
{
	size_t count;
	const struct profile_line **lines = memory_lines_copying(profile, &count);
	int result = 0;

	if (!lines)
		return -ENOMEM;
	fprintf(file,
		"<p>%s of the CPU time copies memory (memcpy, memmove of the C library): %s to %s "
		"of it, by the time and by how fast this machine copies, from RAM and in its "
		"caches.</p>\n",
		figure_sampled(profile->side.copying_ns, time_sum(profile->time_ns),
			       profile->facts.samples)
			.text,
		figure_bytes(profile->side.copied_low_bytes).text,
		figure_bytes(profile->side.copied_high_bytes).text);
	if (count)
		fputs("<div class=\"wide\" id=\"copy-lines\" tabindex=\"0\" role=\"region\" "
		      "aria-label=\"Table of lines by time in copying\">\n<table>\n<thead><tr>"
		      "<th scope=\"col\">Line</th>"
		      "<th scope=\"col\" class=\"number\">Copying</th>"
		      "<th scope=\"col\" class=\"number\">Share</th>"
		      "<th scope=\"col\" class=\"number\">From</th>"
		      "<th scope=\"col\" class=\"number\">To</th></tr></thead>\n<tbody>\n",
		      file);
	for (size_t i = 0; i < count && i < LINES_MAX && result == 0; i++)
		result = html_memory_put_copy(file, profile, lines[i]);
	if (count)
		fputs("</tbody></table></div>\n", file);
	free(lines);
	return result;
}

static int html_memory_put_allocating(FILE *file, const struct profile *profile,
				      const struct profile_line *line)
{
	const struct allocation_counts_sum *counts = &profile->facts.allocation_counts;

	if (html_line_head(file, line) < 0)
		return -ENOMEM;
	put_bytes(file, memory_rate(line->side.allocated_bytes, counts));
	fprintf(file, "<td class=\"number\">%" PRIu64 "</td><td class=\"number\">%s</td></tr>\n",
		memory_rate(line->side.allocated_objects, counts),
		figure_sampled(line->side.released_bytes, line->side.allocated_bytes,
			       line->side.allocation_samples)
			.text);
	return 0;
}

static int html_memory_put_allocations(FILE *file, const struct profile *profile)
{
	const struct allocation_counts_sum *counts = &profile->facts.allocation_counts;
	size_t count;
	const struct profile_line **lines = memory_lines_allocating(profile, &count);
	int result = 0;

	if (!lines)
		return -ENOMEM;
	fprintf(file,
		"<p>Allocated: %s and %" PRIu64 " objects a second, by probes in %" PRIu64
		" window%s of %s in all%s. Temporary is what was given back before its window was "
		"over.</p>\n",
		figure_bytes(memory_rate(counts->bytes, counts)).text,
		memory_rate(counts->objects, counts), counts->windows,
		figure_plural(counts->windows), figure_ns(counts->probed_ns).text,
		profile->facts.small_objects == ALLOCATOR_SEEN
			? ""
			: "; Python&#39;s objects of up to 512 bytes are not seen");
	if (count)
		fputs("<div class=\"wide\" id=\"allocation-lines\" tabindex=\"0\" role=\"region\" "
		      "aria-label=\"Table of lines by what they allocate\">\n<table>\n<thead><tr>"
		      "<th scope=\"col\">Line</th>"
		      "<th scope=\"col\" class=\"number\">Bytes a second</th>"
		      "<th scope=\"col\" class=\"number\">Objects a second</th>"
		      "<th scope=\"col\" class=\"number\">Temporary</th></tr></thead>\n<tbody>\n",
		      file);
	for (size_t i = 0; i < count && i < LINES_MAX && result == 0; i++)
		result = html_memory_put_allocating(file, profile, lines[i]);
	if (count)
		fputs("</tbody></table></div>\n", file);
	free(lines);
	return result;
}

int html_memory(FILE *file, const struct profile *profile)
{
	const struct resident_figures *resident = &profile->facts.resident;
	int result;

	if (!profile->facts.memory)
		return 0;
	fprintf(file,
		"<section id=\"memory\" aria-labelledby=\"memory-heading\">\n"
		"<h2 id=\"memory-heading\">Memory</h2>\n"
		"<p>Resident: %s at first, %s at the end, %s at most%s. %s were touched for the "
		"first time.</p>\n",
		figure_bytes(resident->counts.start_bytes).text,
		figure_bytes(resident->counts.end_bytes).text,
		figure_bytes(resident->peak_bytes).text,
		resident->peak_exact ? "" : " when looked at",
		figure_bytes(side_time_fresh_bytes(&profile->side)).text);
	put_chart(file, &profile->facts);
	fputs("<p class=\"hint\">Fresh is memory that was touched for the first time there, "
	      "by samples of page faults: by the interpreter (Python) or by a library that it "
	      "called (native). Who touches a page first is charged, not who keeps it; what was "
	      "given back is not subtracted.</p>\n",
	      file);
	result = html_memory_put_lines(file, profile);
	if (!result && profile->facts.copies)
		result = html_memory_put_copies(file, profile);
	if (!result && profile->facts.allocations)
		result = html_memory_put_allocations(file, profile);
	fputs("</section>\n", file);
	return result;
}
