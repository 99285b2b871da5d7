/* SPDX-License-Identifier: Apache-2.0 */
#include "pyintrospect/heap/heap_judge.h"

#include "pyintrospect/heap/heap_debug.h"
#include "pyintrospect/heap/heap_layout.h"

#include <string.h>

const uint8_t *heap_judge_start(const struct heap_nodes *nodes, struct heap_block block,
				uint8_t buffer[HEAP_JUDGED_BYTES])
{
	const struct heap_extent *extent = heap_image_find(nodes->image, block.address);
	const uint8_t *bytes;
	uint64_t there;

	if (!extent)
		return NULL;
	bytes = extent->bytes + (block.address - extent->start);
	there = extent->end - block.address;
	if (there >= block.size || there >= HEAP_JUDGED_BYTES)
		return bytes;
	memset(buffer, 0, HEAP_JUDGED_BYTES);
	memcpy(buffer, bytes, there);
	return buffer;
}

static void judge_node(struct heap_nodes *nodes, struct heap_types *types, uint32_t node)
{
	uint8_t buffer[HEAP_JUDGED_BYTES];
	struct heap_block block;
	const uint8_t *bytes;

	if (nodes->kinds[node] != HEAP_NODE_RAW)
		return;
	block = heap_nodes_block(nodes, node);
	bytes = heap_judge_start(nodes, block, buffer);
	if (bytes)
		nodes->kinds[node] = heap_types_classify(types, bytes, block.size);
}

/* All of it is copied; most blocks are in pools. */
static void judge_pool(struct heap_nodes *nodes, struct heap_types *types,
		       const struct heap_pool *pool)
{
	const uint8_t *bytes =
		heap_image_at(nodes->image, pool->address, (uint64_t)nodes->pool_bytes);
	uint32_t before = pool->debug ? HEAP_DEBUG_BEFORE : 0;
	uint32_t around = pool->debug ? HEAP_DEBUG_AROUND : 0;

	for (uint32_t i = 0; bytes && i < pool->carved; i++) {
		uint16_t *kind = &nodes->kinds[pool->first_node + i];

		if (*kind == HEAP_NODE_RAW)
			*kind = heap_types_classify(
				types, bytes + POOL_HEAD + (size_t)i * pool->block_bytes + before,
				pool->block_bytes - around);
	}
}

void heap_judge_all(struct heap_nodes *nodes, struct heap_types *types)
{
	for (size_t i = 0; i < nodes->pool_count; i++)
		judge_pool(nodes, types, &nodes->pools[i]);
	for (uint32_t node = nodes->first_chunk; node < nodes->count; node++)
		judge_node(nodes, types, node);
}
