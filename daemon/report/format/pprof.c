/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pprof's file (pprof_file.h) of a profile.
 *
 * A sample for each thread and node of the tree with time of its own, and where
 * sleeping threads were looked at one for each thing it waited for; their labels
 * say whose. For each pair, where there are any, a sample that reads, from the root inwards: the
 * path of the earlier access, a frame "[read again by]" or "[written again by]", and the later
 * access from where its path leaves the earlier one, at least from its innermost Python frame.
 */
#include "daemon/report/format/pprof.h"
#include "daemon/report/encode/escape.h"
#include "daemon/report/format/pprof_file.h"
#include "daemon/report/format/writer.h"
#include "daemon/report/model/container_text.h"
#include "daemon/report/model/stack_list.h"
#include "daemon/report/model/task.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum value {
	VALUE_SAMPLES,
	VALUE_CPU,
	VALUE_WALL,
	VALUE_PYTHON,
	VALUE_NATIVE,
	VALUE_SYSTEM,
	VALUE_WAITING,   /* where it was looked for */
	VALUE_REDUNDANT, /* these two where there are pairs */
	VALUE_AVOIDABLE,
	VALUE_COUNT
};

static const struct {
	const char *type, *unit;
} value_types[VALUE_COUNT] = {
	[VALUE_SAMPLES] = { "samples", "count" },
	[VALUE_CPU] = { "cpu", "nanoseconds" },
	[VALUE_WALL] = { "time", "nanoseconds" },
	[VALUE_PYTHON] = { "python", "nanoseconds" },
	[VALUE_NATIVE] = { "native", "nanoseconds" },
	[VALUE_SYSTEM] = { "system", "nanoseconds" },
	[VALUE_WAITING] = { "waiting", "nanoseconds" },
	[VALUE_REDUNDANT] = { "redundant", "count" },
	[VALUE_AVOIDABLE] = { "avoidable", "nanoseconds" },
};

struct pprof {
	const struct profile *profile;
	enum pprof_view view;
	struct pprof_file out;
	uint32_t *location_of_frame; /* ids, of the tree's frames */
	uint64_t *stack;             /* scratch: location ids */
	size_t stack_capacity;
};

static const struct {
	unsigned values; /* a bit for each, 0: those there are */
	enum value shown;
} views[] = {
	[PPROF_ALL] = { 0, VALUE_CPU },
	[PPROF_CPU] = { 1u << VALUE_SAMPLES | 1u << VALUE_CPU, VALUE_CPU },
	[PPROF_WALL] = { 1u << VALUE_SAMPLES | 1u << VALUE_WALL, VALUE_WALL },
	[PPROF_REDUNDANCY] = { 1u << VALUE_REDUNDANT | 1u << VALUE_AVOIDABLE, VALUE_REDUNDANT },
};

static bool has_value(const struct pprof *pprof, enum value value)
{
	if (views[pprof->view].values)
		return views[pprof->view].values >> value & 1;
	switch (value) {
	case VALUE_WALL:
		return false; /* the sum of two others */
	case VALUE_PYTHON:
	case VALUE_NATIVE:
		return !pprof->profile->facts.native_unknown;
	case VALUE_WAITING:
		return pprof->profile->facts.waits;
	case VALUE_REDUNDANT:
	case VALUE_AVOIDABLE:
		return pprof->profile->pair_count > 0;
	default:
		return true;
	}
}

/* Begins a sample; the stack is pprof->stack, leaf first. */
static void begin_sample(struct pprof *pprof, size_t depth, const uint64_t values[VALUE_COUNT])
{
	uint64_t written[VALUE_COUNT];
	size_t count = 0;

	for (size_t i = 0; i < VALUE_COUNT; i++)
		if (has_value(pprof, (enum value)i))
			written[count++] = pprof_file_bounded(values[i]);
	pprof_file_begin_sample(&pprof->out, pprof->stack, depth, written, count);
}

static bool reserve_stack(struct pprof *pprof, size_t depth)
{
	uint64_t *stack;

	if (depth <= pprof->stack_capacity)
		return true;
	stack = reallocarray(pprof->stack, depth, sizeof(*stack));
	if (!stack) {
		pprof_file_fail(&pprof->out, -ENOMEM);
		return false;
	}
	pprof->stack = stack;
	pprof->stack_capacity = depth;
	return true;
}

/* ---- samples ---- */

/* The node's stack into pprof->stack; its depth, 0: no memory. */
static size_t take_stack(struct pprof *pprof, const struct profile_node *node)
{
	const struct profile_tree *tree = &pprof->profile->tree;
	size_t depth = 0;

	if (!reserve_stack(pprof, (size_t)node->depth + 1))
		return 0;
	for (;;) {
		pprof->stack[depth++] = pprof->location_of_frame[node->frame];
		if (node->parent == PROFILE_NODE_NONE)
			return depth;
		node = &tree->nodes[node->parent];
	}
}

/* Whose sample it is, as far as it is known. */
static void put_owner(struct pprof *pprof, uint32_t thread)
{
	const struct profile *profile = pprof->profile;
	pid_t pid = stack_thread_pid(profile, thread);
	struct container_text container = container_words(stack_thread_container(profile, thread));
	char number[16];

	if (thread != STACK_THREAD_NONE) {
		pprof_file_label(&pprof->out, "thread", profile->facts.threads[thread].name);
		snprintf(number, sizeof(number), "%d", (int)profile->facts.threads[thread].tid);
		if (profile->facts.threads[thread].tid)
			pprof_file_label(&pprof->out, "tid", number);
	}
	snprintf(number, sizeof(number), "%d", (int)pid);
	if (pid)
		pprof_file_label(&pprof->out, "pid", number);
	if (pid && container.text[0])
		pprof_file_label(&pprof->out, "container", container.text);
}

/* So that pprof -tagroot task, or -tagfocus task=NAME, tells tasks apart. */
static void put_task(struct pprof *pprof, const struct profile_node *node)
{
	const char *task = task_of_node(&pprof->profile->tree, node);

	if (task)
		pprof_file_label(&pprof->out, "task", task);
}

static void pprof_put_waiting(struct pprof *pprof, const struct profile_node *node,
			      const struct profile_stack *stack)
{
	for (unsigned i = 0; i < WAIT_KIND_COUNT && !pprof->out.error; i++) {
		const uint64_t values[VALUE_COUNT] = {
			[VALUE_WAITING] = stack->waiting_ns[i],
		};
		size_t depth;

		if (!values[VALUE_WAITING])
			continue;
		depth = take_stack(pprof, node);
		if (!depth)
			return;
		begin_sample(pprof, depth, values);
		pprof_file_label(&pprof->out, "waiting", wait_kind_name((enum wait_kind)i));
		put_task(pprof, node);
		put_owner(pprof, stack->thread);
		pprof_file_put(&pprof->out, PROFILE_SAMPLE);
	}
}

/* Time asleep as samples of the same clock. */
static void add_waiting(const struct pprof *pprof, const struct profile_stack *stack,
			uint64_t values[VALUE_COUNT])
{
	uint64_t waiting_ns = 0;
	uint64_t period_ns = pprof->profile->facts.period_ns;

	for (unsigned i = 0; i < WAIT_KIND_COUNT; i++)
		waiting_ns += stack->waiting_ns[i];
	values[VALUE_WALL] = values[VALUE_CPU] + waiting_ns;
	if (waiting_ns)
		values[VALUE_SAMPLES] += period_ns ? waiting_ns / period_ns + 1 : 1;
}

static void pprof_put_stack(struct pprof *pprof, const struct profile_stack *stack)
{
	const struct profile_node *node = &pprof->profile->tree.nodes[stack->node];
	uint64_t values[VALUE_COUNT] = { 0 };
	size_t depth;

	if (pprof->view == PPROF_ALL)
		pprof_put_waiting(pprof, node, stack);
	for (size_t c = 0; c < TIME_CLASS_COUNT; c++) {
		values[VALUE_SAMPLES] += stack->samples[c];
		values[VALUE_CPU] += stack->time_ns[c];
	}
	if (pprof->view == PPROF_WALL)
		add_waiting(pprof, stack, values);
	if (!values[VALUE_SAMPLES] && !values[VALUE_CPU])
		return;
	values[VALUE_PYTHON] = stack->time_ns[TIME_PYTHON];
	values[VALUE_NATIVE] = stack->time_ns[TIME_NATIVE];
	values[VALUE_SYSTEM] = stack->time_ns[TIME_SYSTEM];
	depth = take_stack(pprof, node);
	if (!depth)
		return;
	begin_sample(pprof, depth, values);
	put_task(pprof, node);
	put_owner(pprof, stack->thread);
	pprof_file_put(&pprof->out, PROFILE_SAMPLE);
}

static bool pprof_same_frame(const struct profile_frame *a, const struct profile_frame *b)
{
	return a->kind == b->kind && a->line == b->line && a->address == b->address &&
	       strcmp(a->function, b->function) == 0 && strcmp(a->file, b->file) == 0;
}

/* How many outermost frames of the second path are not repeated. */
static size_t pprof_shared_frames(const struct profile_pair *pair)
{
	size_t shared = 0, python = pair->second_count;

	while (python > 0 && pair->second[python - 1].kind != FRAME_PYTHON)
		python--;
	while (shared < pair->first_count && shared < pair->second_count &&
	       pprof_same_frame(&pair->first[shared], &pair->second[shared]))
		shared++;
	return python > 0 && shared >= python ? python - 1 : shared;
}

static void pprof_put_pair(struct pprof *pprof, const struct profile_pair *pair)
{
	static const struct profile_frame again_by[PAIR_KIND_COUNT] = {
		[PAIR_LOAD] = { .kind = FRAME_NATIVE, .function = "[read again by]", .file = "?" },
		[PAIR_STORE] = { .kind = FRAME_NATIVE,
				 .function = "[written again by]",
				 .file = "?" },
	};
	uint64_t values[VALUE_COUNT] = {
		[VALUE_REDUNDANT] = pair->redundant,
		[VALUE_AVOIDABLE] = pair->avoidable_ns,
	};
	size_t shared = pprof_shared_frames(pair), depth = 0;

	if (!reserve_stack(pprof, pair->first_count + pair->second_count + 1))
		return;
	for (size_t i = pair->second_count; i-- > shared;)
		pprof->stack[depth++] = pprof_table_location(&pprof->out.table, &pair->second[i]);
	pprof->stack[depth++] = pprof_table_location(&pprof->out.table, &again_by[pair->kind]);
	for (size_t i = pair->first_count; i-- > 0;)
		pprof->stack[depth++] = pprof_table_location(&pprof->out.table, &pair->first[i]);
	begin_sample(pprof, depth, values);
	pprof_file_label(&pprof->out, "access", pair->kind == PAIR_LOAD ? "load" : "store");
	pprof_file_label(&pprof->out, "category", category_name(pair->category));
	pprof_file_put(&pprof->out, PROFILE_SAMPLE);
}

static void put_stacks(struct pprof *pprof)
{
	struct stack_list stacks;
	int result = stack_list_init(&stacks, pprof->profile);

	if (result < 0)
		pprof_file_fail(&pprof->out, result);
	for (size_t i = 0; i < stacks.count && !pprof->out.error; i++)
		pprof_put_stack(pprof, &stacks.items[i]);
	stack_list_deinit(&stacks);
}

static void put_samples(struct pprof *pprof)
{
	const struct profile *profile = pprof->profile;

	pprof->location_of_frame =
		calloc(profile->tree.frame_count + 1, sizeof(pprof->location_of_frame[0]));
	if (!pprof->location_of_frame) {
		pprof_file_fail(&pprof->out, -ENOMEM);
		return;
	}
	for (size_t i = 0; i < profile->tree.frame_count && pprof->view != PPROF_REDUNDANCY; i++)
		pprof->location_of_frame[i] =
			pprof_table_location(&pprof->out.table, &profile->tree.frames[i]);
	if (pprof->view != PPROF_REDUNDANCY)
		put_stacks(pprof);
	for (size_t i = 0; i < profile->pair_count && !pprof->out.error; i++)
		if (pprof->view == PPROF_ALL || pprof->view == PPROF_REDUNDANCY)
			pprof_put_pair(pprof, &profile->pairs[i]);
}

/* ---- what the samples refer to ---- */

/*
 * The first mapping is shown as the program that was profiled: the one that
 * an interpreter's name begins, however samples came.
 */
static void choose_main_mapping(struct pprof *pprof)
{
	for (size_t i = 0; i < pprof->profile->tree.frame_count; i++) {
		const struct profile_frame *frame = &pprof->profile->tree.frames[i];

		if (frame->kind == FRAME_NATIVE &&
		    strncmp(path_last(frame->file), "python", strlen("python")) == 0) {
			(void)pprof_table_location(&pprof->out.table, frame);
			return;
		}
	}
}

/* ---- about the profile ---- */

static void put_value_type(struct pprof *pprof, unsigned field, enum value value)
{
	pprof_file_value_type(&pprof->out, field, value_types[value].type, value_types[value].unit);
}

static void add_comment(struct pprof *pprof, uint64_t *comments, size_t *count, const char *text)
{
	comments[(*count)++] = pprof_file_string(&pprof->out, text);
}

#define COMMENTS_MAX (LOSS_COUNT + 5)

static void put_comments(struct pprof *pprof)
{
	const struct profile *profile = pprof->profile;
	const struct profile_facts *facts = &profile->facts;
	uint64_t comments[COMMENTS_MAX];
	size_t count = 0;
	char text[160];

	snprintf(text, sizeof(text), "pieprofd %.40s, Python %d.%d.%d, %.*s, pid %d",
		 facts->version, facts->target.python.major, facts->target.python.minor,
		 facts->target.python.micro, (int)sizeof(facts->target.comm), facts->target.comm,
		 (int)facts->target.pid);
	add_comment(pprof, comments, &count, text);
	if (facts->target.container.id[0]) {
		struct container_text container = container_words(&facts->target.container);
		char words[sizeof(container) + 16];

		snprintf(words, sizeof(words), "container %s", container.text);
		add_comment(pprof, comments, &count, words);
	}
	if (facts->losses.counts[LOSS_STOP_SIGNAL_BLOCKED]) {
		snprintf(text, sizeof(text), "%llu %s",
			 (unsigned long long)facts->losses.counts[LOSS_STOP_SIGNAL_BLOCKED],
			 loss_words(LOSS_STOP_SIGNAL_BLOCKED));
		add_comment(pprof, comments, &count, text);
	}
	for (size_t i = 0; i < LOSS_COUNT; i++) {
		if (!facts->losses.counts[i] || i == LOSS_STOP_SIGNAL_BLOCKED)
			continue;
		snprintf(text, sizeof(text), "not used: %llu %s",
			 (unsigned long long)facts->losses.counts[i], loss_name((enum loss)i));
		add_comment(pprof, comments, &count, text);
	}
	if (facts->kernel_time_refused)
		add_comment(pprof, comments, &count,
			    "time in the kernel is missing: the kernel did not let it be sampled");
	if (profile->tree.nodes_folded) {
		snprintf(text, sizeof(text),
			 "%zu contexts with least time are part of their callers",
			 profile->tree.nodes_folded);
		add_comment(pprof, comments, &count, text);
	}
	if (profile->pairs_omitted) {
		snprintf(text, sizeof(text), "%zu further pairs are left out",
			 profile->pairs_omitted);
		add_comment(pprof, comments, &count, text);
	}
	protobuf_numbers(&pprof->out.message, PROFILE_COMMENT, comments, count);
	pprof_file_flush(&pprof->out);
}

static void pprof_put_facts(struct pprof *pprof)
{
	const struct profile_facts *facts = &pprof->profile->facts;

	for (size_t i = 0; i < VALUE_COUNT; i++)
		if (has_value(pprof, (enum value)i))
			put_value_type(pprof, PROFILE_SAMPLE_TYPE, (enum value)i);
	put_value_type(pprof, PROFILE_PERIOD_TYPE,
		       pprof->view == PPROF_WALL ? VALUE_WALL : VALUE_CPU);
	protobuf_number(&pprof->out.message, PROFILE_PERIOD, pprof_file_bounded(facts->period_ns));
	protobuf_number(&pprof->out.message, PROFILE_TIME_NANOS,
			pprof_file_bounded(facts->started_unix_ns));
	protobuf_number(&pprof->out.message, PROFILE_DURATION_NANOS,
			pprof_file_bounded(facts->duration_ns));
	protobuf_number(&pprof->out.message, PROFILE_DEFAULT_SAMPLE_TYPE,
			pprof_file_string(&pprof->out, value_types[views[pprof->view].shown].type));
	pprof_file_flush(&pprof->out);
	put_comments(pprof);
}

static void pprof_deinit(struct pprof *pprof)
{
	free(pprof->location_of_frame);
	free(pprof->stack);
	pprof_file_deinit(&pprof->out);
}

int pprof_write_view(const struct profile *profile, enum pprof_view view, FILE *file)
{
	struct pprof pprof = { .profile = profile, .view = view };
	int result = pprof_file_init(&pprof.out, file);

	if (result < 0)
		return result;
	choose_main_mapping(&pprof);
	pprof_put_facts(&pprof);
	put_samples(&pprof);
	result = pprof_file_finish(&pprof.out);
	pprof_deinit(&pprof);
	return result;
}

static int pprof_write(const struct profile *profile, const struct writer_options *options,
		       FILE *file)
{
	(void)options;
	return pprof_write_view(profile, PPROF_ALL, file);
}

const struct writer writer_pprof = { .name = "pprof", .extension = ".pb.gz", .write = pprof_write };
