/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which thread was where, and when: time by thread and node of the tree together, and over time.
 * The tree and the times of threads have the same sums, each by itself.
 *
 * Bounded: beyond STACKS_MAX of them nothing is kept, and readers have the rest from the tree. Over
 * time it is a timeline (timeline.h) whose owners are the stacks; it has slices of its own, as many
 * threads make it coarser than that of the nodes.
 */
#ifndef PIEPROFD_DAEMON_SAMPLE_THREAD_STACKS_H
#define PIEPROFD_DAEMON_SAMPLE_THREAD_STACKS_H

#include "daemon/cct/id_table.h"
#include "daemon/sample/timeline.h"

#define THREAD_STACKS_MAX (1u << 16)

struct thread_stacks {
	struct profile_stack *items;
	size_t count, capacity;
	struct id_table ids;
	struct timeline timeline; /* owners: indices of items */
};

/* cells_max as timeline_init() has it. 0 or -ENOMEM; deinit in either case. */
__attribute__((warn_unused_result)) int thread_stacks_init(struct thread_stacks *stacks,
							   size_t cells_max);
void thread_stacks_deinit(struct thread_stacks *stacks);

/* thread: its index among the threads; node: its id in the tree. */
void thread_stacks_charge(struct thread_stacks *stacks, size_t thread, uint32_t node,
			  uint64_t at_ns, enum time_class time_class, uint64_t samples,
			  uint64_t time_ns);

/* Spread evenly from the first moment to the last. */
void thread_stacks_charge_span(struct thread_stacks *stacks, size_t thread, uint32_t node,
			       uint64_t first_ns, uint64_t last_ns, enum time_class time_class,
			       uint64_t samples, uint64_t time_ns);

/* Time asleep, which has no place in time. */
void thread_stacks_wait(struct thread_stacks *stacks, size_t thread, uint32_t node,
			enum wait_kind kind, uint64_t time_ns);

#endif
