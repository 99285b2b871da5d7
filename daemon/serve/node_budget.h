/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How many processes a daemon may sample at a time if it is to take no more than a share of the
 * machine's CPU time: a bucket into which the share comes with the time that goes by, and from
 * which goes what the daemon's own threads used. While there is something in it, there is room for
 * one session more at each look; in debt, for none more; and in deep debt for one less, once a
 * second. Pure.
 *
 * What is used until the first session has begun is let off: to load the program for the kernel, to
 * look at all processes once, and to read an interpreter's layout take as long as the attaches of a
 * minute, and come once.
 *
 * An attach costs most, so it is by their number that the cost is steered: with a share that is too
 * small for all, processes take turns (group_options.turn_ns) that follow each other more slowly.
 */
#ifndef PIEPROFD_DAEMON_SERVE_NODE_BUDGET_H
#define PIEPROFD_DAEMON_SERVE_NODE_BUDGET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* So many seconds of the share are saved up; what is owed beyond so many is let off. */
#define NODE_BUDGET_SAVED_S 30
#define NODE_BUDGET_OWED_S  600

struct node_budget {
	double share;        /* of all processors; 0: no limit */
	unsigned processors; /* at least 1 */
	int64_t left_ns;
	uint64_t looked_ns, cpu_ns; /* at the last look; 0: none yet */
	bool begun;                 /* there has been a session */
	uint64_t dropped_ns;        /* when there was last room for one less */
};

/* cpu_ns: what the daemon has used so far; live: its sessions. At least 1, at most max. */
size_t node_budget_room(struct node_budget *budget, uint64_t now_ns, uint64_t cpu_ns, size_t live,
			size_t max);

#endif
