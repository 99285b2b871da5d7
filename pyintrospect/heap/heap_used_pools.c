/* SPDX-License-Identifier: Apache-2.0 */
#include "pyintrospect/heap/heap_used_pools.h"

#include "pyintrospect/heap/heap_layout.h"
#include "pyintrospect/heap/heap_pool.h"

#define POOL_NEXT     16
#define POOL_CLASS_AT 36
/* Of one class: two words. */
#define CLASS_BYTES (2 * WORD_SIZE)

static bool is_pool(const struct heap_nodes *nodes, remote_addr address)
{
	const struct heap_extent *extent = heap_image_find(nodes->image, address);

	return extent && heap_nodes_in_pool(nodes, extent, address);
}

/* What usedpools would begin at by a pool's link; 0: it leads to another pool, or nowhere. */
static remote_addr first_by(const struct heap_nodes *nodes, const struct heap_pool *pool,
			    uint32_t *ret_class)
{
	remote_addr next = heap_image_word(nodes->image, pool->address + POOL_NEXT);
	uint32_t class;

	/* A page of mimalloc's has its head elsewhere: what is here are its blocks. */
	if (pool->bytes != nodes->pool_bytes)
		return 0;
	if (pool->empty || !next || next % WORD_SIZE || is_pool(nodes, next) ||
	    heap_image_read(nodes->image, pool->address + POOL_CLASS_AT, &class, sizeof(class)) ||
	    class >= BLOCK_MAX / 8)
		return 0;
	*ret_class = class;
	return next + POOL_NEXT - (uint64_t) class * CLASS_BYTES;
}

struct heap_used_pools heap_used_pools_find(const struct heap_nodes *nodes)
{
	struct heap_used_pools used = { .pool_bytes = nodes->pool_bytes };
	uint64_t votes = 0, agreed = 0, all = 0;
	uint32_t class;

	/* What most agree on, if more than half do. */
	for (size_t i = 0; i < nodes->pool_count; i++) {
		remote_addr first = first_by(nodes, &nodes->pools[i], &class);

		if (!first)
			continue;
		if (!votes) {
			used.first = first;
			used.unit = nodes->pools[i].block_bytes / (class + 1);
		}
		votes = first == used.first ? votes + 1 : votes - 1;
	}
	for (size_t i = 0; used.first && i < nodes->pool_count; i++) {
		remote_addr first = first_by(nodes, &nodes->pools[i], &class);

		all += first != 0;
		agreed += first == used.first;
	}
	if (!used.unit || 2 * agreed <= all)
		used.first = 0;
	return used;
}

remote_addr heap_used_pools_link(const struct heap_used_pools *used, uint32_t block_bytes)
{
	if (!used->first || !block_bytes || block_bytes > BLOCK_MAX || block_bytes % used->unit)
		return 0;
	return used->first + (uint64_t)(block_bytes / used->unit - 1) * CLASS_BYTES;
}

bool heap_used_pools_fresh(const struct memory_reader *reader, remote_addr link,
			   uint32_t pool_bytes, uint32_t block_bytes, uint32_t lead,
			   remote_addr *ret_block)
{
	uint8_t bytes[POOL_HEAD];
	struct heap_pool_head head;
	remote_addr pool;
	uint64_t offset;

	if (memory_read_u64(reader, link, &pool) || pool + POOL_NEXT == link || pool % pool_bytes ||
	    memory_read(reader, pool, bytes, sizeof(bytes)) ||
	    !heap_pool_parse(bytes, pool, pool_bytes, &head) || head.block_bytes != block_bytes)
		return false;
	offset = POOL_HEAD + ((uint64_t)head.carved + lead) * block_bytes;
	if (offset + block_bytes > pool_bytes)
		return false;
	*ret_block = pool + offset;
	return true;
}
