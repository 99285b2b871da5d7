/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/report/model/memory_lines.h"

#include <stdlib.h>
#include <string.h>

static int compare(const void *left, const void *right)
{
	const struct profile_line *a = *(const struct profile_line *const *)left;
	const struct profile_line *b = *(const struct profile_line *const *)right;
	uint64_t bytes_a = side_time_fresh_bytes(&a->side);
	uint64_t bytes_b = side_time_fresh_bytes(&b->side);
	int order;

	if (bytes_a != bytes_b)
		return bytes_a > bytes_b ? -1 : 1;
	order = strcmp(a->file, b->file);
	if (!order)
		order = a->line < b->line ? -1 : a->line > b->line;
	return order ? order : strcmp(a->function, b->function);
}

const struct profile_line **memory_lines_sorted(const struct profile *profile, size_t *ret_count)
{
	const struct profile_line **lines = calloc(profile->line_count + 1, sizeof(*lines));
	size_t count = 0;

	if (!lines)
		return NULL;
	for (size_t i = 0; i < profile->line_count; i++)
		if (side_time_fresh_bytes(&profile->lines[i].side))
			lines[count++] = &profile->lines[i];
	qsort(lines, count, sizeof(*lines), compare);
	*ret_count = count;
	return lines;
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
