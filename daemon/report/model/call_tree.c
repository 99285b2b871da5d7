/* SPDX-License-Identifier: Apache-2.0 */
/*
 *   charge    each node's samples to its path
 *   total     from the innermost outwards: a path's id is greater than its parent's
 *   choose    which paths are kept; the time of the others goes to their parents
 *   link      siblings in order
 *   write     in preorder
 *
 * A path's total is never less than that of its children, so that what is kept,
 * the first of all paths by total and then by id, is a tree again.
 */
#include "daemon/report/model/call_tree.h"

#include "daemon/report/model/side_times.h"
#include "symbolize/line_info.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define UNKNOWN "?"

struct branch {
	const struct frame *frame; /* of the first node; NULL: no samples come through here */
	uint32_t flags;
	uint32_t depth;
	uint32_t first_child, next_sibling; /* path ids; 0: none */
	uint32_t position;                  /* of its node, once it is written */
	bool dropped;
	bool used; /* by samples in it or below */
	uint64_t total_ns;
	uint64_t samples[TIME_CLASS_COUNT];
	uint64_t time_ns[TIME_CLASS_COUNT];
	struct side_time side;
};

struct builder {
	const struct call_tree_input *input;
	struct arena *arena;
	struct branch *branches; /* by path id; 0 is the root, which has no frame */
	size_t branch_count;
	uint32_t *order; /* path ids with samples */
	size_t order_count;
	size_t folded;
	uint32_t *frame_of_place; /* index + 1 */
	struct profile_frame *frames;
	size_t frame_count;
	struct profile_node *nodes;
	size_t node_count;
	bool root_written;
};

static bool has_samples(const struct cct_node *node)
{
	for (size_t c = 0; c < TIME_CLASS_COUNT; c++)
		if (node->samples[c] || node->time_ns[c])
			return true;
	return side_time_any(&node->side);
}

/* Paths of all nodes with samples in them or below. */
static int find_paths(const struct call_tree_input *input, const bool *reached)
{
	uint32_t path;

	for (uint32_t id = 1; id < cct_node_count(input->cct); id++)
		if (reached[id] && path_table_find(input->paths, cct_node(input->cct, id), &path))
			return -ENOMEM;
	return 0;
}

static void add_counts(uint64_t samples[TIME_CLASS_COUNT], uint64_t time_ns[TIME_CLASS_COUNT],
		       const uint64_t more_samples[TIME_CLASS_COUNT],
		       const uint64_t more_ns[TIME_CLASS_COUNT])
{
	for (size_t c = 0; c < TIME_CLASS_COUNT; c++) {
		samples[c] += more_samples[c];
		time_ns[c] += more_ns[c];
	}
}

static void charge_branches(struct builder *builder, const bool *reached)
{
	const struct call_tree_input *input = builder->input;

	for (uint32_t id = 0; id < cct_node_count(input->cct); id++) {
		const struct cct_node *node = cct_node(input->cct, id);
		struct side_time side;
		struct branch *branch;
		uint32_t path;

		if (!reached[id])
			continue;
		path = input->paths->of_node[id] - 1;
		branch = &builder->branches[path];
		if (id > 0 && !branch->frame) {
			branch->frame = &node->frame;
			branch->flags = node->frame.flags;
		}
		branch->flags &= node->frame.flags;
		add_counts(branch->samples, branch->time_ns, node->samples, node->time_ns);
		side = side_times_of(node, &input->paths->paths[path]);
		side_time_add(&branch->side, &side);
	}
}

static bool branch_has_samples(const struct branch *branch)
{
	for (size_t c = 0; c < TIME_CLASS_COUNT; c++)
		if (branch->samples[c] || branch->time_ns[c])
			return true;
	return side_time_any(&branch->side);
}

/* Frames of the interpreter's start are paths of their own, mostly without samples. */
static void drop_unused(struct builder *builder)
{
	for (size_t id = builder->branch_count; id-- > 1;) {
		struct branch *branch = &builder->branches[id];

		branch->used = branch->used || branch_has_samples(branch);
		if (branch->used)
			builder->branches[builder->input->paths->paths[id].parent].used = true;
		else
			branch->frame = NULL;
	}
}

static int tree_charge(struct builder *builder)
{
	const struct cct *cct = builder->input->cct;
	size_t count = cct_node_count(cct);
	bool *reached = calloc(count, sizeof(*reached));
	int result = -ENOMEM;

	if (!reached)
		return -ENOMEM;
	/* A node's parent is older than it is. */
	for (size_t id = count; id-- > 0;) {
		const struct cct_node *node = cct_node(cct, (uint32_t)id);

		reached[id] = reached[id] || has_samples(node);
		if (reached[id] && node->parent)
			reached[node->parent->id] = true;
	}
	if (find_paths(builder->input, reached))
		goto out;
	builder->branch_count = builder->input->paths->count;
	builder->branches = calloc(builder->branch_count, sizeof(builder->branches[0]));
	builder->order = calloc(builder->branch_count, sizeof(builder->order[0]));
	if (!builder->branches || !builder->order)
		goto out;
	charge_branches(builder, reached);
	drop_unused(builder);
	result = 0;
out:
	free(reached);
	return result;
}

static void total(struct builder *builder)
{
	for (uint32_t id = 1; id < builder->branch_count; id++) {
		struct branch *branch = &builder->branches[id];
		uint32_t parent = builder->input->paths->paths[id].parent;

		if (!branch->frame)
			continue;
		branch->depth = parent ? builder->branches[parent].depth + 1 : 0;
		builder->order[builder->order_count++] = id;
	}
	for (size_t id = builder->branch_count; id-- > 1;) {
		struct branch *branch = &builder->branches[id];

		branch->total_ns += time_sum(branch->time_ns);
		branch->total_ns += side_time_waiting_ns(&branch->side);
		builder->branches[builder->input->paths->paths[id].parent].total_ns +=
			branch->total_ns;
	}
}

static int compare_totals(const void *left, const void *right, void *context)
{
	const struct builder *builder = context;
	uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
	uint64_t total_a = builder->branches[a].total_ns, total_b = builder->branches[b].total_ns;

	if (total_a != total_b)
		return total_a > total_b ? -1 : 1;
	return a < b ? -1 : a > b;
}

static int tree_compare_siblings(const void *left, const void *right, void *context)
{
	const struct builder *builder = context;
	const struct path_table *paths = builder->input->paths;
	const struct path *a = &paths->paths[*(const uint32_t *)left];
	const struct path *b = &paths->paths[*(const uint32_t *)right];

	if (a->parent != b->parent)
		return a->parent < b->parent ? -1 : 1;
	return place_compare(&paths->places->places[a->place], &paths->places->places[b->place]);
}

static void choose(struct builder *builder)
{
	const struct call_tree_input *input = builder->input;
	uint64_t stack_frames = 0;
	size_t kept = 0;

	for (size_t i = 0; i < builder->order_count; i++)
		stack_frames += builder->branches[builder->order[i]].depth + 1;
	if (builder->order_count <= input->nodes_max && stack_frames <= input->stack_frames_max)
		return;
	qsort_r(builder->order, builder->order_count, sizeof(builder->order[0]), compare_totals,
		builder);
	stack_frames = 0;
	for (; kept < builder->order_count && kept < input->nodes_max; kept++) {
		stack_frames += builder->branches[builder->order[kept]].depth + 1;
		if (stack_frames > input->stack_frames_max)
			break;
	}
	builder->folded = builder->order_count - kept;
	for (size_t i = kept; i < builder->order_count; i++)
		builder->branches[builder->order[i]].dropped = true;
	builder->order_count = kept;
	for (size_t id = builder->branch_count; id-- > 1;) {
		struct branch *branch = &builder->branches[id], *parent;

		if (!branch->dropped)
			continue;
		parent = &builder->branches[input->paths->paths[id].parent];
		add_counts(parent->samples, parent->time_ns, branch->samples, branch->time_ns);
		side_time_add(&parent->side, &branch->side);
	}
}

static void tree_link_siblings(struct builder *builder)
{
	qsort_r(builder->order, builder->order_count, sizeof(builder->order[0]),
		tree_compare_siblings, builder);
	for (size_t i = builder->order_count; i-- > 0;) {
		uint32_t id = builder->order[i];
		struct branch *parent = &builder->branches[builder->input->paths->paths[id].parent];

		builder->branches[id].next_sibling = parent->first_child;
		parent->first_child = id;
	}
}

static const char *hexadecimal(struct arena *arena, const uint8_t *bytes, size_t size)
{
	char text[BUILD_ID_MAX * 2 + 1];

	if (size == 0 || size > BUILD_ID_MAX)
		return NULL;
	for (size_t i = 0; i < size; i++)
		snprintf(text + i * 2, 3, "%02x", bytes[i]);
	return arena_copy_string(arena, text);
}

static void describe_native(struct builder *builder, const struct frame *frame,
			    struct profile_frame *shown)
{
	const struct module *module = frame->native.module;
	remote_addr address = frame->native.function ? frame->native.function : frame->native.pc;
	uint64_t bias = module ? module->bias : 0;
	struct line_info *info = builder->input->line_info;
	struct line_frame lines[LINE_INFO_DEPTH_MAX];
	size_t count;

	shown->address = address - bias;
	shown->function_address = frame->native.function ? frame->native.function - bias : 0;
	if (!module || module == &frame_kernel)
		return;
	shown->build_id = hexadecimal(builder->arena, module->build_id, module->build_id_size);
	if (!info || line_info_find(info, module, address, lines, LINE_INFO_DEPTH_MAX, &count))
		return;
	/* The outermost: what is inlined at the start of the function is not the function. */
	shown->native_file = lines[count - 1].file;
	shown->line = lines[count - 1].line;
}

static uint32_t find_frame(struct builder *builder, uint32_t place_id, const struct frame *frame)
{
	const struct place *place = &builder->input->paths->places->places[place_id];
	struct profile_frame *shown = &builder->frames[builder->frame_count];

	if (builder->frame_of_place[place_id])
		return builder->frame_of_place[place_id] - 1;
	*shown = (struct profile_frame){
		.kind = place->kind,
		.function = place->function,
		.file = place->file,
		.line = place->line,
	};
	if (place->kind == FRAME_PYTHON) {
		shown->source =
			source_cache_line(builder->input->sources, place->file, place->line);
		shown->flags = frame->python.code->coroutine ? FRAME_COROUTINE : 0;
	} else {
		describe_native(builder, frame, shown);
	}
	builder->frame_of_place[place_id] = (uint32_t)++builder->frame_count;
	return (uint32_t)builder->frame_count - 1;
}

static void tree_write_node(struct builder *builder, uint32_t id)
{
	const struct path *path = &builder->input->paths->paths[id];
	struct branch *branch = &builder->branches[id];
	struct profile_node *node = &builder->nodes[builder->node_count];

	node->parent = path->parent ? builder->branches[path->parent].position : PROFILE_NODE_NONE;
	node->frame = find_frame(builder, path->place, branch->frame);
	node->depth = branch->depth;
	node->flags = branch->flags;
	add_counts(node->samples, node->time_ns, branch->samples, branch->time_ns);
	node->side = branch->side;
	branch->position = (uint32_t)builder->node_count++;
}

/* What has no stack, or was folded into none. */
static void tree_write_root(struct builder *builder)
{
	const struct branch *root = &builder->branches[0];
	struct profile_node node = { .parent = PROFILE_NODE_NONE, .side = root->side };
	uint64_t any = side_time_any(&root->side);

	for (size_t c = 0; c < TIME_CLASS_COUNT; c++)
		any |= root->samples[c] | root->time_ns[c];
	if (!any)
		return;
	builder->frames[builder->frame_count] = (struct profile_frame){
		.kind = FRAME_NATIVE,
		.function = UNKNOWN,
		.file = UNKNOWN,
	};
	node.frame = (uint32_t)builder->frame_count++;
	add_counts(node.samples, node.time_ns, root->samples, root->time_ns);
	builder->nodes[builder->node_count++] = node;
	builder->root_written = true;
}

static int tree_write(struct builder *builder)
{
	const struct path_table *paths = builder->input->paths;
	size_t capacity = builder->order_count + 1; /* the root's */
	uint32_t id = builder->branches[0].first_child;

	builder->frame_of_place =
		calloc(paths->places->count + 1, sizeof(builder->frame_of_place[0]));
	builder->nodes = arena_array(builder->arena, capacity, sizeof(builder->nodes[0]));
	builder->frames = arena_array(builder->arena, capacity, sizeof(builder->frames[0]));
	if (!builder->frame_of_place || !builder->nodes || !builder->frames)
		return -ENOMEM;
	tree_write_root(builder);
	while (id) {
		tree_write_node(builder, id);
		if (builder->branches[id].first_child) {
			id = builder->branches[id].first_child;
			continue;
		}
		while (id && !builder->branches[id].next_sibling)
			id = paths->paths[id].parent;
		id = id ? builder->branches[id].next_sibling : 0;
	}
	return builder->arena->failed ? -ENOMEM : 0;
}

/* A folded node is found in the first of its callers that was kept. */
static void write_positions(struct builder *builder)
{
	const struct call_tree_input *input = builder->input;

	for (uint32_t id = 0; id < cct_node_count(input->cct); id++) {
		uint32_t path = input->paths->of_node[id];

		input->positions[id] = PROFILE_NODE_NONE;
		if (!path--)
			continue; /* nothing ended here or below */
		while (path && builder->branches[path].dropped)
			path = input->paths->paths[path].parent;
		/* The root has a node only for time of its own: the first of all. */
		if (path ? builder->branches[path].frame != NULL : builder->root_written)
			input->positions[id] = builder->branches[path].position;
	}
}

int call_tree_build(const struct call_tree_input *input, struct arena *arena,
		    struct profile_tree *ret_tree)
{
	struct builder builder = { .input = input, .arena = arena };
	int result = tree_charge(&builder);

	if (!result) {
		total(&builder);
		choose(&builder);
		tree_link_siblings(&builder);
		result = tree_write(&builder);
	}
	if (!result && input->positions)
		write_positions(&builder);
	if (!result)
		*ret_tree = (struct profile_tree){
			.frames = builder.frames,
			.frame_count = builder.frame_count,
			.nodes = builder.nodes,
			.node_count = builder.node_count,
			.nodes_folded = builder.folded,
		};
	free(builder.frame_of_place);
	free(builder.order);
	free(builder.branches);
	return result;
}
