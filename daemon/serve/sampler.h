/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The one profile behind all requests: a session that goes on for weeks, of
 * which each request sees a window (window.h). Or of several processes a session
 * for each (cohort.c), whose windows are merged into one.
 *
 *   session 1 ------------------------> session 2 --------------> ...
 *        [window]  [  window  ]   [ window | merged ]
 *          [ window ]
 *
 * Rotation: when it is old, or one of its tables is filled to ROTATE_SHARE, the
 * session ends and another one begins, with nothing of the first but its
 * counters. So all that a session gathers is bounded, names and files of the
 * target included. A window that is open then is merged of two parts.
 *
 * Any thread may call, but for sampler_start(), sampler_poll() and
 * sampler_destroy(), which are one thread's: one that no filter of system calls
 * confines, as the sessions' threads have the filter of who made them. Whoever looks at the session
 * waits for those before; the target waits for nobody.
 */
#ifndef PIEPROFD_DAEMON_SERVE_SAMPLER_H
#define PIEPROFD_DAEMON_SERVE_SAMPLER_H

#include "daemon/serve/sampler_options.h"
#include "daemon/session/group_room.h"
#include "daemon/session/session_window.h"

const char *sampler_state_name(enum sampler_state state);

struct sampler;

/* NULL: out of memory. Nothing is touched yet. */
struct sampler *sampler_create(const struct sampler_options *options);
/* No window may be open. */
void sampler_destroy(struct sampler *sampler);

/* 0, also when it runs already, or -1 with *error filled. */
__attribute__((warn_unused_result)) int sampler_start(struct sampler *sampler, struct error *error);
/* The same, from any other thread: the one that polls does it. */
__attribute__((warn_unused_result)) int sampler_ask_start(struct sampler *sampler,
							  struct error *error);
/* Detaches. Open windows end; what was seen can still be read. */
void sampler_stop(struct sampler *sampler);
/* All windows end, and none begins any more. */
void sampler_refuse(struct sampler *sampler);

/*
 * Every so often: looks whether the target has ended, rotates. What is to be
 * told to a person is written to notice.
 */
void sampler_poll(struct sampler *sampler, char *notice, size_t size);

/* For a person, about what is limited in the session that runs, a line each; "": nothing. */
void sampler_copy_notes(struct sampler *sampler, char *notes, size_t size);

/* At once, whatever others do. */
enum sampler_state sampler_state(const struct sampler *sampler);

/* Those that are sampled now; how many. */
size_t sampler_processes(struct sampler *sampler, pid_t ret_pids[SAMPLER_SESSIONS_MAX]);
/* Of several, or any number of them: reports name each. */
bool sampler_is_of_several(const struct sampler *sampler);

/* How many of the processes that are sampled now run in a container. */
struct sampler_container {
	struct profile_container container;
	size_t processes;
};

/* How many of them are called that. */
struct sampler_service {
	struct process_labels labels;
	size_t processes;
};

struct sampler_counters {
	struct session_counters all; /* of all sessions so far; sizes and period are the last's */
	uint64_t rotations;
	size_t windows;      /* open */
	uint64_t session_ns; /* age of the oldest that runs; 0: none does */
	size_t processes;    /* sampled now */
	size_t processes_over_limit;
	size_t processes_idle; /* of these */
	bool takes_turns;      /* within a share of the machine; then: */
	struct newcomer_waits newcomers;
	int64_t budget_ns; /* CPU time that the daemon may use now; below 0: it is owed */
	uint64_t sessions_begun;
	size_t sessions_limit, nodes_limit, pairs_limit;
	struct sampler_container containers[SAMPLER_SESSIONS_MAX];
	size_t container_count;
	struct sampler_service services[SAMPLER_SESSIONS_MAX];
	size_t service_count;
};

/* 0 or -ENOMEM. */
__attribute__((warn_unused_result)) int sampler_count(struct sampler *sampler,
						      struct sampler_counters *ret_counters);

/* Takes the profile only while it is called. 0 or a negative errno. */
typedef int sampler_put(const struct profile *profile, void *context);

/* What the last session, or those of several processes, has seen so far, with source lines:
 * -EAGAIN: nothing, -ENOMEM, or what put said. */
__attribute__((warn_unused_result)) int sampler_write(struct sampler *sampler, sampler_put *put,
						      void *context);

#endif
