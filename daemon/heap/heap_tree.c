/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/heap/heap_tree.h"

#include "common/hash.h"
#include "daemon/cct/id_table.h"
#include "daemon/heap/heap_holder.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A path that becomes a node. */
struct kept {
	uint32_t path, parent;
	uint64_t bytes;
};

struct builder {
	const struct heap_snapshot *snapshot;
	struct heap_tree *tree;
	struct kept *kept; /* by parent, then the largest first */
	size_t count;
	size_t held_paths;     /* all that hold anything */
	uint32_t *first_child; /* by path, of kept; count: none */
	struct id_table frame_ids;
};

/* ---- which paths are nodes */

static int compare_sizes(const void *left, const void *right)
{
	uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;

	return a < b ? 1 : a > b ? -1 : 0;
}

/*
 * All paths that hold more than so much are nodes. A parent holds as much as its children at
 * least, so that it is one when they are.
 */
static int find_threshold(const struct heap_snapshot *snapshot, size_t limit, uint64_t *ret_bytes)
{
	size_t count = 0;
	uint64_t *sizes;

	*ret_bytes = 0;
	if (snapshot->paths.count <= limit)
		return 0;
	sizes = calloc(snapshot->paths.count, sizeof(*sizes));
	if (!sizes)
		return -ENOMEM;
	for (size_t i = 1; i < snapshot->paths.count; i++)
		if (snapshot->held_bytes[i])
			sizes[count++] = snapshot->held_bytes[i];
	if (count > limit) {
		qsort(sizes, count, sizeof(*sizes), compare_sizes);
		*ret_bytes = sizes[limit];
	}
	free(sizes);
	return 0;
}

static int compare_kept(const void *left, const void *right)
{
	const struct kept *a = left, *b = right;

	if (a->parent != b->parent)
		return a->parent < b->parent ? -1 : 1;
	if (a->bytes != b->bytes)
		return a->bytes < b->bytes ? 1 : -1;
	return a->path < b->path ? -1 : a->path > b->path;
}

static int choose_paths(struct builder *builder, size_t limit)
{
	const struct heap_snapshot *snapshot = builder->snapshot;
	uint64_t threshold;
	int error = find_threshold(snapshot, limit, &threshold);

	if (error)
		return error;
	builder->kept = calloc(snapshot->paths.count, sizeof(*builder->kept));
	builder->first_child = calloc(snapshot->paths.count, sizeof(*builder->first_child));
	if (!builder->kept || !builder->first_child)
		return -ENOMEM;
	for (size_t i = 1; i < snapshot->paths.count; i++) {
		builder->held_paths += snapshot->held_bytes[i] > 0;
		if (snapshot->held_bytes[i] > threshold)
			builder->kept[builder->count++] =
				(struct kept){ (uint32_t)i, snapshot->paths.items[i].parent,
					       snapshot->held_bytes[i] };
	}
	if (builder->count)
		qsort(builder->kept, builder->count, sizeof(*builder->kept), compare_kept);
	for (size_t i = 0; i < snapshot->paths.count; i++)
		builder->first_child[i] = (uint32_t)builder->count;
	for (size_t i = builder->count; i-- > 0;)
		builder->first_child[builder->kept[i].parent] = (uint32_t)i;
	return 0;
}

/* ---- nodes and frames */

/* Its number, of the frames that there are or one more. */
static int find_frame(struct builder *builder, uint32_t path, uint32_t *ret_frame)
{
	const struct heap_snapshot *snapshot = builder->snapshot;
	const struct heap_path *item = &snapshot->paths.items[path];
	const struct heap_frame frame = { snapshot->paths.strings + item->step,
					  heap_holder_type(snapshot, path) };
	struct heap_tree *tree = builder->tree;
	uint64_t hash = hash_mix((uint64_t)item->step << 16 | item->type);
	size_t probe = 0;

	/* A step is one string, and so is a type's name. */
	while ((*ret_frame = id_table_next(&builder->frame_ids, hash, &probe)) != ID_NONE)
		if (tree->frames[*ret_frame].step == frame.step &&
		    tree->frames[*ret_frame].type == frame.type)
			return 0;
	if (id_table_reserve(&builder->frame_ids))
		return -ENOMEM;
	*ret_frame = (uint32_t)tree->frame_count;
	id_table_add(&builder->frame_ids, hash, *ret_frame);
	tree->frames[tree->frame_count++] = frame;
	return 0;
}

/* What is right there is what it holds, less what its children do, which come behind it. */
static void take_from_parents(struct heap_tree *tree)
{
	uint32_t ancestors[HEAP_TREE_DEPTH_MAX];

	for (size_t i = 0; i < tree->node_count; i++) {
		struct heap_node *node = &tree->nodes[i], *parent;

		ancestors[node->depth] = (uint32_t)i;
		node->bytes = node->held_bytes;
		node->count = node->held_count;
		if (!node->depth)
			continue;
		parent = &tree->nodes[ancestors[node->depth - 1]];
		parent->bytes -= node->held_bytes;
		parent->count -= node->held_count;
	}
}

static int put_nodes(struct builder *builder)
{
	const struct heap_snapshot *snapshot = builder->snapshot;
	struct heap_tree *tree = builder->tree;
	uint32_t pending[HEAP_TREE_DEPTH_MAX]; /* what is left to visit, by depth */
	uint32_t depth = 0;

	pending[0] = builder->first_child[0];
	for (;;) {
		uint32_t at = pending[depth], path;
		uint32_t parent = depth ? builder->kept[pending[depth - 1] - 1].path : 0;
		struct heap_node *node;
		int error;

		if (at >= builder->count || builder->kept[at].parent != parent) {
			if (!depth--)
				return 0;
			continue;
		}
		pending[depth]++;
		path = builder->kept[at].path;
		node = &tree->nodes[tree->node_count++];
		*node = (struct heap_node){ .depth = depth,
					    .held_bytes = snapshot->held_bytes[path],
					    .held_count = snapshot->held_counts[path] };
		error = find_frame(builder, path, &node->frame);
		if (error)
			return error;
		if (depth + 1 < HEAP_TREE_DEPTH_MAX)
			pending[++depth] = builder->first_child[path];
	}
}

/* Roots that hold too little to be nodes are one together. */
static void put_others(struct heap_tree *tree, const struct heap_snapshot *snapshot)
{
	struct heap_node others = { .frame = (uint32_t)tree->frame_count };

	for (size_t i = 1; i < snapshot->paths.count; i++) {
		if (snapshot->paths.items[i].parent)
			continue;
		others.held_bytes += snapshot->held_bytes[i];
		others.held_count += snapshot->held_counts[i];
	}
	for (size_t i = 0; i < tree->node_count; i++) {
		if (tree->nodes[i].depth)
			continue;
		others.held_bytes -= tree->nodes[i].held_bytes;
		others.held_count -= tree->nodes[i].held_count;
	}
	if (!others.held_bytes && !others.held_count)
		return;
	tree->frames[tree->frame_count++] = (struct heap_frame){ "[smaller holders]", "" };
	tree->nodes[tree->node_count++] = others;
}

static int reserve(struct heap_tree *tree, size_t count)
{
	tree->nodes = calloc(count + 1, sizeof(*tree->nodes));
	tree->frames = calloc(count + 1, sizeof(*tree->frames));
	return tree->nodes && tree->frames ? 0 : -ENOMEM;
}

static int build_holders(struct heap_tree *tree, const struct heap_snapshot *snapshot, size_t limit)
{
	struct builder builder = { .snapshot = snapshot, .tree = tree };
	int error = choose_paths(&builder, limit);

	if (!error)
		error = reserve(tree, builder.count);
	if (!error)
		error = put_nodes(&builder);
	if (!error) {
		tree->folded = builder.held_paths - tree->node_count;
		put_others(tree, snapshot);
		take_from_parents(tree);
	}
	free(builder.kept);
	free(builder.first_child);
	id_table_deinit(&builder.frame_ids);
	return error;
}

/* ---- without holders */

static int build_types(struct heap_tree *tree, const struct heap_snapshot *snapshot, size_t limit)
{
	size_t count = snapshot->type_count < limit ? snapshot->type_count : limit;
	struct heap_node *root;

	if (reserve(tree, count + 1))
		return -ENOMEM;
	root = &tree->nodes[0];
	tree->frames[0] = (struct heap_frame){ snapshot->holders == HEAP_HOLDERS_TOO_LARGE
						       ? "[too large to look for holders]"
						       : "[holders not looked for]",
					       "" };
	for (size_t i = 0; i < snapshot->type_count; i++) {
		const struct heap_type_count *type = &snapshot->types[i];
		uint64_t bytes = type->bytes + type->storage_bytes;

		root->held_bytes += bytes;
		root->held_count += type->count;
		if (i >= count) {
			root->bytes += bytes;
			root->count += type->count;
			continue;
		}
		tree->frames[i + 1] = (struct heap_frame){ "", type->name };
		tree->nodes[i + 1] = (struct heap_node){ .frame = (uint32_t)i + 1,
							 .depth = 1,
							 .bytes = bytes,
							 .count = type->count,
							 .held_bytes = bytes,
							 .held_count = type->count };
	}
	tree->frame_count = tree->node_count = count + 1;
	tree->folded = snapshot->type_count - count;
	return 0;
}

int heap_tree_init(struct heap_tree *tree, const struct heap_snapshot *snapshot, size_t limit)
{
	int error;

	*tree = (struct heap_tree){ 0 };
	error = snapshot->holders == HEAP_HOLDERS_KNOWN ? build_holders(tree, snapshot, limit)
							: build_types(tree, snapshot, limit);
	if (error)
		heap_tree_deinit(tree);
	return error;
}

void heap_tree_deinit(struct heap_tree *tree)
{
	free(tree->frames);
	free(tree->nodes);
	*tree = (struct heap_tree){ 0 };
}

void heap_frame_words(const struct heap_frame *frame, char words[HEAP_FRAME_BYTES])
{
	if (!*frame->type)
		snprintf(words, HEAP_FRAME_BYTES, "%s", frame->step);
	else if (!*frame->step)
		snprintf(words, HEAP_FRAME_BYTES, "%s", frame->type);
	else
		snprintf(words, HEAP_FRAME_BYTES, "%s (%s)", frame->step, frame->type);
}
