/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Blocks of the mimalloc that CPython brings along (heap_segment.h): all objects of free-threaded
 * builds, and those of others that were told to (PYTHONMALLOC=mimalloc). A page of it is a pool of
 * nodes (heap_nodes.h), a page of one large block a chunk.
 *
 * A block is in use when it was handed out and is in no list of free ones. Where these and the
 * count of those in use do not add up, the page was caught while it changed, and is read again.
 */
#ifndef PIEPROFD_PYINTROSPECT_HEAP_HEAP_MIMALLOC_H
#define PIEPROFD_PYINTROSPECT_HEAP_HEAP_MIMALLOC_H

#include "pyintrospect/heap/heap_layout.h"
#include "pyintrospect/heap/heap_nodes.h"

/* mimalloc came with 3.13. */
static inline bool heap_mimalloc_may_be(const struct heap_layout *layout)
{
	return layout->minor >= 13;
}

/*
 * All of its pages in an image become nodes, before other pools and chunks do. 0, -ENOMEM, or what
 * the reader said.
 */
__attribute__((warn_unused_result)) int heap_mimalloc_find_all(struct heap_nodes *nodes,
							       bool free_threaded);

#endif
