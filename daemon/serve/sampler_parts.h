/* SPDX-License-Identifier: Apache-2.0 */
/* What sampler.c, cohort.c and window.c share. */
#ifndef PIEPROFD_DAEMON_SERVE_SAMPLER_PARTS_H
#define PIEPROFD_DAEMON_SERVE_SAMPLER_PARTS_H

#include "daemon/report/merge/profile_merge.h"
#include "daemon/serve/node_budget.h"
#include "daemon/serve/sampler_options.h"
#include "daemon/session/group.h"
#include "daemon/session/session_window.h"

#include <pthread.h>

struct sampler_counters;

/* What a window has of a session. */
struct window_part {
	struct session_mark *mark; /* NULL: all of the session */
	bool live;                 /* the session is one of its own; under work */
};

struct window {
	struct sampler *sampler;
	uint64_t opened_ns;
	struct losses refused;                          /* processes, by then */
	struct window_part parts[SAMPLER_SESSIONS_MAX]; /* by slot */
	struct profile_merge *merged;                   /* of earlier sessions; NULL: none */
	bool failed;                                    /* out of memory, a part is missing */
	bool over;                                      /* set with both locks held: for good */
};

/* A place for a session; one alone uses the first. */
struct slot {
	struct session *session; /* NULL: none; it may have ended */
	uint64_t began_ns;
	uint64_t counted_ns; /* it was looked at for its size */
};

struct sampler {
	struct sampler_options options;
	bool several; /* of a group; otherwise of one session */
	/* Guards the sessions and all that follows; held while a profile is made. */
	pthread_mutex_t work;
	struct slot slots[SAMPLER_SESSIONS_MAX];
	uint64_t start_time; /* of the one process, by which it is known again; 0: never seen */
	uint64_t retry_ns;   /* when to begin again; 0: nothing to retry */
	struct session_counters past;
	uint64_t rotations;
	struct window *windows[WINDOWS_MAX];
	bool refusing;
	uint64_t sessions_begun;
	/* Of several. */
	struct group *group; /* NULL: none yet; it may have finished */
	struct group_observer observer;
	struct process_watch watch;
	struct node_budget budget;
	struct newcomer_waits newcomers; /* of groups before this one */
	uint64_t *start_times;           /* of the processes given */
	struct losses refused;           /* processes, by groups before this one */
	bool began_before;
	bool trim; /* sessions have ended */
	/* A start is asked for by any thread, which waits for the one that polls. */
	uint64_t starts_wanted, starts_done;
	int start_result;
	struct error start_error;
	pthread_cond_t started;
	/* Never held for long; taken after work. */
	pthread_mutex_t lock;
	pthread_cond_t changed; /* a window is over */
	/* Atomic. */
	int state;
};

/* All of these with work held. */

void sampler_set_state(struct sampler *sampler, enum sampler_state state);
/* A session has begun, which open windows look at from now on. */
void slot_begin(struct sampler *sampler, size_t slot, struct session *session);
/* It is finished and is to be destroyed: its counters are kept, and windows' parts. */
void slot_end(struct sampler *sampler, size_t slot);
/* Three quarters of what a session may hold, of one kind at least. */
bool sampler_is_nearly_full(const struct session_options *limits,
			    const struct session_counters *counters);
/* Old or nearly full. */
bool slot_is_due(const struct sampler *sampler, struct slot *slot, uint64_t now_ns);

/* Several processes: as the functions of sampler.h. */
__attribute__((warn_unused_result)) int cohort_begin(struct sampler *sampler, struct error *error);
void cohort_stop(struct sampler *sampler);
void cohort_poll(struct sampler *sampler, uint64_t now_ns, char *notice, size_t size);
void cohort_copy_notes(struct sampler *sampler, char *notes, size_t size);
void cohort_destroy(struct sampler *sampler);
/* Of turns, and of processes that wait for theirs. */
void cohort_count(const struct sampler *sampler, struct sampler_counters *counters);
/* Processes that could not be sampled, so far. */
struct losses cohort_losses(const struct sampler *sampler);

/* The end of a session for this window: what it has seen is kept with it. */
void window_keep_part(struct window *window, size_t slot);
/* Of all sessions. */
void window_keep_parts(struct window *window);

/* Has its thread go on. */
void window_end(struct window *window);
void windows_end(struct sampler *sampler);

#endif
