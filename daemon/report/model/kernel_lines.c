/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/report/model/kernel_lines.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#define NONE UINT32_MAX

/* What is known of a node from its callers: indices of frames. */
struct kernel_scene {
	uint32_t python; /* innermost */
	uint32_t native; /* likewise, outside of the kernel */
	uint32_t entry;
};

/* One function that ran for one entry from one line. */
struct kernel_hit {
	const struct profile_frame *frame;
	const char *entry;
	const char *function;
	uint64_t time_ns, samples;
};

/* By place, then entry. */
static int compare_entries(const struct kernel_hit *a, const struct kernel_hit *b)
{
	int order;

	if (!a->frame || !b->frame)
		order = (a->frame != NULL) - (b->frame != NULL);
	else
		order = strcmp(a->frame->file, b->frame->file);
	if (!order && a->frame)
		order = a->frame->line < b->frame->line ? -1 : a->frame->line > b->frame->line;
	if (!order && a->frame && a->frame->kind != FRAME_PYTHON)
		order = strcmp(a->frame->function, b->frame->function);
	return order ? order : strcmp(a->entry, b->entry);
}

static int compare_kernel_hits(const void *left, const void *right)
{
	const struct kernel_hit *a = left, *b = right;
	int order = compare_entries(a, b);

	return order ? order : strcmp(a->function, b->function);
}

static int kernel_times_by_time(const void *left, const void *right)
{
	const struct kernel_time *a = left, *b = right;

	if (a->time_ns != b->time_ns)
		return a->time_ns > b->time_ns ? -1 : 1;
	return strcmp(a->function, b->function);
}

static int kernel_lines_by_time(const void *left, const void *right)
{
	const struct kernel_line *a = left, *b = right;

	if (a->time_ns != b->time_ns)
		return a->time_ns > b->time_ns ? -1 : 1;
	return a->functions < b->functions ? -1 : a->functions > b->functions;
}

/* "read" of "__x64_sys_read", which sibling calls may have left as "ksys_read". */
static void name_call(const char *entry, char call[KERNEL_CALL_BYTES])
{
	static const char *const beginnings[] = { "__x64_sys_", "__ia32_sys_", "__se_sys_",
						  "__do_sys_",  "ksys_",       "system call " };

	call[0] = '\0';
	for (size_t i = 0; i < sizeof(beginnings) / sizeof(beginnings[0]); i++) {
		size_t length = strlen(beginnings[i]);

		if (!strncmp(entry, beginnings[i], length)) {
			const char *name = entry + length;

			snprintf(call, KERNEL_CALL_BYTES, "%.*s", (int)strcspn(name, "."), name);
			return;
		}
	}
}

static struct kernel_scene enter(const struct profile_tree *tree, const struct kernel_scene *scenes,
				 size_t index)
{
	const struct profile_node *node = &tree->nodes[index];
	const struct profile_frame *frame = &tree->frames[node->frame];
	struct kernel_scene scene = { NONE, NONE, NONE };

	if (node->parent != PROFILE_NODE_NONE)
		scene = scenes[node->parent];
	if (profile_frame_is_kernel(frame)) {
		scene.entry = scene.entry == NONE ? node->frame : scene.entry;
	} else if (frame->kind == FRAME_PYTHON) {
		scene = (struct kernel_scene){ node->frame, NONE, NONE };
	} else if (frame->kind == FRAME_NATIVE) {
		scene.native = node->frame;
		scene.entry = NONE;
	}
	return scene;
}

static size_t find_kernel_hits(const struct profile_tree *tree, struct kernel_scene *scenes,
			       struct kernel_hit *hits)
{
	size_t count = 0;

	/* A parent goes before its children. */
	for (size_t i = 0; i < tree->node_count; i++) {
		const struct profile_node *node = &tree->nodes[i];
		const struct profile_frame *frame = &tree->frames[node->frame];
		uint32_t place;

		scenes[i] = enter(tree, scenes, i);
		/* What is in brackets is no function: scheduling, at no line. */
		if (!node->time_ns[TIME_SYSTEM] || scenes[i].entry == NONE ||
		    frame->function[0] == '[')
			continue;
		place = scenes[i].python != NONE ? scenes[i].python : scenes[i].native;
		hits[count++] = (struct kernel_hit){
			.frame = place == NONE ? NULL : &tree->frames[place],
			.entry = tree->frames[scenes[i].entry].function,
			.function = frame->function,
			.time_ns = node->time_ns[TIME_SYSTEM],
			.samples = node->samples[TIME_SYSTEM],
		};
	}
	return count;
}

/* Hits are sorted: those of a line follow each other, and in it those of a function. */
static void gather_kernel_hits(struct kernel_lines *lines, const struct kernel_hit *hits,
			       size_t count)
{
	struct kernel_time *next = lines->functions;
	struct kernel_line *line = NULL;

	for (size_t i = 0; i < count; i++) {
		const struct kernel_hit *hit = &hits[i];

		if (!line || compare_entries(&hits[i - 1], hit) != 0) {
			line = &lines->items[lines->count++];
			*line = (struct kernel_line){ .frame = hit->frame,
						      .entry = hit->entry,
						      .functions = next };
			name_call(hit->entry, line->call);
		}
		if (!line->function_count || strcmp(next[-1].function, hit->function) != 0) {
			*next++ = (struct kernel_time){ .function = hit->function };
			line->function_count++;
		}
		next[-1].time_ns += hit->time_ns;
		next[-1].samples += hit->samples;
		line->time_ns += hit->time_ns;
		line->samples += hit->samples;
		lines->time_ns += hit->time_ns;
	}
}

int kernel_lines_find(struct kernel_lines *lines, const struct profile *profile)
{
	const struct profile_tree *tree = &profile->tree;
	size_t room = tree->node_count + 1;
	struct kernel_scene *scenes = calloc(room, sizeof(*scenes));
	struct kernel_hit *hits = calloc(room, sizeof(*hits));
	int result = -ENOMEM;
	size_t count;

	*lines = (struct kernel_lines){ 0 };
	if (!scenes || !hits)
		goto out;
	count = find_kernel_hits(tree, scenes, hits);
	lines->items = calloc(count + 1, sizeof(lines->items[0]));
	lines->functions = calloc(count + 1, sizeof(lines->functions[0]));
	if (!lines->items || !lines->functions)
		goto out;
	qsort(hits, count, sizeof(*hits), compare_kernel_hits);
	gather_kernel_hits(lines, hits, count);
	for (size_t i = 0; i < lines->count; i++)
		qsort(lines->functions + (lines->items[i].functions - lines->functions),
		      lines->items[i].function_count, sizeof(lines->functions[0]),
		      kernel_times_by_time);
	qsort(lines->items, lines->count, sizeof(lines->items[0]), kernel_lines_by_time);
	result = 0;
out:
	free(scenes);
	free(hits);
	return result;
}

void kernel_lines_deinit(struct kernel_lines *lines)
{
	free(lines->items);
	free(lines->functions);
	*lines = (struct kernel_lines){ 0 };
}
