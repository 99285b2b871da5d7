/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How many processes a thread makes, as the kernel's own records tell: they
 * are read, nobody is stopped, and the new processes are left alone. Also those
 * count that end before anybody could look at them.
 */
#ifndef PIEPROFD_ATTACH_FORK_COUNTER_H
#define PIEPROFD_ATTACH_FORK_COUNTER_H

#include "attach/event_ring.h"

#include <sys/types.h>

struct fork_counter {
	int fd; /* -1: not open */
	struct event_ring ring;
};

/* Counts from now on. 0 or a negative errno. */
__attribute__((warn_unused_result)) int fork_counter_open(struct fork_counter *counter, pid_t tid);
void fork_counter_close(struct fork_counter *counter);

/*
 * Those since the last call. The ring holds more than a hundred; of what it
 * could not hold, the kernel tells the number.
 */
uint64_t fork_counter_take(struct fork_counter *counter);

#endif
