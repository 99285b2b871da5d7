/* SPDX-License-Identifier: Apache-2.0 */
/*
 * glibc's chunks (malloc/malloc.c), x86-64: the main heap, the heaps of other arenas, and
 * chunks that are mappings of their own.
 *
 *   u64 size of the one before, if that is free | u64 size + flags | user's memory ...
 *
 * A heap is a row of chunks, each of which says where the next one begins, up to the top
 * one. What threads' caches and fast bins hold is marked as in use there; both are found by
 * their contents. Of other allocators (heap_allocator.h) there are no chunks: what is theirs is
 * found by references (heap_found.h).
 */
#ifndef PIEPROFD_PYINTROSPECT_HEAP_HEAP_CHUNK_H
#define PIEPROFD_PYINTROSPECT_HEAP_HEAP_CHUNK_H

#include "pyintrospect/heap/heap_nodes.h"

/* How many heads of the debug allocator a block has: 0 to 2. */
uint8_t heap_chunk_debug_heads(const struct heap_nodes *nodes, remote_addr block, uint64_t size);

/* All chunks of an image, outside of pools, become nodes. After the pools. 0 or -ENOMEM. */
__attribute__((warn_unused_result)) int heap_chunk_find_all(struct heap_nodes *nodes);

#endif
