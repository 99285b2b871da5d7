/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/detect/watch.h"

void watch_lose(struct watch_process *process, enum loss loss)
{
	process->losses->counts[loss]++;
}

int watch_claim(struct watch_process *process, struct watch_thread *thread)
{
	int slot = slot_policy_choose(&thread->policy);

	if (slot == SLOT_NONE)
		return SLOT_NONE;
	if (thread->watches[slot].phase != WATCH_FREE)
		watch_give_up(process, thread, slot, LOSS_WATCH_EVICTED);
	slot_policy_take(&thread->policy, slot);
	return slot;
}

int watch_arm(struct watch_process *process, struct watch_thread *thread, int slot,
	      enum breakpoint_type type, remote_addr address, size_t length)
{
	const struct watch_hooks *hooks = &process->hooks;
	struct watch *watch = &thread->watches[slot];
	int error = hooks->arm(hooks->context, (unsigned)slot, type, address, length);

	watch->passed = 0;
	watch->armed_ns = hooks->now_ns(hooks->context);
	watch->running_ns = error ? 0 : hooks->running_ns(hooks->context, (unsigned)slot);
	return error;
}

void watch_count(struct watch_process *process, const struct watch *watch)
{
	if (!watch->first || !watch->second ||
	    pair_table_add(process->pairs, watch->sought.kind, watch->first, watch->second,
			   watch->verdict, &watch->evidence))
		watch_lose(process, LOSS_TREE_FULL);
}

void watch_give_up(struct watch_process *process, struct watch_thread *thread, int slot,
		   enum loss loss)
{
	if (thread->watches[slot].judged && thread->watches[slot].second)
		watch_count(process, &thread->watches[slot]);
	else
		watch_lose(process, loss);
	watch_end(process, thread, slot);
}

void watch_end(struct watch_process *process, struct watch_thread *thread, int slot)
{
	process->hooks.disarm(process->hooks.context, (unsigned)slot);
	watch_free(thread, slot);
}

void watch_free(struct watch_thread *thread, int slot)
{
	thread->watches[slot] = (struct watch){ .phase = WATCH_FREE };
	slot_policy_release(&thread->policy, slot);
}
