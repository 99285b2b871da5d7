/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/report/merge/merge_timeline.h"

#include "common/array.h"
#include "daemon/report/model/profile_timeline.h"
#include "daemon/sample/timeline.h"

#include <errno.h>
#include <string.h>

/* Moments are less than INT64_MAX ns after 1970: with most doublings, all are in one slice. */
#define DOUBLINGS_MAX 38

static uint64_t slice_ns(unsigned doublings)
{
	return (uint64_t)TIMELINE_SLICE_NS << doublings;
}

/* False: no session makes such slices. */
static bool find_doublings(const struct profile_timeline *timeline, unsigned *ret_doublings)
{
	for (unsigned doublings = 0; doublings <= DOUBLINGS_MAX; doublings++)
		if (timeline->slice_ns == slice_ns(doublings)) {
			*ret_doublings = doublings;
			return true;
		}
	return false;
}

static int merge_cell_compare(const void *left, const void *right)
{
	const struct merge_cell *a = left, *b = right;

	if (a->owner != b->owner)
		return a->owner < b->owner ? -1 : 1;
	return a->slice < b->slice ? -1 : a->slice > b->slice;
}

/* Sorted, with one cell for an owner and slice. */
static void join_cells(struct merge_timeline *timeline)
{
	size_t kept = 0;

	if (timeline->count)
		qsort(timeline->cells, timeline->count, sizeof(timeline->cells[0]),
		      merge_cell_compare);
	for (size_t i = 0; i < timeline->count; i++) {
		struct merge_cell *cell = &timeline->cells[i];

		if (!kept || merge_cell_compare(&timeline->cells[kept - 1], cell)) {
			timeline->cells[kept++] = *cell;
			continue;
		}
		for (size_t c = 0; c < TIME_CLASS_COUNT; c++)
			timeline->cells[kept - 1].time_ns[c] += cell->time_ns[c];
	}
	timeline->count = kept;
}

static void coarsen(struct merge_timeline *timeline, unsigned doublings)
{
	if (doublings <= timeline->doublings)
		return;
	for (size_t i = 0; i < timeline->count; i++)
		timeline->cells[i].slice >>= doublings - timeline->doublings;
	timeline->doublings = doublings;
	join_cells(timeline);
}

/* From the first to the last with time in it, or from an earlier one. */
static uint64_t count_slices(const struct merge_timeline *timeline, uint64_t first)
{
	uint64_t last = 0;

	for (size_t i = 0; i < timeline->count; i++) {
		if (timeline->cells[i].slice < first)
			first = timeline->cells[i].slice;
		if (timeline->cells[i].slice > last)
			last = timeline->cells[i].slice;
	}
	return timeline->count ? last - first + 1 : 0;
}

/*
 * Never coarser than the same cells and more would come to be: so it makes no
 * difference when it is called. What has no room in a single slice is left out.
 */
static void fit_cells(struct merge_timeline *timeline)
{
	join_cells(timeline);
	while (timeline->count > MERGE_CELLS_MAX && count_slices(timeline, UINT64_MAX) > 1)
		coarsen(timeline, timeline->doublings + 1);
	while (timeline->count > MERGE_CELLS_MAX)
		timeline->left_out_ns += time_sum(timeline->cells[--timeline->count].time_ns);
}

static int put_cell(struct merge_timeline *timeline, const struct merge_cell *cell)
{

	if (!ARRAY_ROOM(timeline->cells, timeline->count, timeline->capacity))
		return -ENOMEM;
	timeline->cells[timeline->count++] = *cell;
	return 0;
}

void merge_timelines_deinit(struct merge_timelines *timelines)
{
	free(timelines->threads.cells);
	free(timelines->nodes.cells);
	free(timelines->stacks.cells);
	*timelines = (struct merge_timelines){ 0 };
}

/*
 * When the slices of all begin: where the coarsest one does, so that those of
 * nodes stay made of those of threads. Never later than that of a part of it.
 */
static uint64_t grid_begin(uint64_t started_unix_ns, unsigned threads, unsigned nodes,
			   unsigned stacks)
{
	unsigned coarser = threads > nodes ? threads : nodes;
	uint64_t coarser_ns = slice_ns(coarser > stacks ? coarser : stacks);

	return started_unix_ns - started_unix_ns % coarser_ns;
}

static int add_cells(struct merge_timeline *into, const struct profile_timeline *from,
		     unsigned doublings, uint64_t begin_ns, const uint32_t *owners,
		     size_t owner_count)
{
	uint64_t first = begin_ns / slice_ns(doublings);
	int result = 0;

	coarsen(into, doublings);
	for (size_t i = 0; i < from->cell_count && !result; i++) {
		struct merge_cell cell = { .slice = first + from->cells[i].slice };

		memcpy(cell.time_ns, from->cells[i].time_ns, sizeof(cell.time_ns));
		if (from->cells[i].owner >= owner_count ||
		    cell.slice > INT64_MAX / slice_ns(doublings)) {
			into->left_out_ns += time_sum(cell.time_ns);
			continue;
		}
		cell.owner = owners[from->cells[i].owner];
		/* Seldom, so that a cell is sorted but a few times. It may make slices longer. */
		if (into->count >= 2 * MERGE_CELLS_MAX)
			fit_cells(into);
		cell.slice >>= into->doublings - doublings;
		result = put_cell(into, &cell);
	}
	into->left_out_ns += from->left_out_ns;
	return result;
}

static void merge_cell_leave_out(struct merge_timeline *into, const struct profile_timeline *from)
{
	for (size_t i = 0; i < from->cell_count; i++)
		into->left_out_ns += time_sum(from->cells[i].time_ns);
	into->left_out_ns += from->left_out_ns;
}

int merge_timelines_add(struct merge_timelines *timelines, const struct profile *profile,
			const struct merge_owners *owners)
{
	const struct profile_facts *facts = &profile->facts;
	unsigned threads, nodes, stacks = 0;
	uint64_t begin_ns;
	int result;

	/* An older recording has no stacks. */
	if (!facts->started_unix_ns || !find_doublings(&facts->thread_timeline, &threads) ||
	    !find_doublings(&facts->node_timeline, &nodes) ||
	    (facts->stack_timeline.slice_ns && !find_doublings(&facts->stack_timeline, &stacks))) {
		merge_cell_leave_out(&timelines->threads, &facts->thread_timeline);
		merge_cell_leave_out(&timelines->nodes, &facts->node_timeline);
		merge_cell_leave_out(&timelines->stacks, &facts->stack_timeline);
		return 0;
	}
	begin_ns = grid_begin(facts->started_unix_ns, threads, nodes, stacks);
	result = add_cells(&timelines->threads, &facts->thread_timeline, threads, begin_ns,
			   owners->threads, owners->thread_count);
	if (!result)
		result = add_cells(&timelines->nodes, &facts->node_timeline, nodes, begin_ns,
				   owners->nodes, owners->node_count);
	if (!result)
		result = add_cells(&timelines->stacks, &facts->stack_timeline, stacks, begin_ns,
				   owners->stacks, owners->stack_count);
	return result;
}

/* ---- finished ---- */

static int copy_cells(const struct merge_timeline *from, struct merge_timeline *ret_copy)
{
	struct merge_timeline copy = *from;

	copy.capacity = from->count + 1;
	copy.cells = calloc(copy.capacity, sizeof(copy.cells[0]));
	if (!copy.cells)
		return -ENOMEM;
	if (from->count)
		memcpy(copy.cells, from->cells, from->count * sizeof(copy.cells[0]));
	*ret_copy = copy;
	return 0;
}

static bool too_many_slices(const struct merge_timeline *timeline, uint64_t begin_ns, size_t limit)
{
	return timeline->doublings < DOUBLINGS_MAX &&
	       count_slices(timeline, begin_ns / slice_ns(timeline->doublings)) > limit;
}

/* All within their limits; returns when their slices begin. */
static uint64_t fit_slices(struct merge_timelines *timelines, uint64_t started_unix_ns)
{
	struct merge_timeline *threads = &timelines->threads, *nodes = &timelines->nodes;
	struct merge_timeline *stacks = &timelines->stacks;

	fit_cells(threads);
	fit_cells(nodes);
	fit_cells(stacks);
	for (;;) {
		uint64_t begin_ns;

		coarsen(nodes, threads->doublings);
		begin_ns = grid_begin(started_unix_ns, threads->doublings, nodes->doublings,
				      stacks->doublings);
		if (too_many_slices(nodes, begin_ns, TIMELINE_NODE_SLICES_MAX))
			coarsen(nodes, nodes->doublings + 1);
		else if (too_many_slices(threads, begin_ns, TIMELINE_THREAD_SLICES_MAX))
			coarsen(threads, threads->doublings + 1);
		else if (too_many_slices(stacks, begin_ns, TIMELINE_THREAD_SLICES_MAX))
			coarsen(stacks, stacks->doublings + 1);
		else
			return begin_ns;
	}
}

static int write_timeline(const struct merge_timeline *timeline, uint64_t begin_ns,
			  struct arena *arena, const uint32_t *positions, size_t count,
			  struct profile_timeline *ret_timeline)
{
	struct profile_cell *cells = calloc(timeline->count + 1, sizeof(*cells));
	uint64_t first = begin_ns / slice_ns(timeline->doublings);
	struct profile_timeline written = {
		.slice_ns = slice_ns(timeline->doublings),
		.slice_count = (size_t)count_slices(timeline, first),
		.cells = cells,
		.cell_count = timeline->count,
		.left_out_ns = timeline->left_out_ns,
	};
	int result;

	if (!cells)
		return -ENOMEM;
	for (size_t i = 0; i < timeline->count; i++) {
		cells[i].owner = timeline->cells[i].owner;
		cells[i].slice = (uint32_t)(timeline->cells[i].slice - first);
		memcpy(cells[i].time_ns, timeline->cells[i].time_ns, sizeof(cells[i].time_ns));
	}
	result = profile_timeline_renumber(arena, &written, positions, count, ret_timeline);
	free(cells);
	return result;
}

int merge_timelines_build(const struct merge_timelines *timelines, struct arena *arena,
			  const struct merge_owners *owners, struct profile_facts *facts)
{
	struct merge_timelines fitted = { 0 };
	int result = -ENOMEM;

	if (!copy_cells(&timelines->threads, &fitted.threads) &&
	    !copy_cells(&timelines->nodes, &fitted.nodes) &&
	    !copy_cells(&timelines->stacks, &fitted.stacks)) {
		uint64_t begin_ns = fit_slices(&fitted, facts->started_unix_ns);

		result = write_timeline(&fitted.threads, begin_ns, arena, owners->threads,
					owners->thread_count, &facts->thread_timeline);
		if (!result)
			result = write_timeline(&fitted.nodes, begin_ns, arena, owners->nodes,
						owners->node_count, &facts->node_timeline);
		if (!result)
			result = write_timeline(&fitted.stacks, begin_ns, arena, owners->stacks,
						owners->stack_count, &facts->stack_timeline);
	}
	merge_timelines_deinit(&fitted);
	return result;
}
