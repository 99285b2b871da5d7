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
 *
 * A process that is new does not wait until the last turn is paid for: it is sampled on credit.
 *
 *   saved up     0                      -6 s            -11 s of the share
 *   |------------|-----------------------|----------------|---------> owed
 *    anybody's    new processes' turns,   nobody's         one session less
 *    turn         as far as they have
 *                 credit
 *
 * Credit is CPU time of attaching: as much as that debt at first and at most. New processes use it
 * up, and what is spent on attaching to others brings it in again. So those that come and go by the
 * hundred take half of the turns, and not all of them; and where processes wait for turns all the
 * time, nothing is saved up, and no minute takes more than a tenth above its share.
 */
#ifndef PIEPROFD_DAEMON_SERVE_NODE_BUDGET_H
#define PIEPROFD_DAEMON_SERVE_NODE_BUDGET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* So many seconds of the share are saved up; what is owed beyond so many is let off. */
#define NODE_BUDGET_SAVED_S 30
#define NODE_BUDGET_OWED_S  600
/* So many may be owed for the turns of new processes. */
#define NODE_BUDGET_CREDIT_S 6

struct node_budget {
	double share;        /* of all processors; 0: no limit */
	unsigned processors; /* at least 1 */
	int64_t left_ns;
	uint64_t looked_ns, cpu_ns; /* at the last look; 0: none yet */
	bool begun;                 /* there has been a session */
	uint64_t dropped_ns;        /* when there was last room for one less */
	/* What new processes have used of their credit: from 0 on. */
	uint64_t credit_used_ns;
};

/* cpu_ns: what the daemon has used so far; live: its sessions. At least 1, at most max. */
size_t node_budget_room(struct node_budget *budget, uint64_t now_ns, uint64_t cpu_ns, size_t live,
			size_t max);

/* CPU time of attaching since the last call: to new processes before their time, and to others. */
void node_budget_charge(struct node_budget *budget, uint64_t new_ns, uint64_t others_ns);

/* Whether a new process may be sampled before all others, by what the last look found. */
bool node_budget_has_credit(const struct node_budget *budget);

#endif
