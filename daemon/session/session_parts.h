/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What session.c, the life of a session, session_thread.c, the tracer's thread, and
 * session_profile.c, its outcome, share.
 */
#ifndef PIEPROFD_DAEMON_SESSION_SESSION_PARTS_H
#define PIEPROFD_DAEMON_SESSION_SESSION_PARTS_H

#include "attach/preflight.h"
#include "attach/watchdog.h"
#include "daemon/report/model/profile.h"
#include "daemon/sample/clock_sampler.h"
#include "daemon/sample/pipeline.h"
#include "daemon/sample/program_watch.h"
#include "daemon/sample/queued_time.h"
#include "daemon/sample/unstopped_sampler.h"
#include "daemon/session/period.h"
#include "daemon/session/session_options.h"
#include "daemon/session/snapshot.h"

#include <pthread.h>

#define SESSION_NODE_LIMIT 500000
#define SESSION_PAIR_LIMIT 100000

/* What unstopped_sampler.h says, for a person. */
#define UNSTOPPED_LIMITS                                                                           \
	"time alone, no memory accesses; Python frames alone; the time of functions that end "     \
	"within microseconds counts as their callers'; Python and native time are not told apart"

enum session_state {
	SESSION_CREATED,
	SESSION_ATTACHING,
	SESSION_SAMPLING,
	SESSION_PAUSED,
	SESSION_ENDED, /* the tracer's thread is gone, and with it every trace of us in the target
			*/
};

/* Kept from one snapshot to the next. */
struct timeline_copy {
	struct profile_cell *cells;
	size_t capacity;
	struct profile_timeline view;
};

struct session {
	struct session_options options;
	struct preflight preflight;
	struct target target;
	struct line_info *line_info; /* NULL: not asked for, or not yet */
	struct pipeline pipeline;
	struct tracer_hooks hooks;
	struct tracer *tracer; /* NULL: one of these is there instead */
	struct clock_sampler *clocks;
	bool clocked;                          /* it had these, until it ended */
	bool allocations_seen;                 /* clocks have windows for them */
	struct allocation_figures allocations; /* once it has ended */
	uint64_t clocked_period_ns;
	struct unstopped_sampler *unstopped;
	struct program_watch program; /* with clocks */
	bool degraded;                /* less is measured than was asked for */
	bool without_perf;
	struct error perf_refusal; /* with without_perf: why */
	char **command;
	struct profile_container container;
	struct process_labels labels;
	char comm[16];
	pid_t parent;
	uint64_t start_time;
	char notes[1024];
	struct memory_event memory_events[2 * MEMORY_EVENTS_MAX];
	size_t memory_event_count;
	char sampler[96];
	pthread_t thread;
	bool thread_exists;
	struct watchdog watchdog;
	/* Guarded by lock: what the two threads tell each other. */
	pthread_mutex_t lock;
	pthread_cond_t changed;
	enum session_state state;
	bool pause_wanted;
	bool finish_wanted;
	bool snapshot_wanted;
	int snapshot_error; /* of the last one */
	bool attach_failed;
	struct error attach_error;
	enum tracer_end end;
	/* Written by the tracer's thread, read once it has paused or ended. */
	uint64_t began_ns;
	uint64_t sampled_ns; /* without pauses */
	uint64_t resumed_ns;
	uint64_t looked_ns;     /* at the target's rights */
	uint64_t looked_cpu_ns; /* what it had used then */
	uint64_t refreshed_ns;
	struct period period; /* options.period_ns is what it is now */
	uint64_t resumed_cpu_ns;
	uint64_t last_cpu_ns; /* of the target, since it started */
	uint64_t cpu_ns;      /* of the target while it was sampled */
	struct queued_time queued;
	uint64_t process_started_unix_ns; /* at the latest; 0: unknown */
	/* Made by the tracer's thread; the caller's until it wants another one. */
	struct snapshot snapshot;
	struct profile_facts snapshot_facts;
	struct profile_thread *snapshot_threads;
	bool copying;          /* a snapshot is half made */
	bool facts_wanted;     /* of the snapshot that is wanted, nothing else */
	bool timelines_wanted; /* with the snapshot */
	struct timeline_copy thread_timeline, node_timeline, stack_timeline;
	struct profile_stack *stacks;
	size_t stack_count;
	struct stop_histograms snapshot_stops;
	uint64_t snapshot_taken_ns;
	size_t snapshot_nodes, snapshot_pairs, snapshot_origins; /* of the originals */
};

static inline size_t session_node_limit(const struct session *session)
{
	return session->options.node_limit ? session->options.node_limit : SESSION_NODE_LIMIT;
}

static inline size_t session_pair_limit(const struct session *session)
{
	return session->options.pair_limit ? session->options.pair_limit : SESSION_PAIR_LIMIT;
}

enum snapshot_extent {
	SNAPSHOT_FACTS, /* nothing else: next to no work */
	SNAPSHOT_FIGURES,
	SNAPSHOT_TIMELINES, /* figures, and time over time */
};

/*
 * Has the tracer's thread make a snapshot and waits for it; what belongs to it is
 * the caller's until the next one. 0 or -ENOMEM.
 */
__attribute__((warn_unused_result)) int session_take_snapshot(struct session *session,
							      enum snapshot_extent extent);

/* The rest of the facts: names, which may mean to read files. */
void session_read_names(struct session *session, struct profile_facts *facts,
			struct profile_thread *threads, const char *version);

/* Of the target, by its own clock; the last known when it is gone. */
uint64_t session_target_cpu_ns(const struct session *session);

/* The tracer's thread, of a struct session. Its end detaches from the target. */
void *session_trace(void *session);

/* With the lock held. */
void session_set_state(struct session *session, enum session_state state);

/* Has the tracer's thread see to an order, and waits a moment for it; with the lock held. */
void session_await(struct session *session);

/* One step of the snapshot that is wanted; with the lock held. */
void session_copy_some(struct session *session);

enum process_end session_process_end(const struct session *session);
/* Exit code or signal; 0: it has not ended. */
int session_end_status(const struct session *session);

/* Lets go of the kernel's clocks and program, if there are any; no more samples. */
void session_close_clocks(struct session *session);

/*
 * Threads that wait for each other in a circle, a sentence and a line each; the caller
 * frees. The tracer's thread has ended, and the target lives. NULL: none, or no memory.
 */
char *session_find_deadlock(struct session *session);

#endif
