/* SPDX-License-Identifier: Apache-2.0 */
/* All blocks of the allocators that are read, as nodes. */
#ifndef PIEPROFD_PYINTROSPECT_HEAP_HEAP_BLOCKS_H
#define PIEPROFD_PYINTROSPECT_HEAP_HEAP_BLOCKS_H

#include "pyintrospect/heap/heap_layout.h"
#include "pyintrospect/heap/heap_nodes.h"

/* Of an image: pools, pages, chunks. 0, -ENOMEM, or what the reader said. */
__attribute__((warn_unused_result)) int heap_blocks_find_all(struct heap_nodes *nodes,
							     const struct heap_layout *layout);

#endif
