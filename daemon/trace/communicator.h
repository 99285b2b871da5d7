/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which communicators of the processes of a trace are one and the same, and who is in them: each
 * process has numbers of its own for them (trace_event.h).
 *
 * All members make a communicator of another one in the same order, which the standard demands. So
 * the first one that each member makes of MPI_COMM_WORLD is the same for all, and so on; colours
 * and keys of MPI_Comm_split say who is in which, and as what rank, and groups do (group_table.h).
 * Where a trace begins in the middle, some have made one before that others are still in: of those
 * that cannot be one, as one call ended before another began, the earlier is passed over. What is
 * made in another way, or by ranks of whom one is not traced, stays unknown. Pure.
 */
#ifndef PIEPROFD_DAEMON_TRACE_COMMUNICATOR_H
#define PIEPROFD_DAEMON_TRACE_COMMUNICATOR_H

#include "daemon/trace/trace.h"

#define COMMUNICATORS_MAX 65536
#define COMMUNICATOR_NONE 0 /* not known */
#define COMMUNICATOR_ALL  1 /* MPI_COMM_WORLD */

struct communicator {
	uint32_t *members; /* place in the trace, by rank; UINT32_MAX: is not in it */
	uint32_t size;
};

struct communicators {
	struct communicator *items; /* the first one is none */
	uint32_t count;
	size_t capacity;
	uint32_t **numbers; /* by process, then by its own number: which of items it is */
	uint32_t *number_counts;
	size_t process_count;
	bool by_order;         /* as the trace's */
	uint64_t not_followed; /* communicators that are not known */
};

/* 0 or -ENOMEM; deinit in any case. */
__attribute__((warn_unused_result)) int communicators_init(struct communicators *communicators,
							   const struct trace *trace);
void communicators_deinit(struct communicators *communicators);

/* Which of items, or COMMUNICATOR_NONE. */
uint32_t communicators_find(const struct communicators *communicators, size_t process,
			    uint32_t number);

/* The process that is that rank in it; UINT32_MAX: it is not known. */
uint32_t communicators_member(const struct communicators *communicators, uint32_t communicator,
			      int32_t rank);

#endif
