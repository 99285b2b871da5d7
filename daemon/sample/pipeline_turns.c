/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What clocks cost a thread at its turns on a processor is looked at every so often, whether or not
 * it has stopped: a thread whose turns use up what it earns hardly does. Where that is more than
 * its part of the limit the clocks run in some slices of the time only (clock_breaks.h).
 */
#include "common/clock.h"
#include "daemon/sample/pipeline.h"
#include "daemon/sample/pipeline_thread.h"

/* Between two looks at a thread whose clocks run all the time. */
#define LOOK_NS (100 * NS_PER_MS)
/* At a tick: a look takes some 3 us of ours. */
#define LOOKS_MAX 16
/* A slice is no shorter: to stop and start a clock on another processor interrupts it. */
#define SLICE_NS (40 * NS_PER_MS)
/* That, for both clocks of a thread that runs. */
#define CHANGE_NS (40 * NS_PER_US)
/* Of less CPU time, most of it may have been the start of a program: nothing is told. */
#define LIFE_MIN_NS NS_PER_SECOND
/* Of the limit; the rest is for stops. */
#define TURNS_PART 0.3
/* So much more may turns take before there are fewer slices again. */
#define SPARE 1.25
/* No denser: a ring holds what a tick's time may bring of both clocks. */
#define DENSE_NS (1200 * NS_PER_US)

/* How many times as often its clocks look as they would if they ran all the time. Sparse samples
 * are the dearest: each turn costs as much until one comes, or twice that once it is near. */
static unsigned density(const struct pipeline *pipeline, unsigned parts)
{
	uint64_t most = pipeline->period_ns / DENSE_NS;

	return parts < most ? parts : most > 1 ? (unsigned)most : 1;
}

/* In one slice of how many do turns at that rate cost no more than they may? */
static unsigned parts_of(const struct pipeline *pipeline, const struct tracee *tracee, double rate)
{
	double allowed = TURNS_PART * pipeline->governor.limit;
	unsigned parts = 1;

	for (; parts < CLOCK_BREAKS_PARTS_MAX; parts++) {
		uint64_t period_ns = pipeline->period_ns / density(pipeline, parts);
		double cost = switch_cost_of_clock(&pipeline->switches, period_ns);

		if (tracee->kernel_clock.fd >= 0)
			cost += switch_cost_of_clock(&pipeline->switches,
						     KERNEL_CLOCK_PERIOD(period_ns));
		if (rate * cost <= allowed * parts)
			break;
	}
	return parts;
}

void pipeline_end_turns(const struct pipeline *pipeline, struct pipeline_thread *thread,
			struct tracee *tracee)
{
	thread->breaks = (struct clock_breaks){ 0 };
	tracee_resume_clocks(tracee, 1, 1, pipeline->period_ns, false);
}

/* They are enabled: samples that stand for as much as those before are taken first. */
static void set_clocks(struct pipeline *pipeline, struct pipeline_thread *thread,
		       struct tracee *tracee, bool run)
{
	const struct clock_pause *pause = &tracee->events.pause;
	unsigned parts = thread->breaks.parts;

	if (run ? !pause->paused && (pause->parts > 1 ? pause->parts : 1) == parts : pause->paused)
		return;
	pipeline_collect_system_time(pipeline, thread, tracee);
	if (run)
		tracee_resume_clocks(tracee, parts, density(pipeline, parts), pipeline->period_ns,
				     true);
	else
		tracee_pause_clocks(tracee);
	governor_fill(&pipeline->governor, &thread->bucket,
		      thread_events_running_ns(&tracee->events));
	/* A period of its own has begun anew: no stop of it comes unearned. */
	if (run)
		pipeline_delay_first(pipeline, thread, tracee);
	pipeline->lost_ns += (uint64_t)(thread->turns.run_part * CHANGE_NS);
	governor_charge_turns(&thread->bucket, thread->turns.run_part * CHANGE_NS);
}

/* A signal may be under way, and its record counts as the clock has it now. */
static bool may_change(const struct tracee *tracee)
{
	return !tracee->unstopped && !thread_events_pending(&tracee->events);
}

static bool is_due(struct pipeline *pipeline, const struct pipeline_thread *thread, uint64_t now_ns)
{
	if (clock_breaks_any(&thread->breaks))
		return now_ns - thread->slice_ns >= SLICE_NS;
	if (now_ns - thread->slice_ns < LOOK_NS || !pipeline->turn_looks ||
	    thread->turns.round == pipeline->turn_round)
		return false;
	pipeline->turn_looks--;
	return true;
}

void pipeline_begin_turn_looks(struct pipeline *pipeline)
{
	/* Some are left: all of the round had theirs. */
	if (pipeline->turn_looks)
		pipeline->turn_round++;
	pipeline->turn_looks = LOOKS_MAX;
}

bool pipeline_watching_is_dear(const struct pipeline *pipeline,
			       const struct pipeline_thread *thread)
{
	return thread->turns.rate * (double)pipeline->switches.breakpoint_ns >
	       TURNS_PART * pipeline->governor.limit;
}

static void next_slice(struct pipeline *pipeline, struct pipeline_thread *thread,
		       struct tracee *tracee, uint64_t now_ns)
{
	thread->slice_ns = now_ns;
	set_clocks(pipeline, thread, tracee,
		   clock_breaks_next(&thread->breaks,
				     parts_of(pipeline, tracee, thread->turns.rate),
				     parts_of(pipeline, tracee, SPARE * thread->turns.rate),
				     &pipeline->random));
}

void pipeline_begin_turns(struct pipeline *pipeline, struct pipeline_thread *thread,
			  struct tracee *tracee)
{
	struct turn_account *turns = &thread->turns;

	*turns = (struct turn_account){ 0 };
	thread->slice_ns = 0;
	pipeline_end_turns(pipeline, thread, tracee);
	if (!pipeline->switches.clock_ns || tracee->unstopped)
		return;
	pipeline_charge_turns(pipeline, thread, tracee);
	/* What it did so far it is likely to do on. */
	if (turns->run_ns < LIFE_MIN_NS)
		return;
	turns->rate = (double)turns->turns / (double)turns->run_ns;
	next_slice(pipeline, thread, tracee, turns->looked_ns);
}

void pipeline_break_clocks(struct pipeline *pipeline, struct pipeline_thread *thread,
			   struct tracee *tracee, uint64_t now_ns)
{
	if (!pipeline->switches.clock_ns || !is_due(pipeline, thread, now_ns))
		return;
	pipeline_charge_turns(pipeline, thread, tracee);
	thread->turns.round = pipeline->turn_round;
	if (tracee->unstopped && tracee->events.pause.paused) {
		/* Its clocks are read another way from now on. */
		thread->breaks = (struct clock_breaks){ 0 };
		tracee_resume_clocks(tracee, 1, 1, pipeline->period_ns, true);
	}
	if (!may_change(tracee))
		return;
	next_slice(pipeline, thread, tracee, now_ns);
}
