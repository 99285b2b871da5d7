/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where pymalloc takes blocks of a size from: usedpools (Objects/obmalloc.c), two words for
 * each size class, of which the first is the pool in use.
 *
 *   usedpools[2 * class] -> pool: its list of free blocks, and behind all that were ever in use
 * fresh ones
 *
 * It has no symbol, and lies in static data to 3.11 and in the interpreter's state after that. The
 * last pool of a class leads back to it, as if it were a pool of which these two words are the
 * links.
 */
#ifndef PIEPROFD_PYINTROSPECT_HEAP_HEAP_USED_POOLS_H
#define PIEPROFD_PYINTROSPECT_HEAP_HEAP_USED_POOLS_H

#include "pyintrospect/heap/heap_nodes.h"

struct heap_used_pools {
	remote_addr first; /* &usedpools[0]; 0: not known */
	uint32_t unit;     /* bytes by which size classes differ */
	uint32_t pool_bytes;
};

/* Of several interpreters that have pools of their own, that of most pools. */
struct heap_used_pools heap_used_pools_find(const struct heap_nodes *nodes);

/* The word that leads to the pool in use for blocks of so many bytes; 0: not known. */
remote_addr heap_used_pools_link(const struct heap_used_pools *used, uint32_t block_bytes);

/*
 * A block that was never handed out and will be before long: the lead-th one behind those that
 * were. What is kept takes ever more of these, while what is dropped again takes the same ones over
 * and over. link: of heap_used_pools_link(). False: the pool in use has no such block, or it
 * changed meanwhile.
 */
bool heap_used_pools_fresh(const struct memory_reader *reader, remote_addr link,
			   uint32_t pool_bytes, uint32_t block_bytes, uint32_t lead,
			   remote_addr *ret_block);

#endif
