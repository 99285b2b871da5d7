/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The process that begins the sender (sender.h), and another one when it ends before its time:
 *
 *   daemon --(forks, forks)--> keeper --(forks)--> sender
 *
 * The daemon itself cannot: once it has threads, what it would fork off had its memory and its
 * perf events, and its filters of system calls. The keeper has the socket and the spool's lock, so
 * that nothing is lost meanwhile: what the daemon hands over waits in the socket, what was taken
 * from there is in the spool. It is no child of the daemon's, so that a tracer that waits for any
 * child meets neither.
 */
#ifndef PIEPROFD_DAEMON_PUSH_KEEPER_H
#define PIEPROFD_DAEMON_PUSH_KEEPER_H

#include "daemon/push/sender.h"

/* Never returns: ends with the sender, when that has done all it had to. Has no descriptors but
 * those. */
_Noreturn void keeper_run(const struct push_options *options, struct spool *spool, int socket,
			  struct sender_shared *shared);

/* How long to wait before the sender is begun again, which lived that long. last_ns: before the
 * last one; 0: it was the first. Pure. */
uint64_t keeper_pause_ns(uint64_t last_ns, uint64_t lived_ns);

#endif
