/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An event of a trace: something that a thread of one process did from then to then. All kinds
 * are of one size, so that a trace file is an array (trace_file.h) and can be sorted in place.
 *
 *   TRACE_CALL            an MPI function, from entry to return
 *   TRACE_SEND            a message given to MPI, in the call of that time
 *   TRACE_RECEIVE         a message asked for, and when it had been received
 *   TRACE_COMMUNICATOR    a communicator made of another one
 *   TRACE_SPAN            what else was asked for (span.h), from begin to end
 *   TRACE_COUNTER         by how much one of its counters moved on (counter_watch.h)
 *
 * Communicators are numbers of one process, in the order in which it made them; what belongs
 * together among processes is found when they are merged (communicator.h).
 */
#ifndef PIEPROFD_DAEMON_TRACE_TRACE_EVENT_H
#define PIEPROFD_DAEMON_TRACE_TRACE_EVENT_H

#include <stdint.h>

enum trace_kind {
	TRACE_CALL = 1,
	TRACE_SEND,
	TRACE_RECEIVE,
	TRACE_COMMUNICATOR,
	TRACE_SPAN,
	TRACE_COUNTER,
};

enum trace_communicator {
	TRACE_COMMUNICATOR_NONE,    /* the call has none */
	TRACE_COMMUNICATOR_UNKNOWN, /* made before the trace, or in a way that is not followed */
	TRACE_COMMUNICATOR_WORLD,
	TRACE_COMMUNICATOR_SELF,
	TRACE_COMMUNICATOR_FIRST, /* of those made */
};

/* Of a communicator of a group that is not known. */
#define TRACE_COLOUR_UNKNOWN INT32_MIN

#define TRACE_OPEN         (1u << 0) /* the call had not returned when the trace ended */
#define TRACE_SIZE_UNKNOWN (1u << 1) /* bytes is 0, as the datatype's size is not known */
#define TRACE_ANY_PEER     (1u << 2) /* a receive from anybody whose status nobody asked for */
#define TRACE_ANY_TAG      (1u << 3)
#define TRACE_BEFORE       (1u << 4) /* it began before it was recorded: seen since begin_ns */
#define TRACE_RAISED       (1u << 5) /* a Python function that an exception has left */

struct trace_event {
	uint64_t begin_ns; /* CLOCK_MONOTONIC */
	uint64_t end_ns;
	uint64_t order;   /* in which the process did it: of receives, when they were posted */
	uint64_t bytes;   /* sent; room for what is received; given to a collective operation;
			   * TRACE_COUNTER: by how much */
	uint64_t wait_ns; /* TRACE_RECEIVE: when the call began that completed it */
	uint32_t thread;
	uint16_t kind;
	uint16_t function; /* of mpi_function.h; TRACE_SPAN: number in the trace's list;
			    * TRACE_COUNTER: an enum counter_kind */
	uint32_t flags;
	uint32_t communicator;
	int32_t peer; /* rank in the communicator; TRACE_COMMUNICATOR: the communicator's parent */
	int32_t tag;  /* TRACE_COMMUNICATOR: colour, or TRACE_COLOUR_UNKNOWN; TRACE_SPAN: its detail
		       * (span_record.h), or of  Python  functions the path */
	int32_t key;  /* TRACE_COMMUNICATOR alone */
	uint16_t completed_by; /* TRACE_RECEIVE: function in which it was waited for */
	uint16_t unused;
	uint32_t path; /* whence it was called, of call_path.h; TRACE_RECEIVE: what completed it */
	uint32_t unused_too;
};

#endif
