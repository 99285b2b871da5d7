/* SPDX-License-Identifier: Apache-2.0 */
#include "pyintrospect/heap/heap_sizes.h"

#include "common/array.h"
#include "pyintrospect/heap/heap_layout.h"

#include <errno.h>
#include <stdlib.h>

/* Sizes differ by as much at least: 16 bytes, 8 to 3.6. */
#define UNIT    8u
#define CLASSES (BLOCK_MAX / UNIT)

static void count_pool(const struct heap_nodes *nodes, const struct heap_types *types,
		       const struct heap_pool *pool, uint32_t *counts)
{
	const uint16_t *kinds = nodes->kinds + pool->first_node;
	uint32_t class = pool->block_bytes / UNIT - 1;

	for (uint32_t block = 0; block < pool->carved; block++)
		if (kinds[block] >= HEAP_NODE_FIRST_TYPE && types->items[kinds[block]].item)
			counts[kinds[block] * CLASSES + class]++;
}

int heap_sizes_count(const struct heap_nodes *nodes, const struct heap_types *types,
		     struct heap_size_count **ret_sizes, size_t *ret_count)
{
	uint32_t *counts = calloc(types->count * CLASSES, sizeof(*counts));
	struct heap_size_count *sizes = NULL;
	size_t count = 0, capacity = 0;
	int error = counts ? 0 : -ENOMEM;

	for (size_t i = 0; !error && i < nodes->pool_count; i++) {
		const struct heap_pool *pool = &nodes->pools[i];

		/* Others are not pymalloc's. */
		if (pool->bytes == nodes->pool_bytes && pool->block_bytes >= UNIT &&
		    pool->block_bytes <= BLOCK_MAX)
			count_pool(nodes, types, pool, counts);
	}
	for (size_t i = 0; !error && i < types->count * CLASSES; i++) {
		if (!counts[i])
			continue;
		if (!ARRAY_ROOM(sizes, count, capacity))
			error = -ENOMEM;
		else
			sizes[count++] = (struct heap_size_count){
				types->items[i / CLASSES].address,
				(uint32_t)(i % CLASSES + 1) * UNIT,
				counts[i],
			};
	}
	free(counts);
	if (error) {
		free(sizes);
		return error;
	}
	*ret_sizes = sizes;
	*ret_count = count;
	return 0;
}
