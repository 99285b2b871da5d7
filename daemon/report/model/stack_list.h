/* SPDX-License-Identifier: Apache-2.0 */
/*
 * All time of the tree, taken apart by thread, for writers: the profile's stacks, and behind them
 * what is left of each node, of which it is not known which thread it was. Its sums are the tree's.
 */
#ifndef PIEPROFD_DAEMON_REPORT_MODEL_STACK_LIST_H
#define PIEPROFD_DAEMON_REPORT_MODEL_STACK_LIST_H

#include "daemon/report/model/profile.h"

#define STACK_THREAD_NONE UINT32_MAX

struct stack_list {
	struct profile_stack *items; /* by thread, then node; STACK_THREAD_NONE last */
	size_t count;
	/* How many threads, known by their numbers, the process has that has most of them here. */
	size_t thread_count;
};

/* 0 or -ENOMEM; deinit in either case. */
__attribute__((warn_unused_result)) int stack_list_init(struct stack_list *list,
							const struct profile *profile);
void stack_list_deinit(struct stack_list *list);

/* All that a node has, of whatever thread. */
struct profile_stack stack_of_node(const struct profile_tree *tree, uint32_t node);

/* CPU time of a thread in a node and a slice of the run. */
struct stack_moment {
	uint32_t thread, node; /* STACK_THREAD_NONE likewise */
	uint64_t slice; /* of facts.stack_timeline; as many as there are: when is not known */
	uint64_t time_ns[TIME_CLASS_COUNT];
};

struct moment_list {
	struct stack_moment *items; /* by thread, then slice, then node */
	size_t count;
};

/* 0 or -ENOMEM; deinit in either case. */
__attribute__((warn_unused_result)) int moment_list_init(struct moment_list *list,
							 const struct profile *profile,
							 const struct stack_list *stacks);
void moment_list_deinit(struct moment_list *list);

/* Of a stack's thread: whose process it is of. */
pid_t stack_thread_pid(const struct profile *profile, uint32_t thread);

/* What that process runs in, and what it is called; both are the profile's. */
struct stack_owner {
	const struct profile_container *container;
	const struct process_labels *labels;
};

struct stack_owner stack_thread_owner(const struct profile *profile, uint32_t thread);

#endif
