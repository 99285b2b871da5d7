/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Closes links of probes in a thread of its own. The kernel takes a link's probes out at once, and
 * then waits for some 30 ms until nobody is in them: meanwhile other processes' probes would be hit
 * without anybody looking at what they cost.
 *
 *   idle --close()--> busy --is_done()--> idle
 */
#ifndef PIEPROFD_ATTACH_LINK_CLOSER_H
#define PIEPROFD_ATTACH_LINK_CLOSER_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

#define LINK_CLOSER_MAX 16

struct link_closer { /* all zeros: idle; stays where it is while it is busy */
	pthread_t thread;
	bool busy;
	int fds[LINK_CLOSER_MAX];
	size_t count;
};

/* Takes over the descriptors, LINK_CLOSER_MAX at most. Waits where it is busy, or where there can
 * be no thread; at_once: and without one, which would begin a moment later. */
void link_closer_close(struct link_closer *closer, const int *fds, size_t count, bool at_once);

/* Whether nobody is in those probes any more; wait: until it is so. */
bool link_closer_is_done(struct link_closer *closer, bool wait);

#endif
