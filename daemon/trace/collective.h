/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Collective operations: which calls of the members of a communicator belong together, and who
 * waited in them for whom.
 *
 * All members call them in the same order (MPI 4.1, 6.14). Where a trace begins in the middle,
 * some have called one before that others are still in: of calls that cannot be of one operation,
 * as one ended before another began, the earlier is passed over. Pure.
 */
#ifndef PIEPROFD_DAEMON_TRACE_COLLECTIVE_H
#define PIEPROFD_DAEMON_TRACE_COLLECTIVE_H

#include "daemon/trace/communicator.h"
#include "daemon/trace/trace.h"

struct collective_wait {
	uint32_t who, whom; /* places of the processes in the trace */
	uint64_t begin_ns;
	uint64_t ns;
	uint16_t function;
	uint32_t path, late_path; /* of the call that waited, and of what it waited for */
};

struct collectives {
	uint64_t operations;
	uint64_t passed_over; /* calls */
};

struct collective_taker {
	/* Each call that waited for another one's. */
	void (*wait)(void *context, const struct collective_wait *wait);
	/* Each operation: its members' calls by their places in the communicator, and the root's
	 * place. */
	void (*operation)(void *context, uint32_t communicator,
			  const struct trace_event *const *calls, uint32_t root);
	void *context;
};

/* 0 or -ENOMEM. */
__attribute__((warn_unused_result)) int collectives_go_through(
	const struct trace *trace, const struct communicators *communicators,
	const struct collective_taker *taker, struct collectives *ret_collectives);

#endif
