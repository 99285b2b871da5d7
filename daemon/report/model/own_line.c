/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/report/model/own_line.h"

#include "daemon/cct/library_path.h"

#include <stdlib.h>
#include <string.h>

#define OWN_LINE_NONE UINT32_MAX

/* For each node of the tree, from its parent's. */
struct owner {
	uint32_t line; /* index into the sorted lines, or OWN_LINE_NONE */
	bool through;
};

struct search {
	const struct profile_line **lines; /* those with a number, by number and file */
	size_t count;
	uint64_t *time_ns; /* likewise */
	struct owner *owners;
	uint32_t *of_frame; /* OWN_LINE_NONE: no own line; by frame of the tree */
};

static int own_line_compare(const void *left, const void *right)
{
	const struct profile_line *a = *(const struct profile_line *const *)left;
	const struct profile_line *b = *(const struct profile_line *const *)right;

	if (a->line != b->line)
		return a->line < b->line ? -1 : 1;
	return strcmp(a->file, b->file);
}

static bool in_bin(const char *file)
{
	const char *name = strrchr(file, '/');

	return name && name - file >= 4 && !memcmp(name - 4, "/bin", 4);
}

bool own_line_is_own(const struct profile_frame *frame)
{
	if (frame->kind != FRAME_PYTHON || frame->line <= 0 || path_is_library(frame->file))
		return false;
	if (frame->file[0] == '<')
		return strncmp(frame->function, "__", 2) != 0 &&
		       strncmp(frame->file, "<attrs generated", 16) != 0;
	return strcmp(frame->function, "<module>") != 0 || !in_bin(frame->file);
}

bool own_line_is_foreign(const struct profile_line *line)
{
	return line->line <= 0 || path_is_library(line->file);
}

static uint32_t line_of(const struct search *search, const struct profile_frame *frame)
{
	const struct profile_line key = { .file = frame->file, .line = frame->line },
				  *wanted = &key;
	const struct profile_line **found;

	if (!own_line_is_own(frame))
		return OWN_LINE_NONE;
	found = bsearch(&wanted, search->lines, search->count, sizeof(wanted), own_line_compare);
	return found ? (uint32_t)(found - search->lines) : OWN_LINE_NONE;
}

static bool is_at(const struct profile_frame *frame, const struct profile_line *line)
{
	return frame->kind == FRAME_PYTHON && frame->line == line->line &&
	       !strcmp(frame->file, line->file);
}

static uint64_t cpu_time(const struct profile_node *node)
{
	uint64_t cpu_ns = 0;

	for (size_t i = 0; i < TIME_CLASS_COUNT; i++)
		cpu_ns += node->time_ns[i];
	return cpu_ns;
}

static uint64_t own_line_walk(struct search *search, const struct profile_tree *tree,
			      const struct profile_line *through)
{
	uint64_t all_ns = 0;

	for (size_t i = 0; i < tree->frame_count; i++)
		search->of_frame[i] = line_of(search, &tree->frames[i]);
	/* A parent goes before its children. */
	for (size_t i = 0; i < tree->node_count; i++) {
		const struct profile_node *node = &tree->nodes[i];
		struct owner *owner = &search->owners[i];
		uint64_t node_ns = cpu_time(node);

		*owner = node->parent == PROFILE_NODE_NONE
				 ? (struct owner){ .line = OWN_LINE_NONE, .through = !through }
				 : search->owners[node->parent];
		if (search->of_frame[node->frame] != OWN_LINE_NONE)
			owner->line = search->of_frame[node->frame];
		if (!owner->through && through)
			owner->through = is_at(&tree->frames[node->frame], through);
		if (!owner->through)
			continue;
		all_ns += node_ns;
		if (owner->line != OWN_LINE_NONE)
			search->time_ns[owner->line] += node_ns;
	}
	return all_ns;
}

bool own_line_find(const struct profile *profile, const struct profile_line *through,
		   struct own_line *ret_own)
{
	const struct profile_tree *tree = &profile->tree;
	struct search search = {
		.lines = calloc(profile->line_count + 1, sizeof(*search.lines)),
		.time_ns = calloc(profile->line_count + 1, sizeof(*search.time_ns)),
		.owners = calloc(tree->node_count + 1, sizeof(*search.owners)),
		.of_frame = calloc(tree->frame_count + 1, sizeof(*search.of_frame)),
	};
	struct own_line own = { 0 };

	if (search.lines && search.time_ns && search.owners && search.of_frame) {
		for (size_t i = 0; i < profile->line_count; i++)
			if (profile->lines[i].line > 0)
				search.lines[search.count++] = &profile->lines[i];
		qsort(search.lines, search.count, sizeof(*search.lines), own_line_compare);
		own.of_ns = own_line_walk(&search, tree, through);
		for (size_t i = 0; i < search.count; i++)
			if (search.time_ns[i] > own.time_ns) {
				own.line = search.lines[i];
				own.time_ns = search.time_ns[i];
			}
	}
	free(search.lines);
	free(search.time_ns);
	free(search.owners);
	free(search.of_frame);
	if (!own.line || (double)own.time_ns < OWN_LINE_SHARE_MIN * (double)own.of_ns)
		return false;
	*ret_own = own;
	return true;
}
