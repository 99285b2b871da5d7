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

/* take: for each call that waited for another one's. 0 or -ENOMEM. */
__attribute__((warn_unused_result)) int collectives_go_through(
	const struct trace *trace, const struct communicators *communicators,
	void (*take)(void *context, const struct collective_wait *wait), void *context,
	struct collectives *ret_collectives);

#endif
