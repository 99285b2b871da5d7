/* SPDX-License-Identifier: Apache-2.0 */
#include "pyintrospect/remote_copy.h"

#include "common/hash.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define ARENA_ALIGNMENT 16u

int remote_copy_init(struct remote_copy *copy, const struct memory_reader *reader)
{
	*copy = (struct remote_copy){ .reader = reader };
	copy->arena = malloc(REMOTE_COPY_ARENA_BYTES);
	copy->blocks = calloc(REMOTE_COPY_BLOCKS_MAX, sizeof(*copy->blocks));
	copy->ranges = calloc(REMOTE_COPY_BLOCKS_MAX, sizeof(*copy->ranges));
	copy->index = calloc(REMOTE_COPY_INDEX_SIZE, sizeof(*copy->index));
	if (copy->arena && copy->blocks && copy->ranges && copy->index)
		return 0;
	remote_copy_deinit(copy);
	return -ENOMEM;
}

void remote_copy_deinit(struct remote_copy *copy)
{
	free(copy->arena);
	free(copy->blocks);
	free(copy->ranges);
	free(copy->index);
	*copy = (struct remote_copy){ 0 };
}

void remote_copy_begin(struct remote_copy *copy, const struct stack_snapshot *stack)
{
	copy->stack = stack;
	copy->arena_used = 0;
	copy->count = 0;
	copy->fetched = 0;
	copy->region_count = 0;
	memset(copy->index, 0, REMOTE_COPY_INDEX_SIZE * sizeof(*copy->index));
}

static size_t index_slot(remote_addr address)
{
	return hash_word(address) % REMOTE_COPY_INDEX_SIZE;
}

/* The slot that holds address, or the free one where it would go. The index is at most half full.
 */
static uint16_t *index_find(const struct remote_copy *copy, remote_addr address)
{
	size_t slot = index_slot(address);

	while (copy->index[slot] && copy->blocks[copy->index[slot] - 1].address != address)
		slot = (slot + 1) % REMOTE_COPY_INDEX_SIZE;
	return &copy->index[slot];
}

static int want(struct remote_copy *copy, remote_addr address, size_t size, bool region,
		uint8_t age)
{
	uint16_t *slot = index_find(copy, address);
	struct remote_block *block;
	size_t padded = (size + ARENA_ALIGNMENT - 1) & ~(size_t)(ARENA_ALIGNMENT - 1);

	if (*slot && copy->blocks[*slot - 1].size >= size)
		return 0;
	if (size > REMOTE_COPY_REGION_BYTES || copy->count == REMOTE_COPY_BLOCKS_MAX ||
	    padded > REMOTE_COPY_ARENA_BYTES - copy->arena_used)
		return -ENOSPC;
	if (region && copy->region_count == REMOTE_COPY_REGIONS_MAX)
		return -ENOSPC;
	block = &copy->blocks[copy->count];
	*block = (struct remote_block){
		.address = address,
		.size = (uint32_t)size,
		.offset = (uint32_t)copy->arena_used,
		.state = REMOTE_BLOCK_WANTED,
		.age = age,
		.region = region,
	};
	copy->arena_used += padded;
	if (region)
		copy->regions[copy->region_count++] = (uint16_t)copy->count;
	copy->count++;
	/* A smaller block at this address is no longer found: nothing is lost but its arena. */
	*slot = (uint16_t)copy->count;
	return 0;
}

int remote_copy_want(struct remote_copy *copy, remote_addr address, size_t size)
{
	return want(copy, address, size, false, 0);
}

int remote_copy_want_region(struct remote_copy *copy, remote_addr address, size_t size)
{
	return want(copy, address, size, true, 0);
}

int remote_copy_fetch(struct remote_copy *copy)
{
	size_t first = copy->fetched, count = copy->count - first;
	int error;

	if (count == 0)
		return 0;
	for (size_t i = 0; i < count; i++) {
		const struct remote_block *block = &copy->blocks[first + i];

		copy->ranges[i] = (struct memory_range){
			.address = block->address,
			.buffer = copy->arena + block->offset,
			.size = block->size,
			.error = -EFAULT,
		};
	}
	copy->fetched = copy->count;
	error = memory_read_ranges(copy->reader, copy->ranges, count);
	for (size_t i = 0; i < count; i++)
		copy->blocks[first + i].state =
			error || copy->ranges[i].error ? REMOTE_BLOCK_FAILED : REMOTE_BLOCK_READ;
	return error;
}

static bool block_holds(const struct remote_block *block, remote_addr address, size_t size)
{
	return block->state == REMOTE_BLOCK_READ && address >= block->address &&
	       size <= block->size && address - block->address <= block->size - size;
}

const uint8_t *remote_copy_get(struct remote_copy *copy, remote_addr address, size_t size)
{
	const struct stack_snapshot *stack = copy->stack;
	uint16_t slot;

	if (stack && address >= stack->start && size <= stack->size &&
	    address - stack->start <= stack->size - size)
		return stack->bytes + (address - stack->start);
	slot = *index_find(copy, address);
	if (slot && block_holds(&copy->blocks[slot - 1], address, size)) {
		copy->blocks[slot - 1].used = true;
		return copy->arena + copy->blocks[slot - 1].offset;
	}
	for (size_t i = 0; i < copy->region_count; i++) {
		struct remote_block *block = &copy->blocks[copy->regions[i]];

		if (block_holds(block, address, size)) {
			block->used = true;
			return copy->arena + block->offset + (address - block->address);
		}
	}
	return NULL;
}

int remote_copy_read(struct remote_copy *copy, remote_addr address, size_t size,
		     const uint8_t **ret_bytes)
{
	const uint8_t *bytes = remote_copy_get(copy, address, size);
	int error;

	if (!bytes) {
		error = remote_copy_want(copy, address, size);
		if (!error)
			error = remote_copy_fetch(copy);
		if (error)
			return error;
		bytes = remote_copy_get(copy, address, size);
		if (!bytes)
			return -EFAULT;
	}
	*ret_bytes = bytes;
	return 0;
}

uint64_t remote_copy_hash(const struct remote_copy *copy)
{
	uint64_t hash = 0;

	for (size_t i = 0; i < copy->count; i++) {
		const struct remote_block *block = &copy->blocks[i];
		const uint8_t *bytes = copy->arena + block->offset;

		if (!block->used || block->state != REMOTE_BLOCK_READ)
			continue;
		hash = hash_combine(hash, block->address);
		for (size_t at = 0; at < block->size; at += sizeof(uint64_t)) {
			size_t left = block->size - at;
			uint64_t word = 0;

			memcpy(&word, bytes + at, left < sizeof(word) ? left : sizeof(word));
			hash = hash_combine(hash, word);
		}
	}
	return hash;
}

void remote_copy_want_recent(struct remote_copy *copy, const struct remote_recent *recent)
{
	for (size_t i = 0; i < recent->count; i++) {
		const struct remote_recent_block *block = &recent->blocks[i];

		/* No room: it will be read when it is needed, or not at all. */
		(void)want(copy, block->address, block->size, block->region,
			   (uint8_t)(block->age + 1));
	}
}

static bool recent_reserve(struct remote_recent *recent)
{
	size_t capacity = recent->capacity ? 2 * recent->capacity : 64;
	struct remote_recent_block *blocks;

	if (recent->count < recent->capacity)
		return true;
	if (capacity > REMOTE_RECENT_BLOCKS_MAX)
		capacity = REMOTE_RECENT_BLOCKS_MAX;
	if (recent->count >= capacity)
		return false;
	blocks = realloc(recent->blocks, capacity * sizeof(*blocks));
	if (!blocks)
		return false;
	recent->blocks = blocks;
	recent->capacity = capacity;
	return true;
}

void remote_copy_remember(const struct remote_copy *copy, struct remote_recent *recent)
{
	recent->count = 0;
	for (size_t i = 0; i < copy->count; i++) {
		const struct remote_block *block = &copy->blocks[i];
		uint8_t age = block->used ? 0 : block->age;

		if (block->state != REMOTE_BLOCK_READ || age > REMOTE_RECENT_AGE_MAX)
			continue;
		if (!recent_reserve(recent))
			return;
		recent->blocks[recent->count++] = (struct remote_recent_block){
			.address = block->address,
			.size = block->size,
			.age = age,
			.region = block->region,
		};
	}
}

void remote_recent_deinit(struct remote_recent *recent)
{
	free(recent->blocks);
	*recent = (struct remote_recent){ 0 };
}
