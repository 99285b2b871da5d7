/* SPDX-License-Identifier: Apache-2.0 */
#include "pyintrospect/heap/heap_pool.h"

#include "common/array.h"
#include "pyintrospect/field.h"
#include "pyintrospect/heap/heap_debug.h"
#include "pyintrospect/heap/heap_layout.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
	POOL_COUNT = 0,
	POOL_FREE = 8,
	POOL_ARENA = 32,
	POOL_CLASS = 36,
	POOL_NEXT_OFFSET = 40,
	POOL_LAST_OFFSET = 44,
};

/* More arenas than any process has. */
#define ARENAS_BELIEVED (1u << 24)

static uint32_t field_u32(const uint8_t *bytes, size_t offset)
{
	uint32_t value;

	memcpy(&value, bytes + offset, sizeof(value));
	return value;
}

/* Blocks are multiples of 16 bytes; of 8 in 3.6 and the first ones of 3.7. */
static uint32_t block_bytes_of(const uint8_t *bytes, uint32_t pool_bytes)
{
	uint32_t class = field_u32(bytes, POOL_CLASS);
	uint32_t last = field_u32(bytes, POOL_LAST_OFFSET);

	for (uint32_t unit = 16; unit >= 8; unit /= 2)
		if (class < BLOCK_MAX / unit && last == pool_bytes - (class + 1) * unit)
			return (class + 1) * unit;
	return 0;
}

static bool is_block(remote_addr block, remote_addr pool, uint32_t pool_bytes, uint32_t block_bytes)
{
	return block >= pool + POOL_HEAD && block < pool + pool_bytes &&
	       (block - pool - POOL_HEAD) % block_bytes == 0;
}

bool heap_pool_parse(const uint8_t *bytes, remote_addr address, uint32_t pool_bytes,
		     struct heap_pool_head *ret_head)
{
	uint32_t next = field_u32(bytes, POOL_NEXT_OFFSET);
	struct heap_pool_head head = {
		.count = field_u32(bytes, POOL_COUNT),
		.free = field_u64(bytes, POOL_FREE),
		.block_bytes = block_bytes_of(bytes, pool_bytes),
	};
	uint32_t room;

	if (!head.block_bytes || field_u32(bytes, POOL_ARENA) > ARENAS_BELIEVED)
		return false;
	room = (pool_bytes - POOL_HEAD) / head.block_bytes;
	if (head.count > room || next < POOL_HEAD || next > pool_bytes ||
	    (next - POOL_HEAD) % head.block_bytes)
		return false;
	if (head.free && !is_block(head.free, address, pool_bytes, head.block_bytes))
		return false;
	head.carved = (next - POOL_HEAD) / head.block_bytes;
	if (head.carved > room)
		head.carved = room;
	*ret_head = head;
	return true;
}

bool heap_pool_mark(const uint8_t *bytes, remote_addr address, uint32_t pool_bytes,
		    const struct heap_pool_head *head, uint16_t *kinds, uint32_t *ret_free)
{
	remote_addr block = head->free;
	uint32_t count = 0;
	bool whole = true;

	while (block) {
		uint32_t number;

		if (!is_block(block, address, pool_bytes, head->block_bytes)) {
			whole = false;
			break;
		}
		number = (uint32_t)((block - address - POOL_HEAD) / head->block_bytes);
		/* Met before: a circle. */
		if (number >= head->carved || kinds[number] == HEAP_NODE_FREE) {
			whole = false;
			break;
		}
		kinds[number] = HEAP_NODE_FREE;
		count++;
		block = field_u64(bytes, (int32_t)(block - address));
	}
	*ret_free = count;
	return whole && head->count + count == head->carved;
}

/* All blocks of one allocator have such heads, or none has. */
static bool has_debug_heads(const uint8_t *bytes, const struct heap_pool *pool,
			    const uint16_t *kinds)
{
	uint32_t i = 0;

	while (i < pool->carved && kinds[i] == HEAP_NODE_FREE)
		i++;
	return i < pool->carved && pool->block_bytes > HEAP_DEBUG_AROUND &&
	       heap_debug_is_head(bytes + POOL_HEAD + (size_t)i * pool->block_bytes);
}

/* Its nodes are the last ones. */
static int add_pool(struct heap_nodes *nodes, const uint8_t *bytes, remote_addr address,
		    struct heap_pool_head head)
{
	struct heap_pool pool = { .address = address,
				  .bytes = nodes->pool_bytes,
				  .first_node = nodes->count,
				  .block_bytes = head.block_bytes,
				  .head = POOL_HEAD };
	uint32_t free_count = 0;
	int error = 0;

	for (unsigned look = 0; look < HEAP_POOL_LOOKS; look++) {
		pool.empty = !head.count;
		pool.carved = pool.empty ? 0 : (uint16_t)head.carved;
		nodes->count = pool.first_node;
		error = heap_nodes_add(nodes, pool.carved, HEAP_NODE_RAW);
		if (error)
			return error;
		pool.torn =
			!pool.empty && !heap_pool_mark(bytes, address, nodes->pool_bytes, &head,
						       nodes->kinds + pool.first_node, &free_count);
		if (!pool.torn || look + 1 == HEAP_POOL_LOOKS)
			break;
		nodes->reread++;
		error = heap_image_reread(nodes->image, address, nodes->pool_bytes);
		if (error == -ESRCH)
			return error;
		if (error || !heap_pool_parse(bytes, address, nodes->pool_bytes, &head)) {
			/* It is none any more. */
			nodes->count = pool.first_node;
			return 0;
		}
	}
	pool.free = (uint16_t)free_count;
	pool.debug = pool.carved && has_debug_heads(bytes, &pool, nodes->kinds + pool.first_node);
	nodes->torn += pool.torn;
	if (!ARRAY_ROOM(nodes->pools, nodes->pool_count, nodes->pool_capacity))
		return -ENOMEM;
	nodes->pools[nodes->pool_count++] = pool;
	return heap_nodes_mark_pool(nodes, nodes->pool_count - 1);
}

static int find_in(struct heap_nodes *nodes, struct heap_extent *extent)
{
	const uint32_t pool_bytes = nodes->pool_bytes;
	remote_addr first = extent->start + pool_bytes - 1;

	first -= first % pool_bytes;
	if (first >= extent->end || extent->end - first < pool_bytes)
		return 0;
	for (remote_addr address = first; extent->end - address >= pool_bytes;
	     address += pool_bytes) {
		const uint8_t *bytes = extent->bytes + (address - extent->start);
		struct heap_pool_head head;
		int error;

		if (heap_nodes_in_pool(nodes, extent, address) ||
		    !heap_pool_parse(bytes, address, pool_bytes, &head))
			continue;
		error = add_pool(nodes, bytes, address, head);
		if (error)
			return error;
	}
	return 0;
}

int heap_pool_find_all(struct heap_nodes *nodes)
{
	int error = 0;

	for (size_t i = 0; i < nodes->image->extent_count && !error; i++) {
		struct heap_extent *extent = &nodes->image->extents[i];

		if (extent->area == HEAP_AREA_ANONYMOUS || extent->area == HEAP_AREA_DATA ||
		    extent->area == HEAP_AREA_BREAK)
			error = find_in(nodes, extent);
	}
	nodes->first_chunk = nodes->count;
	return error == -E2BIG ? 0 : error;
}
