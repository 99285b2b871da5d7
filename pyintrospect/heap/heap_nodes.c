/* SPDX-License-Identifier: Apache-2.0 */
#include "pyintrospect/heap/heap_nodes.h"

#include "pyintrospect/heap/heap_debug.h"

#include <errno.h>
#include <stdlib.h>

#define NODES_FIRST    (1u << 16)
#define NODES_A_STRIDE 64
/* No object takes less of another allocator's memory. */
#define FOUND_BYTES_LEAST 32
#define FOUND_MAX         (1u << 28)

void heap_nodes_init(struct heap_nodes *nodes, struct heap_image *image, uint32_t pool_bytes)
{
	*nodes = (struct heap_nodes){ .image = image,
				      .pool_bytes = pool_bytes,
				      .pool_shift = (uint32_t)__builtin_ctz(pool_bytes),
				      .first_found = HEAP_NODE_NONE };
}

void heap_nodes_deinit(struct heap_nodes *nodes)
{
	free(nodes->pools);
	free(nodes->chunks);
	free(nodes->kinds);
	free(nodes->near_pools);
	heap_found_deinit(&nodes->found);
	*nodes = (struct heap_nodes){ 0 };
}

int heap_nodes_add(struct heap_nodes *nodes, size_t count, uint16_t kind)
{
	size_t wanted = nodes->count + count;

	if (count > HEAP_NODES_MAX - nodes->count) {
		nodes->cut = true;
		return -E2BIG;
	}
	if (wanted > nodes->kind_capacity) {
		size_t larger = nodes->kind_capacity ? nodes->kind_capacity : NODES_FIRST;
		uint16_t *grown;

		while (larger < wanted)
			larger *= 2;
		grown = reallocarray(nodes->kinds, larger, sizeof(*grown));
		if (!grown)
			return -ENOMEM;
		nodes->kinds = grown;
		nodes->kind_capacity = larger;
	}
	for (size_t i = nodes->count; i < wanted; i++)
		nodes->kinds[i] = kind;
	nodes->count = (uint32_t)wanted;
	return 0;
}

int heap_nodes_index(struct heap_nodes *nodes)
{
	size_t pool = 0;

	nodes->near_pools =
		calloc(nodes->first_chunk / NODES_A_STRIDE + 1, sizeof(*nodes->near_pools));
	if (!nodes->near_pools)
		return -ENOMEM;
	for (uint32_t node = 0; node < nodes->first_chunk; node += NODES_A_STRIDE) {
		while (node >= nodes->pools[pool].first_node + nodes->pools[pool].carved)
			pool++;
		nodes->near_pools[node / NODES_A_STRIDE] = (uint32_t)pool;
		if (nodes->first_chunk - node < NODES_A_STRIDE)
			break;
	}
	return 0;
}

static struct heap_block without_heads(struct heap_block block, uint32_t heads)
{
	block.address += heads * HEAP_DEBUG_BEFORE;
	block.size -= heads * HEAP_DEBUG_AROUND;
	return block;
}

struct heap_block heap_nodes_block(const struct heap_nodes *nodes, uint32_t node)
{
	const struct heap_pool *pool;

	if (node >= nodes->first_found) {
		const struct heap_found_block *block =
			&nodes->found.items[node - nodes->first_found];

		return (struct heap_block){ block->address, block->size };
	}
	if (node >= nodes->first_chunk) {
		const struct heap_chunk *chunk = &nodes->chunks[node - nodes->first_chunk];

		return without_heads((struct heap_block){ chunk->address, chunk->size },
				     chunk->debug_heads);
	}
	pool = &nodes->pools[nodes->near_pools[node / NODES_A_STRIDE]];
	while (node >= pool->first_node + pool->carved)
		pool++;
	return without_heads(
		(struct heap_block){
			pool->address + pool->head +
				(uint64_t)(node - pool->first_node) * pool->block_bytes,
			pool->block_bytes,
		},
		pool->debug);
}

uint32_t heap_nodes_find_chunk(const struct heap_nodes *nodes, const struct heap_extent *extent,
			       remote_addr address, uint64_t *ret_inside)
{
	uint32_t chunk;

	if (!extent->chunk_of_page)
		return HEAP_NODE_NONE;
	chunk = extent->chunk_of_page[(address - extent->start) / PAGE_BYTES];
	if (chunk > extent->first_chunk)
		chunk--;
	for (; chunk < extent->end_chunk && nodes->chunks[chunk].address <= address; chunk++) {
		uint64_t inside = address - nodes->chunks[chunk].address;

		if (inside >= nodes->chunks[chunk].size)
			continue;
		*ret_inside = inside;
		return chunk;
	}
	return HEAP_NODE_NONE;
}

struct heap_pool *heap_nodes_pool(const struct heap_nodes *nodes, const struct heap_extent *extent,
				  remote_addr address)
{
	uint64_t slot;

	if (!extent->pools || address < extent->first_pool)
		return NULL;
	slot = (address - extent->first_pool) >> nodes->pool_shift;
	return slot < extent->pool_slots && extent->pools[slot]
		       ? &nodes->pools[extent->pools[slot] - 1]
		       : NULL;
}

static int make_slots(const struct heap_nodes *nodes, struct heap_extent *extent)
{
	remote_addr first = extent->start + nodes->pool_bytes - 1;

	if (extent->pools)
		return 0;
	first -= first % nodes->pool_bytes;
	extent->first_pool = first;
	extent->pool_slots =
		first < extent->end ? (uint32_t)((extent->end - first) / nodes->pool_bytes) : 0;
	extent->pools = calloc(extent->pool_slots + 1, sizeof(*extent->pools));
	return extent->pools ? 0 : -ENOMEM;
}

int heap_nodes_mark_pool(struct heap_nodes *nodes, size_t number)
{
	const struct heap_pool *pool = &nodes->pools[number];
	const remote_addr end = pool->address + pool->bytes;
	struct heap_extent *extents_end = nodes->image->extents + nodes->image->extent_count;

	for (struct heap_extent *extent = heap_image_next(nodes->image, pool->address);
	     extent < extents_end && extent->start < end; extent++) {
		remote_addr at = pool->address;

		if (make_slots(nodes, extent))
			return -ENOMEM;
		if (at < extent->first_pool)
			at = extent->first_pool;
		for (; at < end; at += nodes->pool_bytes) {
			uint64_t slot = (at - extent->first_pool) >> nodes->pool_shift;

			if (slot >= extent->pool_slots)
				break;
			extent->pools[slot] = (uint32_t)number + 1;
		}
	}
	return 0;
}

/* ---- what is found */

size_t heap_nodes_begin_finding(struct heap_nodes *nodes)
{
	uint64_t most = nodes->image->size / FOUND_BYTES_LEAST;

	if (most > HEAP_NODES_MAX - nodes->count)
		most = HEAP_NODES_MAX - nodes->count;
	nodes->first_found = nodes->count;
	nodes->found_limit = (uint32_t)(most < FOUND_MAX ? most : FOUND_MAX);
	return (size_t)nodes->count + nodes->found_limit;
}

bool heap_nodes_may_map(const struct heap_nodes *nodes, const struct heap_extent *extent)
{
	return extent->area == HEAP_AREA_ANONYMOUS ||
	       (extent->area == HEAP_AREA_DATA &&
		!nodes->image->mappings->mappings[extent->mapping].inode);
}

bool heap_nodes_is_foreign(const struct heap_nodes *nodes, const struct heap_extent *extent,
			   remote_addr address)
{
	return nodes->first_found != HEAP_NODE_NONE &&
	       (extent->area == HEAP_AREA_BREAK || heap_nodes_may_map(nodes, extent)) &&
	       !heap_nodes_in_pool(nodes, extent, address);
}

uint32_t heap_nodes_add_found(struct heap_nodes *nodes, remote_addr at, uint64_t size,
			      uint8_t prefix, uint16_t kind)
{
	uint32_t node = nodes->count;

	if (nodes->found.count >= nodes->found_limit || heap_nodes_add(nodes, 1, kind)) {
		nodes->cut = true;
		return HEAP_NODE_NONE;
	}
	if (heap_found_add(&nodes->found, at, size, prefix)) {
		nodes->count--;
		nodes->cut = true;
		return HEAP_NODE_NONE;
	}
	return node;
}

static bool locate_found(const struct heap_nodes *nodes, remote_addr address,
			 struct heap_place *ret_place)
{
	uint32_t number =
		nodes->found.count ? heap_found_look(&nodes->found, address) : HEAP_FOUND_NONE;

	if (number == HEAP_FOUND_NONE)
		return false;
	*ret_place = (struct heap_place){
		.node = nodes->first_found + number,
		.inside = nodes->found.items[number].prefix,
		.size = nodes->found.items[number].size,
	};
	return true;
}

static bool locate_chunk(const struct heap_nodes *nodes, const struct heap_extent *extent,
			 remote_addr address, struct heap_place *ret_place)
{
	uint64_t inside;
	uint32_t chunk = heap_nodes_find_chunk(nodes, extent, address, &inside);
	uint32_t heads;

	if (chunk == HEAP_NODE_NONE)
		return locate_found(nodes, address, ret_place);
	heads = nodes->chunks[chunk].debug_heads;
	if (inside < heads * HEAP_DEBUG_BEFORE)
		return false;
	*ret_place = (struct heap_place){
		.node = nodes->first_chunk + chunk,
		.inside = inside - heads * HEAP_DEBUG_BEFORE,
		.size = nodes->chunks[chunk].size - heads * HEAP_DEBUG_AROUND,
	};
	return true;
}

bool heap_nodes_locate(const struct heap_nodes *nodes, remote_addr address,
		       struct heap_place *ret_place)
{
	const struct heap_extent *extent = heap_image_find(nodes->image, address);
	const struct heap_pool *pool = extent ? heap_nodes_pool(nodes, extent, address) : NULL;
	uint32_t inside, block, before;

	if (!extent)
		return false;
	if (!pool)
		return locate_chunk(nodes, extent, address, ret_place);
	inside = (uint32_t)(address - pool->address);
	if (inside < pool->head)
		return false;
	block = (inside - pool->head) / pool->block_bytes;
	if (block >= pool->carved)
		return false;
	inside -= pool->head + block * pool->block_bytes;
	before = pool->debug ? HEAP_DEBUG_BEFORE : 0;
	if (inside < before)
		return false;
	*ret_place = (struct heap_place){
		.node = pool->first_node + block,
		.inside = inside - before,
		.size = pool->block_bytes - (pool->debug ? HEAP_DEBUG_AROUND : 0),
		.ascii = pool->ascii,
	};
	return true;
}

uint32_t heap_nodes_find(const struct heap_nodes *nodes, remote_addr address, uint64_t *ret_inside)
{
	struct heap_place place;

	if (!heap_nodes_locate(nodes, address, &place))
		return HEAP_NODE_NONE;
	*ret_inside = place.inside;
	return place.node;
}
