/* SPDX-License-Identifier: Apache-2.0 */
#include "pyintrospect/heap/heap_sizes.h"

#include "common/array.h"
#include "pyintrospect/heap/heap_layout.h"

#include <errno.h>
#include <stdlib.h>

/* Sizes differ by as much at least: 16 bytes, 8 to 3.6. */
#define UNIT    8u
#define CLASSES (BLOCK_MAX / UNIT)

static void count_node(const struct heap_nodes *nodes, struct heap_types *types, uint32_t node,
		       uint64_t bytes)
{
	uint16_t kind = nodes->kinds[node];

	if (kind < HEAP_NODE_FIRST_TYPE)
		return;
	types->items[kind].count++;
	types->items[kind].bytes += bytes;
}

/* Others are not pymalloc's, or have heads before their blocks. */
static bool has_class(const struct heap_nodes *nodes, const struct heap_pool *pool)
{
	return pool->bytes == nodes->pool_bytes && !pool->debug && pool->block_bytes >= UNIT &&
	       pool->block_bytes <= BLOCK_MAX;
}

/* By kind and class: of most blocks nothing else is looked at. */
static void count_pool(const struct heap_nodes *nodes, struct heap_types *types,
		       const struct heap_pool *pool, uint32_t *counts)
{
	const uint16_t *kinds = nodes->kinds + pool->first_node;
	uint32_t class = pool->block_bytes / UNIT - 1;

	for (uint32_t block = 0; block < pool->carved; block++)
		if (has_class(nodes, pool))
			counts[kinds[block] * CLASSES + class]++;
		else
			count_node(nodes, types, pool->first_node + block,
				   heap_nodes_block(nodes, pool->first_node + block).size);
}

static int keep_counts(struct heap_types *types, const uint32_t *counts,
		       struct heap_size_count **ret_sizes, size_t *ret_count)
{
	size_t count = 0, capacity = 0;

	for (size_t i = HEAP_NODE_FIRST_TYPE * CLASSES; i < types->count * CLASSES; i++) {
		struct heap_type *type = &types->items[i / CLASSES];
		uint32_t block_bytes = (uint32_t)(i % CLASSES + 1) * UNIT;

		if (!counts[i])
			continue;
		type->count += counts[i];
		type->bytes += (uint64_t)counts[i] * block_bytes;
		if (!type->item)
			continue;
		if (!ARRAY_ROOM(*ret_sizes, count, capacity))
			return -ENOMEM;
		(*ret_sizes)[count++] =
			(struct heap_size_count){ type->address, block_bytes, counts[i] };
	}
	*ret_count = count;
	return 0;
}

int heap_sizes_count(const struct heap_nodes *nodes, struct heap_types *types,
		     struct heap_size_count **ret_sizes, size_t *ret_count)
{
	uint32_t *counts = calloc((size_t)types->count * CLASSES, sizeof(*counts));
	int error;

	if (!counts)
		return -ENOMEM;
	for (size_t i = 0; i < nodes->pool_count; i++)
		count_pool(nodes, types, &nodes->pools[i], counts);
	for (uint32_t node = nodes->first_chunk; node < nodes->count; node++)
		count_node(nodes, types, node, heap_nodes_block(nodes, node).size);
	*ret_sizes = NULL;
	error = keep_counts(types, counts, ret_sizes, ret_count);
	free(counts);
	return error;
}
