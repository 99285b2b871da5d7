/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Free chunks that are marked as used: those in threads' caches (tcache, glibc 2.26+) and in
 * fast bins. Neither has a symbol. A cache is a chunk of a known size that holds nothing but
 * counters and chunks' addresses; an arena has the address of a heap's top chunk, and bins
 * that point to themselves. From glibc 2.32 on links are mixed with their own address.
 */
#ifndef PIEPROFD_PYINTROSPECT_HEAP_HEAP_CHUNK_LISTS_H
#define PIEPROFD_PYINTROSPECT_HEAP_HEAP_CHUNK_LISTS_H

#include "pyintrospect/heap/heap_nodes.h"

/* After the chunks are indexed: those in a list become HEAP_CHUNK_CACHED; also fills nodes->ends.
 */
void heap_chunk_lists_mark(struct heap_nodes *nodes);

#endif
