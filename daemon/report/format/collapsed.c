/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Collapsed stacks, as flamegraph.pl, inferno and speedscope read them: a line
 * a stack, its frames from the outermost inwards with ';' between them, a
 * space, and a whole number, here microseconds of CPU time.
 *
 *   <module> (/srv/conv.py:90);backprop (/srv/conv.py:33);array_subscript (umath.so) 5500000
 *
 * A frame ends with ')', so that no name can pose as a number, or "_[k]" behind a function of the
 * kernel's, as flamegraph.pl and inferno know them. Time in the kernel is that of such frames;
 * where it is not known where in the kernel, of a last frame "[system]". Where sleeping threads
 * were looked at, the time that they waited is that of a last frame "[waiting: lock]".
 *
 * The format has no head, so what one process runs in is a first frame of each
 * stack: "[container web (podman 0123456789ab)]". Of several processes, the frame of
 * each names its container. Where several threads ran, the next frame is the thread,
 * "[thread MainThread 4321]".
 */
#include "daemon/report/encode/escape.h"
#include "daemon/report/format/writer.h"
#include "daemon/report/model/container_text.h"
#include "daemon/report/model/frame_function.h"
#include "daemon/report/model/stack_list.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define SYSTEM_FRAME  "[system]"
#define WAITING_FRAME "[waiting: %s]"

struct collapsed {
	const struct profile_tree *tree;
	char *container; /* the first frame; "": none */
	char **labels;   /* by frame */
	char *thread;    /* of the stacks in hand; NULL: none */
	bool begun;      /* the stack in hand has a frame */
	FILE *file;
	uint64_t written_ns; /* of all stacks so far */
};

static char *make_label(const struct profile_frame *frame)
{
	char buffer[FRAME_FUNCTION_BYTES], library[LIBRARY_NAME_BYTES], *label, *escaped;
	const char *function = frame_function(frame, false, buffer, sizeof(buffer));
	int length;

	if (frame->kind == FRAME_PYTHON)
		length = asprintf(&label, "%s (%s:%d)", function, frame->file, frame->line);
	else if (frame->kind == FRAME_PROCESS)
		length = asprintf(&label, "%s", function);
	else if (profile_frame_is_kernel(frame))
		length = asprintf(&label, "%s_[k]", function);
	else
		length = asprintf(&label, "%s (%s)", function,
				  library_name(frame->file, library, sizeof(library)));
	if (length < 0)
		return NULL;
	escaped = escape_printable(label, ';');
	free(label);
	return escaped;
}

/* NULL: out of memory. */
static char *make_container_label(const struct profile *profile)
{
	struct container_text words = container_words(&profile->facts.target.container);
	char *label = NULL, *escaped;

	if (profile->process_count || !words.text[0])
		return strdup("");
	escaped = escape_printable(words.text, ';');
	if (escaped && asprintf(&label, "[container %s]", escaped) < 0)
		label = NULL;
	free(escaped);
	return label;
}

/* NULL: out of memory. */
static char *make_thread_label(const struct profile *profile, uint32_t index)
{
	const struct profile_thread *thread;
	char *label = NULL, *escaped;
	int length;

	if (index == STACK_THREAD_NONE)
		return strdup("[unknown thread]");
	thread = &profile->facts.threads[index];
	escaped = escape_printable(thread->name, ';');
	if (!escaped)
		return NULL;
	length = thread->tid ? asprintf(&label, "[thread %s %d]", escaped, (int)thread->tid)
			     : asprintf(&label, "[thread %s]", escaped);
	free(escaped);
	return length < 0 ? NULL : label;
}

static int make_labels(struct collapsed *collapsed, const struct profile *profile)
{
	const struct profile_tree *tree = collapsed->tree;

	collapsed->container = make_container_label(profile);
	if (!collapsed->container)
		return -ENOMEM;
	collapsed->labels = calloc(tree->frame_count + 1, sizeof(collapsed->labels[0]));
	if (!collapsed->labels)
		return -ENOMEM;
	for (size_t i = 0; i < tree->frame_count; i++) {
		collapsed->labels[i] = make_label(&tree->frames[i]);
		if (!collapsed->labels[i])
			return -ENOMEM;
	}
	return 0;
}

/* Rounded so that the sum of all numbers is the sum of all times. */
static uint64_t round_us(struct collapsed *collapsed, uint64_t time_ns)
{
	uint64_t before_us = collapsed->written_ns / 1000;

	collapsed->written_ns += time_ns;
	return collapsed->written_ns / 1000 - before_us;
}

/* One more of the stack in hand; "": none. */
static void put_frame(struct collapsed *collapsed, const char *label)
{
	if (!*label)
		return;
	fprintf(collapsed->file, "%s%s", collapsed->begun ? ";" : "", label);
	collapsed->begun = true;
}

/* path has the frames of the stack, the outermost first; last: one more, "": none. */
static void put_stack(struct collapsed *collapsed, const uint32_t *path, size_t count,
		      const char *last, uint64_t time_ns)
{
	uint64_t time_us = round_us(collapsed, time_ns);
	bool process = collapsed->tree->frames[path[0]].kind == FRAME_PROCESS;

	if (!time_us)
		return;
	collapsed->begun = false;
	put_frame(collapsed, collapsed->container);
	/* A process goes before its threads. */
	if (process)
		put_frame(collapsed, collapsed->labels[path[0]]);
	if (collapsed->thread)
		put_frame(collapsed, collapsed->thread);
	for (size_t i = process; i < count; i++)
		put_frame(collapsed, collapsed->labels[path[i]]);
	put_frame(collapsed, last);
	fprintf(collapsed->file, " %llu\n", (unsigned long long)time_us);
}

static void put_stack_times(struct collapsed *collapsed, const uint32_t *path, size_t count,
			    const struct profile_stack *stack)
{
	char last[32];

	put_stack(collapsed, path, count, "",
		  stack->time_ns[TIME_PYTHON] + stack->time_ns[TIME_NATIVE]);
	put_stack(collapsed, path, count,
		  profile_frame_is_kernel(&collapsed->tree->frames[path[count - 1]]) ? ""
										     : SYSTEM_FRAME,
		  stack->time_ns[TIME_SYSTEM]);
	for (unsigned i = 0; i < WAIT_KIND_COUNT; i++) {
		snprintf(last, sizeof(last), WAITING_FRAME, wait_kind_name((enum wait_kind)i));
		put_stack(collapsed, path, count, last, stack->waiting_ns[i]);
	}
}

/* The frames of a node's stack, the outermost first; how many. */
static size_t take_path(const struct profile_tree *tree, uint32_t node, uint32_t *path)
{
	size_t count = tree->nodes[node].depth + 1;

	for (size_t i = count; i-- > 0; node = tree->nodes[node].parent)
		path[i] = tree->nodes[node].frame;
	return count;
}

/* By thread, where there are several. */
static int put_by_thread(struct collapsed *collapsed, const struct profile *profile,
			 const struct stack_list *stacks, uint32_t *path)
{
	for (size_t i = 0; i < stacks->count && !ferror(collapsed->file); i++) {
		const struct profile_stack *stack = &stacks->items[i];

		if (!i || stack->thread != stack[-1].thread) {
			free(collapsed->thread);
			collapsed->thread = make_thread_label(profile, stack->thread);
		}
		if (!collapsed->thread)
			return -ENOMEM;
		put_stack_times(collapsed, path, take_path(collapsed->tree, stack->node, path),
				stack);
	}
	return 0;
}

static void put_nodes(struct collapsed *collapsed, uint32_t *path)
{
	const struct profile_tree *tree = collapsed->tree;

	for (uint32_t i = 0; i < tree->node_count && !ferror(collapsed->file); i++) {
		const struct profile_stack stack = stack_of_node(tree, i);

		put_stack_times(collapsed, path, take_path(tree, i, path), &stack);
	}
}

static int collapsed_put_stacks(struct collapsed *collapsed, const struct profile *profile)
{
	const struct profile_tree *tree = collapsed->tree;
	struct stack_list stacks;
	int result = stack_list_init(&stacks, profile);
	size_t deepest = 0;
	uint32_t *path;

	for (size_t i = 0; i < tree->node_count; i++)
		if (tree->nodes[i].depth > deepest)
			deepest = tree->nodes[i].depth;
	path = calloc(deepest + 1, sizeof(path[0]));
	if (!path)
		result = -ENOMEM;
	if (!result && stacks.thread_count > 1)
		result = put_by_thread(collapsed, profile, &stacks, path);
	else if (!result)
		put_nodes(collapsed, path);
	free(path);
	stack_list_deinit(&stacks);
	return !result && ferror(collapsed->file) ? -EIO : result;
}

static int collapsed_write(const struct profile *profile, const struct writer_options *options,
			   FILE *file)
{
	struct collapsed collapsed = { .tree = &profile->tree, .file = file };
	int result = make_labels(&collapsed, profile);

	(void)options;
	if (!result)
		result = collapsed_put_stacks(&collapsed, profile);
	free(collapsed.thread);
	for (size_t i = 0; collapsed.labels && i < profile->tree.frame_count; i++)
		free(collapsed.labels[i]);
	free(collapsed.labels);
	free(collapsed.container);
	return result;
}

const struct writer writer_collapsed = { .name = "collapsed",
					 .extension = ".folded",
					 .write = collapsed_write };
