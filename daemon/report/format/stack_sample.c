/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/report/format/stack_sample.h"

#include "daemon/report/model/container_text.h"
#include "daemon/report/model/stack_list.h"
#include "daemon/report/model/task.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const struct sample_value_type sample_value_types[SAMPLE_VALUE_COUNT] = {
	[SAMPLE_VALUE_SAMPLES] = { "samples", "count" },
	[SAMPLE_VALUE_CPU] = { "cpu", "nanoseconds" },
	[SAMPLE_VALUE_WALL] = { "time", "nanoseconds" },
	[SAMPLE_VALUE_PYTHON] = { "python", "nanoseconds" },
	[SAMPLE_VALUE_NATIVE] = { "native", "nanoseconds" },
	[SAMPLE_VALUE_SYSTEM] = { "system", "nanoseconds" },
	[SAMPLE_VALUE_WAITING] = { "waiting", "nanoseconds" },
	[SAMPLE_VALUE_REDUNDANT] = { "redundant", "count" },
	[SAMPLE_VALUE_AVOIDABLE] = { "avoidable", "nanoseconds" },
};

struct walk {
	const struct profile *profile;
	enum pprof_view view;
	const struct stack_part *part; /* NULL: all */
	struct pprof_table *table;
	stack_sample_put *put;
	void *context;
	uint32_t *location_of_frame; /* ids, of the tree's frames; 0: not used so far */
	uint64_t *stack;             /* scratch: location ids */
	size_t stack_capacity;
	int error; /* the first; nothing is put after it */
};

/* A bit for each, 0: those there are. */
static const unsigned view_values[] = {
	[PPROF_ALL] = 0,
	[PPROF_CPU] = 1u << SAMPLE_VALUE_SAMPLES | 1u << SAMPLE_VALUE_CPU,
	[PPROF_WALL] = 1u << SAMPLE_VALUE_SAMPLES | 1u << SAMPLE_VALUE_WALL,
	[PPROF_REDUNDANCY] = 1u << SAMPLE_VALUE_REDUNDANT | 1u << SAMPLE_VALUE_AVOIDABLE,
};

bool sample_view_has(const struct profile *profile, enum pprof_view view, enum sample_value value)
{
	if (view_values[view])
		return view_values[view] >> value & 1;
	switch (value) {
	case SAMPLE_VALUE_WALL:
		return false; /* the sum of two others */
	case SAMPLE_VALUE_PYTHON:
	case SAMPLE_VALUE_NATIVE:
		return !profile->facts.native_unknown;
	case SAMPLE_VALUE_WAITING:
		return profile->facts.waits;
	case SAMPLE_VALUE_REDUNDANT:
	case SAMPLE_VALUE_AVOIDABLE:
		return profile->pair_count > 0;
	default:
		return true;
	}
}

static void walk_fail(struct walk *walk, int error)
{
	if (!walk->error)
		walk->error = error;
}

/* Of walk->stack. */
static void walk_put(struct walk *walk, struct stack_sample *sample, size_t depth)
{
	int result;

	sample->stack = walk->stack;
	sample->depth = depth;
	result = walk->error ? 0 : walk->put(walk->context, sample);
	if (result)
		walk_fail(walk, result);
}

/* Borrows the text until the sample is put. */
static void add_label(struct stack_sample *sample, const char *key, const char *text)
{
	if (sample->label_count < STACK_SAMPLE_LABELS_MAX)
		sample->labels[sample->label_count++] = (struct sample_label){ key, text };
}

static bool reserve_stack(struct walk *walk, size_t depth)
{
	uint64_t *stack;

	if (depth <= walk->stack_capacity)
		return true;
	stack = reallocarray(walk->stack, depth, sizeof(*stack));
	if (!stack) {
		walk_fail(walk, -ENOMEM);
		return false;
	}
	walk->stack = stack;
	walk->stack_capacity = depth;
	return true;
}

/* ---- samples ---- */

/* The node's stack into walk->stack; its depth, 0: no memory. */
static size_t take_stack(struct walk *walk, const struct profile_node *node)
{
	const struct profile_tree *tree = &walk->profile->tree;
	size_t depth = 0;

	if (!reserve_stack(walk, (size_t)node->depth + 1))
		return 0;
	for (;;) {
		uint32_t *location = &walk->location_of_frame[node->frame];

		if (!*location)
			*location = pprof_table_location(walk->table, &tree->frames[node->frame]);
		walk->stack[depth++] = *location;
		if (node->parent == PROFILE_NODE_NONE)
			return depth;
		node = &tree->nodes[node->parent];
	}
}

/* Whose sample it is, as far as it is known. */
struct owner {
	char tid[16], pid[16];
	struct container_text container;
};

static void add_labels(struct stack_sample *sample, const struct process_labels *labels)
{
	const struct sample_label known[] = {
		{ "service", labels->service },   { "version", labels->version },
		{ "revision", labels->revision }, { "namespace", labels->namespace },
		{ "pod", labels->pod },           { "pod_uid", labels->pod_uid },
	};

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (known[i].text[0])
			add_label(sample, known[i].key, known[i].text);
}

static void add_owner(const struct walk *walk, struct stack_sample *sample, uint32_t thread,
		      struct owner *owner)
{
	const struct profile *profile = walk->profile;
	pid_t pid = stack_thread_pid(profile, thread);
	struct stack_owner of = stack_thread_owner(profile, thread);

	owner->container = container_words(of.container);
	sample->pid = pid;
	if (thread != STACK_THREAD_NONE) {
		pid_t tid = profile->facts.threads[thread].tid;

		add_label(sample, "thread", profile->facts.threads[thread].name);
		snprintf(owner->tid, sizeof(owner->tid), "%d", (int)tid);
		if (tid)
			add_label(sample, "tid", owner->tid);
	}
	snprintf(owner->pid, sizeof(owner->pid), "%d", (int)pid);
	if (pid)
		add_label(sample, "pid", owner->pid);
	if (pid && owner->container.text[0])
		add_label(sample, "container", owner->container.text);
	if (pid)
		add_labels(sample, of.labels);
}

/* So that pprof -tagroot task, or -tagfocus task=NAME, tells tasks apart. */
static void add_task(const struct walk *walk, struct stack_sample *sample,
		     const struct profile_node *node)
{
	const char *task = task_of_node(&walk->profile->tree, node);

	if (task)
		add_label(sample, "task", task);
}

static bool takes(const struct walk *walk, pid_t pid)
{
	return !walk->part || walk->part->takes(walk->part->context, pid);
}

/* Of a thread in a node. */
static void put_owned(struct walk *walk, struct stack_sample *sample,
		      const struct profile_node *node, uint32_t thread)
{
	struct owner owner;
	size_t depth;

	if (!takes(walk, stack_thread_pid(walk->profile, thread)))
		return;
	depth = take_stack(walk, node);
	if (!depth)
		return;
	add_task(walk, sample, node);
	add_owner(walk, sample, thread, &owner);
	walk_put(walk, sample, depth);
}

static void put_waiting(struct walk *walk, const struct profile_node *node,
			const struct profile_stack *stack)
{
	for (unsigned i = 0; i < WAIT_KIND_COUNT && !walk->error; i++) {
		struct stack_sample sample = {
			.values = { [SAMPLE_VALUE_WAITING] = stack->waiting_ns[i] },
		};

		if (!stack->waiting_ns[i])
			continue;
		add_label(&sample, "waiting", wait_kind_name((enum wait_kind)i));
		put_owned(walk, &sample, node, stack->thread);
	}
}

/* Time asleep as samples of the same clock. */
static void add_waiting(const struct walk *walk, const struct profile_stack *stack,
			uint64_t values[SAMPLE_VALUE_COUNT])
{
	uint64_t waiting_ns = 0;
	uint64_t period_ns = walk->profile->facts.period_ns;

	for (unsigned i = 0; i < WAIT_KIND_COUNT; i++)
		waiting_ns += stack->waiting_ns[i];
	values[SAMPLE_VALUE_WALL] = values[SAMPLE_VALUE_CPU] + waiting_ns;
	if (waiting_ns)
		values[SAMPLE_VALUE_SAMPLES] += period_ns ? waiting_ns / period_ns + 1 : 1;
}

static void put_stack(struct walk *walk, const struct profile_stack *stack)
{
	const struct profile_node *node = &walk->profile->tree.nodes[stack->node];
	struct stack_sample sample = { 0 };
	uint64_t *values = sample.values;

	if (walk->view == PPROF_ALL)
		put_waiting(walk, node, stack);
	for (size_t c = 0; c < TIME_CLASS_COUNT; c++) {
		values[SAMPLE_VALUE_SAMPLES] += stack->samples[c];
		values[SAMPLE_VALUE_CPU] += stack->time_ns[c];
	}
	if (walk->view == PPROF_WALL)
		add_waiting(walk, stack, values);
	if (!values[SAMPLE_VALUE_SAMPLES] && !values[SAMPLE_VALUE_CPU])
		return;
	values[SAMPLE_VALUE_PYTHON] = stack->time_ns[TIME_PYTHON];
	values[SAMPLE_VALUE_NATIVE] = stack->time_ns[TIME_NATIVE];
	values[SAMPLE_VALUE_SYSTEM] = stack->time_ns[TIME_SYSTEM];
	put_owned(walk, &sample, node, stack->thread);
}

static bool same_frame(const struct profile_frame *a, const struct profile_frame *b)
{
	return a->kind == b->kind && a->line == b->line && a->address == b->address &&
	       strcmp(a->function, b->function) == 0 && strcmp(a->file, b->file) == 0;
}

/* How many outermost frames of the second path are not repeated. */
static size_t shared_frames(const struct profile_pair *pair)
{
	size_t shared = 0, python = pair->second_count;

	while (python > 0 && pair->second[python - 1].kind != FRAME_PYTHON)
		python--;
	while (shared < pair->first_count && shared < pair->second_count &&
	       same_frame(&pair->first[shared], &pair->second[shared]))
		shared++;
	return python > 0 && shared >= python ? python - 1 : shared;
}

static void put_pair(struct walk *walk, const struct profile_pair *pair)
{
	static const struct profile_frame again_by[PAIR_KIND_COUNT] = {
		[PAIR_LOAD] = { .kind = FRAME_NATIVE, .function = "[read again by]", .file = "?" },
		[PAIR_STORE] = { .kind = FRAME_NATIVE,
				 .function = "[written again by]",
				 .file = "?" },
	};
	struct stack_sample sample = {
		.pid = walk->profile->process_count ? 0 : walk->profile->facts.target.pid,
		.values = {
			[SAMPLE_VALUE_REDUNDANT] = pair->redundant,
			[SAMPLE_VALUE_AVOIDABLE] = pair->avoidable_ns,
		},
	};
	size_t shared = shared_frames(pair), depth = 0;

	if (!takes(walk, sample.pid))
		return;
	if (!reserve_stack(walk, pair->first_count + pair->second_count + 1))
		return;
	for (size_t i = pair->second_count; i-- > shared;)
		walk->stack[depth++] = pprof_table_location(walk->table, &pair->second[i]);
	walk->stack[depth++] = pprof_table_location(walk->table, &again_by[pair->kind]);
	for (size_t i = pair->first_count; i-- > 0;)
		walk->stack[depth++] = pprof_table_location(walk->table, &pair->first[i]);
	add_label(&sample, "access", pair->kind == PAIR_LOAD ? "load" : "store");
	add_label(&sample, "category", category_name(pair->category));
	walk_put(walk, &sample, depth);
}

static void put_stacks(struct walk *walk)
{
	struct stack_list stacks;
	int result = stack_list_init(&stacks, walk->profile);

	if (result < 0)
		walk_fail(walk, result);
	for (size_t i = 0; i < stacks.count && !walk->error; i++)
		put_stack(walk, &stacks.items[i]);
	stack_list_deinit(&stacks);
}

static void put_samples(struct walk *walk)
{
	const struct profile *profile = walk->profile;

	walk->location_of_frame =
		calloc(profile->tree.frame_count + 1, sizeof(walk->location_of_frame[0]));
	if (!walk->location_of_frame) {
		walk_fail(walk, -ENOMEM);
		return;
	}
	if (walk->view != PPROF_REDUNDANCY)
		put_stacks(walk);
	for (size_t i = 0; i < profile->pair_count && !walk->error; i++)
		if (walk->view == PPROF_ALL || walk->view == PPROF_REDUNDANCY)
			put_pair(walk, &profile->pairs[i]);
}

int stack_samples_put(const struct profile *profile, enum pprof_view view,
		      const struct stack_part *part, struct pprof_table *table,
		      stack_sample_put *put, void *context)
{
	struct walk walk = {
		.profile = profile,
		.view = view,
		.part = part,
		.table = table,
		.put = put,
		.context = context,
	};

	put_samples(&walk);
	free(walk.location_of_frame);
	free(walk.stack);
	return walk.error;
}
