/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pandas 1.5 to 3: what a frame's rules and attributes do not tell.
 *
 *   DataFrame -> BlockManager -> blocks -> Block -> placement, values
 *                             -> axes -> Index -> array
 */
#include "daemon/contents/fingerprint_internal.h"

#include <inttypes.h>
#include <stdio.h>

enum {
	/* BlockPlacement */
	AS_SLICE = 24,
	AS_ARRAY = 32,
	HAS_SLICE = 40,
	HAS_ARRAY = 44,
};

/* Either is made of the other when it is asked for. */
void content_parse_placement(struct fingerprints *set, struct content_node *node,
			     const struct memory_range *ranges, size_t count)
{
	uint32_t has_slice, has_array;

	(void)ranges;
	(void)count;
	memcpy(&has_slice, node->head + HAS_SLICE, sizeof(has_slice));
	memcpy(&has_array, node->head + HAS_ARRAY, sizeof(has_array));
	if (has_slice > 1 || has_array > 1 || !(has_slice | has_array)) {
		content_opaque(node);
		return;
	}
	content_child(set, node, content_word(node, has_slice ? AS_SLICE : AS_ARRAY));
	content_done(node);
}

static const struct content_node *node_of(const struct fingerprints *set, uint16_t number)
{
	return number ? &set->nodes[number - 1] : NULL;
}

/* The first of this kind of object, in it or in what it holds. */
static const struct content_node *frame_find(const struct fingerprints *set,
					     const struct content_node *node,
					     enum content_kind kind, const char *type_name)
{
	for (uint16_t i = node->first_child; i; i = set->nodes[i - 1].next_child) {
		const struct content_node *child = &set->nodes[i - 1], *found;
		const struct content_type *type = content_type_of(set, child);

		if (child->kind == kind &&
		    (!type_name || (type && type->rule && strstr(type->rule->name, type_name))))
			return child;
		found = frame_find(set, child, kind, type_name);
		if (found)
			return found;
	}
	return NULL;
}

bool content_describe_frame(const struct fingerprints *set, const struct content_node *node,
			    char *text, size_t size)
{
	const struct content_type *type = content_type_of(set, node);
	const struct content_node *manager, *blocks, *array;
	int64_t rows = -1, columns = 0;
	bool frame;

	if (!type || !type->filtered)
		return false;
	frame = !strcmp(type->name, "DataFrame");
	if (!frame) {
		/* A Series' or Index' own array. */
		array = frame_find(set, node, CONTENT_ARRAY, NULL);
		if (strcmp(type->name, "Series") != 0 || !array || array->dimension_count != 1)
			return false;
		snprintf(text, size, "%s[%" PRId64 "]", type->name, array->dimensions[0]);
		return true;
	}
	manager = frame_find(set, node, CONTENT_OBJECT, "BlockManager");
	blocks = manager ? frame_find(set, manager, CONTENT_TUPLE, NULL) : NULL;
	if (!blocks || blocks->size != blocks->child_count)
		return false;
	for (uint16_t i = blocks->first_child; i; i = set->nodes[i - 1].next_child) {
		const struct content_node *block = node_of(set, i), *values;

		/* What the block is placed at is the first of its objects. */
		values = node_of(set, block->last_child);
		array = !values ? NULL
			: values->kind == CONTENT_ARRAY
				? values
				: frame_find(set, values, CONTENT_ARRAY, NULL);
		columns += array && array->dimension_count == 2 ? array->dimensions[0] : 1;
		if (array && (array->dimension_count == 1 || array->dimension_count == 2))
			rows = array->dimensions[array->dimension_count - 1];
	}
	if (rows < 0 || columns < 0)
		return false;
	snprintf(text, size, "%s[%" PRId64 ",%" PRId64 "]", type->name, rows, columns);
	return true;
}
