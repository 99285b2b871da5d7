/* SPDX-License-Identifier: Apache-2.0 */
/* Plays a trace again in which messages take no time (ideal_run.h). Pure. */
#ifndef PIEPROFD_DAEMON_TRACE_IDEAL_REPLAY_H
#define PIEPROFD_DAEMON_TRACE_IDEAL_REPLAY_H

#include "daemon/trace/message.h"

#include <stdbool.h>
#include <stddef.h>

#define IDEAL_NOT_YET UINT64_MAX

/* What is played again: all is borrowed. */
struct ideal_subject {
	const struct trace *trace;
	const struct communicators *communicators;
	const struct messages *messages;
	uint64_t begin_ns, end_ns; /* the time that all ran, which alone is played */
	uint64_t missing;          /* of calls, events and requests */
};

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

static inline bool ideal_is_in_window(const struct ideal_subject *subject,
				      const struct trace_event *event)
{
	return event->end_ns > subject->begin_ns && event->begin_ns < subject->end_ns;
}

/* It went on when the time was over: nothing is waited for. */
static inline bool ideal_is_cut(const struct ideal_subject *subject, const struct trace_event *call)
{
	return call->end_ns >= subject->end_ns;
}

/* The operations' calls are sorted by process and event. Sets state, count and ns. 0 or -ENOMEM. */
__attribute__((warn_unused_result)) int ideal_replay(struct ideal_run *ideal,
						     const struct ideal_subject *subject);

#endif
