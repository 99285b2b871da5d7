/* SPDX-License-Identifier: Apache-2.0 */
/* What a group is told of how much it may sample at a time (group_turns.c), and what came of it. */
#ifndef PIEPROFD_DAEMON_SESSION_GROUP_ROOM_H
#define PIEPROFD_DAEMON_SESSION_GROUP_ROOM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What there may be, within group_options.sessions_max. */
struct group_room {
	size_t sessions; /* those beyond end at the next looks; 0: no other limit */
	bool turns;      /* others may take the place of those whose turn is over */
	/* A newcomer may do so as well, before all others, or have a place beyond. */
	bool newcomers;
};

/* CPU time of all threads while processes were tried. */
struct group_costs {
	uint64_t newcomers_ns; /* of those that went before others */
	uint64_t others_ns;
};

#define NEWCOMER_WAITS 7

/* Of the newcomers that had a session, how long it was from their start until then. */
struct newcomer_waits {
	uint64_t counts[NEWCOMER_WAITS]; /* by newcomer_wait_bounds_s; the last: longer */
	uint64_t sum_ns;
};

extern const unsigned newcomer_wait_bounds_s[NEWCOMER_WAITS - 1];

#endif
