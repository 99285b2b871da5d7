/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Threads that block the stop signal, as pools of uWSGI, torch or ZeroMQ do with all
 * signals. It would stay pending, never stop them, and might be taken for one of the
 * target's own. So their clocks signal the tracer instead, which reads them while
 * they run:
 *
 *        born, or found     .---------. a record, and it does not block
 *        when we attach --->|unstopped|------------------------------.
 *        with the signal    `---------'                              v
 *        blocked                 ^        a record, no stop,     .-------.
 *                                `------- and it blocks ---------|stopped|
 *                                                                `-------'
 *
 * All threads are born so, as pthread_create() has them block all signals for some
 * microseconds. The first record of one that has opened up by then becomes a stop
 * a moment later: it is sampled as any other. The second arrow leaves one stop signal
 * pending in the thread: it was sent before anybody could know.
 */
#include "attach/procfs.h"
#include "attach/tracer.h"
#include "attach/tracer_parts.h"

#include <unistd.h>

/* Between two looks for stopped threads: reading one takes some 50 us. */
#define READS_MAX   4
#define RECORDS_MAX 64u

static bool blocks_stop_signal(const struct tracer *tracer, const struct tracee *tracee)
{
	struct process_status status;

	return !procfs_read_status(tracer->pid, tracee->id.tid, &status) &&
	       (status.signals_blocked >> (tracer->stop_signal - 1) & 1);
}

void tracee_direct_away(struct tracee *tracee)
{
	pid_t own = gettid();

	thread_events_direct_away(&tracee->events, own, WAKE_EVENT_SIGNAL);
	kernel_clock_direct(&tracee->kernel_clock, own, WAKE_EVENT_SIGNAL);
}

static void tracee_direct_back(struct tracer *tracer, struct tracee *tracee, bool soon)
{
	kernel_clock_direct(&tracee->kernel_clock, 0, 0);
	thread_events_direct_back(&tracee->events, tracer->clocks_enabled, soon);
	tracee->unstopped = false;
	tracer->unstopped--;
}

void tracee_set_unstopped(struct tracer *tracer, struct tracee *tracee, bool unstopped)
{
	if (tracee->unstopped == unstopped)
		return;
	if (!unstopped) {
		tracee_direct_back(tracer, tracee, false);
		return;
	}
	tracee->unstopped = true;
	tracer->unstopped++;
	tracee_direct_away(tracee);
	if (tracer->hooks->abandoned)
		tracer->hooks->abandoned(tracer->hooks->context, tracee);
}

void tracer_check_blocked(struct tracer *tracer)
{
	tracee_table_each (&tracer->tracees, tracee)
		/* An event fired and the thread has not stopped: is that why? */
		if (!tracee->unstopped && thread_events_pending(&tracee->events) &&
		    blocks_stop_signal(tracer, tracee))
			tracee_set_unstopped(tracer, tracee, true);
}

/* Takes the clock's records out; others are of events that were armed before it blocked. */
static size_t take_clock_records(struct tracee *tracee, struct event_record *records)
{
	size_t count = thread_events_drain(&tracee->events, records, RECORDS_MAX), clocks = 0;

	for (size_t i = 0; i < count; i++)
		if (records[i].source == EVENT_CLOCK)
			records[clocks++] = records[i];
	return clocks;
}

/* What of a thread's records nobody has looked at yet becomes one sample. */
static void read_unstopped(struct tracer *tracer, struct tracee *tracee)
{
	struct event_record records[RECORDS_MAX];
	struct kernel_sample left;
	size_t count;

	if (!blocks_stop_signal(tracer, tracee)) {
		tracee_direct_back(tracer, tracee, thread_events_pending(&tracee->events));
		return;
	}
	count = take_clock_records(tracee, records);
	tracer->counts.threads_blocking += !tracee->blocks;
	tracee->blocks = true;
	if (tracer->hooks->passed)
		tracer->hooks->passed(tracer->hooks->context, tracee, records, count);
	/* Paused, or nobody wants them. */
	while (kernel_clock_next(&tracee->kernel_clock, &left))
		;
	if (count)
		thread_events_vary_passed(&tracee->events, records[count - 1].running_ns);
}

static bool has_records(const struct tracee *tracee)
{
	return tracee->unstopped && (thread_events_pending(&tracee->events) ||
				     event_ring_pending(&tracee->kernel_clock.ring));
}

bool tracer_read_unstopped(struct tracer *tracer)
{
	const struct tracee *last = tracee_table_find(&tracer->tracees, tracer->read_last);
	struct tracee *tracee = tracee_table_next(&tracer->tracees, last);
	unsigned reads = 0;

	if (!tracer->unstopped)
		return true;
	/* Once around: from behind the last one to it. */
	for (size_t i = 0; i < tracer->tracees.count; i++) {
		if (!tracee)
			tracee = tracee_table_next(&tracer->tracees, NULL);
		if (has_records(tracee)) {
			if (reads++ == READS_MAX)
				return false;
			tracer->read_last = tracee->id.tid;
			read_unstopped(tracer, tracee);
		}
		tracee = tracee_table_next(&tracer->tracees, tracee);
	}
	return true;
}
