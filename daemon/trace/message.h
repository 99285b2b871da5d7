/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Messages: what one rank has sent, and which receive of another one got it.
 *
 * Between two ranks, messages of one communicator and tag are received in the order in which they
 * were sent, by receives in the order in which these were posted (MPI 4.1, 3.5). So the k-th send
 * of such a channel goes with the k-th receive. Where a trace begins in the middle, receives whose
 * messages were sent before it have ended before the next send began, and are passed over.
 *
 * What is not certain is left out and counted: receives from anybody of whom no status tells, and
 * then all that the same rank receives in the same communicator; and communicators that are not
 * known. Times are those of one machine's clock.
 */
#ifndef PIEPROFD_DAEMON_TRACE_MESSAGE_H
#define PIEPROFD_DAEMON_TRACE_MESSAGE_H

#include "daemon/trace/communicator.h"
#include "daemon/trace/trace.h"

struct message {
	const struct trace_event *send, *receive; /* in the processes' files */
	uint32_t from, to;                        /* places of the processes in the trace */
	uint32_t communicator;
	/* Of what the receiver waited for in one call, the last: by it the call was held up. */
	bool held_up;
	uint64_t late_ns; /* from when the receiver began to wait to when this was sent; 0: was in
			     time */
	/* How long a blocking send lasted before this was asked for; 0: it did not wait for that.
	 */
	uint64_t receiver_late_ns;
};

struct messages {
	struct message *items; /* by when they were sent */
	size_t count;
	uint64_t unmatched_sends;
	uint64_t unmatched_receives;
	uint64_t of_anybody; /* receives whose sender is not known */
	uint64_t uncertain;  /* sends to ranks that have such receives */
	uint64_t elsewhere;  /* sends and receives in communicators that are not known */
};

/* 0 or -ENOMEM; deinit in any case. */
__attribute__((warn_unused_result)) int messages_init(struct messages *messages,
						      const struct trace *trace,
						      const struct communicators *communicators);
void messages_deinit(struct messages *messages);

#endif
