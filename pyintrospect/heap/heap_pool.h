/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pymalloc's pools (Objects/obmalloc.c), found by what they say of themselves:
 *
 *   u32 count | u64 freeblock | next | prev | u32 arena | u32 szidx | u32 nextoffset | u32
 * maxnextoffset | blocks
 *
 * A pool lies at a multiple of its size, and its last offset follows from its size class, so
 * that no symbol is needed. A block is in use when it was carved and is not in the list of free
 * ones; where these and the count of those in use do not add up to what was carved, the pool was
 * caught while it changed, and is read again.
 */
#ifndef PIEPROFD_PYINTROSPECT_HEAP_HEAP_POOL_H
#define PIEPROFD_PYINTROSPECT_HEAP_HEAP_POOL_H

#include "pyintrospect/heap/heap_nodes.h"

/* Times that torn pools are read again. */
#define HEAP_POOL_LOOKS 8

struct heap_pool_head {
	uint32_t count; /* in use */
	remote_addr free;
	uint32_t block_bytes;
	uint32_t carved;
};

/* From the first bytes of what would be one. False: it is none. */
bool heap_pool_parse(const uint8_t *bytes, remote_addr address, uint32_t pool_bytes,
		     struct heap_pool_head *ret_head);

/*
 * Which of its blocks are free: kinds of the carved ones are HEAP_NODE_RAW, and become
 * HEAP_NODE_FREE. bytes: all of the pool. False: it is torn.
 */
bool heap_pool_mark(const uint8_t *bytes, remote_addr address, uint32_t pool_bytes,
		    const struct heap_pool_head *head, uint16_t *kinds, uint32_t *ret_free);

/* All pools of an image become nodes. 0, -ENOMEM, or what the reader said. */
__attribute__((warn_unused_result)) int heap_pool_find_all(struct heap_nodes *nodes);

#endif
