/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/report/model/memory_lines.h"

#include <stdlib.h>
#include <string.h>

typedef uint64_t figure_of(const struct side_time *side);

static uint64_t copying_ns(const struct side_time *side)
{
	return side->copying_ns;
}

static uint64_t allocated_bytes(const struct side_time *side)
{
	return side->allocated_bytes;
}

static int compare(const void *left, const void *right, void *context)
{
	figure_of *const *figure = context;
	const struct profile_line *a = *(const struct profile_line *const *)left;
	const struct profile_line *b = *(const struct profile_line *const *)right;
	uint64_t figure_a = (*figure)(&a->side), figure_b = (*figure)(&b->side);
	int order;

	if (figure_a != figure_b)
		return figure_a > figure_b ? -1 : 1;
	order = strcmp(a->file, b->file);
	if (!order)
		order = a->line < b->line ? -1 : a->line > b->line;
	return order ? order : strcmp(a->function, b->function);
}

static const struct profile_line **lines_by(const struct profile *profile, figure_of *figure,
					    size_t *ret_count)
{
	const struct profile_line **lines = calloc(profile->line_count + 1, sizeof(*lines));
	size_t count = 0;

	if (!lines)
		return NULL;
	for (size_t i = 0; i < profile->line_count; i++)
		if (figure(&profile->lines[i].side))
			lines[count++] = &profile->lines[i];
	qsort_r(lines, count, sizeof(*lines), compare, &figure);
	*ret_count = count;
	return lines;
}

const struct profile_line **memory_lines_sorted(const struct profile *profile, size_t *ret_count)
{
	return lines_by(profile, side_time_fresh_bytes, ret_count);
}

const struct profile_line **memory_lines_copying(const struct profile *profile, size_t *ret_count)
{
	return lines_by(profile, copying_ns, ret_count);
}

const struct profile_line **memory_lines_allocating(const struct profile *profile,
						    size_t *ret_count)
{
	return lines_by(profile, allocated_bytes, ret_count);
}

uint64_t memory_rate(uint64_t amount, const struct allocation_counts_sum *counts)
{
	double rate = counts->observed_ns ? (double)amount * 1e9 / (double)counts->observed_ns : 0;

	return rate < 1e18 ? (uint64_t)rate : (uint64_t)1e18;
}

uint64_t memory_growth(const struct resident_counts *counts)
{
	return counts->end_bytes > counts->start_bytes ? counts->end_bytes - counts->start_bytes
						       : 0;
}

uint64_t memory_unexplained(const struct profile *profile)
{
	uint64_t growth = memory_growth(&profile->facts.resident.counts);
	uint64_t fresh = side_time_fresh_bytes(&profile->side);

	return growth > fresh ? growth - fresh : 0;
}
