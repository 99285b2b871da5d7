/* SPDX-License-Identifier: Apache-2.0 */
#include "pyintrospect/heap/heap_regions.h"

#include "pyintrospect/heap/heap_layout.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Smaller ones are in memory, or nearly. */
#define CHUNK_PARTLY_THERE (16u << 10)
#define CHUNK_HEAD         8
#define MAPPED_HEAD        16

struct adding_up {
	const struct heap_nodes *nodes;
	const uint32_t *path_of;
	struct heap_regions regions;
	uint64_t area_bytes[HEAP_AREAS]; /* in memory, of neither a pool nor a chunk */
};

struct found_place {
	remote_addr start, end;
	uint32_t node;
};

static int compare_places(const void *left, const void *right)
{
	const struct found_place *a = left, *b = right;

	return a->start < b->start ? -1 : a->start > b->start;
}

static bool is_held(const struct adding_up *sum, uint32_t node)
{
	return !sum->path_of || sum->path_of[node];
}

/* A page of mimalloc's may lie in two extents. */
static uint64_t take_pool(struct adding_up *sum, const struct heap_pool *pool)
{
	const struct heap_image *image = sum->nodes->image;
	const struct heap_extent *extent = heap_image_next(image, pool->address);
	const struct heap_extent *end = image->extents + image->extent_count;
	uint64_t resident = 0;

	for (; extent < end && extent->start < pool->address + pool->bytes; extent++) {
		remote_addr from = pool->address > extent->start ? pool->address : extent->start;
		uint64_t part =
			heap_extent_resident(extent, from, pool->address + pool->bytes - from);

		sum->area_bytes[extent->area] -= part;
		resident += part;
	}
	return resident;
}

static void add_pool(struct adding_up *sum, const struct heap_pool *pool)
{
	uint64_t resident = take_pool(sum, pool);
	uint64_t used = 0;

	if (pool->empty) {
		sum->regions.free_bytes += resident;
		return;
	}
	for (uint32_t i = 0; i < pool->carved; i++) {
		uint32_t node = pool->first_node + i;
		uint16_t kind = sum->nodes->kinds[node];
		uint64_t size = pool->block_bytes;

		/* What is not there was never written: the end of a pool. */
		if (kind == HEAP_NODE_FREE || kind == HEAP_NODE_CACHED || used + size > resident)
			continue;
		used += size;
		if (kind == HEAP_NODE_RAW && !is_held(sum, node))
			sum->regions.malloc_unheld_bytes += size;
		else
			sum->regions.objects_bytes += size;
	}
	sum->regions.pool_free_bytes += resident - used;
}

/* A large one may lie in several extents, with memory that was never written between them. */
static uint64_t take_resident(struct adding_up *sum, remote_addr address, uint64_t size)
{
	const struct heap_image *image = sum->nodes->image;
	const struct heap_extent *extent = heap_image_find(image, address);
	const struct heap_extent *end = image->extents + image->extent_count;
	uint64_t resident = 0;

	for (; extent && extent < end && extent->start < address + size; extent++) {
		remote_addr from = address > extent->start ? address : extent->start;
		uint64_t part = address + size - from;

		if (size < CHUNK_PARTLY_THERE && part <= extent->end - from)
			part = size;
		else
			part = heap_extent_resident(extent, from, part);
		/* Of what was found there may be more than there is. */
		if (part > sum->area_bytes[extent->area])
			part = sum->area_bytes[extent->area];
		sum->area_bytes[extent->area] -= part;
		resident += part;
		if (size < CHUNK_PARTLY_THERE)
			break;
	}
	return resident;
}

static void add_chunk(struct adding_up *sum, uint32_t number)
{
	const struct heap_chunk *chunk = &sum->nodes->chunks[number];
	uint32_t node = sum->nodes->first_chunk + number;
	uint32_t head = chunk->state == HEAP_CHUNK_MAPPED ? MAPPED_HEAD
			: chunk->state == HEAP_CHUNK_PAGE ? 0
							  : CHUNK_HEAD;
	uint64_t bytes = take_resident(sum, chunk->address - head, chunk->size + head);

	if (sum->nodes->kinds[node] == HEAP_NODE_FREE)
		sum->regions.free_bytes += bytes;
	else if (sum->nodes->kinds[node] >= HEAP_NODE_FIRST_TYPE)
		sum->regions.objects_bytes += bytes;
	else if (sum->nodes->kinds[node] == HEAP_NODE_RAW && is_held(sum, node))
		sum->regions.malloc_held_bytes += bytes;
	else if (sum->nodes->kinds[node] == HEAP_NODE_CACHED)
		sum->regions.free_bytes += bytes;
	else
		sum->regions.malloc_unheld_bytes += bytes;
}

/*
 * What was found lies where its references say, or the allocator's lists that were never looked at:
 * of two that overlap, what both have counts once.
 */
static int add_found(struct adding_up *sum)
{
	const struct heap_found *found = &sum->nodes->found;
	struct found_place *places = calloc(found->count + 1, sizeof(*places));
	remote_addr end = 0;

	if (!places)
		return -ENOMEM;
	for (size_t i = 0; i < found->count; i++)
		places[i] = (struct found_place){ found->items[i].address,
						  found->items[i].address + found->items[i].size,
						  sum->nodes->first_found + (uint32_t)i };
	if (found->count)
		qsort(places, found->count, sizeof(*places), compare_places);
	for (size_t i = 0; i < found->count; i++) {
		remote_addr from = places[i].start > end ? places[i].start : end;
		uint64_t bytes;

		if (from >= places[i].end)
			continue;
		end = places[i].end;
		bytes = take_resident(sum, from, end - from);
		if (sum->nodes->kinds[places[i].node] >= HEAP_NODE_FIRST_TYPE)
			sum->regions.objects_bytes += bytes;
		else
			sum->regions.malloc_held_bytes += bytes;
	}
	free(places);
	return 0;
}

/*
 * Pages of arenas that hold no pool yet are zeros where the kernel made a huge page of them,
 * and are free.
 */
static void add_unused(struct adding_up *sum, const struct heap_extent *extent)
{
	static const uint8_t zeros[PAGE_BYTES];

	if (!extent->pools)
		return;
	for (uint32_t slot = 0; slot < extent->pool_slots; slot++) {
		uint64_t at = extent->first_pool - extent->start +
			      (uint64_t)slot * sum->nodes->pool_bytes;

		if (extent->pools[slot])
			continue;
		for (uint64_t end = at + sum->nodes->pool_bytes; at < end; at += PAGE_BYTES) {
			uint64_t inside;

			if (!(extent->states[at / PAGE_BYTES] & PAGE_PRESENT) ||
			    memcmp(extent->bytes + at, zeros, PAGE_BYTES) != 0 ||
			    heap_nodes_find(sum->nodes, extent->start + at, &inside) !=
				    HEAP_NODE_NONE)
				continue;
			sum->regions.free_bytes += PAGE_BYTES;
			sum->area_bytes[extent->area] -= PAGE_BYTES;
		}
	}
}

int heap_regions_add_up(const struct heap_nodes *nodes, const uint32_t *path_of,
			struct heap_regions *ret_regions)
{
	const struct heap_image *image = nodes->image;
	struct adding_up sum = { .nodes = nodes, .path_of = path_of };

	for (size_t i = 0; i < image->extent_count; i++) {
		const struct heap_extent *extent = &image->extents[i];

		sum.area_bytes[extent->area] +=
			heap_extent_resident(extent, extent->start, extent->end - extent->start);
	}
	for (size_t i = 0; i < nodes->pool_count; i++)
		add_pool(&sum, &nodes->pools[i]);
	for (size_t i = 0; i < image->extent_count; i++)
		add_unused(&sum, &image->extents[i]);
	for (size_t i = 0; i < nodes->chunk_count; i++)
		add_chunk(&sum, (uint32_t)i);
	if (nodes->found.count && add_found(&sum))
		return -ENOMEM;
	sum.regions.libraries_bytes = image->file_bytes + sum.area_bytes[HEAP_AREA_DATA];
	sum.regions.stacks_bytes = sum.area_bytes[HEAP_AREA_STACK];
	sum.regions.other_bytes = sum.area_bytes[HEAP_AREA_ANONYMOUS] +
				  sum.area_bytes[HEAP_AREA_BREAK] + image->unread_bytes +
				  image->shared_bytes;
	sum.regions.rss_bytes = image->private_bytes + image->file_bytes + image->unread_bytes +
				image->shared_bytes;
	*ret_regions = sum.regions;
	return 0;
}
