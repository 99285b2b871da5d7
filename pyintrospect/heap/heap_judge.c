/* SPDX-License-Identifier: Apache-2.0 */
#include "pyintrospect/heap/heap_judge.h"

#include "pyintrospect/heap/heap_debug.h"

#include <stdlib.h>
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

/* Of a node that is no pool's. */
static enum heap_contents contents_of(const struct heap_nodes *nodes, uint32_t node)
{
	size_t chunk = node - nodes->first_chunk;

	return chunk < nodes->chunk_count ? nodes->chunks[chunk].contents : HEAP_CONTENTS_ANY;
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
		nodes->kinds[node] =
			heap_types_classify(types, contents_of(nodes, node), bytes, block.size);
	nodes->objects += nodes->kinds[node] >= HEAP_NODE_FIRST_TYPE;
}

/* The copy of a pool's blocks; with zeros, in *ret_own, where not all of them were copied. */
static const uint8_t *copy_of(const struct heap_nodes *nodes, const struct heap_pool *pool,
			      uint8_t **ret_own)
{
	const remote_addr address = pool->address + pool->head;
	const uint64_t size = heap_pool_blocks_bytes(pool);
	const struct heap_image *image = nodes->image;
	const uint8_t *bytes = heap_image_at(image, address, size);
	const struct heap_extent *end = image->extents + image->extent_count;

	*ret_own = NULL;
	if (bytes || !size)
		return bytes;
	*ret_own = calloc(1, size);
	for (const struct heap_extent *extent = heap_image_next(image, address);
	     *ret_own && extent < end && extent->start < address + size; extent++) {
		remote_addr from = extent->start > address ? extent->start : address;
		uint64_t part = address + size - from;

		if (part > extent->end - from)
			part = extent->end - from;
		memcpy(*ret_own + (from - address), extent->bytes + (from - extent->start), part);
	}
	return *ret_own;
}

/* Most blocks are in pools. */
static void judge_pool(struct heap_nodes *nodes, struct heap_types *types, struct heap_pool *pool)
{
	uint8_t *own;
	const uint8_t *bytes = copy_of(nodes, pool, &own);
	uint32_t before = pool->debug ? HEAP_DEBUG_BEFORE : 0;
	uint32_t around = pool->debug ? HEAP_DEBUG_AROUND : 0;

	pool->ascii = bytes;
	for (uint32_t i = 0; bytes && i < pool->carved; i++) {
		const uint8_t *block = bytes + (size_t)i * pool->block_bytes + before;
		uint16_t *kind = &nodes->kinds[pool->first_node + i];

		if (*kind != HEAP_NODE_RAW)
			continue;
		*kind = heap_types_classify(types, pool->contents, block,
					    pool->block_bytes - around);
		if (*kind < HEAP_NODE_FIRST_TYPE)
			continue;
		nodes->objects++;
		if (types->items[*kind].text &&
		    !heap_types_is_ascii(types, block, pool->block_bytes - around))
			pool->ascii = false;
	}
	free(own);
}

void heap_judge_all(struct heap_nodes *nodes, struct heap_types *types)
{
	for (size_t i = 0; i < nodes->pool_count; i++)
		judge_pool(nodes, types, &nodes->pools[i]);
	for (uint32_t node = nodes->first_chunk; node < nodes->count; node++)
		judge_node(nodes, types, node);
}
