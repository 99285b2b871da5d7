/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records MPI calls of processes: those given, or whatever a launcher starts.
 *
 *   a process --> is it a rank? has it an MPI library mapped? --> probes --> its trace file
 *
 * Processes of a launcher are found by looking at /proc (daemon/session/descendants.h), every
 * TRACE_LOOK_NS or as often as 2% of a processor allow; a group of sessions
 * (daemon/session/group.h) is for profiles, and stops threads. Probes are set for each process by
 * itself rather than for all that use the library: those of others on the machine are not touched.
 * The first rank is found when it has mapped the library; from then on the file is known, and
 * further ranks get their probes when they have been started, before they map it.
 */
#ifndef PIEPROFD_DAEMON_TRACE_TRACE_RECORDER_H
#define PIEPROFD_DAEMON_TRACE_TRACE_RECORDER_H

#include "common/error.h"
#include "daemon/trace/trace.h"

#define TRACE_LOOK_NS (10 * 1000000ull)
/* Events of all processes: their files then have 1 GB. */
#define TRACE_EVENTS_MAX 12500000

struct impersonator;
struct trace_recorder;

/*
 * impersonator: borrowed, NULL: nobody acts with other rights. spans: what is traced beside MPI,
 * borrowed; with any, processes without MPI are recorded, too. NULL with *error filled.
 */
struct trace_recorder *trace_recorder_create(struct impersonator *impersonator,
					     const struct span_list *spans, struct error *error);
/* Whether it goes on needing CAP_SYS_ADMIN. */
bool trace_recorder_needs_admin(const struct trace_recorder *recorder);
void trace_recorder_destroy(struct trace_recorder *recorder);

/*
 * A process that has an MPI library mapped by now, and all that the spans are of; it is recorded
 * from trace_recorder_begin() on. 0, or -1 with *error filled.
 */
__attribute__((warn_unused_result)) int trace_recorder_add(struct trace_recorder *recorder,
							   pid_t pid, struct error *error);
void trace_recorder_begin(struct trace_recorder *recorder);

/* A launcher, just started: its children, theirs, and itself are recorded as they come. */
void trace_recorder_follow(struct trace_recorder *recorder, pid_t pid);

/* Looks for processes and takes what has been called; waits for TRACE_LOOK_NS when that is
 * nothing. */
void trace_recorder_look(struct trace_recorder *recorder);

struct trace_progress {
	size_t processes;     /* recorded now */
	uint64_t calls;       /* of MPI */
	uint64_t span_events; /* of all else */
	uint64_t refused;     /* processes that could not be recorded */
	struct error refusal;
	uint64_t spans_refused; /* in processes that a launcher has started */
	struct error span_refusal;
};
struct trace_progress trace_recorder_progress(const struct trace_recorder *recorder);

/* Takes the probes out and what is left to take; the trace lives as long as the recorder. 0 or a
 * negative errno. */
__attribute__((warn_unused_result)) int trace_recorder_end(struct trace_recorder *recorder,
							   struct trace *ret_trace);

#endif
