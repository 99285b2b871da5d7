/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A search for processes that is repeated, for targets that come and come
 * back. Looking through /proc takes milliseconds, so it is done at intervals
 * that keep its cost under 1% of a CPU, or a given share, whatever the number of
 * processes is. The first search looks at all of them, and the next ones at those
 * that are new (strangers.h): its cost says nothing of theirs.
 *
 * With a share, searches may be seconds apart. Processes that begin between them are met by their
 * numbers (attach/births.h) at each look, as long as that takes no more than share_most: with
 * hundreds a second, less often, and a thousand are left to the next search.
 */
#ifndef PIEPROFD_DAEMON_SESSION_PROCESS_WATCH_H
#define PIEPROFD_DAEMON_SESSION_PROCESS_WATCH_H

#include "attach/births.h"
#include "daemon/session/process_search.h"
#include "daemon/session/strangers.h"

#include <stdint.h>

struct process_watch {
	struct process_query query;
	double share; /* of a CPU that searches may take; 0: a hundredth */
	/* The same where new processes would be found later than after 2 s; 0: share. */
	double share_most;
	uint64_t next_ns; /* when the next search is due */
	bool searched;
	uint64_t next_births_ns; /* the same of those that begin */
	struct births births;
	struct strangers strangers;
};

void process_watch_deinit(struct process_watch *watch);

/* Those found, in place of what the list held; none when no search is due, or it failed. */
void process_watch_look(struct process_watch *watch, struct pid_list *ret_found);

#endif
