/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/sample/thread_stacks.h"

#include "common/array.h"
#include "common/hash.h"

int thread_stacks_init(struct thread_stacks *stacks, size_t cells_max)
{
	*stacks = (struct thread_stacks){ 0 };
	return timeline_init(&stacks->timeline, TIMELINE_THREAD_SLICES_MAX, cells_max);
}

void thread_stacks_deinit(struct thread_stacks *stacks)
{
	free(stacks->items);
	id_table_deinit(&stacks->ids);
	timeline_deinit(&stacks->timeline);
	*stacks = (struct thread_stacks){ 0 };
}

/* NULL: there is no room. */
static struct profile_stack *thread_stacks_find(struct thread_stacks *stacks, size_t thread,
						uint32_t node)
{
	uint64_t hash = hash_mix((uint64_t)thread << 32 | node);
	size_t probe = 0;
	uint32_t id;

	while ((id = id_table_next(&stacks->ids, hash, &probe)) != ID_NONE)
		if (stacks->items[id].thread == thread && stacks->items[id].node == node)
			return &stacks->items[id];
	if (stacks->count == THREAD_STACKS_MAX || id_table_reserve(&stacks->ids) ||
	    !ARRAY_ROOM(stacks->items, stacks->count, stacks->capacity))
		return NULL;
	id_table_add(&stacks->ids, hash, (uint32_t)stacks->count);
	stacks->items[stacks->count] =
		(struct profile_stack){ .thread = (uint32_t)thread, .node = node };
	return &stacks->items[stacks->count++];
}

void thread_stacks_charge(struct thread_stacks *stacks, size_t thread, uint32_t node,
			  uint64_t at_ns, enum time_class time_class, uint64_t samples,
			  uint64_t time_ns)
{
	thread_stacks_charge_span(stacks, thread, node, at_ns, at_ns, time_class, samples, time_ns);
}

void thread_stacks_charge_span(struct thread_stacks *stacks, size_t thread, uint32_t node,
			       uint64_t first_ns, uint64_t last_ns, enum time_class time_class,
			       uint64_t samples, uint64_t time_ns)
{
	struct profile_stack *stack = thread_stacks_find(stacks, thread, node);

	if (!stack)
		return;
	stack->samples[time_class] += samples;
	stack->time_ns[time_class] += time_ns;
	timeline_charge_span(&stacks->timeline, (size_t)(stack - stacks->items), first_ns, last_ns,
			     time_class, time_ns);
}

void thread_stacks_wait(struct thread_stacks *stacks, size_t thread, uint32_t node,
			enum wait_kind kind, uint64_t time_ns)
{
	struct profile_stack *stack = thread_stacks_find(stacks, thread, node);

	if (stack)
		stack->waiting_ns[kind] += time_ns;
}
