/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who is behind the waiting: a rank that is waited for may have waited itself meanwhile.
 *
 *   rank 0   |  waits for rank 3  . . . . . . . . |
 *   rank 3            |  waits for rank 2 . |                of rank 0's time rank 2 has this part,
 *   rank 2   computes . . . . . . . . . . . |                rank 3 what is before and behind it
 *
 * Pure.
 */
#ifndef PIEPROFD_DAEMON_TRACE_WAIT_BLAME_H
#define PIEPROFD_DAEMON_TRACE_WAIT_BLAME_H

#include "daemon/trace/collective.h"

/* Ranks that wait for each other in a row; whoever is further on is not looked for. */
#define WAIT_CHAIN_MAX 16

struct wait_list { /* all zeros: empty */
	struct collective_wait *items;
	size_t count, capacity;
};

void wait_list_deinit(struct wait_list *list);
/* 0 or -ENOMEM. */
__attribute__((warn_unused_result)) int wait_list_add(struct wait_list *list,
						      const struct collective_wait *wait);

/* Sorts the list. Adds to each rank's place in the array what others have waited because of it. */
void wait_list_blame(struct wait_list *list, size_t ranks, uint64_t *blamed_ns);

#endif
