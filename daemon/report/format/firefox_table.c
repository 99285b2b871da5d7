/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/report/format/firefox_table.h"

#include "common/array.h"
#include "common/hash.h"
#include "daemon/report/model/frame_function.h"

#include <errno.h>
#include <string.h>

static enum time_class frame_class(const struct profile_frame *frame)
{
	return frame->kind == FRAME_PYTHON      ? TIME_PYTHON
	       : profile_frame_is_kernel(frame) ? TIME_SYSTEM
						: TIME_NATIVE;
}

static int find_library(struct firefox_table *table, const struct profile_frame *frame,
			int64_t *ret_library)
{
	size_t before = table->libraries.count;
	uint32_t id;

	if (frame->kind != FRAME_NATIVE || strcmp(frame->file, "?") == 0) {
		*ret_library = -1;
		return 0;
	}
	if (!ARRAY_ROOM(table->build_ids, before, table->build_id_capacity))
		return -ENOMEM;
	if (string_table_find(&table->libraries, frame->file, &id))
		return -ENOMEM;
	if (id == before)
		table->build_ids[id] = frame->build_id;
	*ret_library = id;
	return 0;
}

static int find_source(struct firefox_table *table, const struct profile_frame *frame,
		       int64_t *ret_source)
{
	const char *path = frame->kind == FRAME_PYTHON ? frame->file : frame->native_file;
	uint32_t id;

	if (!path || strcmp(path, "?") == 0) {
		*ret_source = -1;
		return 0;
	}
	if (string_table_find(&table->sources, path, &id))
		return -ENOMEM;
	*ret_source = id;
	return 0;
}

static bool firefox_same_function(const struct firefox_function *a,
				  const struct firefox_function *b)
{
	return a->name == b->name && a->is_python == b->is_python && a->source == b->source &&
	       a->library == b->library;
}

static int firefox_intern_function(struct firefox_table *table,
				   const struct firefox_function *wanted, uint32_t *ret_row)
{
	uint64_t hash = hash_mix((uint64_t)wanted->name << 32 ^ (uint64_t)wanted->source);
	size_t probe = 0;
	uint32_t id;

	hash = hash_mix(hash ^ (uint64_t)wanted->library << 1 ^ wanted->is_python);
	while ((id = id_table_next(&table->function_ids, hash, &probe)) != ID_NONE) {
		if (firefox_same_function(&table->functions[id], wanted)) {
			*ret_row = id;
			return 0;
		}
	}
	if (!ARRAY_ROOM(table->functions, table->function_count, table->function_capacity) ||
	    id_table_reserve(&table->function_ids))
		return -ENOMEM;
	*ret_row = (uint32_t)table->function_count;
	id_table_add(&table->function_ids, hash, *ret_row);
	table->functions[table->function_count++] = *wanted;
	return 0;
}

static int make_functions(struct firefox_table *table)
{
	const struct profile_tree *tree = table->tree;

	table->function_of_frame =
		calloc(tree->frame_count + 1, sizeof(table->function_of_frame[0]));
	if (!table->function_of_frame)
		return -ENOMEM;
	for (size_t i = 0; i < tree->frame_count; i++) {
		const struct profile_frame *frame = &tree->frames[i];
		struct firefox_function row = { .is_python = frame->kind == FRAME_PYTHON };
		char buffer[FRAME_FUNCTION_BYTES];

		if (string_table_find(&table->strings,
				      frame_function(frame, false, buffer, sizeof(buffer)),
				      &row.name) ||
		    find_source(table, frame, &row.source) ||
		    find_library(table, frame, &row.library) ||
		    firefox_intern_function(table, &row, &table->function_of_frame[i]))
			return -ENOMEM;
	}
	return 0;
}

static int find_frame_row(struct firefox_table *table, uint32_t frame, enum time_class category,
			  uint32_t *ret_row)
{
	uint32_t *slot = &table->frame_rows[(size_t)frame * TIME_CLASS_COUNT + category];

	if (!*slot) {
		if (!ARRAY_ROOM(table->frames, table->frame_count, table->frame_capacity))
			return -ENOMEM;
		table->frames[table->frame_count++] = (struct firefox_frame){ frame, category };
		*slot = (uint32_t)table->frame_count;
	}
	*ret_row = *slot - 1;
	return 0;
}

/* The stack of this frame in this category called by the node's parent. */
static int add_stack(struct firefox_table *table, const struct profile_node *node,
		     enum time_class category, uint32_t *ret_stack)
{
	struct firefox_stack row = { 0 };

	if (!ARRAY_ROOM(table->stacks, table->stack_count, table->stack_capacity))
		return -ENOMEM;
	if (find_frame_row(table, node->frame, category, &row.frame))
		return -ENOMEM;
	*ret_stack = (uint32_t)table->stack_count;
	if (node->parent != PROFILE_NODE_NONE) {
		enum time_class class =
			frame_class(&table->tree->frames[table->tree->nodes[node->parent].frame]);

		row.offset = *ret_stack - table->stack_of_node[node->parent][class];
	}
	table->stacks[table->stack_count++] = row;
	return 0;
}

static int make_stacks(struct firefox_table *table)
{
	const struct profile_tree *tree = table->tree;

	table->frame_rows =
		calloc(tree->frame_count + 1, TIME_CLASS_COUNT * sizeof(table->frame_rows[0]));
	table->stack_of_node = calloc(tree->node_count + 1, sizeof(table->stack_of_node[0]));
	if (!table->frame_rows || !table->stack_of_node)
		return -ENOMEM;
	for (size_t i = 0; i < tree->node_count; i++) {
		const struct profile_node *node = &tree->nodes[i];
		enum time_class own = frame_class(&tree->frames[node->frame]);

		if (add_stack(table, node, own, &table->stack_of_node[i][own]))
			return -ENOMEM;
		for (unsigned c = 0; c < TIME_CLASS_COUNT; c++)
			if (c != own && (node->time_ns[c] || node->samples[c]) &&
			    add_stack(table, node, (enum time_class)c, &table->stack_of_node[i][c]))
				return -ENOMEM;
	}
	return 0;
}

int firefox_table_init(struct firefox_table *table, const struct profile_tree *tree)
{
	int result;

	*table = (struct firefox_table){ .tree = tree };
	result = make_functions(table);
	return result ? result : make_stacks(table);
}

void firefox_table_deinit(struct firefox_table *table)
{
	string_table_deinit(&table->strings);
	string_table_deinit(&table->sources);
	string_table_deinit(&table->libraries);
	free(table->build_ids);
	free(table->functions);
	id_table_deinit(&table->function_ids);
	free(table->function_of_frame);
	free(table->frames);
	free(table->frame_rows);
	free(table->stacks);
	free(table->stack_of_node);
	*table = (struct firefox_table){ 0 };
}
