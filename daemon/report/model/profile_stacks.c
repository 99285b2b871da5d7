/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/report/model/profile_stacks.h"

#include "daemon/report/model/profile_timeline.h"

#include <errno.h>
#include <stdlib.h>

/* A stack with where it was among the others. */
struct numbered_stack {
	struct profile_stack stack; /* first: what is compared */
	uint32_t index;
};

static int stack_compare(const void *left, const void *right)
{
	const struct profile_stack *a = left, *b = right;

	if (a->thread != b->thread)
		return a->thread < b->thread ? -1 : 1;
	return a->node < b->node ? -1 : a->node > b->node;
}

static void stack_add(struct profile_stack *to, const struct profile_stack *more)
{
	for (size_t c = 0; c < TIME_CLASS_COUNT; c++) {
		to->samples[c] += more->samples[c];
		to->time_ns[c] += more->time_ns[c];
	}
	for (size_t i = 0; i < WAIT_KIND_COUNT; i++)
		to->waiting_ns[i] += more->waiting_ns[i];
}

static uint32_t position_of(const struct profile_positions *positions, uint32_t index)
{
	if (!positions)
		return index;
	return index < positions->count ? positions->items[index] : PROFILE_NODE_NONE;
}

/* Those that are left, in their order; how many. */
static size_t number_stacks(const struct profile_facts *facts,
			    const struct profile_positions *threads,
			    const struct profile_positions *nodes, struct numbered_stack *numbered)
{
	size_t count = 0;

	for (size_t i = 0; i < facts->stack_count; i++) {
		struct profile_stack stack = facts->stacks[i];

		stack.thread = position_of(threads, stack.thread);
		stack.node = position_of(nodes, stack.node);
		if (stack.thread != PROFILE_NODE_NONE && stack.node != PROFILE_NODE_NONE)
			numbered[count++] = (struct numbered_stack){ stack, (uint32_t)i };
	}
	if (count)
		qsort(numbered, count, sizeof(*numbered), stack_compare);
	return count;
}

static int write_stacks(struct arena *arena, struct profile_facts *facts,
			const struct numbered_stack *numbered, size_t count, uint32_t *positions)
{
	struct profile_stack *stacks = arena_array(arena, count + 1, sizeof(*stacks));
	size_t before = facts->stack_count, kept = 0;

	if (!stacks)
		return -ENOMEM;
	for (size_t i = 0; i < before; i++)
		positions[i] = PROFILE_NODE_NONE;
	for (size_t i = 0; i < count; i++) {
		if (kept && !stack_compare(&stacks[kept - 1], &numbered[i].stack))
			stack_add(&stacks[kept - 1], &numbered[i].stack);
		else
			stacks[kept++] = numbered[i].stack;
		positions[numbered[i].index] = (uint32_t)(kept - 1);
	}
	facts->stacks = stacks;
	facts->stack_count = kept;
	return profile_timeline_renumber(arena, &facts->stack_timeline, positions, before,
					 &facts->stack_timeline);
}

int profile_stacks_renumber(struct arena *arena, struct profile_facts *facts,
			    const struct profile_positions *threads,
			    const struct profile_positions *nodes)
{
	struct numbered_stack *numbered = calloc(facts->stack_count + 1, sizeof(*numbered));
	uint32_t *positions = calloc(facts->stack_count + 1, sizeof(*positions));
	int result = -ENOMEM;

	if (numbered && positions)
		result = write_stacks(arena, facts, numbered,
				      number_stacks(facts, threads, nodes, numbered), positions);
	free(positions);
	free(numbered);
	return result;
}
