/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What tracer.c, which attaches and answers stops, and tracer_threads.c, which
 * gives threads their events and takes them away, share.
 */
#ifndef PIEPROFD_ATTACH_TRACER_PARTS_H
#define PIEPROFD_ATTACH_TRACER_PARTS_H

#include "attach/placement.h"
#include "attach/relief.h"
#include "attach/tracer_hooks.h"
#include "attach/wake_timer.h"

#include <sched.h>

#define RESTS_MAX 64u

/* How far the clocks of threads that have ended were from their next looks. */
struct rests {
	struct sampling_rest items[RESTS_MAX];
	size_t count;
	uint64_t owed_ns; /* by all that have ended; the next to begin has it */
};

struct tracer {
	pid_t pid;
	int stop_signal;
	uint64_t period_ns;
	struct rests user_rests, kernel_rests;
	bool clocks_enabled;
	const struct memory_event *memory_events;
	size_t memory_event_count;
	const struct tracer_hooks *hooks;
	struct tracee_table tracees;
	size_t threads_max;
	struct tracer_counts counts;
	enum tracer_end end;
	int exit_status;
	bool counts_forks;
	bool leaves_kernel_time;
	bool samples_faults;
	struct wake_timer timer; /* of the tracer's thread */
	struct placement placement;
	cpu_set_t processors; /* those that the tracer's thread may use ... */
	bool moves;           /* ... if it stays where it is put */
	struct relief relief;
	uint64_t recovered; /* of the stops that were let go of, those that we know of */
	size_t unstopped;   /* threads that are, see tracer_unstopped.c */
	pid_t read_last;    /* of these, the one that was read last */
	int files_max;      /* descriptors of events are below it */
	bool scarce;        /* events of some thread were refused, see tracer_scarce.c */
	pid_t wanting_last; /* looked at last, of threads without events ... */
	pid_t giving_last;  /* ... and of those that could give theirs */
};

/*
 * Gives a thread its events; it may run or be stopped. Every thread is born
 * with all signals blocked (pthread_create does so) and soon opens up: until then
 * it is one that cannot be stopped.
 */
void tracee_start(struct tracer *tracer, struct tracee *tracee);

/* Opens its events: for a thread without any. 0 or a negative errno. */
__attribute__((warn_unused_result)) int tracee_open(struct tracer *tracer, struct tracee *tracee);

/* Notes how long it has run. False: it has not run since the last look, or nothing tells. */
bool tracee_has_run(const struct tracer *tracer, struct tracee *tracee);

/* Why it was refused events; 0: it has them now. */
void tracee_set_refused(struct tracer *tracer, struct tracee *tracee, int error);

/* Looks at no more than so many threads without events for some that run, which get events. */
void tracer_share_events(struct tracer *tracer, size_t looks);

/* Takes its events off it. */
void tracee_close(struct tracer *tracer, struct tracee *tracee);

/* Of one that is unstopped: its clocks wake the calling thread, and stop nobody. */
void tracee_direct_away(struct tracee *tracee);

/* Its events wake the tracer from now on, and stop nobody; or stop it again. */
void tracee_set_unstopped(struct tracer *tracer, struct tracee *tracee, bool unstopped);

/*
 * Takes what was recorded of threads that cannot be stopped, of some of them at a time.
 * False: there are more.
 */
bool tracer_read_unstopped(struct tracer *tracer);

/* It is gone. */
void tracee_forget(struct tracer *tracer, struct tracee *tracee);

#endif
