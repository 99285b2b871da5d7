/* SPDX-License-Identifier: Apache-2.0 */
/* Segments of mimalloc's: what one says of itself, right and forged, and the blocks of its pages.
 */
#include "pyintrospect/heap/heap_blocks.h"
#include "pyintrospect/heap/heap_regions.h"
#include "pyintrospect/heap/heap_segment.h"
#include "pyintrospect/heap/heap_used_pools.h"

#include "tests/unit/heap_memory.h"

#define SLICE HEAP_SEGMENT_SLICE
/* In the last slice of the memory, which is of no page here. */
#define OWNER 0x30000u

enum {
	SIZE_AT = 32,
	ABANDONED_AT = 192,
	USED_AT = 208,
	SLICES_AT = 224,
	INFO_AT = 232,
	KIND_AT = 240,
	ENTRIES_AT = 248,
};

static void put_segment(uint64_t size)
{
	uint64_t slices = size / SLICE;

	memset(memory, 0, sizeof(memory));
	put(SIZE_AT, size);
	put(USED_AT, 1);
	put(SLICES_AT, slices);
	put(INFO_AT, 1);
	put(KIND_AT, size != HEAP_SEGMENT_BYTES);
	put(ENTRIES_AT, slices < HEAP_SEGMENT_SLICES_MAX ? slices : HEAP_SEGMENT_SLICES_MAX);
	put(HEAP_SEGMENT_HEAD, 1);
}

static uint64_t entry_of(uint32_t slice)
{
	return HEAP_SEGMENT_HEAD + (uint64_t)slice * HEAP_SLICE_ENTRY_THREADS;
}

static void put_page(uint32_t slice, uint32_t slices, uint8_t tag, uint16_t capacity, uint32_t used,
		     uint32_t block_bytes)
{
	uint64_t at = entry_of(slice);

	put(at, slices);
	put(at + 8, (uint64_t)tag << 3 | (uint64_t)capacity << 16 | (uint64_t)capacity << 32);
	put(at + 24, used | (uint64_t)block_bytes << 32);
}

static uint64_t block_at(uint32_t slice, uint32_t block_bytes, uint32_t number)
{
	uint32_t head = block_bytes <= 64 ? 3 * block_bytes : block_bytes <= 512 ? block_bytes : 0;

	return slice * SLICE + head + (uint64_t)number * block_bytes;
}

/* ---- what one says of itself */

static bool parses(void)
{
	struct heap_segment segment;

	return heap_segment_parse((const uint8_t *)memory, true, &segment);
}

static void test_segment(void **state)
{
	static const struct {
		uint64_t at, value;
	} forged[] = {
		{ SIZE_AT, 0 },
		{ SIZE_AT, 1ull << 63 },
		{ SIZE_AT, HEAP_SEGMENT_BYTES + 1 },
		{ SIZE_AT, 2 * HEAP_SEGMENT_BYTES },
		{ USED_AT, HEAP_SEGMENT_SLICES_MAX + 1 },
		{ USED_AT, UINT64_MAX },
		{ ABANDONED_AT, 2 },
		{ SLICES_AT, 1ull << 63 },
		{ SLICES_AT, 0 },
		{ INFO_AT, 0 },
		{ INFO_AT, 1ull << 63 },
		{ KIND_AT, 2 },
		{ ENTRIES_AT, HEAP_SEGMENT_SLICES_MAX + 1 },
		{ ENTRIES_AT, 1 },
		{ ENTRIES_AT, 1ull << 32 | HEAP_SEGMENT_SLICES_MAX },
		{ 24, 2 },
	};
	struct heap_segment segment;

	(void)state;
	put_segment(HEAP_SEGMENT_BYTES);
	assert_true(heap_segment_parse((const uint8_t *)memory, true, &segment));
	assert_int_equal(segment.bytes, HEAP_SEGMENT_BYTES);
	assert_int_equal(segment.entries, HEAP_SEGMENT_SLICES_MAX);
	assert_int_equal(segment.first, 1);
	assert_false(segment.huge);
	for (size_t i = 0; i < sizeof(forged) / sizeof(forged[0]); i++) {
		put_segment(HEAP_SEGMENT_BYTES);
		put(forged[i].at, forged[i].value);
		assert_false(parses());
	}
	/* Of a huge one, any whole number of slices that a process may have. */
	put_segment(1ull << 46);
	assert_true(heap_segment_parse((const uint8_t *)memory, true, &segment));
	assert_true(segment.huge);
	assert_int_equal(segment.entries, HEAP_SEGMENT_SLICES_MAX);
	put_segment(1ull << 47);
	assert_false(parses());
	put_segment(2 * SLICE);
	assert_true(heap_segment_parse((const uint8_t *)memory, true, &segment));
	assert_int_equal(segment.entries, 2);
	put_segment(SLICE);
	assert_false(parses());
}

static bool page_of(uint64_t segment_bytes, uint32_t slice, struct heap_page *ret_page)
{
	const struct heap_segment segment = { .bytes = segment_bytes,
					      .entries = HEAP_SEGMENT_SLICES_MAX,
					      .first = 1 };

	return heap_segment_page(&segment, BASE, slice, (const uint8_t *)memory + entry_of(slice),
				 ret_page);
}

static void test_page(void **state)
{
	struct heap_page page;

	(void)state;
	put_segment(HEAP_SEGMENT_BYTES);
	put_page(1, 1, HEAP_PAGE_COLLECTED, 10, 7, 48);
	put(entry_of(1) + 40, (BASE + block_at(1, 48, 3)) | 3);
	assert_true(page_of(HEAP_SEGMENT_BYTES, 1, &page));
	assert_true(page.used);
	assert_int_equal(page.tag, HEAP_PAGE_COLLECTED);
	assert_int_equal(page.capacity, 10);
	assert_int_equal(page.in_use, 7);
	assert_int_equal(page.block_bytes, 48);
	assert_int_equal(page.head, 3 * 48);
	assert_int_equal(page.others_free, BASE + block_at(1, 48, 3));
	/* A block, or none, of no bytes: free, or being made. */
	put_page(1, 3, 0, 10, 7, 0);
	assert_true(page_of(HEAP_SEGMENT_BYTES, 1, &page) && !page.used && page.slices == 3);
	put_page(1, 3, 0, 0, 7, 64);
	assert_true(page_of(HEAP_SEGMENT_BYTES, 1, &page) && !page.used);
	/* No slices, and more than there are from there on. */
	put_page(1, 0, 0, 1, 1, 64);
	assert_false(page_of(HEAP_SEGMENT_BYTES, 1, &page));
	put_page(1, 511, 0, 1, 1, 64);
	assert_true(page_of(HEAP_SEGMENT_BYTES, 1, &page));
	put_page(1, 512, 0, 1, 1, 64);
	assert_false(page_of(HEAP_SEGMENT_BYTES, 1, &page));
	put_page(511, 2, 0, 1, 1, 64);
	assert_false(page_of(HEAP_SEGMENT_BYTES, 511, &page));
	put_page(1, UINT32_MAX, 0, 1, 1, 64);
	assert_false(page_of(HEAP_SEGMENT_BYTES, 1, &page));
	/* More in use than there are, more than there is room for, of an odd size. */
	put_page(1, 1, 0, 10, 11, 64);
	assert_false(page_of(HEAP_SEGMENT_BYTES, 1, &page));
	put_page(1, 1, 0, UINT16_MAX, 1, 64);
	assert_false(page_of(HEAP_SEGMENT_BYTES, 1, &page));
	put_page(1, 1, 0, UINT16_MAX, 1, (2u << 30) - 8);
	assert_false(page_of(HEAP_SEGMENT_BYTES, 1, &page));
	put_page(1, 1, 0, 1, 1, 68);
	assert_false(page_of(HEAP_SEGMENT_BYTES, 1, &page));
	/* All of a huge one; twice that does not fit. */
	put_page(1, (1u << 30) - 1, 0, 1, 1, UINT32_MAX);
	assert_true(page_of(1ull << 46, 1, &page));
	assert_int_equal(page.block_bytes, ((1ull << 30) - 1) * SLICE);
	put_page(1, (1u << 30) - 1, 0, 2, 1, UINT32_MAX);
	assert_false(page_of(1ull << 46, 1, &page));
}

/* ---- the newer version */

enum {
	NEWER_USED_AT = 216,
	NEWER_SLICES_AT = 248,
	NEWER_INFO_AT = 256,
	NEWER_ENTRIES_AT = 272,
};

static uint64_t newer_entry_of(uint32_t slice)
{
	return HEAP_SEGMENT_HEAD_NEWER + (uint64_t)slice * HEAP_SLICE_ENTRY_NEWER;
}

static void put_newer_segment(void)
{
	memset(memory, 0, sizeof(memory));
	put(SIZE_AT, HEAP_SEGMENT_BYTES);
	put(NEWER_USED_AT, 1);
	/* Where the older one has how many slices there are. */
	put(SLICES_AT, 0x58b19fd7ba29ea38);
	put(NEWER_SLICES_AT, HEAP_SEGMENT_SLICES_MAX);
	put(NEWER_INFO_AT, 1);
	put(NEWER_ENTRIES_AT, HEAP_SEGMENT_SLICES_MAX);
	put(HEAP_SEGMENT_HEAD_NEWER, 1);
}

static void put_newer_page(uint32_t slice, uint32_t slices, uint16_t capacity, uint16_t used,
			   uint64_t block_bytes, uint64_t head)
{
	uint64_t at = newer_entry_of(slice);

	put(at, slices);
	put(at + 8, 3 | (uint64_t)capacity << 16 | (uint64_t)capacity << 32);
	put(at + 32, used | 0x060000);
	put(at + 40, block_bytes);
	put(at + 48, BASE + slice * SLICE + head);
}

static bool newer_page(uint16_t capacity, uint16_t used, uint64_t block_bytes, uint64_t head,
		       struct heap_page *ret_page)
{
	struct heap_segment segment;

	put_newer_segment();
	put_newer_page(1, 1, capacity, used, block_bytes, head);
	put(newer_entry_of(1) + 24, 24);
	put(newer_entry_of(1) + 56, 59);
	put(newer_entry_of(1) + 64, 64);
	assert_true(heap_segment_parse((const uint8_t *)memory, false, &segment));
	return heap_segment_page(&segment, BASE, 1, (const uint8_t *)memory + newer_entry_of(1),
				 ret_page);
}

static void test_newer_segment(void **state)
{
	struct heap_segment segment;
	struct heap_page page;

	(void)state;
	put_newer_segment();
	assert_true(heap_segment_parse((const uint8_t *)memory, false, &segment));
	assert_true(segment.newer && segment.entry_bytes == HEAP_SLICE_ENTRY_NEWER);
	/* How long entries of its free-threaded builds are nobody has seen. */
	assert_false(heap_segment_parse((const uint8_t *)memory, true, &segment));
	put(NEWER_INFO_AT, 0x7fda8d0d2200);
	assert_false(heap_segment_parse((const uint8_t *)memory, false, &segment));
	put_segment(HEAP_SEGMENT_BYTES);
	assert_true(heap_segment_parse((const uint8_t *)memory, false, &segment));
	assert_false(segment.newer);
	assert_true(newer_page(10, 7, 48, 144, &page));
	assert_true(page.used && page.in_use == 7 && page.block_bytes == 48 && page.head == 144);
	assert_true(page.own_free == 24 && page.others_free == 56 && page.heap == 64);
	assert_true(newer_page(10, 7, 1, 0, &page) && !page.used);
	/* Sizes and places that nothing is of. */
	assert_false(newer_page(10, 7, UINT64_MAX - 7, 0, &page));
	assert_false(newer_page(2, 2, 1ull << 63, 0, &page));
	assert_false(newer_page(10, 7, 48, UINT64_MAX - 8, &page));
	assert_false(newer_page(10, 7, 48, SLICE, &page));
	assert_false(newer_page(10, 11, 48, 144, &page));
	assert_false(newer_page(10, 7, 44, 144, &page));
}

/* ---- blocks */

static void find(struct heap *heap, uint64_t mapped)
{
	const struct heap_layout layout = { .minor = 13, .free_threaded = true };
	struct heap_regions regions;

	open_image(heap, "", POOL_BYTES_3_10, mapped);
	assert_int_equal(heap_blocks_find_all(&heap->nodes, &layout), 0);
	assert_int_equal(heap_regions_add_up(&heap->nodes, NULL, &regions), 0);
	assert_int_equal(regions.rss_bytes, BYTES);
	assert_int_equal(regions.objects_bytes + regions.pool_free_bytes +
				 regions.malloc_held_bytes + regions.malloc_unheld_bytes +
				 regions.free_bytes + regions.libraries_bytes +
				 regions.stacks_bytes + regions.other_bytes,
			 BYTES);
}

static void test_blocks(void **state)
{
	struct heap heap;
	uint64_t inside;
	uint32_t node;

	(void)state;
	put_segment(HEAP_SEGMENT_BYTES);
	put_page(1, 1, HEAP_PAGE_MANAGED, 10, 8, 1024);
	/* Two are free, another thread freed one, one waits for its heap. */
	put(entry_of(1) + 16, BASE + block_at(1, 1024, 4));
	put(block_at(1, 1024, 4), 0);
	put(entry_of(1) + 32, BASE + block_at(1, 1024, 9));
	put(entry_of(1) + 40, BASE + block_at(1, 1024, 0));
	put(entry_of(1) + 48, BASE + OWNER);
	put(OWNER + HEAP_DELAYED_AT, BASE + block_at(1, 1024, 5));
	put_page(2, 510, 0, 0, 0, 0);
	find(&heap, HEAP_SEGMENT_BYTES);
	assert_int_equal(heap.nodes.segments, 1);
	assert_int_equal(heap.nodes.count, 10);
	assert_int_equal(heap.nodes.torn, 0);
	assert_int_equal(heap.nodes.broken_heaps, 0);
	assert_int_equal(heap.nodes.pool_count, 3);
	assert_int_equal(heap.nodes.pools[1].free, 4);
	assert_int_equal(heap.nodes.pools[1].contents, HEAP_CONTENTS_MANAGED);
	for (uint32_t i = 0; i < 10; i++)
		assert_int_equal(heap.nodes.kinds[i], i == 0 || i == 4 || i == 5 || i == 9
							      ? HEAP_NODE_FREE
							      : HEAP_NODE_RAW);
	node = heap_nodes_find(&heap.nodes, BASE + block_at(1, 1024, 7) + 8, &inside);
	assert_int_equal(node, 7);
	assert_int_equal(inside, 8);
	assert_int_equal(heap_nodes_find(&heap.nodes, BASE + block_at(1, 1024, 10), &inside),
			 HEAP_NODE_NONE);
	close_heap(&heap);
}

static void test_newer_blocks(void **state)
{
	const struct heap_layout layout = { .minor = 14 };
	struct heap heap;

	(void)state;
	put_newer_segment();
	put_newer_page(1, 1, 10, 8, 1024, 64);
	put(newer_entry_of(1) + 16, BASE + SLICE + 64 + 4 * 1024);
	put(newer_entry_of(1) + 24, BASE + SLICE + 64 + 9 * 1024);
	put(newer_entry_of(1) + 56, (BASE + SLICE + 64) | 1);
	put(newer_entry_of(1) + 64, BASE + OWNER);
	put(OWNER + HEAP_DELAYED_AT_NEWER, BASE + SLICE + 64 + 5 * 1024);
	put_newer_page(2, 510, 0, 0, 0, 0);
	open_image(&heap, "", POOL_BYTES_3_10, HEAP_SEGMENT_BYTES);
	assert_int_equal(heap_blocks_find_all(&heap.nodes, &layout), 0);
	assert_int_equal(heap.nodes.segments, 1);
	assert_int_equal(heap.nodes.count, 10);
	assert_int_equal(heap.nodes.torn, 0);
	for (uint32_t i = 0; i < 10; i++)
		assert_int_equal(heap.nodes.kinds[i], i == 0 || i == 4 || i == 5 || i == 9
							      ? HEAP_NODE_FREE
							      : HEAP_NODE_RAW);
	close_heap(&heap);
}

/* Lists that go in a circle, out of the page, or between blocks: the page is torn, and that is all.
 */
static void test_forged_lists(void **state)
{
	const uint64_t links[] = { BASE + block_at(1, 64, 2),
				   BASE + block_at(1, 64, 2) + 8,
				   BASE + block_at(1, 64, 10),
				   BASE + SLICE,
				   8,
				   1ull << 63,
				   UINT64_MAX,
				   BASE + 2 * SLICE };

	(void)state;
	for (size_t i = 0; i < 4 * sizeof(links) / sizeof(links[0]); i++) {
		const uint64_t link = links[i / 4];
		struct heap heap;

		put_segment(HEAP_SEGMENT_BYTES);
		put_page(1, 1, HEAP_PAGE_OBJECTS, 10, 9, 64);
		put(entry_of(1) + 16, BASE + block_at(1, 64, 2));
		put(entry_of(1) + 48, BASE + OWNER);
		put_page(2, 510, 0, 0, 0, 0);
		/* Behind a block in the list, another list, what others freed, what waits. */
		if (i % 4 < 3)
			put(i % 4 == 0   ? block_at(1, 64, 2)
			    : i % 4 == 1 ? entry_of(1) + 32
					 : entry_of(1) + 40,
			    link);
		else
			put(OWNER + HEAP_DELAYED_AT, link);
		find(&heap, HEAP_SEGMENT_BYTES);
		assert_int_equal(heap.nodes.count, 10);
		/* What waits is a list of several pages, and says nothing of this one. */
		assert_int_equal(heap.nodes.torn, i % 4 < 3);
		assert_true(heap.nodes.pools[1].free <= 10);
		close_heap(&heap);
	}
}

static void test_forged_pages(void **state)
{
	struct heap heap;

	(void)state;
	/* A page that begins inside of another one is none. */
	put_segment(HEAP_SEGMENT_BYTES);
	put_page(1, 2, 0, 4, 4, 1024);
	put_page(2, 1, 0, 8, 8, 512);
	put_page(3, 509, 0, 0, 0, 0);
	find(&heap, HEAP_SEGMENT_BYTES);
	assert_int_equal(heap.nodes.count, 4);
	close_heap(&heap);
	/* What does not fit is left out, up to the next page. */
	put_segment(HEAP_SEGMENT_BYTES);
	put_page(1, 600, 0, 4, 4, 1024);
	put_page(2, 1, 0, 8, 8, 512);
	put_page(3, 509, 0, 0, 0, 0);
	find(&heap, HEAP_SEGMENT_BYTES);
	assert_int_equal(heap.nodes.count, 8);
	assert_int_equal(heap.nodes.broken_heaps, 1);
	close_heap(&heap);
	/* A large page is one block. */
	put_segment(HEAP_SEGMENT_BYTES);
	put_page(1, 511, 0, 2, 2, 8u << 20);
	find(&heap, HEAP_SEGMENT_BYTES);
	assert_int_equal(heap.nodes.count, 0);
	assert_int_equal(heap.nodes.broken_heaps, 1);
	close_heap(&heap);
	put_segment(HEAP_SEGMENT_BYTES);
	put_page(1, 511, 0, 1, 1, 8u << 20);
	find(&heap, HEAP_SEGMENT_BYTES);
	assert_int_equal(heap.nodes.chunk_count, 1);
	assert_int_equal(heap.nodes.chunks[0].size, 8u << 20);
	assert_int_equal(heap.nodes.chunks[0].state, HEAP_CHUNK_PAGE);
	close_heap(&heap);
	/* Neither a segment nor a huge one is longer than what is mapped. */
	put_segment(HEAP_SEGMENT_BYTES);
	put_page(1, 1, 0, 8, 8, 512);
	find(&heap, HEAP_SEGMENT_BYTES - PAGE_BYTES);
	assert_int_equal(heap.nodes.segments, 0);
	close_heap(&heap);
	put_segment(1ull << 46);
	put_page(1, (1u << 30) - 1, 0, 1, 1, UINT32_MAX);
	find(&heap, 2 * HEAP_SEGMENT_BYTES);
	assert_int_equal(heap.nodes.segments, 0);
	close_heap(&heap);
	put_segment(2 * HEAP_SEGMENT_BYTES);
	put_page(1, 1023, 0, 1, 1, UINT32_MAX);
	find(&heap, 2 * HEAP_SEGMENT_BYTES);
	assert_int_equal(heap.nodes.chunk_count, 1);
	assert_int_equal(heap.nodes.chunks[0].size, 2 * HEAP_SEGMENT_BYTES - SLICE);
	close_heap(&heap);
}

/* Words of a page's blocks are no head of pymalloc's. */
static void test_pages_are_no_pools(void **state)
{
	struct heap heap;

	(void)state;
	put_segment(HEAP_SEGMENT_BYTES);
	put_page(1, 1, 0, 4, 4, 1024);
	put_page(2, 510, 0, 0, 0, 0);
	put(SLICE + 16, BASE - PAGE_BYTES);
	put(SLICE + 32, UINT64_MAX);
	find(&heap, HEAP_SEGMENT_BYTES);
	assert_int_equal(heap_used_pools_find(&heap.nodes).first, 0);
	close_heap(&heap);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_segment),       cmocka_unit_test(test_page),
		cmocka_unit_test(test_newer_segment), cmocka_unit_test(test_blocks),
		cmocka_unit_test(test_newer_blocks),  cmocka_unit_test(test_forged_lists),
		cmocka_unit_test(test_forged_pages),  cmocka_unit_test(test_pages_are_no_pools),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
