/* SPDX-License-Identifier: Apache-2.0 */
/* The part of the text report on what was allocated, where that was asked for. */
#include "daemon/report/format/text_layout.h"

#include "daemon/report/model/memory_lines.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define SHARES_COLUMNS 36
/* A program that probes slow down so many times: what it would do without is known roughly. */
#define ROUGH_TIMES 3

/* What is not seen, for a person; "": nothing. */
static const char *unseen_words(const struct profile_facts *facts)
{
	if (facts->small_objects == ALLOCATOR_SEEN)
		return facts->malloc_unseen ? "; what malloc() makes is not seen" : "";
	if (facts->small_objects == ALLOCATOR_INLINED)
		return "; Python's objects of up to 512 bytes are not seen: this interpreter was "
		       "built with its allocator inside of its callers";
	return "; Python's objects of up to 512 bytes are not seen: no table of its allocators "
	       "was found";
}

static void put_sums(const struct text_layout *layout, const struct profile *profile,
		     const struct profile_line *most)
{
	const struct profile_facts *facts = &profile->facts;
	const struct allocation_counts_sum *counts = &facts->allocation_counts;
	const struct side_time *side = &profile->side;
	char words[800], suffix[32] = "";
	const char *slash;
	int used;

	used = snprintf(words, sizeof(words),
			"%s and %" PRIu64 " objects a second, %s of it temporary: in %" PRIu64
			" window%s of %s in all%s",
			figure_bytes(memory_rate(counts->bytes, counts)).text,
			memory_rate(counts->objects, counts),
			figure_part(side->released_bytes, side->allocated_bytes).text,
			counts->windows, figure_plural(counts->windows),
			figure_ns(counts->probed_ns).text, unseen_words(facts));
	if (counts->probed_ns / ROUGH_TIMES > counts->observed_ns)
		used += snprintf(words + used, sizeof(words) - (size_t)used,
				 "; rather more, as probes slow it down much");
	if (most) {
		text_line_suffix(most, suffix, sizeof(suffix));
		slash = strrchr(most->file, '/');
		snprintf(words + used, sizeof(words) - (size_t)used, "; %s of it at %.200s%s",
			 figure_part(most->side.allocated_bytes, side->allocated_bytes).text,
			 slash ? slash + 1 : most->file, suffix);
	}
	text_wrapped(layout, "ALLOCATED  ", words);
}

int text_allocations_brief(const struct text_layout *layout, const struct profile *profile)
{
	const struct profile_line **lines;
	size_t count;

	if (!profile->facts.allocations)
		return 0;
	lines = memory_lines_allocating(profile, &count);
	if (!lines)
		return -1;
	put_sums(layout, profile, count ? lines[0] : NULL);
	free(lines);
	return 0;
}

static void put_line(const struct text_layout *layout, const struct profile *profile,
		     const struct profile_line *line)
{
	const struct allocation_counts_sum *counts = &profile->facts.allocation_counts;
	unsigned where_columns = (layout->columns - SHARES_COLUMNS) / 2;
	char suffix[32];

	fprintf(layout->file, "%9s %11" PRIu64 " %9s  ",
		figure_bytes(memory_rate(line->side.allocated_bytes, counts)).text,
		memory_rate(line->side.allocated_objects, counts),
		figure_sampled(line->side.released_bytes, line->side.allocated_bytes,
			       line->side.allocation_samples)
			.text);
	text_line_suffix(line, suffix, sizeof(suffix));
	text_path_cell(layout, line->file, suffix, where_columns, true);
	fputs("  ", layout->file);
	text_last_cell(layout, line->source && *line->source ? line->source : line->function,
		       layout->columns - SHARES_COLUMNS - where_columns);
}

int text_allocations(const struct text_layout *layout, const struct profile *profile,
		     size_t maximum)
{
	const struct profile_line **lines;
	size_t count;

	if (!profile->facts.allocations)
		return 0;
	lines = memory_lines_allocating(profile, &count);
	if (!lines)
		return -1;
	fputc('\n', layout->file);
	put_sums(layout, profile, NULL);
	if (count)
		fputs("  bytes/s   objects/s temporary  line (temporary: given back before its "
		      "window was over)\n",
		      layout->file);
	for (size_t i = 0; i < count && i < maximum; i++)
		put_line(layout, profile, lines[i]);
	if (count > maximum)
		fprintf(layout->file, "  (%zu more line%s; --lines N shows more)\n",
			count - maximum, figure_plural(count - maximum));
	free(lines);
	return 0;
}

void text_allocations_quality(const struct text_layout *layout, const struct profile *profile)
{
	const struct allocation_counts_sum *counts = &profile->facts.allocation_counts;
	char words[512];
	int used;

	if (!profile->facts.allocations)
		return;
	used = snprintf(words, sizeof(words),
			"%" PRIu64 " samples of %" PRIu64 " objects; %" PRIu64
			" probes were hit, which took %s: the same would have taken %s without",
			counts->samples, counts->objects, counts->hits,
			figure_ns(counts->cost_ns).text, figure_ns(counts->observed_ns).text);
	if (counts->missed_bytes)
		used += snprintf(words + used, sizeof(words) - (size_t)used,
				 "; for %s there was no sample",
				 figure_bytes(counts->missed_bytes).text);
	if (counts->refused)
		snprintf(words + used, sizeof(words) - (size_t)used,
			 "; %" PRIu64 " times the kernel set no probes", counts->refused);
	text_wrapped(layout, "  allocated  ", words);
}
