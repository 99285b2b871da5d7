/* SPDX-License-Identifier: Apache-2.0 */
/* Calls whose arguments are compared with those of the call before (argument_watch.h). */
#include "daemon/sample/pipeline.h"
#include "daemon/sample/pipeline_thread.h"

void pipeline_meet_call(struct pipeline *pipeline, struct pipeline_thread *thread,
			struct tracee *tracee)
{
	int slot = thread->arguments.slot;

	if (argument_watch_meet(&thread->arguments, pipeline->arguments, tracee, &pipeline->capture,
				pipeline->event_ns))
		redundancy_return_slot(thread->redundancy, slot);
}

bool pipeline_watch_calls(struct pipeline *pipeline, struct pipeline_thread *thread,
			  struct tracee *tracee)
{
	struct argument_watch *watch = &thread->arguments;
	remote_addr address;
	int slot;

	if (!pipeline->arguments || !pipeline->clock_ticks ||
	    watch->slot != ARGUMENT_WATCH_NO_SLOT ||
	    !governor_allows_cycle(&pipeline->governor, &thread->bucket, CYCLE_CALLS,
				   pipeline_stop_cost_ns(pipeline)))
		return false;
	address = argument_watch_choose(watch, pipeline->arguments, &pipeline->capture);
	if (!address)
		return false;
	slot = redundancy_lend_slot(pipeline->redundancy, thread->redundancy, tracee);
	if (slot == ARGUMENT_WATCH_NO_SLOT)
		return false;
	if (!argument_watch_arm(watch, tracee, slot, address, pipeline->event_ns)) {
		redundancy_return_slot(thread->redundancy, slot);
		return false;
	}
	governor_begin_cycle(&pipeline->governor, CYCLE_CALLS);
	return true;
}

void pipeline_end_arguments(struct pipeline *pipeline, struct pipeline_thread *thread,
			    struct tracee *tracee, uint64_t now_ns)
{
	int slot = argument_watch_expire(&thread->arguments, pipeline->arguments, tracee, now_ns);

	if (slot != ARGUMENT_WATCH_NO_SLOT)
		redundancy_return_slot(thread->redundancy, slot);
}
