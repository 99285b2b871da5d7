/* SPDX-License-Identifier: Apache-2.0 */
/* What there is at an address that an allocator once returned. */
#ifndef PIEPROFD_PYINTROSPECT_HEAP_HEAP_ANSWER_H
#define PIEPROFD_PYINTROSPECT_HEAP_HEAP_ANSWER_H

#include "pyintrospect/heap/heap_nodes.h"

enum heap_answer_state {
	HEAP_ANSWER_UNKNOWN, /* memory there is of no allocator that is read */
	HEAP_ANSWER_GONE,    /* no block in use begins there any more */
	HEAP_ANSWER_NATIVE,  /* one that no object is known to hold */
	HEAP_ANSWER_HELD,    /* one that an object uses, or that is one itself */
};

struct heap_answer {
	uint8_t state;
	uint64_t size; /* of the block, if there is one */
};

/* path_of: of each node, 0: nobody leads to it. within: an address may be anywhere in a block.
 * answers: as many as addresses. */
void heap_answers_find(const struct heap_nodes *nodes, const uint32_t *path_of,
		       const remote_addr *addresses, size_t count, bool within,
		       struct heap_answer *answers);

#endif
