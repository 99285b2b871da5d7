/* SPDX-License-Identifier: Apache-2.0 */
/* Looks at threads that sleep (waiting.h), charged to threads and the tree. */
#include "common/clock.h"
#include "daemon/sample/pipeline.h"
#include "daemon/sample/pipeline_thread.h"

static void charge_waiting(struct pipeline *pipeline, const struct pipeline_thread *thread,
			   const struct waiting_charge *charge)
{
	struct profile_thread *times = &pipeline->threads.items[thread->times];

	times->side.waiting_ns[charge->kind] += charge->time_ns;
	thread_stacks_wait(&pipeline->stacks, thread->times, charge->node->id, charge->kind,
			   charge->time_ns);
	if (charge->holds_gil)
		times->gil_asleep_ns += charge->time_ns;
}

void pipeline_begin_waiting(struct pipeline *pipeline, struct pipeline_thread *thread,
			    const struct tracee *tracee)
{
	thread->stopped_ns = 0;
	if (pipeline->waits_wanted)
		waiting_thread_begin(&thread->waiting, pipeline->target->pid, tracee->id.tid);
}

void pipeline_end_waiting(struct pipeline *pipeline, struct pipeline_thread *thread,
			  const struct tracee *tracee)
{
	struct waiting_charge charge;

	if (pipeline->waits_wanted &&
	    waiting_thread_end(&pipeline->waiting, &thread->waiting, tracee, thread->stopped_ns,
			       &pipeline->capture, &charge))
		charge_waiting(pipeline, thread, &charge);
}

struct slice {
	struct pipeline *pipeline;
	uint64_t end_ns;
	bool begun;
	bool cut; /* some thread is left for the next */
};

static void look_at_thread(void *context, struct tracee *tracee)
{
	struct slice *slice = context;
	struct pipeline *pipeline = slice->pipeline;
	struct pipeline_thread *thread = tracee->user;
	struct waiting_charge charge;

	if (slice->cut || !thread || thread->waiting.round == pipeline->waiting.round)
		return;
	slice->cut = slice->begun && clock_now_ns() >= slice->end_ns;
	if (slice->cut)
		return;
	slice->begun = true;
	thread->waiting.round = pipeline->waiting.round;
	if (waiting_look(&pipeline->waiting, &thread->waiting, tracee, thread->stopped_ns,
			 &pipeline->capture, &charge))
		charge_waiting(pipeline, thread, &charge);
}

uint64_t pipeline_look(struct pipeline *pipeline, struct tracer *tracer, uint64_t now_ns)
{
	struct slice slice = { .pipeline = pipeline, .end_ns = now_ns + WAITING_SLICE_NS };

	tracer_for_each(tracer, look_at_thread, &slice);
	return waiting_next_ns(&pipeline->waiting, now_ns, !slice.cut);
}
