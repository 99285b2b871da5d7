/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One profile of one process, from attach to detach.
 *
 * The session owns two threads' worth of work. The caller's thread opens it,
 * waits, and builds profiles. The tracer's thread, which lives inside, makes
 * all ptrace calls and runs the pipeline (daemon/sample/pipeline.h); its end is the
 * detach. They share no data while sampling: the caller reads the tree only
 * when the session is paused or finished.
 */
#ifndef PIEPROFD_DAEMON_SESSION_SESSION_H
#define PIEPROFD_DAEMON_SESSION_SESSION_H

#include "common/error.h"
#include "daemon/report/model/profile.h"
#include "daemon/session/session_options.h"

#include <stdio.h>

struct session;

/*
 * Checks, opens the target's files, finds the interpreter. The target is not
 * touched yet. NULL with *error filled.
 */
struct session *session_create(const struct session_options *options, struct error *error);
void session_destroy(struct session *session);

/* Attaches and begins to sample. 0, or -1 with *error filled. */
__attribute__((warn_unused_result)) int session_start(struct session *session, struct error *error);

struct session_progress {
	uint64_t samples;
	uint64_t verdicts; /* pairs seen */
	bool running;      /* false: the target has ended, or runs another program */
	enum process_end end;
	int end_status;
	bool end_seen;  /* by a tracer: else both are guesses, and its parent has yet to ask */
	uint64_t forks; /* processes that the target has made, once it no longer runs */
};

/* At any time, from any thread. */
struct session_progress session_progress(struct session *session);

pid_t session_pid(const struct session *session);

/* What the target runs in, and what it is called; both belong to the session, and never change. */
const struct profile_container *session_container(const struct session *session);
const struct process_labels *session_labels(const struct session *session);

/* Stops sampling for a while, so that session_profile() may be called; no thread of the target
 * waits. */
void session_pause(struct session *session);
void session_resume(struct session *session);

/* Asks for the end, without waiting for it. */
void session_ask_finish(struct session *session);
/* Ends sampling and detaches. */
void session_finish(struct session *session);

/*
 * While paused or after finish. Destroy it before the session. version is
 * pieprofd's. NULL: out of memory.
 */
struct profile *session_profile(struct session *session, const char *version);

/* The same, with all pairs, for merging with others (profile_merge.h). */
struct profile *session_profile_for_merge(struct session *session, const char *version);

/*
 * The same while sampling goes on: neither it nor any watch is interrupted. From
 * one thread at a time, and not while another one calls session_profile() or
 * session_finish(). The profile has no source lines; it stays good whatever
 * happens to the session but its destruction. NULL: out of memory.
 */
struct profile *session_snapshot(struct session *session, const char *version);

/* Opens a source file of the target, for source_cache_create(). A descriptor or a negative errno.
 */
int session_open_source(void *session, const char *path);

struct source_memory;

/* Of code without a file; the context is the session, too. */
extern const struct source_memory session_source_memory;

/*
 * In a copy of the process, made by fork() in last_resort: as if finished. Its
 * profile can be made, though what its threads were changing is as it was then.
 */
void session_let_go(struct session *session);

/* What was found and chosen before attaching, a line each: for -v. */
void session_describe(const struct session *session, FILE *file);

/* Less is measured than the options asked for; the notes say what. */
bool session_is_degraded(const struct session *session);

/* Notes for a person, one a line, about what is limited in this session; "" when nothing is. */
const char *session_notes(const struct session *session);

#endif
