/* SPDX-License-Identifier: Apache-2.0 */
/* Calls whose arguments are compared with those of the call before (argument_watch.h). */
#include "daemon/sample/pipeline.h"
#include "daemon/sample/pipeline_thread.h"

bool pipeline_watches_calls_at(const struct pipeline_thread *thread, unsigned slot)
{
	for (size_t i = 0; i < ARGUMENT_WATCHES; i++)
		if (argument_watch_is_at(&thread->arguments[i], slot))
			return true;
	return false;
}

/* The first watch that is not under way; NULL: all are. */
static struct argument_watch *free_watch(struct pipeline_thread *thread)
{
	for (size_t i = 0; i < ARGUMENT_WATCHES; i++)
		if (thread->arguments[i].slot == ARGUMENT_WATCH_NO_SLOT)
			return &thread->arguments[i];
	return NULL;
}

/* One that is under way; NULL: none is. */
static const struct argument_watch *busy_watch(const struct pipeline_thread *thread)
{
	for (size_t i = 0; i < ARGUMENT_WATCHES; i++)
		if (thread->arguments[i].slot != ARGUMENT_WATCH_NO_SLOT)
			return &thread->arguments[i];
	return NULL;
}

bool pipeline_watches_calls(const struct pipeline_thread *thread)
{
	return busy_watch(thread) != NULL;
}

void pipeline_meet_calls(struct pipeline *pipeline, struct pipeline_thread *thread,
			 struct tracee *tracee, const struct event_record *records, size_t count)
{
	for (size_t i = 0; i < ARGUMENT_WATCHES; i++) {
		struct argument_watch *watch = &thread->arguments[i];
		int slot = watch->slot;
		bool met = false;

		for (size_t k = 0; k < count; k++)
			met |= (pipeline->watched_calls >> k & 1) &&
			       argument_watch_is_at(watch, records[k].source);
		if (met && argument_watch_meet(watch, pipeline->arguments, tracee,
					       &pipeline->capture, pipeline->event_ns))
			redundancy_return_slot(thread->redundancy, slot);
	}
}

bool pipeline_watch_calls(struct pipeline *pipeline, struct pipeline_thread *thread,
			  struct tracee *tracee)
{
	struct argument_watch *watch = free_watch(thread);
	const struct argument_watch *busy = busy_watch(thread);
	remote_addr address;
	int slot;

	if (!pipeline->arguments || !pipeline->clock_ticks || !watch ||
	    !governor_allows_cycle(&pipeline->governor, &thread->bucket, CYCLE_CALLS,
				   pipeline_stop_cost_ns(pipeline)))
		return false;
	/* A second one evicts no access that is being followed. */
	if (busy && !redundancy_has_room(thread->redundancy))
		return false;
	address = argument_watch_choose(watch, pipeline->arguments, &pipeline->capture,
					busy ? busy->site : ID_NONE);
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
	for (size_t i = 0; i < ARGUMENT_WATCHES; i++) {
		int slot = argument_watch_expire(&thread->arguments[i], pipeline->arguments, tracee,
						 now_ns);

		if (slot != ARGUMENT_WATCH_NO_SLOT)
			redundancy_return_slot(thread->redundancy, slot);
	}
}
