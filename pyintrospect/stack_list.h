/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is known to lie on an evaluation stack, as lists from the top down.
 * Number 0 is the end of every list. Nodes are never changed, so that lists
 * share what they have in common. Pure.
 */
#ifndef PIEPROFD_PYINTROSPECT_STACK_LIST_H
#define PIEPROFD_PYINTROSPECT_STACK_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define STACK_LIST_LENGTH_MAX 32
#define STACK_NODES_MAX       8192

struct stack_node {
	uint32_t head;  /* of a loop: offset of FOR_ITER */
	uint16_t slot;  /* the lowest one that is of it */
	uint16_t outer; /* number of the next node */
	uint16_t length;
	uint8_t handler_values; /* 0: a loop; else how many values its handler found */
};

struct stack_lists {
	struct stack_node *nodes;
	size_t count, capacity;
};

/* 0 or -ENOMEM. */
__attribute__((warn_unused_result)) int stack_lists_init(struct stack_lists *lists);
void stack_lists_deinit(struct stack_lists *lists);

/* The list without what lies at this slot or above. */
uint16_t stack_list_below(const struct stack_lists *lists, uint16_t list, int slot);

/* What two lists have in common, from the bottom of the stack on. */
uint16_t stack_list_common(const struct stack_lists *lists, uint16_t a, uint16_t b);

bool stack_list_equal(const struct stack_lists *lists, uint16_t a, uint16_t b);

/*
 * The list node.outer with the node before it; one that is too long stays as
 * it is. hint is such a list that was made before, or 0. 0, -ENOMEM or -E2BIG.
 */
__attribute__((warn_unused_result)) int stack_list_push(struct stack_lists *lists,
							struct stack_node node, uint16_t hint,
							uint16_t *ret_list);

#endif
