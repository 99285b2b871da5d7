/* SPDX-License-Identifier: Apache-2.0 */
#include "pyintrospect/heap/heap_chunk.h"

#include "common/array.h"
#include "pyintrospect/field.h"
#include "pyintrospect/heap/heap_chunk_lists.h"
#include "pyintrospect/heap/heap_debug.h"

#include <errno.h>
#include <stdlib.h>

#define CHUNK_HEAD       16ull
#define CHUNK_MIN        32ull
#define FLAG_PREVIOUS    1ull /* the chunk before is in use */
#define FLAG_MAPPED      2ull
#define FLAGS            7ull
#define HEAP_ALIGNMENT   (64ull << 20) /* HEAP_MAX_SIZE: heaps of other arenas */
#define HEAP_HEAD        0x20ull       /* struct heap_info, up to 0x30 from glibc 2.35 */
#define HEAP_HEAD_SEARCH 0x80ull
/* struct malloc_state lies behind the head of an arena's first heap. */
#define ARENA_BYTES 0x880ull
/* A heap that was caught while it changed is read again. */
#define HEAP_LOOKS 4

/* 0, which no chunk has: not in the copy. */
static uint64_t size_word(const struct heap_nodes *nodes, remote_addr chunk)
{
	const uint8_t *bytes = heap_image_at(nodes->image, chunk, CHUNK_HEAD);

	if (!bytes && nodes->slice_end)
		return heap_image_word(nodes->image, chunk + 8);
	return bytes ? field_u64(bytes, 8) : 0;
}

uint8_t heap_chunk_debug_heads(const struct heap_nodes *nodes, remote_addr block, uint64_t size)
{
	const uint8_t *bytes = heap_image_at(nodes->image, block, 2ull * HEAP_DEBUG_BEFORE);

	if (!bytes || size <= 2ull * HEAP_DEBUG_AROUND || !heap_debug_is_head(bytes))
		return 0;
	return heap_debug_is_head(bytes + HEAP_DEBUG_BEFORE) ? 2 : 1;
}

static int add_chunk(struct heap_nodes *nodes, remote_addr chunk, uint64_t size,
		     enum heap_chunk_state state)
{
	if (!ARRAY_ROOM(nodes->chunks, nodes->chunk_count, nodes->chunk_capacity))
		return -ENOMEM;
	nodes->chunks[nodes->chunk_count++] = (struct heap_chunk){
		.address = chunk + CHUNK_HEAD,
		.size = size,
		.state = (uint8_t)state,
		.debug_heads = state == HEAP_CHUNK_USED || state == HEAP_CHUNK_MAPPED
				       ? heap_chunk_debug_heads(nodes, chunk + CHUNK_HEAD, size)
				       : 0,
	};
	return 0;
}

/*
 * From a first chunk to the heap's end. -EBADMSG: the row ends before, as where it was
 * changed while it was copied; the chunks up to there are kept.
 */
static int walk_heap(struct heap_nodes *nodes, remote_addr chunk, remote_addr end)
{
	while (end - chunk >= CHUNK_MIN) {
		uint64_t size = size_word(nodes, chunk) & ~FLAGS, next;
		int error;

		if (nodes->slice_end && chunk >= nodes->slice_end) {
			nodes->resume = chunk;
			nodes->resume_end = end;
			return 0;
		}
		if (size < CHUNK_MIN || size % 16 || size > end - chunk)
			return size <= CHUNK_HEAD && end - chunk <= 64 ? 0 : -EBADMSG;
		if (end - chunk - size < CHUNK_HEAD)
			return add_chunk(nodes, chunk, size - CHUNK_HEAD, HEAP_CHUNK_TOP);
		next = size_word(nodes, chunk + size);
		/* It may be used up to the next one's size. */
		error = add_chunk(nodes, chunk, size - 8,
				  next & FLAG_PREVIOUS ? HEAP_CHUNK_USED : HEAP_CHUNK_FREE);
		if (error)
			return error;
		/* The fencepost of a heap that is full. */
		if ((next & ~FLAGS) == 0)
			return 0;
		chunk += size;
	}
	return 0;
}

static int walk_break(struct heap_nodes *nodes, const struct heap_extent *extent)
{
	/* Its last pages may never have been touched. */
	const remote_addr end = nodes->image->mappings->mappings[extent->mapping].end;
	const size_t before = nodes->chunk_count;
	remote_addr chunk = extent->start;
	int error = -EBADMSG;

	if (extent->after_hole)
		return 0;
	while (extent->end - chunk >= CHUNK_MIN && !(size_word(nodes, chunk) & ~FLAGS))
		chunk += 16;
	for (unsigned look = 0; look < HEAP_LOOKS; look++) {
		nodes->chunk_count = before;
		error = walk_heap(nodes, chunk, end);
		if (error != -EBADMSG || look + 1 == HEAP_LOOKS ||
		    heap_image_reread(nodes->image, extent->start, extent->end - extent->start))
			break;
	}
	if (error == -EBADMSG && nodes->foreign)
		nodes->chunk_count = before;
	else if (error == -EBADMSG)
		nodes->broken_heaps++;
	return error == -EBADMSG ? 0 : error;
}

/* A heap_info at a multiple of its size: its arena, and how much of it is in use. */
static int walk_arena(struct heap_nodes *nodes, const struct heap_extent *extent, remote_addr heap)
{
	const uint8_t *head = extent->bytes + (heap - extent->start);
	remote_addr arena = field_u64(head, 0), end, first;
	uint64_t size = field_u64(head, 16);
	size_t before = nodes->chunk_count;
	int error = -EBADMSG;

	if ((!nodes->slice_end && !heap_image_find(nodes->image, arena)) ||
	    arena % HEAP_ALIGNMENT < HEAP_HEAD || arena % HEAP_ALIGNMENT > 0x100 ||
	    size < PAGE_BYTES || size % PAGE_BYTES || size > HEAP_ALIGNMENT)
		return 0;
	end = heap + size;
	first = arena > heap && arena < end ? arena + ARENA_BYTES : heap + HEAP_HEAD;
	for (remote_addr chunk = first; error == -EBADMSG && chunk < first + HEAP_HEAD_SEARCH &&
					end - chunk >= CHUNK_MIN && chunk < end;
	     chunk += 16) {
		nodes->chunk_count = before;
		if ((size_word(nodes, chunk) & ~FLAGS) >= CHUNK_MIN)
			error = walk_heap(nodes, chunk, end);
	}
	if (error == -EBADMSG) {
		nodes->chunk_count = before;
		nodes->broken_heaps++;
		return 0;
	}
	return error;
}

/* What was mapped for a chunk: from glibc 2.43 on, its size is without its head. */
static uint64_t mapped_size(uint64_t word)
{
	uint64_t size = word & ~FLAGS;

	return size % PAGE_BYTES ? size + CHUNK_HEAD : size;
}

/* At the start of a page; the size is told twice nowhere, so that all else has to fit. */
static int find_mapped(struct heap_nodes *nodes, const struct heap_extent *extent)
{
	remote_addr at = extent->start;

	if (nodes->mapped_end > at)
		at = nodes->mapped_end < extent->end ? nodes->mapped_end : extent->end;
	while (extent->end - at >= PAGE_BYTES) {
		const uint8_t *bytes = extent->bytes + (at - extent->start);
		uint64_t word = field_u64(bytes, 8), size = mapped_size(word);
		const struct mapping *mapping = &nodes->image->mappings->mappings[extent->mapping];
		int error;

		if (heap_nodes_in_pool(nodes, extent, at)) {
			at += nodes->pool_bytes - at % nodes->pool_bytes;
			if (at > extent->end)
				break;
			continue;
		}
		/* Aligned memory begins behind the start of what was mapped: the first word tells.
		 */
		if ((word & FLAGS) != FLAG_MAPPED || field_u64(bytes, 0) != 0 ||
		    size < PAGE_BYTES || size % PAGE_BYTES || size > mapping->end - at) {
			at += PAGE_BYTES;
			continue;
		}
		error = add_chunk(nodes, at, size - CHUNK_HEAD, HEAP_CHUNK_MAPPED);
		if (error)
			return error;
		if (size >= extent->end - at)
			break;
		at += size;
	}
	return 0;
}

static int find_in(struct heap_nodes *nodes, const struct heap_extent *extent)
{
	remote_addr heap = extent->start + HEAP_ALIGNMENT - 1;
	int error = 0;

	if (nodes->resume >= extent->start && nodes->resume < extent->end) {
		remote_addr chunk = nodes->resume;

		nodes->resume = 0;
		error = walk_heap(nodes, chunk, nodes->resume_end);
		nodes->broken_heaps += error == -EBADMSG;
		error = error == -EBADMSG ? 0 : error;
	}
	if (error)
		return error;
	if (extent->area == HEAP_AREA_BREAK)
		return walk_break(nodes, extent);
	if (!heap_nodes_may_map(nodes, extent))
		return 0;
	heap -= heap % HEAP_ALIGNMENT;
	for (; heap < extent->end && extent->end - heap >= PAGE_BYTES && !error;
	     heap += HEAP_ALIGNMENT)
		if (!heap_nodes_in_pool(nodes, extent, heap))
			error = walk_arena(nodes, extent, heap);
	return error ? error : find_mapped(nodes, extent);
}

static int compare_chunks(const void *left, const void *right)
{
	const struct heap_chunk *a = left, *b = right;

	return a->address < b->address ? -1 : a->address > b->address;
}

/* What two readings of hostile memory may have found twice is there once. */
static void drop_overlaps(struct heap_nodes *nodes)
{
	size_t kept = 0;

	if (nodes->chunk_count)
		qsort(nodes->chunks, nodes->chunk_count, sizeof(nodes->chunks[0]), compare_chunks);
	for (size_t i = 0; i < nodes->chunk_count; i++) {
		const struct heap_chunk *last = kept ? &nodes->chunks[kept - 1] : NULL;

		if (!last || nodes->chunks[i].address - last->address >= last->size)
			nodes->chunks[kept++] = nodes->chunks[i];
	}
	nodes->chunk_count = kept;
}

static int index_chunks(struct heap_nodes *nodes)
{
	size_t chunk = 0;

	for (size_t i = 0; i < nodes->image->extent_count; i++) {
		struct heap_extent *extent = &nodes->image->extents[i];
		size_t pages = (extent->end - extent->start) / PAGE_BYTES, at;

		while (chunk < nodes->chunk_count && nodes->chunks[chunk].address < extent->start)
			chunk++;
		extent->first_chunk = (uint32_t)chunk;
		while (chunk < nodes->chunk_count && nodes->chunks[chunk].address < extent->end)
			chunk++;
		extent->end_chunk = (uint32_t)chunk;
		if (extent->first_chunk == extent->end_chunk)
			continue;
		extent->chunk_of_page = calloc(pages, sizeof(*extent->chunk_of_page));
		if (!extent->chunk_of_page)
			return -ENOMEM;
		at = extent->first_chunk;
		for (size_t page = 0; page < pages; page++) {
			while (at < chunk &&
			       nodes->chunks[at].address < extent->start + page * PAGE_BYTES)
				at++;
			extent->chunk_of_page[page] = (uint32_t)at;
		}
	}
	return 0;
}

static int number_chunks(struct heap_nodes *nodes)
{
	int error = heap_nodes_add(nodes, nodes->chunk_count, HEAP_NODE_RAW);

	if (error == -E2BIG) {
		nodes->chunk_count = 0;
		return 0;
	}
	for (size_t i = 0; i < nodes->chunk_count && !error; i++)
		if (nodes->chunks[i].state != HEAP_CHUNK_USED &&
		    nodes->chunks[i].state != HEAP_CHUNK_MAPPED &&
		    nodes->chunks[i].state != HEAP_CHUNK_PAGE)
			nodes->kinds[nodes->first_chunk + i] = HEAP_NODE_FREE;
	return error;
}

int heap_chunk_find_all(struct heap_nodes *nodes)
{
	int error = 0;

	for (size_t i = 0; i < nodes->image->extent_count && !error; i++)
		error = find_in(nodes, &nodes->image->extents[i]);
	if (error)
		return error;
	drop_overlaps(nodes);
	if (nodes->chunk_count > HEAP_NODES_MAX)
		nodes->chunk_count = 0;
	error = index_chunks(nodes);
	if (error)
		return error;
	heap_chunk_lists_mark(nodes);
	return number_chunks(nodes);
}
