/* SPDX-License-Identifier: Apache-2.0 */
/* The part of the text report on memory that was copied, where that was asked for. */
#include "daemon/report/format/text_layout.h"

#include "daemon/report/model/memory_lines.h"

#include <stdlib.h>
#include <string.h>

#define SHARES_COLUMNS 43
/* On one screen, copying is said where it takes so much of the CPU time: a twentieth. */
#define BRIEF_PART 20

/* "640 MB to 2.1 GB" */
static void put_range(char *text, size_t size, const struct side_time *side)
{
	snprintf(text, size, "%s to %s", figure_bytes(side->copied_low_bytes).text,
		 figure_bytes(side->copied_high_bytes).text);
}

static uint64_t a_second(uint64_t bytes, uint64_t duration_ns)
{
	return duration_ns ? (uint64_t)((double)bytes * 1e9 / (double)duration_ns) : 0;
}

static void put_sums(const struct text_layout *layout, const struct profile *profile,
		     const struct profile_line *most)
{
	const struct profile_facts *facts = &profile->facts;
	const struct side_time *side = &profile->side;
	uint64_t total_ns = time_sum(profile->time_ns);
	char words[512], range[64], suffix[32] = "";
	const char *slash;
	int used;

	put_range(range, sizeof(range), side);
	used = snprintf(words, sizeof(words),
			"%s of the CPU time copies memory: %s of it, %s to %s a second",
			figure_sampled(side->copying_ns, total_ns, facts->samples).text, range,
			figure_bytes(a_second(side->copied_low_bytes, facts->duration_ns)).text,
			figure_bytes(a_second(side->copied_high_bytes, facts->duration_ns)).text);
	if (most) {
		text_line_suffix(most, suffix, sizeof(suffix));
		slash = strrchr(most->file, '/');
		snprintf(words + used, sizeof(words) - (size_t)used,
			 "; %s of that time at %.200s%s",
			 figure_part(most->side.copying_ns, side->copying_ns).text,
			 slash ? slash + 1 : most->file, suffix);
	}
	text_wrapped(layout, "COPIES  ", words);
}

int text_copies_brief(const struct text_layout *layout, const struct profile *profile)
{
	const struct profile_line **lines;
	size_t count;

	if (!profile->facts.copies || !profile->side.copying_ns ||
	    profile->side.copying_ns < time_sum(profile->time_ns) / BRIEF_PART)
		return 0;
	lines = memory_lines_copying(profile, &count);
	if (!lines)
		return -1;
	put_sums(layout, profile, count ? lines[0] : NULL);
	free(lines);
	return 0;
}

static void text_copies_put_line(const struct text_layout *layout, const struct profile *profile,
				 const struct profile_line *line)
{
	unsigned where_columns = (layout->columns - SHARES_COLUMNS) / 2;
	char suffix[32];

	fprintf(layout->file, "%9s %6s %10s %10s  ", figure_ns(line->side.copying_ns).text,
		figure_sampled(line->side.copying_ns, time_sum(profile->time_ns),
			       profile->facts.samples)
			.text,
		figure_bytes(line->side.copied_low_bytes).text,
		figure_bytes(line->side.copied_high_bytes).text);
	text_line_suffix(line, suffix, sizeof(suffix));
	text_path_cell(layout, line->file, suffix, where_columns, true);
	fputs("  ", layout->file);
	text_last_cell(layout, line->source && *line->source ? line->source : line->function,
		       layout->columns - SHARES_COLUMNS - where_columns);
}

int text_copies(const struct text_layout *layout, const struct profile *profile, size_t maximum)
{
	const struct profile_line **lines;
	size_t count;

	if (!profile->facts.copies)
		return 0;
	lines = memory_lines_copying(profile, &count);
	if (!lines)
		return -1;
	fputc('\n', layout->file);
	put_sums(layout, profile, NULL);
	if (count)
		fputs("     time  share       from         to  line (time in memcpy, memmove; "
		      "bytes by "
		      "this machine's rates: from RAM, in caches)\n",
		      layout->file);
	for (size_t i = 0; i < count && i < maximum; i++)
		text_copies_put_line(layout, profile, lines[i]);
	if (count > maximum)
		fprintf(layout->file, "  (%zu more line%s; --lines N shows more)\n",
			count - maximum, figure_plural(count - maximum));
	free(lines);
	return 0;
}
