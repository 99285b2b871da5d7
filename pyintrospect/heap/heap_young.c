/* SPDX-License-Identifier: Apache-2.0 */
#include "pyintrospect/heap/heap_young.h"

#include "pyintrospect/field.h"
#include "pyintrospect/heap/heap_reference.h"
#include "pyintrospect/heap/heap_search.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Of an object as it is now, where so much can be read, and of what lies before it. */
#define OBJECT_READ 4096u
#define BEFORE_READ 64u
/* Of pools, at a time. */
#define POOLS_A_BATCH 64
#define COMPARED_ROOM (1u << 20)
/* So many objects that nobody leads to are worth a second look, and so much of all. */
#define MISSED_MIN  1000
#define MISSED_PART 50

/* As much of it as there is, up to a page's end at least. */
static const uint8_t *read_object(const struct heap_walk *walk, remote_addr address,
				  uint64_t *ret_size)
{
	const uint8_t *bytes;

	*ret_size = OBJECT_READ;
	bytes = heap_image_at(walk->image, address - BEFORE_READ, BEFORE_READ + *ret_size);
	if (bytes)
		return bytes + BEFORE_READ;
	*ret_size = PAGE_BYTES - address % PAGE_BYTES;
	bytes = heap_image_at(walk->image, address - BEFORE_READ, BEFORE_READ + *ret_size);
	return bytes ? bytes + BEFORE_READ : NULL;
}

/* Another object may be there by now, reached in the same way. */
static uint32_t path_of(struct heap_walk *walk, struct heap_mend mend, uint16_t type)
{
	const struct heap_path *path = &walk->paths->items[mend.path];

	if (mend.step != HEAP_MEND_SAME)
		return heap_paths_child(walk->paths, mend.path, mend.step, type);
	return path->type == type ? mend.path
				  : heap_paths_child(walk->paths, path->parent, path->step, type);
}

static void follow(struct heap_walk *walk, struct heap_mend mend)
{
	uint64_t size, bytes;
	const uint8_t *object = read_object(walk, mend.address, &size);
	uint16_t type =
		object ? heap_types_object(walk->types, object, BEFORE_READ, size, &bytes) : 0;
	uint32_t path;

	if (!type)
		return;
	path = path_of(walk, mend, type);
	if (!path)
		return;
	walk->mends.objects++;
	heap_reference_follow_read(walk, type, mend.address, object, bytes, path);
}

static void follow_noted(struct heap_walk *walk)
{
	struct heap_mends *mends = &walk->mends;
	struct heap_fresh fresh = { .room = malloc(HEAP_FRESH_BYTES) };

	if (!fresh.room) {
		mends->left_out += mends->count - mends->done;
		mends->done = mends->count;
		return;
	}
	walk->image->fresh = &fresh;
	mends->at_work = true;
	while (mends->done < mends->count && !walk->stopped) {
		fresh.used = 0;
		walk->mends.typed = true;
		follow(walk, mends->items[mends->done++]);
	}
	mends->at_work = false;
	walk->image->fresh = NULL;
	free(fresh.room);
}

/* ---- what changed */

struct comparing {
	struct heap_walk *walk;
	struct memory_range ranges[POOLS_A_BATCH];
	const struct heap_pool *pools[POOLS_A_BATCH];
	uint8_t *room;
	size_t count, used;
};

static bool is_much_missed(const struct heap_walk *walk)
{
	uint64_t reached = walk->absorbed, missed;

	for (size_t i = 1; i < walk->paths->count; i++)
		reached += walk->paths->items[i].count;
	missed = walk->nodes->objects > reached ? walk->nodes->objects - reached : 0;
	return missed >= MISSED_MIN && missed >= walk->nodes->objects / MISSED_PART;
}

static void compare_pool(struct heap_walk *walk, const struct heap_pool *pool, const uint8_t *now,
			 const uint8_t *then)
{
	for (uint32_t i = 0; i < pool->carved; i++) {
		uint32_t node = pool->first_node + i;
		struct heap_block block = heap_nodes_block(walk->nodes, node);
		const struct heap_type *type = &walk->types->items[walk->nodes->kinds[node]];
		uint64_t at = block.address - pool->address, size = block.size;

		if (!walk->path_of[node] || walk->nodes->kinds[node] < HEAP_NODE_FIRST_TYPE ||
		    size < (uint64_t)type->prefix + OBJECT_HEAD)
			continue;
		at += type->prefix;
		/* What is plain refers to nothing, as long as it is that. */
		size = type->plain ? OBJECT_HEAD : size - type->prefix;
		if (memcmp(now + at + WORD_SIZE, then + at + WORD_SIZE, size - WORD_SIZE) != 0)
			heap_mends_note(&walk->mends, block.address + type->prefix,
					walk->path_of[node], HEAP_MEND_SAME);
	}
}

static int compare_batch(struct comparing *comparing)
{
	const struct heap_image *image = comparing->walk->image;
	int error = memory_read_ranges(image->reader, comparing->ranges, comparing->count);

	for (size_t i = 0; i < comparing->count && !error; i++) {
		const struct memory_range *range = &comparing->ranges[i];
		const uint8_t *then = heap_image_at(image, range->address, range->size);

		if (!range->error && then && memcmp(range->buffer, then, range->size) != 0)
			compare_pool(comparing->walk, comparing->pools[i], range->buffer, then);
	}
	comparing->count = comparing->used = 0;
	return error;
}

/* Pages that were not in memory are none of its blocks: they are left alone. */
static bool is_whole(const struct heap_walk *walk, const struct heap_pool *pool)
{
	const struct heap_extent *extent = heap_image_find(walk->image, pool->address);

	return extent && pool->bytes <= extent->end - pool->address &&
	       heap_extent_resident(extent, pool->address, pool->bytes) == pool->bytes;
}

int heap_young_compare(struct heap_walk *walk)
{
	struct comparing comparing = { .walk = walk };
	int error = 0;

	if (walk->nodes->foreign || walk->stopped || !is_much_missed(walk))
		return 0;
	comparing.room = malloc(COMPARED_ROOM);
	if (!comparing.room)
		return -ENOMEM;
	walk->mends.typed = true;
	for (size_t i = 0; i < walk->nodes->pool_count && !error; i++) {
		const struct heap_pool *pool = &walk->nodes->pools[i];

		if (pool->empty || pool->bytes > COMPARED_ROOM || !is_whole(walk, pool))
			continue;
		if (comparing.count == POOLS_A_BATCH ||
		    pool->bytes > COMPARED_ROOM - comparing.used)
			error = compare_batch(&comparing);
		comparing.pools[comparing.count] = pool;
		comparing.ranges[comparing.count++] = (struct memory_range){
			.address = pool->address,
			.buffer = comparing.room + comparing.used,
			.size = pool->bytes,
		};
		comparing.used += pool->bytes;
	}
	if (!error)
		error = compare_batch(&comparing);
	walk->mends.typed = false;
	free(comparing.room);
	return error;
}

void heap_young_follow(struct heap_walk *walk)
{
	while (walk->mends.done < walk->mends.count && !walk->stopped) {
		follow_noted(walk);
		heap_search_drain(walk);
	}
	walk->mends.typed = false;
}
