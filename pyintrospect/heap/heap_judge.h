/* SPDX-License-Identifier: Apache-2.0 */
/* Which of all blocks in use are objects. */
#ifndef PIEPROFD_PYINTROSPECT_HEAP_HEAP_JUDGE_H
#define PIEPROFD_PYINTROSPECT_HEAP_HEAP_JUDGE_H

#include "pyintrospect/heap/heap_nodes.h"
#include "pyintrospect/heap/heap_type.h"

/* What a block is judged by: the widest prefix, and the head of a str. */
#define HEAP_JUDGED_BYTES 192

/*
 * The start of a block, or all of a small one; with zeros, in buffer, where the copy ends
 * before. NULL: it is in no extent.
 */
const uint8_t *heap_judge_start(const struct heap_nodes *nodes, struct heap_block block,
				uint8_t buffer[HEAP_JUDGED_BYTES]);

/* Kinds of those that are raw so far. */
void heap_judge_all(struct heap_nodes *nodes, struct heap_types *types);

#endif
