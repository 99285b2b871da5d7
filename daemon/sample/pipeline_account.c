/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What being sampled costs a thread, charged to the governor: its stops, and what its events cost
 * beside them, each time that it is put on a processor (attach/switch_cost.h). That is charged
 * when the thread has stopped, when sampling ends, and at each tick while a breakpoint is armed in
 * it. Turns are taken to come evenly in between: so many were with one armed as that time had part
 * in the whole.
 */
#include "attach/thread_schedule.h"
#include "common/clock.h"
#include "daemon/sample/pipeline.h"
#include "daemon/sample/pipeline_thread.h"

#include <unistd.h>

void pipeline_account_stop(struct pipeline *pipeline, struct pipeline_thread *thread)
{
	uint64_t now_ns = clock_now_ns();
	uint64_t stopped_ns = now_ns > pipeline->event_ns ? now_ns - pipeline->event_ns : 0;
	uint64_t cost_ns = pipeline_stop_cost_ns(pipeline);

	stop_histogram_add(&pipeline->stops.all, stopped_ns);
	stop_histogram_add(pipeline->clock_ticks || pipeline->memory_access || pipeline->faults
				   ? &pipeline->stops.samples
				   : &pipeline->stops.breakpoints,
			   stopped_ns);
	/* Let go, the thread must be woken as this one was: that too is time it loses. */
	stopped_ns += pipeline->wake_ns;
	pipeline->lost_ns += stopped_ns;
	thread->stopped_ns += stopped_ns;
	thread->turns.stops++;
	if (pipeline->clock_ticks)
		governor_learn_clock_stop(&pipeline->governor, cost_ns);
	if (!pipeline->clock_ticks && !pipeline->system_returns && !pipeline->faults)
		governor_spend(&pipeline->governor,
			       pipeline->watched_calls ? CYCLE_CALLS : CYCLE_ACCESS, cost_ns);
	governor_charge(&thread->bucket, cost_ns);
	if (governor_take_overdraft(&thread->bucket))
		pipeline->overdrawn = true;
}

/* False: not counted by this kernel, or the thread is gone. */
static bool look_at_turns(const struct pipeline *pipeline, const struct tracee *tracee,
			  struct turn_account *ret_account)
{
	struct thread_schedule schedule;
	int fd = thread_schedule_open(pipeline->target->pid, tracee->id.tid), error;
	uint64_t now_ns;

	if (fd < 0)
		return false;
	error = thread_schedule_read(fd, &schedule);
	close(fd);
	if (error)
		return false;
	now_ns = clock_now_ns();
	*ret_account = (struct turn_account){
		.turns = schedule.turns,
		.looked_ns = now_ns,
		.armed_ns = thread_events_armed_ns(&tracee->events, now_ns),
	};
	return true;
}

void pipeline_begin_turns(const struct pipeline *pipeline, struct pipeline_thread *thread,
			  const struct tracee *tracee)
{
	if (!look_at_turns(pipeline, tracee, &thread->turns))
		thread->turns = (struct turn_account){ 0 };
}

void pipeline_charge_turns(struct pipeline *pipeline, struct pipeline_thread *thread,
			   struct tracee *tracee)
{
	struct turn_account *account = &thread->turns, last = *account;
	double turned, armed_part, clock_ns, armed_ns;

	if (!look_at_turns(pipeline, tracee, account))
		return;
	if (!last.looked_ns || account->looked_ns <= last.looked_ns ||
	    account->turns <= last.turns + last.stops)
		return;
	/* Those after a stop have cost what the stop was charged for. */
	turned = (double)(account->turns - last.turns - last.stops);
	armed_part = (double)(account->armed_ns - last.armed_ns) /
		     (double)(account->looked_ns - last.looked_ns);
	clock_ns = turned * (double)pipeline->switches.clock_ns *
		   (tracee->kernel_clock.fd >= 0 ? 2 : 1);
	armed_ns = turned * armed_part * (double)pipeline->switches.breakpoint_ns;
	pipeline->lost_ns += (uint64_t)(clock_ns + armed_ns);
	governor_charge_turns(&thread->bucket, clock_ns + armed_ns);
	if (armed_ns > 0)
		governor_spend(&pipeline->governor,
			       pipeline_watches_calls(thread) ? CYCLE_CALLS : CYCLE_ACCESS,
			       (uint64_t)armed_ns);
}

void pipeline_tick_turns(struct pipeline *pipeline, struct pipeline_thread *thread,
			 struct tracee *tracee)
{
	if (thread_events_armed_ns(&tracee->events, clock_now_ns()) == thread->turns.armed_ns)
		return;
	pipeline_charge_turns(pipeline, thread, tracee);
	if (!governor_turns_overdrawn(&thread->bucket))
		return;
	pipeline_end_arguments(pipeline, thread, tracee, UINT64_MAX);
	if (thread->redundancy)
		redundancy_relieve(pipeline->redundancy, thread->redundancy, tracee);
}
