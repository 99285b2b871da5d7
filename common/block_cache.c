/* SPDX-License-Identifier: Apache-2.0 */
#include "common/block_cache.h"

#include "common/hash.h"

#include <string.h>

#define OFFSET_MASK ((remote_addr)BLOCK_CACHE_BLOCK_BYTES - 1)
/* No block's address: those are aligned. */
#define NO_BLOCK 1

void block_cache_init(struct block_cache *cache, const struct memory_reader *source)
{
	cache->source = source;
	block_cache_forget(cache);
}

void block_cache_forget(struct block_cache *cache)
{
	for (size_t i = 0; i < BLOCK_CACHE_BLOCKS; i++)
		cache->addresses[i] = NO_BLOCK;
}

/* The block at an aligned address; NULL with *ret_error when it cannot be read. */
static const uint8_t *block_at(struct block_cache *cache, remote_addr address, int *ret_error)
{
	size_t i = address / BLOCK_CACHE_BLOCK_BYTES * HASH_GOLDEN >> 32;
	int error;

	i %= BLOCK_CACHE_BLOCKS;
	if (cache->addresses[i] == address)
		return cache->blocks[i];
	cache->addresses[i] = NO_BLOCK;
	error = memory_read(cache->source, address, cache->blocks[i], BLOCK_CACHE_BLOCK_BYTES);
	if (error) {
		*ret_error = error;
		return NULL;
	}
	cache->addresses[i] = address;
	return cache->blocks[i];
}

static int read_pieces(struct block_cache *cache, remote_addr address, uint8_t *buffer, size_t size)
{
	while (size) {
		size_t offset = address & OFFSET_MASK, piece = BLOCK_CACHE_BLOCK_BYTES - offset;
		const uint8_t *block;
		int error = 0;

		if (piece > size)
			piece = size;
		block = block_at(cache, address - offset, &error);
		if (!block)
			return error;
		memcpy(buffer, block + offset, piece);
		address += piece;
		buffer += piece;
		size -= piece;
	}
	return 0;
}

static int read_cached(void *context, struct memory_range *ranges, size_t count)
{
	struct block_cache *cache = context;

	for (size_t i = 0; i < count; i++) {
		struct memory_range *range = &ranges[i];

		range->error =
			range->size > BLOCK_CACHE_BLOCK_BYTES
				? -1
				: read_pieces(cache, range->address, range->buffer, range->size);
		/* Large, or next to something that cannot be read. */
		if (range->error)
			range->error = memory_read(cache->source, range->address, range->buffer,
						   range->size);
	}
	return 0;
}

struct memory_reader block_cache_reader(struct block_cache *cache)
{
	return (struct memory_reader){ .read = read_cached, .context = cache };
}
