/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Several processes profiled as one: those given, and with `follow` their
 * children, present and future. A session (daemon/session/session.h) for each, one life
 * for all.
 *
 * Children are found by looking, from the caller's thread, every
 * GROUP_LOOK_NS; the tracers let them go unseen, as before. What is looked at is
 * the processes that are new on this machine (attach/newcomers.h); the members
 * themselves take turns, within 0.25% of a CPU (look_budget.h). Where the kernel does not
 * tell which processes are new, children are found by these turns: with thousands
 * of members that takes longer than a second. A machine that makes hundreds of
 * processes a second costs more. A new process is
 * given time until the second look, since most that call exec do so at once,
 * and then tried, less and less often: an interpreter needs a while to be
 * readable. What is no CPython after GROUP_TRY_NS is left alone, but looked at
 * for children and for an exec: a shell may start the interpreter.
 *
 * A process that calls exec ends its session; the same process then gets a new
 * one. The profile of a session that has ended is merged at once, so that
 * memory does not grow with the number of processes that come and go.
 *
 * With a watch (process_watch.h), processes that it finds are profiled like
 * children: those that it finds at first, those that come, and those that come
 * back after they were started anew.
 *
 * With one process there is no merging: its profile is what a session makes.
 * What could not be profiled is counted as losses (LOSS_PROCESS_*).
 */
#ifndef PIEPROFD_DAEMON_SESSION_GROUP_H
#define PIEPROFD_DAEMON_SESSION_GROUP_H

#include "daemon/session/group_options.h"
#include "daemon/session/group_room.h"
#include "daemon/session/process_watch.h"
#include "daemon/session/session.h"

struct group;

/*
 * Checks and opens all given; nothing is touched yet. NULL with *error filled
 * when one of them cannot be profiled.
 */
struct group *group_create(const struct group_options *options, struct error *error);
void group_destroy(struct group *group);

/* Attaches to them. 0, or -1 with *error filled. */
__attribute__((warn_unused_result)) int group_start(struct group *group, struct error *error);

struct group_progress {
	uint64_t samples;
	size_t processes;  /* profiled now */
	size_t over_limit; /* not profiled, as too many are */
	size_t idle;       /* of these: they have used no CPU time since they were last sampled */
	struct newcomer_waits newcomers;
	bool running; /* false: none is left, and none can come */
};

struct group_progress group_progress(struct group *group);

/* Looks for new processes and merges what has ended. Returns when to look again, in nanoseconds. */
uint64_t group_look(struct group *group);

/*
 * Has another session take the place of this one of a process that goes on: at
 * the next look, and again until that succeeds. With an observer.
 */
void group_renew(struct group *group, struct session *session);

/* From now on, with turn_ns. */
void group_set_room(struct group *group, const struct group_room *room);

/* Since the last call. */
struct group_costs group_take_costs(struct group *group);

/* Whether a session has had its turn while others wait for one. */
bool group_turn_is_over(struct group *group, uint64_t now_ns);

/* Processes that could not be profiled; what only seemed so can be taken back. */
struct losses group_losses(const struct group *group);

/* What was not said yet about limits and refusals, lines for a person; the caller frees. NULL:
 * nothing. */
char *group_take_notes(struct group *group);

/* What was found and chosen, for -v. */
void group_describe(const struct group *group, FILE *file);

/* session_let_go() for each. */
void group_let_go(struct group *group);

/* Ends sampling and detaches from all. */
void group_finish(struct group *group);

/*
 * The profile as it is now, while running or after finish; destroy it before
 * the next call for the group. NULL: nothing was profiled, or out of memory.
 */
struct profile *group_profile(struct group *group);

/* Nothing was profiled so far. */
bool group_is_empty(const struct group *group);

/* Less is measured of some process than was asked for, as its notes say. */
bool group_is_degraded(const struct group *group);

/* Why the first process that the watch found and that was not permitted was refused; EXIT_OK: none.
 */
enum exit_code group_refusal(const struct group *group);

/* How the process started here ended, as far as a session saw it; false: not known. */
bool group_command_end(const struct group *group, enum process_end *ret_end, int *ret_status);

#endif
