/* SPDX-License-Identifier: Apache-2.0 */
#include "pyintrospect/heap/heap_chunk_lists.h"

#include "pyintrospect/field.h"

enum {
	CHUNK_HEAD = 16,
	/* struct malloc_state, glibc 2.27+ */
	ARENA_FAST_BINS = 16,
	FAST_BINS = 10,
	ARENA_TOP = 96,
	ARENA_BIN_NEXT = 112, /* of the unsorted bin; empty, it points to the top's place */
	ARENA_READ = 128,
	ARENA_BINS = 112, /* two links each */
	BIN_COUNT = 126,
	EMPTY_BINS_LEAST = 32,
	LINK_SHIFT = 12,
};

/* HEAP_MAX_SIZE: a heap of another arena begins with that arena's address. */
#define HEAP_ALIGNMENT (64ull << 20)

/* tcache_perthread_struct by the size of the chunk that it lies in. */
static const struct cache_layout {
	uint64_t chunk_size; /* that may be used */
	uint32_t bins, counter_bytes;
} cache_layouts[] = {
	{ 0x248, 64, 1 }, /* glibc 2.26 to 2.29 */
	{ 0x288, 64, 2 }, /* to 2.41 */
	{ 0x2f8, 76, 2 }, /* 2.42 */
};

static struct heap_chunk *chunk_at(const struct heap_nodes *nodes, remote_addr user)
{
	const struct heap_extent *extent = heap_image_find(nodes->image, user);
	uint64_t inside;
	uint32_t chunk;

	if (!extent || user % CHUNK_HEAD)
		return NULL;
	chunk = heap_nodes_find_chunk(nodes, extent, user, &inside);
	return chunk == HEAP_NODE_NONE || inside ? NULL : &nodes->chunks[chunk];
}

/* The next one of a list, as it is or mixed with the link's own address; 0: the end. */
static remote_addr next_of(const struct heap_nodes *nodes, remote_addr user, uint64_t back)
{
	const uint8_t *bytes = heap_image_at(nodes->image, user, sizeof(uint64_t));
	uint64_t link = bytes ? field_u64(bytes, 0) : 0, mixed = link ^ user >> LINK_SHIFT;

	if (!link || !mixed)
		return 0;
	if (chunk_at(nodes, mixed + back))
		return mixed + back;
	return chunk_at(nodes, link + back) ? link + back : 0;
}

/* back: how far before the user's memory links lead. A marked one ends it: a circle. */
static void mark_list(struct heap_nodes *nodes, remote_addr user, uint64_t back)
{
	struct heap_chunk *chunk = chunk_at(nodes, user);

	while (chunk && chunk->state == HEAP_CHUNK_USED) {
		chunk->state = HEAP_CHUNK_CACHED;
		user = next_of(nodes, user, back);
		chunk = user ? chunk_at(nodes, user) : NULL;
	}
}

static void mark_cache(struct heap_nodes *nodes, const struct heap_chunk *cache,
		       const struct cache_layout *layout)
{
	const uint8_t *bytes = heap_image_at(nodes->image, cache->address, cache->size);
	const uint8_t *entries;
	unsigned used = 0;

	if (!bytes)
		return;
	entries = bytes + (size_t)layout->bins * layout->counter_bytes;
	for (uint32_t i = 0; i < layout->bins; i++) {
		remote_addr entry = field_u64(entries, (int32_t)(i * sizeof(entry)));
		uint32_t count = 0;

		memcpy(&count, bytes + (size_t)i * layout->counter_bytes, layout->counter_bytes);
		if (layout->bins == 64 && (entry != 0) != (count != 0))
			return;
		if (entry && !chunk_at(nodes, entry))
			return;
		used += entry != 0;
	}
	for (uint32_t i = 0; used && i < layout->bins; i++)
		mark_list(nodes, field_u64(entries, (int32_t)(i * sizeof(uint64_t))), 0);
}

static void mark_caches(struct heap_nodes *nodes)
{
	for (size_t i = 0; i < nodes->chunk_count; i++)
		for (size_t k = 0; k < sizeof(cache_layouts) / sizeof(cache_layouts[0]); k++)
			if (nodes->chunks[i].size == cache_layouts[k].chunk_size &&
			    nodes->chunks[i].state == HEAP_CHUNK_USED)
				mark_cache(nodes, &nodes->chunks[i], &cache_layouts[k]);
}

/* The first bin leads to itself, or to a free chunk. */
static bool has_first_bin(const struct heap_nodes *nodes, remote_addr at)
{
	const uint8_t *bytes = heap_image_at(nodes->image, at - ARENA_TOP, ARENA_READ);
	uint64_t unsorted = bytes ? field_u64(bytes, ARENA_BIN_NEXT) : 0;

	return bytes && (unsorted == at || chunk_at(nodes, unsorted + CHUNK_HEAD));
}

/* at: where the top chunk's address was seen. */
static void mark_arena(struct heap_nodes *nodes, remote_addr at)
{
	const uint8_t *bytes = heap_image_at(nodes->image, at - ARENA_TOP, ARENA_READ);

	if (!bytes)
		return;
	if (nodes->end_count < HEAP_ENDS_MAX)
		nodes->ends[nodes->end_count++] = at;
	for (int32_t i = 0; i < FAST_BINS; i++) {
		remote_addr chunk = field_u64(bytes, ARENA_FAST_BINS + i * (int32_t)sizeof(chunk));

		if (chunk)
			mark_list(nodes, chunk + CHUNK_HEAD, CHUNK_HEAD);
	}
}

/* Empty bins lead to themselves, as if each were a chunk of which these two words are the links. */
static bool has_bins(const struct heap_nodes *nodes, remote_addr at)
{
	const remote_addr bins = at - ARENA_TOP + ARENA_BINS;
	const uint8_t *bytes = heap_image_at(nodes->image, bins, BIN_COUNT * CHUNK_HEAD);
	const uint8_t *before = heap_image_at(nodes->image, at - CHUNK_HEAD, CHUNK_HEAD);
	unsigned empty = 0;

	/* This fast bin is for chunks larger than any that go there; before a bin there is another,
	 * or the top. */
	if (!before || field_u64(before, 0))
		return false;
	for (int32_t i = 0; bytes && i < BIN_COUNT; i++) {
		remote_addr self = bins + (remote_addr)i * CHUNK_HEAD - CHUNK_HEAD;

		empty += field_u64(bytes, i * CHUNK_HEAD) == self &&
			 field_u64(bytes, i * CHUNK_HEAD + (int32_t)sizeof(self)) == self;
	}
	return empty >= EMPTY_BINS_LEAST;
}

/*
 * libc's own arena, which is in its data. The heap may have grown since that was copied: then it is
 * known by its bins.
 */
static void mark_main_arena(struct heap_nodes *nodes, const struct heap_extent *heap,
			    remote_addr top)
{
	for (size_t i = 0; i < nodes->image->extent_count; i++) {
		const struct heap_extent *extent = &nodes->image->extents[i];

		if (extent->area != HEAP_AREA_DATA)
			continue;
		for (remote_addr at = extent->start; at < extent->end; at += sizeof(uint64_t)) {
			uint64_t word = field_u64(extent->bytes + (at - extent->start), 0);

			if (word - heap->start >= heap->end - heap->start || word % CHUNK_HEAD ||
			    !(has_bins(nodes, at) || (word == top && has_first_bin(nodes, at))))
				continue;
			mark_arena(nodes, at);
			return;
		}
	}
}

void heap_chunk_lists_mark(struct heap_nodes *nodes)
{
	mark_caches(nodes);
	for (size_t i = 0; i < nodes->chunk_count; i++) {
		const struct heap_chunk *chunk = &nodes->chunks[i];
		const struct heap_extent *extent;
		const uint8_t *heap;

		if (chunk->state != HEAP_CHUNK_TOP)
			continue;
		extent = heap_image_find(nodes->image, chunk->address);
		if (extent && extent->area == HEAP_AREA_BREAK) {
			mark_main_arena(nodes, extent, chunk->address - CHUNK_HEAD);
			continue;
		}
		heap = heap_image_at(nodes->image, chunk->address - chunk->address % HEAP_ALIGNMENT,
				     sizeof(uint64_t));
		if (heap && has_first_bin(nodes, field_u64(heap, 0) + ARENA_TOP))
			mark_arena(nodes, field_u64(heap, 0) + ARENA_TOP);
	}
}
