/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How long the ranks would have run if messages took no time: the trace is played again, in which
 * each computes for as long as it did between its calls, and leaves a call as soon as those have
 * come for whom it waits there.
 *
 *   rank 0   computes | send                         ideal: as long as this goes on ...
 *   rank 1   comp. | receive . . . . . | computes
 *   rank 1   comp. | . . .|computes                  ... rank 1 waits here, and no longer
 *
 * The POP project (pop-coe.eu, "Multiplicative metrics"; there by Dimemas) splits communication
 * efficiency by that time:
 *
 *   serialisation efficiency = largest useful time / ideal run time
 *   transfer efficiency      = ideal run time / run time
 *
 * What is waited for: of a receive, the call that sends; of a collective operation, all members,
 * the root, or the ranks before (collective.h); of a blocking send that goes by rendezvous, the
 * receive. MPI_Ssend does; of MPI_Send those of sizes of which some were seen to wait for a late
 * receiver, and none that was as large or larger to end before one came. Where the request of a
 * send is waited for, that takes no time. Who got which message is as it was.
 *
 * The time is not known where that does not tell all: events were lost, a receive or a collective
 * operation in the window was not matched, calls wait in other ways (requests of collective
 * operations, windows, files), or several threads of a rank call MPI. Memory: 40 bytes a message and
 * 24 to 56 for each call of a collective operation, of which a trace has at most TRACE_EVENTS_MAX. Pure.
 */
#ifndef PIEPROFD_DAEMON_TRACE_IDEAL_RUN_H
#define PIEPROFD_DAEMON_TRACE_IDEAL_RUN_H

#include "daemon/trace/trace_event.h"

#include <stddef.h>

#define IDEAL_NOT_YET UINT64_MAX

struct trace_analysis;

enum ideal_state {
	IDEAL_NO_TIME, /* there is no time to look at */
	IDEAL_KNOWN,
	IDEAL_MISSING,    /* count calls, events or requests were not recorded */
	IDEAL_THREADS,    /* of count ranks, several threads call MPI */
	IDEAL_UNFOLLOWED, /* count calls, as of function */
	IDEAL_RECEIVES,   /* of count it is not known who sent */
	IDEAL_COLLECTIVE, /* of count calls it is not known what they belong to */
	IDEAL_STUCK,      /* count ranks would wait for each other: something was matched wrongly */
};

/* A collective operation. */
struct ideal_operation {
	uint32_t communicator;
	uint32_t root;
	uint32_t arrived; /* members; of a scan, up to the first one that has not come */
	uint32_t class;   /* enum mpi_class; MPI_OTHER: nobody waits */
	uint64_t last_ns; /* when the last one of them did */
	uint64_t root_ns; /* when the root did; IDEAL_NOT_YET */
};

/* A member's call of one. */
struct ideal_call {
	const struct trace_event *event;
	uint32_t process;
	uint32_t operation, place; /* which, and as which member */
};

struct ideal_run { /* all zeros: nothing was noted */
	enum ideal_state state;
	uint64_t ns;
	uint64_t count;
	uint16_t function;
	struct ideal_operation *operations;
	size_t operation_count, operation_capacity;
	struct ideal_call *calls;
	size_t call_count, call_capacity;
};

/* A collective operation in the analysis's time: calls of the members of the communicator, by
 * place there, and the root among them. 0 or -ENOMEM. */
__attribute__((warn_unused_result)) int ideal_run_note(struct ideal_run *ideal,
						       const struct trace_analysis *analysis,
						       uint32_t communicator,
						       const struct trace_event *const *calls,
						       uint32_t root);

/* When all operations were noted, and messages are matched. 0 or -ENOMEM; deinit in any case. */
__attribute__((warn_unused_result)) int ideal_run_find(struct ideal_run *ideal,
						       const struct trace_analysis *analysis);
void ideal_run_deinit(struct ideal_run *ideal);

/* Why it is not known, such as "of 3 receives the sender is not known". */
void ideal_run_reason(const struct ideal_run *ideal, char *ret_words, size_t size);

#endif
