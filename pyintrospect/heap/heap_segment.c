/* SPDX-License-Identifier: Apache-2.0 */
#include "pyintrospect/heap/heap_segment.h"

#include "pyintrospect/field.h"

#include <string.h>

enum {
	/* mi_segment_t */
	SEGMENT_FLAGS = 24, /* may be decommitted, may be purged */
	SEGMENT_SIZE = 32,
	SEGMENT_ABANDONED = 192,
	SEGMENT_USED = 208,
	SEGMENT_SLICES = 224,
	SEGMENT_INFO_SLICES = 232,
	SEGMENT_KIND = 240,
	SEGMENT_ENTRIES = 248,
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

	KIND_HUGE = 1,
	TAG_SHIFT = 3,
	TAG_MASK = 15,
	BLOCK_LEAST = 8,
	/* The first blocks are moved, so that pages do not all begin in the same cache lines. */
	MOVED_THRICE_MAX = 64,
	MOVED_ONCE_MAX = 512,
};

/* Of a block that is larger than a page's entry can say. */
#define BLOCK_HUGE (2ull << 30)
/* In the last bits of a link are flags. */
#define LINK_FLAGS 3ull
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

bool heap_segment_parse(const uint8_t *head, struct heap_segment *ret_segment)
{
	uint64_t size = field_u64(head, SEGMENT_SIZE), slices = field_u64(head, SEGMENT_SLICES);
	uint64_t entries = field_u64(head, SEGMENT_ENTRIES), used = field_u64(head, SEGMENT_USED);
	uint32_t kind = field_u32(head, SEGMENT_KIND);
	uint64_t expected = slices < HEAP_SEGMENT_SLICES_MAX ? slices : HEAP_SEGMENT_SLICES_MAX;

	if (!size || size > SEGMENT_BELIEVED || size % HEAP_SEGMENT_SLICE ||
	    size / HEAP_SEGMENT_SLICE != slices || kind > KIND_HUGE ||
	    (kind != KIND_HUGE && size != HEAP_SEGMENT_BYTES))
		return false;
	if (head[SEGMENT_FLAGS] > 1 || head[SEGMENT_FLAGS + 1] > 1 || entries != expected ||
	    entries < 2 || field_u64(head, SEGMENT_INFO_SLICES) != 1 || used > entries ||
	    field_u64(head, SEGMENT_ABANDONED) > used)
		return false;
	*ret_segment = (struct heap_segment){
		.bytes = size, .entries = (uint32_t)entries, .first = 1, .huge = kind == KIND_HUGE
	};
	return true;
}

static uint32_t moved_by(uint64_t block_bytes)
{
	return block_bytes <= MOVED_THRICE_MAX ? 3 * (uint32_t)block_bytes
	       : block_bytes <= MOVED_ONCE_MAX ? (uint32_t)block_bytes
					       : 0;
}

bool heap_segment_page(const struct heap_segment *segment, uint32_t slice, const uint8_t *entry,
		       struct heap_page *ret_page)
{
	uint64_t most = segment->bytes / HEAP_SEGMENT_SLICE - slice, bytes;
	struct heap_page page = {
		.slices = field_u32(entry, PAGE_SLICES),
		.tag = entry[PAGE_FLAGS] >> TAG_SHIFT & TAG_MASK,
		.capacity = field_u16(entry, PAGE_CAPACITY),
		.in_use = field_u32(entry, PAGE_USED),
		.block_bytes = field_u32(entry, PAGE_BLOCK_SIZE),
		.free = field_u64(entry, PAGE_FREE),
		.own_free = field_u64(entry, PAGE_LOCAL_FREE),
		.others_free = field_u64(entry, PAGE_THREAD_FREE) & ~LINK_FLAGS,
		.heap = field_u64(entry, PAGE_HEAP),
	};

	if (!page.slices || page.slices > most || field_u32(entry, PAGE_OFFSET))
		return false;
	bytes = page.slices * HEAP_SEGMENT_SLICE;
	if (page.block_bytes >= BLOCK_HUGE)
		page.block_bytes = bytes;
	/* Of free slices it is 0, of a page that is just being made or freed 1. */
	page.used = page.capacity && page.block_bytes >= BLOCK_LEAST;
	if (page.used) {
		page.head = moved_by(page.block_bytes);
		if (page.block_bytes % BLOCK_LEAST ||
		    page.capacity > field_u16(entry, PAGE_RESERVED) ||
		    page.capacity * page.block_bytes + page.head > bytes ||
		    page.in_use > page.capacity)
			return false;
	}
	*ret_page = page;
	return true;
}
