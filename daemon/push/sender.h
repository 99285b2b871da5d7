/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The process that sends (push.h): takes requests from a socket into the spool, at once, and from
 * there to the receiver, the oldest first, one at a time. It ends some seconds after the
 * socket's other end is closed, or when nothing is left to send.
 *
 * A request on the socket is a message: a struct sender_message, with the descriptor of a file
 * whose bytes are the request. It is taken off only when it is in the spool: another sender finds
 * it where this one ends in between, and tells by the number that it has it already.
 */
#ifndef PIEPROFD_DAEMON_PUSH_SENDER_H
#define PIEPROFD_DAEMON_PUSH_SENDER_H

#include "daemon/push/push_options.h"
#include "daemon/push/spool.h"

struct sender_message {
	uint64_t number; /* of the spool */
};

/* How long what is left at the end may take. */
#define SENDER_FAREWELL_S 4

/* Shared with the daemon. */
struct sender_shared {
	struct push_counts counts;
	bool ready; /* one was begun */
};

/* A line on stderr: "push to HOST:PORT: WORDS: DETAIL", detail NULL: without. */
void sender_say(const struct push_options *options, const char *words, const char *detail);

/* Never returns. Does nothing but this, and has no descriptors but those. The first one says by a
 * byte on the socket that it is ready. */
_Noreturn void sender_run(const struct push_options *options, struct spool *spool, int socket,
			  struct sender_shared *shared);

#endif
