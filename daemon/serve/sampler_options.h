/* SPDX-License-Identifier: Apache-2.0 */
/* What the sampler (sampler.h) samples, how much of it there may be, and how it stands. */
#ifndef PIEPROFD_DAEMON_SERVE_SAMPLER_OPTIONS_H
#define PIEPROFD_DAEMON_SERVE_SAMPLER_OPTIONS_H

#include "daemon/session/process_search.h"
#include "daemon/session/session_options.h"

#define WINDOWS_MAX 8 /* open at a time */
/* Of the tree and the pairs; less than a recording has, as copies and marks cost again as much. */
#define SAMPLER_NODES_MAX 100000
#define SAMPLER_PAIRS_MAX 20000
/* Of several processes, each; more processes than that wait for a place, or take turns. */
#define SAMPLER_NODES_OF_EACH 25000
#define SAMPLER_PAIRS_OF_EACH 5000
#define SAMPLER_SESSIONS_MAX  32
/* With a share of the machine, processes take turns of so long. */
#define SAMPLER_TURN_NS (10 * 1000000000ull)
/* While there is one that was never sampled: all shall be seen soon. */
#define SAMPLER_FIRST_TURN_NS (1 * 1000000000ull)

struct sampler_options {
	struct session_options session;
	uint64_t rotate_ns; /* the age at which a session gives way; 0: only when full */
	/* More than one process, or not always the same: borrowed. */
	bool several;
	const pid_t *pids;
	size_t pid_count;
	double node_share; /* most of the machine's CPU time; 0: no limit, and no turns */
	bool follow;       /* their children, too */
	bool wait;         /* for others, when none is left */
	const struct process_query *query; /* what finds them again; NULL: nothing */
};

enum sampler_state {
	SAMPLER_STOPPED, /* nothing is attached */
	SAMPLER_WAITING, /* there is no process now */
	SAMPLER_RUNNING,
	SAMPLER_ENDED, /* the target has; for good */
};

#endif
