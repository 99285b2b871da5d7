/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/report/model/profile_timeline.h"

#include <errno.h>
#include <stdlib.h>

static int profile_cell_compare(const void *left, const void *right)
{
	const struct profile_cell *a = left, *b = right;

	if (a->owner != b->owner)
		return a->owner < b->owner ? -1 : 1;
	return a->slice < b->slice ? -1 : a->slice > b->slice;
}

/* Sorted cells, those of the same owner and slice added up; how many are left. */
static size_t merge_cells(struct profile_cell *cells, size_t count)
{
	size_t kept = 0;

	for (size_t i = 0; i < count; i++) {
		if (!kept || profile_cell_compare(&cells[kept - 1], &cells[i])) {
			cells[kept++] = cells[i];
			continue;
		}
		for (size_t c = 0; c < TIME_CLASS_COUNT; c++)
			cells[kept - 1].time_ns[c] += cells[i].time_ns[c];
	}
	return kept;
}

int profile_timeline_renumber(struct arena *arena, const struct profile_timeline *timeline,
			      const uint32_t *positions, size_t count,
			      struct profile_timeline *ret_timeline)
{
	struct profile_cell *cells = arena_array(arena, timeline->cell_count, sizeof(*cells));
	struct profile_timeline result = *timeline;
	size_t used = 0;

	if (!cells)
		return -ENOMEM;
	for (size_t i = 0; i < timeline->cell_count; i++) {
		const struct profile_cell *cell = &timeline->cells[i];

		if (cell->owner >= count || positions[cell->owner] == PROFILE_NODE_NONE) {
			result.left_out_ns += time_sum(cell->time_ns);
			continue;
		}
		cells[used] = *cell;
		cells[used++].owner = positions[cell->owner];
	}
	qsort(cells, used, sizeof(*cells), profile_cell_compare);
	result.cells = cells;
	result.cell_count = merge_cells(cells, used);
	*ret_timeline = result;
	return 0;
}
