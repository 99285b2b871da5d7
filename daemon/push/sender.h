/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The process that sends (push.h): takes requests from a socket into the spool, at once, and from
 * there to the receiver, the oldest first, one at a time. It ends some seconds after the
 * socket's other end is closed, or when nothing is left to send.
 */
#ifndef PIEPROFD_DAEMON_PUSH_SENDER_H
#define PIEPROFD_DAEMON_PUSH_SENDER_H

#include "daemon/push/push_options.h"
#include "daemon/push/spool.h"

/* In front of each request on the socket. */
typedef uint32_t sender_size;

/* How long what is left at the end may take. */
#define SENDER_FAREWELL_S 4

/* Never returns. Does nothing but this, and has no descriptors but those. */
_Noreturn void sender_run(const struct push_options *options, struct spool *spool, int socket,
			  struct push_counts *counts);

#endif
