/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a running thread's calls work on, looked at between its stops:
 *
 *   it runs where we run           it waits for us meanwhile, some 100 us: as good as stopped,
 *                                  and charged like a stop, of which it is a third
 *   it runs on another processor   it goes on, and pays nothing: what was read counts where
 *                                  the same call still runs afterwards
 *
 * Stops are what is dear: with these there are several times as many samples of arguments within
 * the limit. Only beside the kernel's engine, which says how much time each line has: a look at
 * a moment of our choosing does not.
 */
#include "attach/procfs.h"
#include "attach/thread_schedule.h"
#include "common/clock.h"
#include "common/random.h"
#include "daemon/sample/passing_stack.h"
#include "daemon/sample/pipeline.h"
#include "daemon/sample/pipeline_thread.h"

#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#define PEEK_INTERVAL_NS (8 * NS_PER_MS)
/* A thread that no clock has stopped for so long does next to nothing. */
#define PEEK_STOPPED_NS NS_PER_SECOND

/* Where and how long we have run: unchanged, and no other thread has run on our processor. */
struct own_turn {
	int processor;
	long switches;
};

static struct own_turn own_turn(void)
{
	struct rusage usage = { 0 };

	(void)getrusage(RUSAGE_THREAD, &usage);
	return (struct own_turn){ sched_getcpu(), usage.ru_nvcsw + usage.ru_nivcsw };
}

struct choice {
	const struct pipeline *pipeline;
	struct tracee *tracee; /* of those that run, the one that was not looked at for longest */
	uint64_t now_ns;
};

static void consider(void *context, struct tracee *tracee)
{
	struct choice *choice = context;
	const struct pipeline_thread *thread = tracee->user, *best;

	if (!thread || tracee->unstopped || !thread->ticked_ns ||
	    choice->now_ns - thread->ticked_ns > PEEK_STOPPED_NS)
		return;
	best = choice->tracee ? choice->tracee->user : NULL;
	if (!best || thread->peeked_ns < best->peeked_ns)
		choice->tracee = tracee;
}

/* A thread that waits for a processor is found in the same place again and again: that is one
 * sample.
 */
static bool has_run(const struct pipeline *pipeline, struct pipeline_thread *thread, pid_t tid)
{
	struct thread_schedule schedule;
	int fd = thread_schedule_open(pipeline->target->pid, tid);
	bool known = fd >= 0 && !thread_schedule_read(fd, &schedule);
	bool run = known && schedule.run_ns != thread->peeked_run_ns;

	if (fd >= 0)
		close(fd);
	if (run)
		thread->peeked_run_ns = schedule.run_ns;
	return run;
}

static bool runs_at(const struct pipeline *pipeline, const struct tracee *tracee,
		    int *ret_processor)
{
	struct process_times times;

	if (procfs_read_times(pipeline->target->pid, tracee->id.tid, &times) || times.state != 'R')
		return false;
	*ret_processor = times.processor;
	return true;
}

/* Its frames, and what they work on. moves: it may run meanwhile. */
static bool peek(struct pipeline *pipeline, const struct tracee *tracee, bool moves)
{
	struct python_stack *stack = &pipeline->capture.python;

	if (moves) {
		passing_stack_read(pipeline->target, tracee->inner_tid, stack, &pipeline->losses);
		if (!(stack->flags & PYTHON_STACK_STILL))
			return false;
	} else if (python_stack_read(pipeline->target->runtime, tracee->inner_tid, NULL, stack)) {
		return false;
	}
	argument_sampler_peek(pipeline->arguments, stack, moves);
	return true;
}

static void peek_at(struct pipeline *pipeline, struct tracee *tracee, uint64_t now_ns)
{
	struct pipeline_thread *thread = tracee->user;
	struct own_turn turn = own_turn(), later;
	int processor, processor_later;
	uint64_t cost_ns;
	bool waits, seen;

	thread->peeked_ns = now_ns;
	if (!has_run(pipeline, thread, tracee->id.tid) || !runs_at(pipeline, tracee, &processor))
		return;
	waits = processor == turn.processor;
	if (waits && !governor_allows_peek(&pipeline->governor, &thread->bucket))
		return;
	pipeline->peeks++;
	seen = peek(pipeline, tracee, !waits);
	later = own_turn();
	if (waits && (later.processor != turn.processor || later.switches != turn.switches ||
		      !runs_at(pipeline, tracee, &processor_later) || processor_later != processor))
		seen = false;
	if (waits) {
		cost_ns = clock_now_ns() - now_ns;
		governor_charge_peek(&thread->bucket, cost_ns);
		pipeline->lost_ns += cost_ns;
		thread->stopped_ns += cost_ns;
	}
	if (!seen)
		return;
	pipeline->peeks_seen++;
	pipeline->peeks_waited += waits;
	argument_sampler_log(pipeline->arguments, now_ns, tracee->events.interval.period_ns,
			     passing_stack_insert(&pipeline->capture.python, pipeline->cct,
						  pipeline->capture.frames, &pipeline->losses)
				     ->id);
}

uint64_t pipeline_peek(struct pipeline *pipeline, struct tracer *tracer, uint64_t now_ns)
{
	struct choice choice = { .pipeline = pipeline, .now_ns = now_ns };

	if (!pipeline->arguments || !pipeline->clocks)
		return UINT64_MAX;
	tracer_for_each(tracer, consider, &choice);
	if (!choice.tracee)
		return UINT64_MAX;
	peek_at(pipeline, choice.tracee, now_ns);
	/* Not in step with the program. */
	return now_ns + PEEK_INTERVAL_NS / 2 + random_below(&pipeline->random, PEEK_INTERVAL_NS);
}
