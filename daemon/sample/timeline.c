/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/sample/timeline.h"

#include "common/array.h"
#include "common/hash.h"
#include "daemon/cct/id_table.h"

#include <errno.h>
#include <string.h>

int timeline_init(struct timeline *timeline, size_t slices_max, size_t cells_max)
{
	*timeline = (struct timeline){
		.slice_ns = TIMELINE_SLICE_NS,
		.slices_max = slices_max,
		.cells_max = cells_max,
		.slot_count = cells_max * 2, /* never more than half full */
	};
	timeline->slots = calloc(timeline->slot_count, sizeof(timeline->slots[0]));
	return timeline->slots ? 0 : -ENOMEM;
}

void timeline_deinit(struct timeline *timeline)
{
	free(timeline->cells);
	free(timeline->slots);
	*timeline = (struct timeline){ 0 };
}

void timeline_begin(struct timeline *timeline, uint64_t now_ns)
{
	timeline->began_ns = now_ns;
}

/* The slot of a cell, or the empty one where it belongs. */
static uint32_t *timeline_find_slot(struct timeline *timeline, uint32_t owner, uint32_t slice)
{
	size_t mask = timeline->slot_count - 1;
	size_t at = (size_t)hash_mix((uint64_t)owner << 32 | slice) & mask;

	for (;; at = (at + 1) & mask) {
		uint32_t *slot = &timeline->slots[at];
		const struct profile_cell *cell = *slot ? &timeline->cells[*slot - 1] : NULL;

		if (!cell || (cell->owner == owner && cell->slice == slice))
			return slot;
	}
}

static void add_time(struct profile_cell *cell, const uint64_t time_ns[TIME_CLASS_COUNT])
{
	for (size_t c = 0; c < TIME_CLASS_COUNT; c++)
		cell->time_ns[c] += time_ns[c];
}

/* Makes 2^doublings slices one. Cells only move towards the front. */
static void merge_slices(struct timeline *timeline, unsigned doublings)
{
	size_t count = timeline->count;

	memset(timeline->slots, 0, timeline->slot_count * sizeof(timeline->slots[0]));
	timeline->count = 0;
	for (size_t i = 0; i < count; i++) {
		struct profile_cell cell = timeline->cells[i];
		uint32_t *slot;

		cell.slice = (uint32_t)((uint64_t)cell.slice >> doublings);
		slot = timeline_find_slot(timeline, cell.owner, cell.slice);
		if (*slot) {
			add_time(&timeline->cells[*slot - 1], cell.time_ns);
			continue;
		}
		timeline->cells[timeline->count++] = cell;
		*slot = (uint32_t)timeline->count;
	}
	timeline->slice_ns <<= doublings;
	if (timeline->slice_count)
		timeline->slice_count = ((timeline->slice_count - 1) >> doublings) + 1;
}

/* The slice of a moment, after slices were merged if that takes it. */
static uint32_t find_slice(struct timeline *timeline, uint64_t at_ns)
{
	uint64_t elapsed_ns = at_ns > timeline->began_ns ? at_ns - timeline->began_ns : 0;
	uint64_t slice = elapsed_ns / timeline->slice_ns;
	unsigned doublings = 0;

	while (slice >> doublings >= timeline->slices_max)
		doublings++;
	if (doublings)
		merge_slices(timeline, doublings);
	return (uint32_t)(slice >> doublings);
}

/* A cell more; NULL: there is no room. */
static struct profile_cell *add_cell(struct timeline *timeline, size_t owner, uint64_t at_ns)
{
	uint32_t slice, *slot;

	while (timeline->count == timeline->cells_max && timeline->slice_count > 1)
		merge_slices(timeline, 1);
	/* Its own slices may have become one. */
	slice = find_slice(timeline, at_ns);
	slot = timeline_find_slot(timeline, (uint32_t)owner, slice);
	if (*slot)
		return &timeline->cells[*slot - 1];
	if (timeline->count == timeline->cells_max)
		return NULL;
	if (!ARRAY_ROOM(timeline->cells, timeline->count, timeline->capacity))
		return NULL;
	timeline->cells[timeline->count] =
		(struct profile_cell){ .owner = (uint32_t)owner, .slice = slice };
	*slot = (uint32_t)++timeline->count;
	return &timeline->cells[timeline->count - 1];
}

void timeline_charge(struct timeline *timeline, size_t owner, uint64_t at_ns,
		     enum time_class time_class, uint64_t time_ns)
{
	uint32_t slice = find_slice(timeline, at_ns);
	uint32_t *slot = timeline_find_slot(timeline, (uint32_t)owner, slice);
	struct profile_cell *cell =
		*slot ? &timeline->cells[*slot - 1] : add_cell(timeline, owner, at_ns);

	if (!cell) {
		timeline->left_out_ns += time_ns;
		return;
	}
	cell->time_ns[time_class] += time_ns;
	if (timeline->slice_count <= cell->slice)
		timeline->slice_count = cell->slice + 1;
}

void timeline_charge_span(struct timeline *timeline, size_t owner, uint64_t first_ns,
			  uint64_t last_ns, enum time_class time_class, uint64_t time_ns)
{
	uint64_t steps, slice_ns;

	if (first_ns < timeline->began_ns)
		first_ns = timeline->began_ns;
	/* First, so that there are no more steps than slices. */
	(void)find_slice(timeline, last_ns);
	slice_ns = timeline->slice_ns;
	steps = last_ns > first_ns ? (last_ns - first_ns) / slice_ns + 1 : 1;
	for (uint64_t i = 0; i < steps; i++) {
		uint64_t part_ns = time_ns / (steps - i);

		if (part_ns)
			timeline_charge(timeline, owner, first_ns + i * slice_ns, time_class,
					part_ns);
		time_ns -= part_ns;
	}
}

struct profile_timeline timeline_view(const struct timeline *timeline)
{
	return (struct profile_timeline){
		.slice_ns = timeline->slice_ns,
		.slice_count = timeline->slice_count,
		.cells = timeline->cells,
		.cell_count = timeline->count,
		.left_out_ns = timeline->left_out_ns,
	};
}
