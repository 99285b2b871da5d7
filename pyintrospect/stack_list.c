/* SPDX-License-Identifier: Apache-2.0 */
#include "pyintrospect/stack_list.h"

#include <errno.h>
#include <stdlib.h>

#define FIRST_CAPACITY 16

int stack_lists_init(struct stack_lists *lists)
{
	*lists = (struct stack_lists){ .capacity = FIRST_CAPACITY, .count = 1 };
	lists->nodes = calloc(lists->capacity, sizeof(lists->nodes[0]));
	return lists->nodes ? 0 : -ENOMEM;
}

void stack_lists_deinit(struct stack_lists *lists)
{
	free(lists->nodes);
	*lists = (struct stack_lists){ 0 };
}

uint16_t stack_list_below(const struct stack_lists *lists, uint16_t list, int slot)
{
	while (list && lists->nodes[list].slot >= slot)
		list = lists->nodes[list].outer;
	return list;
}

static bool alike(const struct stack_node *a, const struct stack_node *b)
{
	return a->head == b->head && a->slot == b->slot && a->handler_values == b->handler_values;
}

uint16_t stack_list_common(const struct stack_lists *lists, uint16_t a, uint16_t b)
{
	const struct stack_node *nodes = lists->nodes;
	uint16_t common;

	while (nodes[a].length > nodes[b].length)
		a = nodes[a].outer;
	while (nodes[b].length > nodes[a].length)
		b = nodes[b].outer;
	for (common = a; a != b; a = nodes[a].outer, b = nodes[b].outer)
		if (!alike(&nodes[a], &nodes[b]))
			common = nodes[a].outer;
	return common;
}

bool stack_list_equal(const struct stack_lists *lists, uint16_t a, uint16_t b)
{
	return lists->nodes[a].length == lists->nodes[b].length &&
	       lists->nodes[stack_list_common(lists, a, b)].length == lists->nodes[a].length;
}

int stack_list_push(struct stack_lists *lists, struct stack_node node, uint16_t hint,
		    uint16_t *ret_list)
{
	node.length = (uint16_t)(lists->nodes[node.outer].length + 1);
	if (node.length > STACK_LIST_LENGTH_MAX) {
		*ret_list = node.outer;
		return 0;
	}
	if (hint && alike(&lists->nodes[hint], &node) && lists->nodes[hint].outer == node.outer) {
		*ret_list = hint;
		return 0;
	}
	if (lists->count == STACK_NODES_MAX)
		return -E2BIG;
	if (lists->count == lists->capacity) {
		struct stack_node *nodes =
			realloc(lists->nodes, 2 * lists->capacity * sizeof(*nodes));

		if (!nodes)
			return -ENOMEM;
		lists->nodes = nodes;
		lists->capacity *= 2;
	}
	lists->nodes[lists->count] = node;
	*ret_list = (uint16_t)lists->count++;
	return 0;
}
