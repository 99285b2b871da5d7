/* SPDX-License-Identifier: Apache-2.0 */
/* No stop of the clock comes that the thread's CPU time has not paid for (governor.h). */
#include "daemon/sample/pipeline.h"
#include "daemon/sample/pipeline_thread.h"

void pipeline_delay_first(const struct pipeline *pipeline, const struct pipeline_thread *thread,
			  struct tracee *tracee)
{
	thread_events_delay_first(&tracee->events,
				  governor_first_wait_ns(&pipeline->governor, &thread->bucket));
}

void pipeline_delay_clock(const struct pipeline *pipeline, const struct pipeline_thread *thread,
			  struct tracee *tracee)
{
	thread_events_delay_clock(&tracee->events,
				  governor_wait_ns(&pipeline->governor, &thread->bucket,
						   pipeline_stop_cost_ns(pipeline)));
}

static void delay_thread(void *context, struct tracee *tracee)
{
	const struct pipeline *pipeline = context;
	struct pipeline_thread *thread = tracee->user;

	if (!thread)
		return;
	governor_fill(&pipeline->governor, &thread->bucket,
		      thread_events_running_ns(&tracee->events));
	pipeline_delay_first(pipeline, thread, tracee);
}

void pipeline_delay_all(struct pipeline *pipeline, struct tracer *tracer)
{
	tracer_for_each(tracer, delay_thread, pipeline);
}
