/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The timelines of several profiles made one, by the time of day at which each
 * began. Slices are numbered from 1970, so that whatever began earlier may come
 * later:
 *
 *   first process    |....|....|....|....|      of 50 ms
 *   another one             |.........|....     of 100 ms: then all are
 *   the grid         |....:....|....:....|      its slices, shifted to this grid
 *
 * A profile begins at the slice of the grid that its begin lies in, so nothing
 * is shifted by a slice or more. To round down is what makes the order of
 * adding, and whether some were merged before, of no matter: a coarser grid's
 * slice is then the same whichever way it is come to.
 *
 * Limits are timeline.h's: too many slices, or cells, make each two one.
 */
#ifndef PIEPROFD_DAEMON_REPORT_MERGE_MERGE_TIMELINE_H
#define PIEPROFD_DAEMON_REPORT_MERGE_MERGE_TIMELINE_H

#include "daemon/report/model/arena.h"
#include "daemon/report/model/profile.h"

#define MERGE_CELLS_MAX (1u << 16)

struct merge_cell {
	uint32_t owner;
	uint64_t slice; /* since 1970 */
	uint64_t time_ns[TIME_CLASS_COUNT];
};

struct merge_timeline {     /* all zeros: empty */
	unsigned doublings; /* of TIMELINE_SLICE_NS */
	struct merge_cell *cells;
	size_t count, capacity;
	uint64_t left_out_ns;
};

struct merge_timelines {
	struct merge_timeline threads, nodes, stacks;
};

/* What the owners of a profile's timelines, or of a merge's, come to be. */
struct merge_owners {
	const uint32_t *threads, *nodes, *stacks;
	size_t thread_count, node_count, stack_count;
};

void merge_timelines_deinit(struct merge_timelines *timelines);

/* A profile's, of other owners now. What cannot be placed is left out. 0 or -ENOMEM. */
__attribute__((warn_unused_result)) int merge_timelines_add(struct merge_timelines *timelines,
							    const struct profile *profile,
							    const struct merge_owners *owners);

/*
 * Into facts, whose started_unix_ns is known, in the arena; owners have their positions in it
 * (profile_timeline_renumber()). 0 or -ENOMEM.
 */
__attribute__((warn_unused_result)) int merge_timelines_build(
	const struct merge_timelines *timelines, struct arena *arena,
	const struct merge_owners *owners, struct profile_facts *facts);

#endif
