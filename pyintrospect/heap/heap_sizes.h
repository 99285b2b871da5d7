/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How many objects of types with items in themselves (tuple, str, int) there are in pymalloc's
 * blocks of each size: what is made over and over is mostly of one.
 */
#ifndef PIEPROFD_PYINTROSPECT_HEAP_HEAP_SIZES_H
#define PIEPROFD_PYINTROSPECT_HEAP_HEAP_SIZES_H

#include "pyintrospect/heap/heap_nodes.h"
#include "pyintrospect/heap/heap_type.h"

struct heap_size_count {
	remote_addr type;
	uint32_t block_bytes;
	uint64_t count;
};

/*
 * Counts all objects by type, too, for types->items[].count and .bytes. *ret_sizes is the caller's
 * to free. 0 or -ENOMEM.
 */
__attribute__((warn_unused_result)) int heap_sizes_count(const struct heap_nodes *nodes,
							 struct heap_types *types,
							 struct heap_size_count **ret_sizes,
							 size_t *ret_count);

#endif
