/* SPDX-License-Identifier: Apache-2.0 */
#include "pyintrospect/heap/heap_mimalloc.h"

#include "common/array.h"
#include "pyintrospect/field.h"
#include "pyintrospect/heap/heap_chunk.h"
#include "pyintrospect/heap/heap_debug.h"
#include "pyintrospect/heap/heap_pool.h"
#include "pyintrospect/heap/heap_segment.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* A page of larger blocks has one, which is a chunk. */
#define POOL_BLOCK_MAX (128ull << 10)
#define POOL_BYTES_MAX (512ull << 10)
/* Of the heaps that were met last, one of which the next page mostly is of: four a thread. */
#define HEAPS_RECENT 8

struct finding {
	struct heap_nodes *nodes;
	bool free_threaded;
	uint32_t delayed_at; /* of the heaps: all are of one version */
	/* The segment in hand. */
	remote_addr address;
	struct heap_segment segment;
	uint8_t *table; /* HEAP_SEGMENT_TABLE_MAX: the segment's head and its table */
	remote_addr *heaps;
	size_t heap_count, heap_capacity;
};

/* Of the table of the segment in hand. */
static uint8_t *entry_at(const struct finding *finding, uint32_t slice)
{
	return finding->table + finding->segment.table + slice * finding->segment.entry_bytes;
}

/* ---- a page */

static uint8_t contents_of(const struct finding *finding, uint8_t tag)
{
	if (!finding->free_threaded)
		return HEAP_CONTENTS_ANY;
	switch (tag) {
	case HEAP_PAGE_MEMORY:
		return HEAP_CONTENTS_RAW;
	case HEAP_PAGE_OBJECTS:
		return HEAP_CONTENTS_PLAIN;
	case HEAP_PAGE_COLLECTED:
		return HEAP_CONTENTS_COLLECTED;
	case HEAP_PAGE_MANAGED:
		return HEAP_CONTENTS_MANAGED;
	default:
		return HEAP_CONTENTS_ANY;
	}
}

/* False: the list leads out of the page, or in a circle. */
static bool mark_list(struct heap_nodes *nodes, const struct heap_pool *pool, remote_addr block,
		      uint32_t *count)
{
	const remote_addr first = pool->address + pool->head;
	uint16_t *kinds = nodes->kinds + pool->first_node;

	while (block) {
		uint64_t inside = block - first, number = inside / pool->block_bytes;
		const uint8_t *bytes;

		if (number >= pool->carved || inside % pool->block_bytes ||
		    kinds[number] == HEAP_NODE_FREE)
			return false;
		kinds[number] = HEAP_NODE_FREE;
		++*count;
		bytes = heap_image_at(nodes->image, block, WORD_SIZE);
		if (!bytes)
			return false;
		block = field_u64(bytes, 0);
	}
	return true;
}

/* False: it is torn. */
static bool mark_page(struct heap_nodes *nodes, struct heap_pool *pool,
		      const struct heap_page *page)
{
	uint32_t free_count = 0, others = 0;
	bool whole = mark_list(nodes, pool, page->free, &free_count);

	whole &= mark_list(nodes, pool, page->own_free, &free_count);
	whole &= page->in_use + free_count == page->capacity;
	/* Those are counted as in use until their thread takes them back. */
	whole &= mark_list(nodes, pool, page->others_free, &others);
	pool->free = (uint16_t)(free_count + others);
	return whole;
}

/* The page and its entry of the table, again. */
static int read_again(struct finding *finding, uint32_t slice, const struct heap_pool *pool,
		      struct heap_page *ret_page)
{
	struct heap_image *image = finding->nodes->image;
	uint8_t *entry = entry_at(finding, slice);
	remote_addr at = finding->address + (remote_addr)(entry - finding->table);
	int error = memory_read(image->reader, at, entry, finding->segment.entry_bytes);

	if (!error)
		error = heap_image_reread(image, pool->address + pool->head,
					  (uint64_t)pool->carved * pool->block_bytes);
	if (error)
		return error;
	return heap_segment_page(&finding->segment, finding->address, slice, entry, ret_page)
		       ? 0
		       : -EBADMSG;
}

static bool has_debug_heads(const struct heap_nodes *nodes, const struct heap_pool *pool)
{
	const uint16_t *kinds = nodes->kinds + pool->first_node;
	const uint8_t *bytes;
	uint32_t i = 0;

	while (i < pool->carved && kinds[i] == HEAP_NODE_FREE)
		i++;
	if (i == pool->carved || pool->block_bytes <= HEAP_DEBUG_AROUND)
		return false;
	bytes = heap_image_at(nodes->image,
			      pool->address + pool->head + (uint64_t)i * pool->block_bytes,
			      HEAP_DEBUG_BEFORE);
	return bytes && heap_debug_is_head(bytes);
}

/* All blocks of it, and which are free. pool->carved 0: it changed into another one. */
static int number_blocks(struct finding *finding, uint32_t slice, struct heap_page *page,
			 struct heap_pool *pool)
{
	struct heap_nodes *nodes = finding->nodes;
	const struct heap_page first = *page;
	int error;

	for (unsigned look = 0;; look++) {
		pool->carved = page->in_use ? (uint16_t)page->capacity : 0;
		pool->empty = !pool->carved;
		nodes->count = pool->first_node;
		error = heap_nodes_add(nodes, pool->carved, HEAP_NODE_RAW);
		if (error)
			return error;
		pool->torn = !pool->empty && !mark_page(nodes, pool, page);
		if (!pool->torn || look + 1 == HEAP_POOL_LOOKS)
			return 0;
		nodes->reread++;
		error = read_again(finding, slice, pool, page);
		if (error == -ESRCH)
			return error;
		if (error)
			return 0; /* what there was of it stays */
		if (!page->used || page->block_bytes != first.block_bytes ||
		    page->slices != first.slices || page->tag != first.tag)
			break;
	}
	nodes->count = pool->first_node;
	pool->carved = pool->free = 0;
	pool->torn = false;
	pool->empty = true;
	return 0;
}

static int add_pool(struct finding *finding, const struct heap_pool *pool)
{
	struct heap_nodes *nodes = finding->nodes;

	if (!ARRAY_ROOM(nodes->pools, nodes->pool_count, nodes->pool_capacity))
		return -ENOMEM;
	nodes->pools[nodes->pool_count++] = *pool;
	nodes->torn += pool->torn;
	return heap_nodes_mark_pool(nodes, nodes->pool_count - 1);
}

static int note_heap(struct finding *finding, remote_addr heap)
{
	size_t first = finding->heap_count < HEAPS_RECENT ? 0 : finding->heap_count - HEAPS_RECENT;

	if (!heap)
		return 0;
	for (size_t i = first; i < finding->heap_count; i++)
		if (finding->heaps[i] == heap)
			return 0;
	if (!ARRAY_ROOM(finding->heaps, finding->heap_count, finding->heap_capacity))
		return -ENOMEM;
	finding->heaps[finding->heap_count++] = heap;
	return 0;
}

static int add_small(struct finding *finding, uint32_t slice, struct heap_page *page)
{
	struct heap_pool pool = {
		.address = finding->address + slice * HEAP_SEGMENT_SLICE,
		.bytes = (uint32_t)(page->slices * HEAP_SEGMENT_SLICE),
		.first_node = finding->nodes->count,
		.block_bytes = (uint32_t)page->block_bytes,
		.head = (uint16_t)page->head,
		.contents = contents_of(finding, page->tag),
	};
	int error = number_blocks(finding, slice, page, &pool);

	if (error)
		return error;
	pool.debug = pool.carved && has_debug_heads(finding->nodes, &pool);
	return add_pool(finding, &pool);
}

static int add_large(struct finding *finding, uint32_t slice, const struct heap_page *page)
{
	struct heap_nodes *nodes = finding->nodes;
	remote_addr address = finding->address + slice * HEAP_SEGMENT_SLICE + page->head;

	if (page->capacity != 1) {
		nodes->broken_heaps++;
		return 0;
	}
	if (!ARRAY_ROOM(nodes->chunks, nodes->chunk_count, nodes->chunk_capacity))
		return -ENOMEM;
	nodes->chunks[nodes->chunk_count++] = (struct heap_chunk){
		.address = address,
		.size = page->block_bytes,
		.state = page->in_use && !page->others_free ? HEAP_CHUNK_PAGE : HEAP_CHUNK_FREE,
		.contents = contents_of(finding, page->tag),
		.debug_heads = heap_chunk_debug_heads(nodes, address, page->block_bytes),
	};
	return 0;
}

/* Slices that are of no page: free, but for what the segment says of itself. */
static int add_unused(struct finding *finding, uint32_t slice, uint32_t count)
{
	const struct heap_pool pool = {
		.address = finding->address + slice * HEAP_SEGMENT_SLICE,
		.bytes = (uint32_t)(count * HEAP_SEGMENT_SLICE),
		.first_node = finding->nodes->count,
		.block_bytes = WORD_SIZE,
		.empty = true,
	};

	return add_pool(finding, &pool);
}

static int add_page(struct finding *finding, uint32_t slice, struct heap_page *page)
{
	int error;

	if (!page->used)
		return finding->segment.huge ? 0 : add_unused(finding, slice, page->slices);
	error = note_heap(finding, page->heap);
	if (error)
		return error;
	if (page->block_bytes > POOL_BLOCK_MAX)
		return add_large(finding, slice, page);
	if (page->slices * HEAP_SEGMENT_SLICE > POOL_BYTES_MAX) {
		finding->nodes->broken_heaps++;
		return 0;
	}
	return add_small(finding, slice, page);
}

/* ---- a segment */

/* Of its head or table what was copied; the rest was never written, or is of another slice. */
static int read_table(struct finding *finding, remote_addr address)
{
	const struct heap_image *image = finding->nodes->image;

	memset(finding->table, 0, HEAP_SEGMENT_TABLE_MAX);
	for (uint64_t at = 0; at < HEAP_SEGMENT_TABLE_MAX; at += PAGE_BYTES) {
		uint64_t size = HEAP_SEGMENT_TABLE_MAX - at;
		const uint8_t *bytes;

		size = size < PAGE_BYTES ? size : PAGE_BYTES;
		bytes = heap_image_at(image, address + at, size);
		if (bytes)
			memcpy(finding->table + at, bytes, size);
		else if (!at)
			return -EFAULT;
	}
	return 0;
}

/* So many bytes from an address on, without a gap. */
static bool is_mapped(const struct heap_image *image, const struct heap_extent *extent,
		      remote_addr address, uint64_t size)
{
	const struct mapping_list *mappings = image->mappings;
	size_t number = extent->mapping;

	while (mappings->mappings[number].end - address < size) {
		if (number + 1 == mappings->count ||
		    mappings->mappings[number + 1].start != mappings->mappings[number].end)
			return false;
		number++;
	}
	return true;
}

/* False: this is none. */
static bool open_segment(struct finding *finding, const struct heap_extent *extent,
			 remote_addr address)
{
	const uint8_t *head = heap_image_at(finding->nodes->image, address, HEAP_SEGMENT_HEAD_MAX);
	const uint8_t *first;

	if (!head || !heap_segment_parse(head, finding->free_threaded, &finding->segment) ||
	    read_table(finding, address))
		return false;
	/* The entry of the head's own slice. */
	first = entry_at(finding, 0);
	if (field_u64(first, 0) != finding->segment.first ||
	    !is_mapped(finding->nodes->image, extent, address, finding->segment.bytes))
		return false;
	finding->address = address;
	finding->delayed_at = finding->segment.delayed_at;
	return true;
}

static int add_segment(struct finding *finding)
{
	const struct heap_segment *segment = &finding->segment;
	uint32_t slice = segment->first;
	int error = add_unused(finding, 0, slice);

	while (slice < segment->entries && !error) {
		const uint8_t *entry = entry_at(finding, slice);
		struct heap_page page;

		if (!heap_segment_page(segment, finding->address, slice, entry, &page)) {
			/* Caught while slices became another page: on to the next one. */
			finding->nodes->broken_heaps++;
			slice++;
			while (slice < segment->entries && !field_u64(entry_at(finding, slice), 0))
				slice++;
			continue;
		}
		error = add_page(finding, slice, &page);
		slice += page.slices;
		if (segment->huge)
			break;
	}
	return error;
}

static int find_in(struct finding *finding, const struct heap_extent *extent)
{
	remote_addr at = extent->start + HEAP_SEGMENT_BYTES - 1, after = finding->nodes->mapped_end;
	int error = 0;

	at -= at % HEAP_SEGMENT_BYTES;
	for (; at < extent->end && !error; at += HEAP_SEGMENT_BYTES) {
		/* Inside of a huge one anything may be written. */
		if (at < after || !open_segment(finding, extent, at))
			continue;
		error = add_segment(finding);
		finding->nodes->segments++;
		after = at + finding->segment.bytes;
	}
	if (after > finding->nodes->mapped_end)
		finding->nodes->mapped_end = after;
	return error;
}

/* ---- what waits to be freed */

static void mark_delayed(struct heap_nodes *nodes, remote_addr list)
{
	remote_addr block = heap_image_word(nodes->image, list);

	while (block) {
		const struct heap_extent *extent = heap_image_find(nodes->image, block);
		struct heap_pool *pool = extent ? heap_nodes_pool(nodes, extent, block) : NULL;
		uint64_t inside = pool ? block - pool->address - pool->head : 0;

		/* A large one is no node yet. */
		if (!pool || inside % pool->block_bytes ||
		    inside / pool->block_bytes >= pool->carved)
			return;
		/* Marked already: a circle, or taken back meanwhile, or a list met before. */
		if (nodes->kinds[pool->first_node + inside / pool->block_bytes] == HEAP_NODE_FREE)
			return;
		nodes->kinds[pool->first_node + inside / pool->block_bytes] = HEAP_NODE_FREE;
		pool->free++;
		block = heap_image_word(nodes->image, block);
	}
}

int heap_mimalloc_find_all(struct heap_nodes *nodes, bool free_threaded)
{
	struct finding finding = {
		.nodes = nodes,
		.free_threaded = free_threaded,
		.table = malloc(HEAP_SEGMENT_TABLE_MAX),
	};
	const remote_addr mapped_end = nodes->mapped_end;
	int error = finding.table ? 0 : -ENOMEM;

	for (size_t i = 0; i < nodes->image->extent_count && !error; i++) {
		const struct heap_extent *extent = &nodes->image->extents[i];

		if (heap_nodes_may_map(nodes, extent))
			error = find_in(&finding, extent);
	}
	nodes->mapped_end = mapped_end;
	for (size_t i = 0; i < finding.heap_count && !error; i++)
		mark_delayed(nodes, finding.heaps[i] + finding.delayed_at);
	free(finding.table);
	free(finding.heaps);
	nodes->first_chunk = nodes->count;
	return error == -E2BIG ? 0 : error;
}
