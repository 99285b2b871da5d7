/* SPDX-License-Identifier: Apache-2.0 */
/* The threads of the target: their events, from when each is known until it is gone. */
#include "attach/tracer.h"
#include "attach/tracer_parts.h"

#include <errno.h>
#include <stdlib.h>

static void take_forks(struct tracer *tracer, struct tracee *tracee)
{
	tracer->counts.forks += fork_counter_take(&tracee->forks);
}

void tracee_close(struct tracer *tracer, struct tracee *tracee)
{
	take_forks(tracer, tracee);
	fork_counter_close(&tracee->forks);
	thread_events_close(&tracee->events);
	kernel_clock_close(&tracee->kernel_clock);
}

static void leave_rest(struct rests *rests, struct sampling_rest rest)
{
	rests->owed_ns += rest.owed_ns;
	rest.owed_ns = 0;
	if (rest.left_ns && rests->count < RESTS_MAX)
		rests->items[rests->count++] = rest;
}

static struct sampling_rest take_rest(struct rests *rests)
{
	struct sampling_rest rest = { 0 };

	if (rests->count)
		rest = rests->items[--rests->count];
	rest.owed_ns = rests->owed_ns;
	rests->owed_ns = 0;
	return rest;
}

/* A thread has ended: those that begin go on where its clocks were. */
static void leave_rests(struct tracer *tracer, struct tracee *tracee)
{
	uint64_t running_ns = thread_events_running_ns(&tracee->events);

	leave_rest(&tracer->user_rests, thread_events_rest(&tracee->events));
	leave_rest(&tracer->kernel_rests, kernel_clock_rest(&tracee->kernel_clock, running_ns));
}

void tracee_forget(struct tracer *tracer, struct tracee *tracee)
{
	tracee_table_remove(&tracer->tracees, tracee);
	tracer->unstopped -= tracee->unstopped;
	tracee->state = TRACEE_GONE;
	tracer->hooks->thread_ended(tracer->hooks->context, tracee);
	leave_rests(tracer, tracee);
	tracee_close(tracer, tracee);
	free(tracee);
}

static void tracee_enable_clocks(struct tracee *tracee, bool enable)
{
	thread_events_enable_clock(&tracee->events, enable);
	kernel_clock_enable(&tracee->kernel_clock, enable);
}

int tracee_open(struct tracer *tracer, struct tracee *tracee)
{
	struct sampling_rest rest = take_rest(&tracer->user_rests);
	int error = thread_events_open_after(&tracee->events, tracee->id.tid, tracer->stop_signal,
					     tracer->period_ns, rest);

	if (!error && tracee->events.clock_fd >= tracer->files_max) {
		thread_events_close(&tracee->events);
		error = -EMFILE;
	}
	if (error) {
		leave_rest(&tracer->user_rests, rest);
		return error;
	}
	for (size_t i = 0; i < tracer->memory_event_count; i++) {
		if (thread_events_add_memory(&tracee->events, &tracer->memory_events[i])) {
			tracer->counts.memory_refused++;
			break;
		}
	}
	if (tracer->samples_faults && thread_events_add_faults(&tracee->events))
		tracer->counts.faults_refused++;
	if (!tracer->leaves_kernel_time)
		error = kernel_clock_open(&tracee->kernel_clock, tracee->id.tid,
					  KERNEL_CLOCK_PERIOD(tracer->period_ns),
					  take_rest(&tracer->kernel_rests));
	if (error && error != -ESRCH)
		tracer->counts.kernel_refused_errno = -error;
	if (tracee->unstopped)
		tracee_direct_away(tracee);
	tracer->hooks->thread_started(tracer->hooks->context, tracee);
	tracee_enable_clocks(tracee, tracer->clocks_enabled);
	return 0;
}

void tracee_start(struct tracer *tracer, struct tracee *tracee)
{
	int error = tracee_open(tracer, tracee);

	if (error && error != -ESRCH) {
		tracer->counts.refused_errno = -error;
		tracer->scarce = true;
		tracee_set_refused(tracer, tracee, -error);
	}
	if (!tracer->counts_forks)
		return;
	error = fork_counter_open(&tracee->forks, tracee->id.tid);
	if (error && error != -ESRCH)
		tracer->counts.forks_refused_errno = -error;
}

void tracer_sample_faults(struct tracer *tracer)
{
	tracer->samples_faults = true;
}

void tracer_take_forks(struct tracer *tracer)
{
	tracee_table_each (&tracer->tracees, tracee)
		take_forks(tracer, tracee);
}

void tracer_for_each(struct tracer *tracer, void (*visit)(void *context, struct tracee *tracee),
		     void *context)
{
	tracee_table_each (&tracer->tracees, tracee)
		visit(context, tracee);
}

void tracer_enable_clocks(struct tracer *tracer, bool enable)
{
	tracer->clocks_enabled = enable;
	tracee_table_each (&tracer->tracees, tracee)
		tracee_enable_clocks(tracee, enable);
}

void tracer_set_period(struct tracer *tracer, uint64_t period_ns)
{
	tracer->period_ns = period_ns;
	/* They are parts of the old one. What is owed stays. */
	tracer->user_rests.count = tracer->kernel_rests.count = 0;
	tracee_table_each (&tracer->tracees, tracee) {
		(void)thread_events_set_period(&tracee->events, period_ns);
		kernel_clock_set_period(&tracee->kernel_clock, KERNEL_CLOCK_PERIOD(period_ns));
	}
}
