/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/report/model/stack_list.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* As much as is there: a snapshot's stacks are newer than its tree, and a recording may say
 * anything. */
static uint64_t stack_take(uint64_t *from, uint64_t wanted)
{
	uint64_t taken = wanted < *from ? wanted : *from;

	*from -= taken;
	return taken;
}

static bool stack_is_empty(const struct profile_stack *stack)
{
	uint64_t any = 0;

	for (size_t c = 0; c < TIME_CLASS_COUNT; c++)
		any |= stack->samples[c] | stack->time_ns[c];
	for (size_t i = 0; i < WAIT_KIND_COUNT; i++)
		any |= stack->waiting_ns[i];
	return !any;
}

struct profile_stack stack_of_node(const struct profile_tree *tree, uint32_t node)
{
	struct profile_stack stack = { .thread = STACK_THREAD_NONE, .node = node };

	memcpy(stack.samples, tree->nodes[node].samples, sizeof(stack.samples));
	memcpy(stack.time_ns, tree->nodes[node].time_ns, sizeof(stack.time_ns));
	memcpy(stack.waiting_ns, tree->nodes[node].side.waiting_ns, sizeof(stack.waiting_ns));
	return stack;
}

/* Of each node, for the caller to free. */
static struct profile_stack *whole_nodes(const struct profile_tree *tree)
{
	struct profile_stack *nodes = calloc(tree->node_count + 1, sizeof(*nodes));

	for (size_t i = 0; nodes && i < tree->node_count; i++)
		nodes[i] = stack_of_node(tree, (uint32_t)i);
	return nodes;
}

/* The stack's part of what is left of its node. */
static void take_stack(struct profile_stack *stack, struct profile_stack *node)
{
	for (size_t c = 0; c < TIME_CLASS_COUNT; c++) {
		stack->samples[c] = stack_take(&node->samples[c], stack->samples[c]);
		stack->time_ns[c] = stack_take(&node->time_ns[c], stack->time_ns[c]);
	}
	for (size_t i = 0; i < WAIT_KIND_COUNT; i++)
		stack->waiting_ns[i] = stack_take(&node->waiting_ns[i], stack->waiting_ns[i]);
}

static int pid_compare(const void *left, const void *right)
{
	pid_t a = *(const pid_t *)left, b = *(const pid_t *)right;

	return a < b ? -1 : a > b;
}

static int count_threads(struct stack_list *list, const struct profile_facts *facts)
{
	pid_t *pids = calloc(facts->thread_count + 1, sizeof(*pids));
	size_t count = 0;

	if (!pids)
		return -ENOMEM;
	for (size_t i = 0; i < list->count; i++) {
		uint32_t thread = list->items[i].thread;

		if (thread != STACK_THREAD_NONE && facts->threads[thread].tid &&
		    (!i || list->items[i - 1].thread != thread))
			pids[count++] = facts->threads[thread].pid;
	}
	qsort(pids, count, sizeof(*pids), pid_compare);
	for (size_t i = 0, run = 0; i < count; i++) {
		run = i && pids[i] == pids[i - 1] ? run + 1 : 1;
		list->thread_count = run > list->thread_count ? run : list->thread_count;
	}
	free(pids);
	return 0;
}

int stack_list_init(struct stack_list *list, const struct profile *profile)
{
	const struct profile_facts *facts = &profile->facts;
	struct profile_stack *rest = whole_nodes(&profile->tree);
	size_t most = facts->stack_count + profile->tree.node_count;

	*list = (struct stack_list){ .items = calloc(most + 1, sizeof(*list->items)) };
	if (!rest || !list->items) {
		free(rest);
		return -ENOMEM;
	}
	if (facts->stack_count)
		memcpy(list->items, facts->stacks, facts->stack_count * sizeof(*list->items));
	list->count = facts->stack_count;
	for (size_t i = 0; i < list->count; i++)
		take_stack(&list->items[i], &rest[list->items[i].node]);
	for (size_t i = 0; i < profile->tree.node_count; i++)
		if (!stack_is_empty(&rest[i]))
			list->items[list->count++] = rest[i];
	free(rest);
	return count_threads(list, facts);
}

void stack_list_deinit(struct stack_list *list)
{
	free(list->items);
	*list = (struct stack_list){ 0 };
}

static int moment_compare(const void *left, const void *right)
{
	const struct stack_moment *a = left, *b = right;

	if (a->thread != b->thread)
		return a->thread < b->thread ? -1 : 1;
	if (a->slice != b->slice)
		return a->slice < b->slice ? -1 : 1;
	return a->node < b->node ? -1 : a->node > b->node;
}

static void add_moment(struct moment_list *list, const struct profile_stack *stack, uint64_t slice,
		       const uint64_t time_ns[TIME_CLASS_COUNT])
{
	struct stack_moment *moment = &list->items[list->count];

	if (!time_sum(time_ns))
		return;
	*moment = (struct stack_moment){ stack->thread, stack->node, slice, { 0 } };
	memcpy(moment->time_ns, time_ns, sizeof(moment->time_ns));
	list->count++;
}

int moment_list_init(struct moment_list *list, const struct profile *profile,
		     const struct stack_list *stacks)
{
	const struct profile_timeline *timeline = &profile->facts.stack_timeline;
	size_t most = stacks->count + timeline->cell_count, cell = 0;

	*list = (struct moment_list){ .items = calloc(most + 1, sizeof(*list->items)) };
	if (!list->items)
		return -ENOMEM;
	for (size_t i = 0; i < stacks->count; i++) {
		struct profile_stack rest = stacks->items[i];

		/* The first ones are the profile's, whose cells are in the same order. */
		for (; cell < timeline->cell_count && timeline->cells[cell].owner == i; cell++) {
			uint64_t time_ns[TIME_CLASS_COUNT];

			for (size_t c = 0; c < TIME_CLASS_COUNT; c++)
				time_ns[c] = stack_take(&rest.time_ns[c],
							timeline->cells[cell].time_ns[c]);
			add_moment(list, &rest, timeline->cells[cell].slice, time_ns);
		}
		add_moment(list, &rest, timeline->slice_count, rest.time_ns);
	}
	if (list->count)
		qsort(list->items, list->count, sizeof(*list->items), moment_compare);
	return 0;
}

void moment_list_deinit(struct moment_list *list)
{
	free(list->items);
	*list = (struct moment_list){ 0 };
}

pid_t stack_thread_pid(const struct profile *profile, uint32_t thread)
{
	pid_t pid = thread < profile->facts.thread_count ? profile->facts.threads[thread].pid : 0;

	return pid || profile->process_count ? pid : profile->facts.target.pid;
}

struct stack_owner stack_thread_owner(const struct profile *profile, uint32_t thread)
{
	const struct profile_target *target = &profile->facts.target;
	pid_t pid = stack_thread_pid(profile, thread);

	for (size_t i = 0; i < profile->process_count; i++)
		if (pid && profile->processes[i].pid == pid)
			return (struct stack_owner){ &profile->processes[i].container,
						     &profile->processes[i].labels };
	return (struct stack_owner){ &target->container, &target->labels };
}
