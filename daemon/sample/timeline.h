/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CPU time by owner (a thread, a node of the tree) and slice of the run.
 *
 *   owner 2  |    #  ##   |      time since begin / slice_ns = slice;
 *   owner 1  |####   # ###|      a cell (#) only where there is any time
 *            '------------'
 *
 * Bounded whatever happens: when the run has more slices than allowed, or there
 * are more cells, each two neighbouring slices become one and slice_ns doubles.
 * So a run of any length has between half and all of the slices allowed. Owners
 * for which there is no room even then are left out, and their time is summed.
 */
#ifndef PIEPROFD_DAEMON_SAMPLE_TIMELINE_H
#define PIEPROFD_DAEMON_SAMPLE_TIMELINE_H

#include "daemon/sample/profile_times.h"

#define TIMELINE_SLICE_NS 50000000u /* at first: some five samples of a busy thread */

/* Slices of threads are drawn; those of nodes are fewer, as there are many more of them. */
#define TIMELINE_THREAD_SLICES_MAX 512
#define TIMELINE_NODE_SLICES_MAX   128

struct timeline {
	uint64_t began_ns; /* CLOCK_MONOTONIC */
	uint64_t slice_ns;
	size_t slices_max, cells_max;
	size_t slice_count; /* up to the last one with time in it */
	struct profile_cell *cells;
	size_t count, capacity;
	uint32_t *slots; /* hash table: index of a cell + 1; 0: empty */
	size_t slot_count;
	uint64_t left_out_ns;
};

/* cells_max is a power of two. 0 or -ENOMEM; deinit in either case. */
__attribute__((warn_unused_result)) int timeline_init(struct timeline *timeline, size_t slices_max,
						      size_t cells_max);
void timeline_deinit(struct timeline *timeline);

/* When the run begins; what is charged to earlier moments is in the first slice. */
void timeline_begin(struct timeline *timeline, uint64_t now_ns);

void timeline_charge(struct timeline *timeline, size_t owner, uint64_t at_ns,
		     enum time_class time_class, uint64_t time_ns);

/* Spread evenly from the first moment to the last. */
void timeline_charge_span(struct timeline *timeline, size_t owner, uint64_t first_ns,
			  uint64_t last_ns, enum time_class time_class, uint64_t time_ns);

/* As it is now; borrowed until the next charge. In no order. */
struct profile_timeline timeline_view(const struct timeline *timeline);

#endif
