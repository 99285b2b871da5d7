/* SPDX-License-Identifier: Apache-2.0 */
#include "pyintrospect/heap/heap_segment.h"

#include "pyintrospect/field.h"

#include <string.h>

enum {
	/* mi_segment_t */
	SEGMENT_FLAGS = 24, /* may be decommitted, may be purged */
	SEGMENT_SIZE = 32,
	/* mi_page_t, which is also an entry of the table of slices */
	PAGE_SLICES = 0,
	PAGE_OFFSET = 4,
	PAGE_FLAGS = 8,
	PAGE_CAPACITY = 10,
	PAGE_RESERVED = 12,
	PAGE_FREE = 16,
	PAGE_USED = 24,
	PAGE_BLOCK_SIZE = 28,
	PAGE_LOCAL_FREE = 32,
	PAGE_THREAD_FREE = 40,
	PAGE_HEAP = 48,
	NEWER_LOCAL_FREE = 24,
	NEWER_USED = 32,
	NEWER_BLOCK_SIZE = 40,
	NEWER_START = 48, /* where its first block is */
	NEWER_THREAD_FREE = 56,
	NEWER_HEAP = 64,

	KIND_HUGE = 1,
	TAG_SHIFT = 3,
	TAG_MASK = 15,
	BLOCK_LEAST = 8,
	/* The first blocks are moved, so that pages do not all begin in the same cache lines. */
	MOVED_THRICE_MAX = 64,
	MOVED_ONCE_MAX = 512,
};

/* Where the two versions have the same. */
struct segment_places {
	size_t abandoned, used, slices, info_slices, kind, entries;
};

static const struct segment_places older = { .abandoned = 192,
					     .used = 208,
					     .slices = 224,
					     .info_slices = 232,
					     .kind = 240,
					     .entries = 248 };
static const struct segment_places newer = { .abandoned = 200,
					     .used = 216,
					     .slices = 248,
					     .info_slices = 256,
					     .kind = 264,
					     .entries = 272 };

/* Of a block that is larger than a page's entry can say. */
#define BLOCK_HUGE (2ull << 30)
/* In the last bits of a link are flags. */
#define LINK_FLAGS 3ull
/* Before the first block, which is at a multiple of its size: a pool has no more. */
#define HEAD_MOST UINT16_MAX
/* No process has more. */
#define SEGMENT_BELIEVED (1ull << 46)

static uint32_t field_u32(const uint8_t *bytes, size_t offset)
{
	uint32_t value;

	memcpy(&value, bytes + offset, sizeof(value));
	return value;
}

static uint32_t field_u16(const uint8_t *bytes, size_t offset)
{
	uint16_t value;

	memcpy(&value, bytes + offset, sizeof(value));
	return value;
}

static bool parse(const uint8_t *head, const struct segment_places *places,
		  struct heap_segment *ret_segment)
{
	uint64_t size = field_u64(head, SEGMENT_SIZE), slices = field_u64(head, places->slices);
	uint64_t entries = field_u64(head, places->entries), used = field_u64(head, places->used);
	uint32_t kind = field_u32(head, places->kind);
	uint64_t expected = slices < HEAP_SEGMENT_SLICES_MAX ? slices : HEAP_SEGMENT_SLICES_MAX;

	if (!size || size > SEGMENT_BELIEVED || size % HEAP_SEGMENT_SLICE ||
	    size / HEAP_SEGMENT_SLICE != slices || kind > KIND_HUGE ||
	    (kind != KIND_HUGE && size != HEAP_SEGMENT_BYTES))
		return false;
	if (head[SEGMENT_FLAGS] > 1 || head[SEGMENT_FLAGS + 1] > 1 || entries != expected ||
	    entries < 2 || field_u64(head, places->info_slices) != 1 || used > entries ||
	    field_u64(head, places->abandoned) > used)
		return false;
	*ret_segment = (struct heap_segment){
		.bytes = size, .entries = (uint32_t)entries, .first = 1, .huge = kind == KIND_HUGE
	};
	return true;
}

/* What the one has as a number of slices, the other has as a random word, or an address. */
bool heap_segment_parse(const uint8_t *head, bool free_threaded, struct heap_segment *ret_segment)
{
	if (parse(head, &older, ret_segment)) {
		ret_segment->table = HEAP_SEGMENT_HEAD;
		ret_segment->entry_bytes =
			free_threaded ? HEAP_SLICE_ENTRY_THREADS : HEAP_SLICE_ENTRY;
		ret_segment->delayed_at = HEAP_DELAYED_AT;
		return true;
	}
	if (free_threaded || !parse(head, &newer, ret_segment))
		return false;
	ret_segment->newer = true;
	ret_segment->table = HEAP_SEGMENT_HEAD_NEWER;
	ret_segment->entry_bytes = HEAP_SLICE_ENTRY_NEWER;
	ret_segment->delayed_at = HEAP_DELAYED_AT_NEWER;
	return true;
}

static uint32_t moved_by(uint64_t block_bytes)
{
	return block_bytes <= MOVED_THRICE_MAX ? 3 * (uint32_t)block_bytes
	       : block_bytes <= MOVED_ONCE_MAX ? (uint32_t)block_bytes
					       : 0;
}

static struct heap_page older_page(const uint8_t *entry)
{
	return (struct heap_page){
		.tag = entry[PAGE_FLAGS] >> TAG_SHIFT & TAG_MASK,
		.in_use = field_u32(entry, PAGE_USED),
		.block_bytes = field_u32(entry, PAGE_BLOCK_SIZE),
		.own_free = field_u64(entry, PAGE_LOCAL_FREE),
		.others_free = field_u64(entry, PAGE_THREAD_FREE) & ~LINK_FLAGS,
		.heap = field_u64(entry, PAGE_HEAP),
	};
}

static struct heap_page newer_page(const uint8_t *entry)
{
	return (struct heap_page){
		.in_use = field_u16(entry, NEWER_USED),
		.block_bytes = field_u64(entry, NEWER_BLOCK_SIZE),
		.own_free = field_u64(entry, NEWER_LOCAL_FREE),
		.others_free = field_u64(entry, NEWER_THREAD_FREE) & ~LINK_FLAGS,
		.heap = field_u64(entry, NEWER_HEAP),
	};
}

bool heap_segment_page(const struct heap_segment *segment, remote_addr address, uint32_t slice,
		       const uint8_t *entry, struct heap_page *ret_page)
{
	uint64_t most = segment->bytes / HEAP_SEGMENT_SLICE - slice, bytes, head;
	struct heap_page page = segment->newer ? newer_page(entry) : older_page(entry);

	page.slices = field_u32(entry, PAGE_SLICES);
	page.capacity = field_u16(entry, PAGE_CAPACITY);
	page.free = field_u64(entry, PAGE_FREE);
	if (!page.slices || page.slices > most || field_u32(entry, PAGE_OFFSET))
		return false;
	bytes = page.slices * HEAP_SEGMENT_SLICE;
	if (!segment->newer && page.block_bytes >= BLOCK_HUGE)
		page.block_bytes = bytes;
	/* Of free slices it is 0, of a page that is just being made or freed 1. */
	page.used = page.capacity && page.block_bytes >= BLOCK_LEAST;
	if (page.used) {
		head = segment->newer ? field_u64(entry, NEWER_START) - address -
						slice * HEAP_SEGMENT_SLICE
				      : moved_by(page.block_bytes);
		if (head > HEAD_MOST || page.block_bytes % BLOCK_LEAST ||
		    page.block_bytes > bytes || page.capacity > field_u16(entry, PAGE_RESERVED) ||
		    page.capacity * page.block_bytes + head > bytes || page.in_use > page.capacity)
			return false;
		page.head = (uint32_t)head;
	}
	*ret_page = page;
	return true;
}
