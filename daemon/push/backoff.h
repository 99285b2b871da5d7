/* SPDX-License-Identifier: Apache-2.0 */
/* How long to wait until a request is tried again. Pure. */
#ifndef PIEPROFD_DAEMON_PUSH_BACKOFF_H
#define PIEPROFD_DAEMON_PUSH_BACKOFF_H

#include <stdint.h>

/*
 * Twice as long after each failure, from 1 s to 60 s, less a random part of up to a half: many
 * daemons whose receiver comes back do not all ask at once. failures: so far, at least 1.
 * asked_ns: what the receiver asked for, an hour at most of it; 0: nothing.
 */
uint64_t backoff_ns(unsigned failures, uint64_t random, uint64_t asked_ns);

#endif
