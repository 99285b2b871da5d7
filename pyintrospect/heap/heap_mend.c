/* SPDX-License-Identifier: Apache-2.0 */
#include "pyintrospect/heap/heap_mend.h"

#include "common/array.h"
#include "common/hash.h"
#include "pyintrospect/field.h"
#include "pyintrospect/heap/heap_reference.h"
#include "pyintrospect/heap/heap_search.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* At most half full. */
#define NOTED_SLOTS (2 * HEAP_MENDS_MAX)
/* Of an object as it is now, where so much can be read, and of what lies before it. */
#define OBJECT_READ 4096u
#define BEFORE_READ 64u
/* Of pools, at a time. */
#define POOLS_A_BATCH 64
#define COMPARED_ROOM (1u << 20)
/* So many objects that nobody leads to are worth a second look, and so much of all. */
#define MISSED_MIN  1000
#define MISSED_PART 50
/* Of two states of an object so much is compared, behind its count of references. */
#define COMPARED 64u

void heap_mends_deinit(struct heap_mends *mends)
{
	free(mends->items);
	free(mends->noted);
	*mends = (struct heap_mends){ 0 };
}

static uint32_t slot_of(const struct heap_mends *mends, remote_addr address)
{
	uint32_t slot = hash_word(address) % NOTED_SLOTS;

	while (mends->noted[slot] && mends->noted[slot] != address)
		slot = (slot + 1) % NOTED_SLOTS;
	return slot;
}

static bool is_in(const struct heap_walk *walk, const struct heap_extent *extent,
		  remote_addr address)
{
	const struct mapping *mapping = &walk->image->mappings->mappings[extent->mapping];

	return address >= mapping->start && address < mapping->end &&
	       (extent->area == HEAP_AREA_BREAK || heap_nodes_may_map(walk->nodes, extent));
}

/* Also where a mapping had no pages yet, behind those that it had. */
static bool is_allocators(const struct heap_walk *walk, remote_addr address)
{
	const struct heap_image *image = walk->image;
	const struct heap_extent *extent = heap_image_find(image, address);

	if (extent)
		return is_in(walk, extent, address);
	extent = heap_image_next(image, address);
	return (extent < image->extents + image->extent_count && is_in(walk, extent, address)) ||
	       (extent > image->extents && is_in(walk, extent - 1, address));
}

bool heap_mends_wants(struct heap_walk *walk, remote_addr address)
{
	struct heap_mends *mends = &walk->mends;
	remote_addr page = address / PAGE_BYTES, *other = &mends->others[page % HEAP_MEND_OTHERS];

	if (*other == page || !walk->typed || walk->nodes->foreign || address % WORD_SIZE)
		return false;
	if (!is_allocators(walk, address)) {
		*other = page;
		return false;
	}
	return !mends->noted || !mends->noted[slot_of(mends, address)];
}

bool heap_mends_mark(struct heap_walk *walk, remote_addr address)
{
	struct heap_mends *mends = &walk->mends;

	if (!heap_mends_wants(walk, address))
		return false;
	if (!mends->noted)
		mends->noted = calloc(NOTED_SLOTS, sizeof(*mends->noted));
	if (!mends->noted || mends->noted_count == HEAP_MENDS_MAX) {
		mends->cut = true;
		return false;
	}
	mends->noted[slot_of(mends, address)] = address;
	mends->noted_count++;
	return true;
}

void heap_mends_note(struct heap_walk *walk, remote_addr address, uint32_t path, uint32_t step)
{
	struct heap_mends *mends = &walk->mends;

	if (!heap_mends_mark(walk, address))
		return;
	if (!ARRAY_ROOM(mends->items, mends->count, mends->capacity)) {
		mends->cut = true;
		return;
	}
	mends->items[mends->count++] = (struct heap_mend){ address, path, step };
}

bool heap_mends_differ(const struct heap_walk *walk, remote_addr address, uint64_t size)
{
	const uint8_t *now = heap_image_at(walk->image, address, size < COMPARED ? size : COMPARED);
	const struct heap_extent *extent = heap_image_find(walk->image, address);
	const uint64_t compared = size < COMPARED ? size : COMPARED;

	return now && extent && compared > WORD_SIZE && compared <= extent->end - address &&
	       memcmp(now + WORD_SIZE, extent->bytes + (address - extent->start) + WORD_SIZE,
		      compared - WORD_SIZE) != 0;
}

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
	return path->type == type
		       ? mend.path
		       : heap_paths_child(walk->paths, path->parent, path->step, type);
}

static void follow(struct heap_walk *walk, struct heap_mend mend)
{
	uint64_t size, bytes;
	const uint8_t *object = read_object(walk, mend.address, &size);
	uint16_t type = object ? heap_types_object(walk->types, object, BEFORE_READ, size, &bytes)
			       : 0;
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
		mends->cut = true;
		mends->done = mends->count;
		return;
	}
	walk->image->fresh = &fresh;
	mends->at_work = true;
	while (mends->done < mends->count && !walk->stopped) {
		fresh.used = 0;
		walk->typed = true;
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
			heap_mends_note(walk, block.address + type->prefix, walk->path_of[node],
					HEAP_MEND_SAME);
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

int heap_mends_compare(struct heap_walk *walk)
{
	struct comparing comparing = { .walk = walk };
	int error = 0;

	if (walk->nodes->foreign || walk->stopped || !is_much_missed(walk))
		return 0;
	comparing.room = malloc(COMPARED_ROOM);
	if (!comparing.room)
		return -ENOMEM;
	walk->typed = true;
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
	walk->typed = false;
	free(comparing.room);
	return error;
}

void heap_mends_follow(struct heap_walk *walk)
{
	while (walk->mends.done < walk->mends.count && !walk->stopped) {
		follow_noted(walk);
		heap_search_drain(walk);
	}
	walk->typed = false;
}
