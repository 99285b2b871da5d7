/* SPDX-License-Identifier: Apache-2.0 */
#include "pyintrospect/heap/heap_blocks.h"

#include "pyintrospect/heap/heap_chunk.h"
#include "pyintrospect/heap/heap_mimalloc.h"
#include "pyintrospect/heap/heap_pool.h"

int heap_blocks_find_all(struct heap_nodes *nodes, const struct heap_layout *layout)
{
	int error = heap_mimalloc_may_be(layout)
			    ? heap_mimalloc_find_all(nodes, layout->free_threaded)
			    : 0;

	/* Free-threaded builds have no pymalloc. */
	if (!error && !layout->free_threaded)
		error = heap_pool_find_all(nodes);
	if (!error)
		error = heap_nodes_index(nodes);
	return error ? error : heap_chunk_find_all(nodes);
}
