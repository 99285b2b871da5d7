/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Events for some threads only: each one's ring counts as locked memory, of which an
 * ordinary user may have some megabytes, and its descriptors as open files. Of
 * thousands of threads most sleep. So those that are seen to run get the
 * events of others that have not run for a while:
 *
 *                     it runs, another one sleeps
 *     without events -----------------------------> with events
 *            ^                                           |
 *            '-------------------------------------------'
 *               it sleeps, another one without them runs
 *
 * What a thread does before it is seen to run is not sampled. Where more threads run than
 * there are events, those keep them that have them.
 */
#include "attach/thread_schedule.h"
#include "attach/tracer.h"
#include "attach/tracer_parts.h"

#include <errno.h>
#include <unistd.h>

/* Between two ticks: to look at a thread takes some 10 us. */
#define LOOKS_MAX 64

bool tracee_has_run(const struct tracer *tracer, struct tracee *tracee)
{
	struct thread_schedule schedule;
	int fd = thread_schedule_open(tracer->pid, tracee->id.tid), error;
	bool has_run;

	if (fd < 0)
		return false;
	error = thread_schedule_read(fd, &schedule);
	close(fd);
	if (error)
		return false;
	has_run = schedule.run_ns != tracee->ran_ns;
	tracee->ran_ns = schedule.run_ns;
	return has_run;
}

/* Of a thread that was refused events, and of one more, or one fewer. */
static void count_refused(struct tracer *tracer, int error, int change)
{
	uint64_t *count = error == ENOBUFS                     ? &tracer->counts.refused_memory
			  : error == EMFILE || error == ENFILE ? &tracer->counts.refused_files
							       : &tracer->counts.threads_refused;

	*count += (uint64_t)change;
}

void tracee_set_refused(struct tracer *tracer, struct tracee *tracee, int error)
{
	if (tracee->refused_errno)
		count_refused(tracer, tracee->refused_errno, -1);
	if (error)
		count_refused(tracer, error, 1);
	tracee->refused_errno = error;
}

/* error: why it is to be without. False: a stop of it is under way. */
static bool take_events(struct tracer *tracer, struct tracee *tracee, int error)
{
	thread_events_enable_clock(&tracee->events, false);
	kernel_clock_enable(&tracee->kernel_clock, false);
	if (thread_events_pending(&tracee->events)) {
		thread_events_enable_clock(&tracee->events, tracer->clocks_enabled);
		kernel_clock_enable(&tracee->kernel_clock, tracer->clocks_enabled);
		return false;
	}
	tracer->hooks->thread_ended(tracer->hooks->context, tracee);
	thread_events_close(&tracee->events);
	kernel_clock_close(&tracee->kernel_clock);
	tracee_set_refused(tracer, tracee, error);
	return true;
}

/* The next one in the table after the one of that tid, around its end. */
static struct tracee *tracee_after(struct tracer *tracer, pid_t tid)
{
	struct tracee *tracee =
		tracee_table_next(&tracer->tracees, tracee_table_find(&tracer->tracees, tid));

	return tracee ? tracee : tracee_table_next(&tracer->tracees, NULL);
}

/* Takes the events of a thread that sleeps. False: none is found, within so many looks. */
static bool find_giver(struct tracer *tracer, int error, size_t looks)
{
	for (size_t i = 0; i < tracer->tracees.count && looks; i++) {
		struct tracee *tracee = tracee_after(tracer, tracer->giving_last);

		tracer->giving_last = tracee->id.tid;
		if (tracee->events.clock_fd < 0 || tracee->state != TRACEE_RUNNING)
			continue;
		looks--;
		if (!tracee_has_run(tracer, tracee) && take_events(tracer, tracee, error))
			return true;
	}
	return false;
}

static bool is_scarce(int error)
{
	return error == -ENOBUFS || error == -EMFILE || error == -ENFILE;
}

/* A thread runs that has no events. False: there are none for it. */
static bool give_events(struct tracer *tracer, struct tracee *tracee)
{
	int error = tracee_open(tracer, tracee);

	if (is_scarce(error) && find_giver(tracer, -error, LOOKS_MAX))
		error = tracee_open(tracer, tracee);
	if (!error)
		tracee_set_refused(tracer, tracee, 0);
	return !is_scarce(error);
}

void tracer_share_events(struct tracer *tracer, size_t looks)
{
	for (size_t i = 0; tracer->scarce && i < tracer->tracees.count && looks; i++) {
		struct tracee *tracee = tracee_after(tracer, tracer->wanting_last);

		tracer->wanting_last = tracee->id.tid;
		if (tracee->events.clock_fd >= 0 || tracee->state != TRACEE_RUNNING)
			continue;
		looks--;
		if (tracee_has_run(tracer, tracee) && !give_events(tracer, tracee))
			return;
	}
}

void tracer_look_for_runners(struct tracer *tracer)
{
	tracer_share_events(tracer, LOOKS_MAX);
}
