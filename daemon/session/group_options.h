/* SPDX-License-Identifier: Apache-2.0 */
/* Which processes a group (group.h) is of, and what it is to do with them. */
#ifndef PIEPROFD_DAEMON_SESSION_GROUP_OPTIONS_H
#define PIEPROFD_DAEMON_SESSION_GROUP_OPTIONS_H

#include "daemon/session/session_options.h"

struct process_watch;
struct session;

#define GROUP_SESSIONS_MAX 256   /* alive at a time */
#define GROUP_WATCHED_MAX  16384 /* processes looked at, with those that are no CPython */
#define GROUP_LOOK_NS      (50 * 1000000ull)
#define GROUP_TRY_NS       (5 * 1000000000ull)

/*
 * For callers that keep session results themselves: nothing is merged, and
 * group_profile() must not be called. Called from the functions of the group;
 * a session that ends is finished, and destroyed after the call.
 */
struct group_observer {
	void (*session_began)(void *context, struct session *session);
	void (*session_ends)(void *context, struct session *session);
	void *context;
};

struct group_options {
	struct session_options session; /* pid apart */
	const pid_t *pids;
	size_t pid_count;
	bool follow;
	/*
	 * The first pid was just started by us: it is tried until it is a CPython,
	 * and may end before. Otherwise each must be one already.
	 */
	bool started_here;
	/*
	 * Has found the pids given and looks for more; borrowed, NULL: none. A pid that
	 * is refused is then passed over, unless all are.
	 */
	struct process_watch *watch;
	bool wait;                             /* when none is left, others may come: go on */
	const struct group_observer *observer; /* borrowed; NULL: none */
	size_t sessions_max;                   /* 0: GROUP_SESSIONS_MAX */
	size_t sessions_first;                 /* so many at first (group_set_room); 0: all */
	/* Of more than that, each is sampled so long before it gives way; 0: to its end. */
	uint64_t turn_ns;
	uint64_t look_part;     /* of a CPU for looking at members, look_budget.part */
	uint64_t first_turn_ns; /* the same while one waits that had no turn yet; with turn_ns */
};

#endif
