/* SPDX-License-Identifier: Apache-2.0 */
/* The part of the text report on resident memory, where that was asked for. */
#include "daemon/report/format/text_layout.h"

#include "daemon/report/model/memory_lines.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define SHARES_COLUMNS 32
/* A part of the growth that is not worth a sentence. */
#define SMALL_PART 20

static const char *file_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static void put_figures(const struct text_layout *layout, const struct profile *profile,
			const struct profile_line *most)
{
	const struct resident_figures *resident = &profile->facts.resident;
	char words[512], suffix[32] = "";
	int used = snprintf(words, sizeof(words),
			    "resident %s at first, %s at the end, %s at most%s; %s touched first",
			    figure_bytes(resident->counts.start_bytes).text,
			    figure_bytes(resident->counts.end_bytes).text,
			    figure_bytes(resident->peak_bytes).text,
			    resident->peak_exact ? "" : " when looked at",
			    figure_bytes(side_time_fresh_bytes(&profile->side)).text);

	if (most) {
		text_line_suffix(most, suffix, sizeof(suffix));
		snprintf(words + used, sizeof(words) - (size_t)used, ", %s of it at %.200s%s",
			 figure_part(side_time_fresh_bytes(&most->side),
				     side_time_fresh_bytes(&profile->side))
				 .text,
			 file_name(most->file), suffix);
	}
	text_wrapped(layout, "MEMORY  ", words);
}

int text_memory_brief(const struct text_layout *layout, const struct profile *profile)
{
	const struct profile_line **lines;
	size_t count;

	if (!profile->facts.memory)
		return 0;
	lines = memory_lines_sorted(profile, &count);
	if (!lines)
		return -1;
	put_figures(layout, profile, count ? lines[0] : NULL);
	free(lines);
	return 0;
}

static void text_memory_put_line(const struct text_layout *layout, const struct profile_line *line)
{
	unsigned where_columns = (layout->columns - SHARES_COLUMNS) / 2;
	char suffix[32];

	fprintf(layout->file, "%9s %9s %9s  ",
		figure_bytes(side_time_fresh_bytes(&line->side)).text,
		figure_bytes(line->side.fresh_bytes[FRESH_PYTHON]).text,
		figure_bytes(line->side.fresh_bytes[FRESH_NATIVE]).text);
	text_line_suffix(line, suffix, sizeof(suffix));
	text_path_cell(layout, line->file, suffix, where_columns, true);
	fputs("  ", layout->file);
	text_last_cell(layout, line->source && *line->source ? line->source : line->function,
		       layout->columns - SHARES_COLUMNS - where_columns);
}

int text_memory(const struct text_layout *layout, const struct profile *profile, size_t maximum)
{
	const struct profile_line **lines;
	size_t count;

	if (!profile->facts.memory)
		return 0;
	lines = memory_lines_sorted(profile, &count);
	if (!lines)
		return -1;
	fputc('\n', layout->file);
	put_figures(layout, profile, NULL);
	if (count)
		fputs("    fresh    python    native  line (fresh = touched first there = python + "
		      "native)\n",
		      layout->file);
	for (size_t i = 0; i < count && i < maximum; i++)
		text_memory_put_line(layout, lines[i]);
	if (count > maximum)
		fprintf(layout->file, "  (%zu more line%s; --lines N shows more)\n",
			count - maximum, figure_plural(count - maximum));
	free(lines);
	return 0;
}

void text_memory_quality(const struct text_layout *layout, const struct profile *profile)
{
	const struct resident_figures *resident = &profile->facts.resident;
	const struct resident_counts *counts = &resident->counts;
	uint64_t unexplained = memory_unexplained(profile);
	char words[512];
	int used;

	if (!profile->facts.memory)
		return;
	used = snprintf(words, sizeof(words),
			"%" PRIu64 " samples, %" PRIu64 " of huge pages, stand for %" PRIu64
			" of %" PRIu64 " page faults",
			counts->samples, counts->huge_samples, counts->faults_sampled,
			counts->faults);
	if (!resident->kernel_seen)
		used += snprintf(words + used, sizeof(words) - (size_t)used,
				 "; those that the kernel has, as in read(2), are not sampled");
	if (counts->unknown_samples)
		used += snprintf(words + used, sizeof(words) - (size_t)used,
				 "; sizes of pages are not known: huge ones count as 4 KB");
	if (!profile->facts.copies)
		used += snprintf(words + used, sizeof(words) - (size_t)used,
				 "; what is copied is not known");
	if (unexplained > memory_growth(counts) / SMALL_PART)
		snprintf(words + used, sizeof(words) - (size_t)used,
			 "; %s that became resident are in no sample",
			 figure_bytes(unexplained).text);
	text_wrapped(layout, "  memory     ", words);
}
