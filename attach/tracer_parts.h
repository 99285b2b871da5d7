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
	struct wake_timer timer; /* of the tracer's thread */
	struct placement placement;
	cpu_set_t processors; /* those that the tracer's thread may use ... */
	bool moves;           /* ... if it stays where it is put */
	struct relief relief;
	uint64_t recovered; /* of the stops that were let go of, those that we know of */
};

/*
 * Gives a thread its events; it may run or be stopped. Every thread is born
 * with all signals blocked (pthread_create does so) and soon opens up; see
 * tracer_check_blocked() for those that do not.
 */
void tracee_start(struct tracer *tracer, struct tracee *tracee);

/* Takes its events off it. */
void tracee_close(struct tracer *tracer, struct tracee *tracee);

/* It is gone. */
void tracee_forget(struct tracer *tracer, struct tracee *tracee);

#endif
