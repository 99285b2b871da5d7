/* SPDX-License-Identifier: Apache-2.0 */
/* Pools, chunks, types and paths of heaps that are laid out here, word by word. */
#include "pyintrospect/heap/heap_answer.h"
#include "pyintrospect/heap/heap_chunk.h"
#include "pyintrospect/heap/heap_judge.h"
#include "pyintrospect/heap/heap_layout.h"
#include "pyintrospect/heap/heap_path.h"
#include "pyintrospect/heap/heap_pool.h"
#include "pyintrospect/heap/heap_type.h"
#include "pyintrospect/heap/heap_used_pools.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "tests/unit/heap_memory.h"

/* ---- pools */

static void check_pools(uint32_t pool_bytes)
{
	static const uint32_t free_ones[] = { 3, 0, 7 };
	struct heap heap;

	memset(memory, 0, sizeof(memory));
	put_pool(pool_bytes, pool_bytes, 64, 10, free_ones, 3);
	put_pool(3ull * pool_bytes, pool_bytes, 512, 2, NULL, 0);
	open_heap(&heap, "", pool_bytes);
	assert_int_equal(heap.nodes.pool_count, 2);
	assert_int_equal(heap.nodes.count, 12);
	assert_int_equal(heap.nodes.pools[0].address, BASE + pool_bytes);
	assert_int_equal(heap.nodes.pools[0].block_bytes, 64);
	assert_int_equal(heap.nodes.pools[0].free, 3);
	assert_int_equal(heap.nodes.torn, 0);
	for (uint32_t i = 0; i < 10; i++)
		assert_int_equal(heap.nodes.kinds[i],
				 i == 0 || i == 3 || i == 7 ? HEAP_NODE_FREE : HEAP_NODE_RAW);
	/* Of an address inside of a block. */
	for (uint64_t inside = 0; inside < 64; inside += 8) {
		uint64_t found;

		assert_int_equal(heap_nodes_find(&heap.nodes,
						 BASE + pool_bytes + POOL_HEAD + 4 * 64 + inside,
						 &found),
				 4);
		assert_int_equal(found, inside);
	}
	close_heap(&heap);
}

static void test_pools(void **state)
{
	(void)state;
	check_pools(POOL_BYTES_3_9);
	check_pools(POOL_BYTES_3_10);
}

/* What a pool says of itself does not agree: it is torn, or none. */
static void test_torn_pools(void **state)
{
	static const uint32_t free_ones[] = { 1, 2 };
	struct heap_pool_head head;
	struct heap heap;

	(void)state;
	memset(memory, 0, sizeof(memory));
	put_pool(0, POOL_BYTES_3_9, 64, 10, free_ones, 2);
	put(0, 9); /* one more in use than there can be */
	put_pool(POOL_BYTES_3_9, POOL_BYTES_3_9, 64, 10, free_ones, 2);
	put(POOL_BYTES_3_9 + POOL_HEAD + 2 * 64,
	    BASE + POOL_BYTES_3_9 + POOL_HEAD + 64); /* round */
	put_pool(2 * POOL_BYTES_3_9, POOL_BYTES_3_9, 64, 10, free_ones, 2);
	open_heap(&heap, "", POOL_BYTES_3_9);
	assert_int_equal(heap.nodes.pool_count, 3);
	assert_int_equal(heap.nodes.torn, 2);
	assert_true(heap.nodes.pools[0].torn && heap.nodes.pools[1].torn);
	assert_false(heap.nodes.pools[2].torn);
	close_heap(&heap);

	/* More blocks than fit; a list that begins between blocks; a class that does not fit. */
	put(0, 64);
	assert_false(heap_pool_parse((uint8_t *)memory, BASE, POOL_BYTES_3_9, &head));
	put_pool(0, POOL_BYTES_3_9, 64, 10, NULL, 0);
	put(8, BASE + POOL_HEAD + 8);
	assert_false(heap_pool_parse((uint8_t *)memory, BASE, POOL_BYTES_3_9, &head));
	put_pool(0, POOL_BYTES_3_9, 64, 10, NULL, 0);
	put(32, 40ull << 32);
	assert_false(heap_pool_parse((uint8_t *)memory, BASE, POOL_BYTES_3_9, &head));
}

/* Pools of two classes, of which the last one leads back; the next fresh block of each. */
static void test_used_pools(void **state)
{
	const uint64_t size = POOL_BYTES_3_10, used = 8 * size;
	struct heap_used_pools pools;
	remote_addr link, block;
	struct heap heap;

	(void)state;
	memset(memory, 0, sizeof(memory));
	for (unsigned i = 1; i < 4; i++)
		put_pool(i * size, POOL_BYTES_3_10, i < 3 ? 64 : 512, 10, NULL, 0);
	put(size + 16, BASE + 2 * size);
	put(2 * size + 16, BASE + used + 3 * 16 - 16);
	put(3 * size + 16, BASE + used + 31 * 16 - 16);
	put(used + 3 * 16, BASE + size);
	put(used + 31 * 16, BASE + used + 31 * 16 - 16); /* none in use */
	open_heap(&heap, "", POOL_BYTES_3_10);
	pools = heap_used_pools_find(&heap.nodes);
	assert_int_equal(pools.first, BASE + used);
	link = heap_used_pools_link(&pools, 64);
	assert_int_equal(link, BASE + used + 3 * 16);
	assert_int_equal(heap_used_pools_link(&pools, 72), 0);
	assert_int_equal(heap_used_pools_link(&pools, 528), 0);
	assert_true(heap_used_pools_fresh(&heap.reader, link, POOL_BYTES_3_10, 64, 2, &block));
	assert_int_equal(block, BASE + size + POOL_HEAD + 12 * 64);
	/* Of another size; behind the pool's end; of a class without a pool; of a pool that is
	 * none. */
	assert_false(heap_used_pools_fresh(&heap.reader, link, POOL_BYTES_3_10, 48, 0, &block));
	assert_false(heap_used_pools_fresh(&heap.reader, link, POOL_BYTES_3_10, 64, 245, &block));
	assert_false(heap_used_pools_fresh(&heap.reader, BASE + used + 31 * 16, POOL_BYTES_3_10,
					   512, 0, &block));
	put(used + 3 * 16, BASE + 8);
	assert_false(heap_used_pools_fresh(&heap.reader, link, POOL_BYTES_3_10, 64, 0, &block));
	close_heap(&heap);

	/* No two agree: it is not known. */
	put(3 * size + 16, BASE + used + 0x800);
	open_heap(&heap, "", POOL_BYTES_3_10);
	assert_int_equal(heap_used_pools_find(&heap.nodes).first, 0);
	close_heap(&heap);
}

/* ---- chunks */

static void put_chunk(uint64_t at, uint64_t size, bool previous_used)
{
	put(at + 8, size | previous_used);
}

static void test_chunks(void **state)
{
	struct heap heap;
	uint64_t inside;

	(void)state;
	memset(memory, 0, sizeof(memory));
	put_chunk(0, 0x100, true);
	put_chunk(0x100, 0x200, true);
	put_chunk(0x300, 0x50, false); /* the one before is free */
	put_chunk(0x350, BYTES - 0x350, true);
	open_heap(&heap, "[heap]", POOL_BYTES_3_9);
	assert_int_equal(heap.nodes.chunk_count, 4);
	assert_int_equal(heap.nodes.chunks[0].state, HEAP_CHUNK_USED);
	assert_int_equal(heap.nodes.chunks[1].state, HEAP_CHUNK_FREE);
	assert_int_equal(heap.nodes.chunks[2].state, HEAP_CHUNK_USED);
	assert_int_equal(heap.nodes.chunks[3].state, HEAP_CHUNK_TOP);
	/* From behind its head up to the next one's size. */
	assert_int_equal(heap.nodes.chunks[2].address, BASE + 0x310);
	assert_int_equal(heap.nodes.chunks[2].size, 0x48);
	assert_int_equal(heap.nodes.broken_heaps, 0);
	assert_int_equal(heap_nodes_find(&heap.nodes, BASE + 0x328, &inside), 2);
	assert_int_equal(inside, 0x18);
	assert_int_equal(heap.nodes.kinds[1], HEAP_NODE_FREE);
	close_heap(&heap);

	/* The row ends before the heap does: what was there so far is kept, and it is said. */
	put_chunk(0x300, 0x58, true);
	open_heap(&heap, "[heap]", POOL_BYTES_3_9);
	assert_int_equal(heap.nodes.broken_heaps, 1);
	assert_int_equal(heap.nodes.chunk_count, 2);
	close_heap(&heap);
}

/* What there is by now where malloc() once said that a block begins. */
static void test_answers(void **state)
{
	static const remote_addr asked[] = { BASE + 0x10,        BASE + 0x310, BASE + 0x110,
					     BASE + 0x318,       BASE + 0x360, BASE + BYTES + 0x10,
					     BASE - BYTES + 0x10 };
	uint32_t path_of[4] = { 0, 0, 7, 0 };
	struct heap_answer answers[7];
	struct heap heap;

	(void)state;
	memset(memory, 0, sizeof(memory));
	put_chunk(0, 0x100, true);
	put_chunk(0x100, 0x200, true);
	put_chunk(0x300, 0x50, false);
	put_chunk(0x350, BYTES - 0x350, true);
	open_heap(&heap, "[heap]", POOL_BYTES_3_9);
	heap_answers_find(&heap.nodes, path_of, asked, 7, false, answers);
	assert_int_equal(answers[0].state, HEAP_ANSWER_NATIVE);
	assert_int_equal(answers[0].size, 0xf8);
	/* Somebody holds it; it is free; inside of it; the top one; no memory, or a file's. */
	assert_int_equal(answers[1].state, HEAP_ANSWER_HELD);
	for (unsigned i = 2; i < 7; i++)
		assert_int_equal(answers[i].state, HEAP_ANSWER_GONE);
	/* Anywhere in a block. */
	heap_answers_find(&heap.nodes, path_of, asked, 7, true, answers);
	assert_int_equal(answers[3].state, HEAP_ANSWER_HELD);
	assert_int_equal(answers[2].state, HEAP_ANSWER_GONE);
	/* What is an object need not be held. */
	heap.nodes.kinds[0] = HEAP_NODE_FIRST_TYPE;
	/* Another allocator's, or behind chunks that are damaged. */
	heap.nodes.foreign = true;
	heap_answers_find(&heap.nodes, path_of, asked, 7, false, answers);
	assert_int_equal(answers[0].state, HEAP_ANSWER_HELD);
	assert_int_equal(answers[5].state, HEAP_ANSWER_UNKNOWN);
	heap.nodes.foreign = false;
	heap.nodes.broken_heaps = 1;
	heap_answers_find(&heap.nodes, path_of, asked, 7, false, answers);
	assert_int_equal(answers[2].state, HEAP_ANSWER_GONE);
	assert_int_equal(answers[5].state, HEAP_ANSWER_UNKNOWN);
	close_heap(&heap);
}

#define DATA  0x20000ull /* of libc, behind the heap */
#define ARENA (DATA + 0x1000)
#define TOP   (ARENA + 96)

static uint64_t bin_at(unsigned number)
{
	return TOP + 16 + (uint64_t)number * 16;
}

static unsigned ends_of(remote_addr top, remote_addr *ret_end)
{
	const struct heap_image_options options = { .limit = 1u << 30 };
	struct heap heap = {
		.items = { { .start = BASE, .end = BASE + DATA, .protection = 3, .path = "[heap]" },
			   { .start = BASE + DATA,
			     .end = BASE + BYTES,
			     .inode = 1,
			     .protection = 3,
			     .path = "/lib/libc.so.6" } },
		.reader = { read_memory, NULL },
		.pages = { read_pages, NULL },
	};
	unsigned count;

	put(TOP, top);
	heap.mappings = (struct mapping_list){ .mappings = heap.items, .count = 2 };
	assert_int_equal(
		heap_image_init(&heap.image, &heap.reader, &heap.pages, &heap.mappings, &options),
		0);
	heap_nodes_init(&heap.nodes, &heap.image, POOL_BYTES_3_9);
	assert_int_equal(heap_pool_find_all(&heap.nodes), 0);
	assert_int_equal(heap_nodes_index(&heap.nodes), 0);
	assert_int_equal(heap_chunk_find_all(&heap.nodes), 0);
	count = heap.nodes.end_count;
	*ret_end = heap.nodes.ends[0];
	close_heap(&heap);
	return count;
}

/* The word of libc's that says where its heap ends, which may have moved while all was copied. */
static void test_ends(void **state)
{
	remote_addr end;

	(void)state;
	memset(memory, 0, sizeof(memory));
	put_chunk(0, 0x100, true);
	put_chunk(0x100, 0x200, true);
	put_chunk(0x300, 0x50, false);
	put_chunk(0x350, DATA - 0x350, true);
	assert_int_equal(ends_of(BASE + 0x350, &end), 0);
	for (unsigned i = 0; i < 126; i++) {
		put(bin_at(i), BASE + bin_at(i) - 16);
		put(bin_at(i) + 8, BASE + bin_at(i) - 16);
	}
	/* The free one is in one of its lists. */
	put(bin_at(3), BASE + 0x100);
	put(bin_at(3) + 8, BASE + 0x100);
	assert_int_equal(ends_of(BASE + 0x350, &end), 1);
	assert_int_equal(end, BASE + TOP);
	assert_int_equal(ends_of(BASE + 0x1350, &end), 1);
	assert_int_equal(end, BASE + TOP);
	/* Not in the heap, or at no chunk. */
	assert_int_equal(ends_of(BASE + DATA, &end), 0);
	for (unsigned i = 0; i < 126; i++)
		put(bin_at(i), 0);
	assert_int_equal(ends_of(BASE + 0x1350, &end), 0);
}

/* A mapping of its own, and one that says more than there is. */
static void test_mapped_chunks(void **state)
{
	struct heap heap;

	(void)state;
	memset(memory, 0, sizeof(memory));
	put(8, 0x3000 | 2);
	put(0x5000 + 8, (BYTES << 4) | 2);
	open_heap(&heap, "", POOL_BYTES_3_9);
	assert_int_equal(heap.nodes.chunk_count, 1);
	assert_int_equal(heap.nodes.chunks[0].state, HEAP_CHUNK_MAPPED);
	assert_int_equal(heap.nodes.chunks[0].size, 0x3000 - 16);
	close_heap(&heap);
}

/* The kernel makes one mapping of a library's .bss and of what it maps right behind. */
static void test_chunk_behind_bss(void **state)
{
	struct heap heap;

	(void)state;
	memset(memory, 0, sizeof(memory));
	put(0x4000 + 8, 0x3000 | 2);
	behind_library = true;
	open_heap(&heap, "", POOL_BYTES_3_9);
	behind_library = false;
	assert_int_equal(heap.image.extents[0].area, HEAP_AREA_DATA);
	assert_int_equal(heap.nodes.chunk_count, 1);
	assert_int_equal(heap.nodes.chunks[0].address, BASE + 0x4010);
	close_heap(&heap);
}

/* ---- types */

static void test_types(void **state)
{
	const struct python_layout *python = python_layout_builtin(11);
	struct heap_layout layout;
	struct heap_types types;
	struct heap heap;
	remote_addr list, dict, unready;
	uint64_t block[16] = { 0 };
	uint16_t number;

	(void)state;
	assert_non_null(python);
	layout = heap_layout_of(python);
	memset(memory, 0, sizeof(memory));
	put_type(0, "type", FLAG_TYPE | FLAG_COLLECTED, 400, 40);
	list = put_type(1, "list", FLAG_LIST | FLAG_COLLECTED, 40, 0);
	dict = put_type(2, "dict", FLAG_DICT | FLAG_COLLECTED, 48, 0);
	unready = put_type(3, "half", FLAG_COLLECTED, 48, 0);
	put(TYPES + 3 * 0x400 + TYPE_FLAGS_AT, FLAG_COLLECTED);
	open_heap(&heap, "", POOL_BYTES_3_10);
	assert_int_equal(heap_types_init(&types, &heap.image, &layout, BASE + TYPES), 0);

	number = heap_types_find(&types, list);
	assert_true(number >= HEAP_NODE_FIRST_TYPE);
	assert_string_equal(types.items[number].name, "list");
	assert_int_equal(types.items[number].kind, HEAP_KIND_LIST);
	assert_int_equal(heap_types_find(&types, list), number);
	assert_int_not_equal(heap_types_find(&types, dict), number);
	/* Not set up; no type; nowhere. */
	assert_int_equal(heap_types_find(&types, unready), 0);
	assert_int_equal(heap_types_find(&types, BASE + 0x100), 0);
	assert_int_equal(heap_types_find(&types, 8), 0);

	/* A list behind its collector's head; without references it is what is left of one. */
	block[2] = 1;
	block[3] = list;
	assert_int_equal(
		heap_types_classify(&types, HEAP_CONTENTS_ANY, (uint8_t *)block, sizeof(block)),
		number);
	block[2] = 0;
	assert_int_not_equal(
		heap_types_classify(&types, HEAP_CONTENTS_ANY, (uint8_t *)block, sizeof(block)),
		number);
	block[2] = 1;
	block[3] = unready;
	assert_int_equal(
		heap_types_classify(&types, HEAP_CONTENTS_ANY, (uint8_t *)block, sizeof(block)),
		HEAP_NODE_RAW);
	heap_types_deinit(&types);
	close_heap(&heap);
}

static bool is_plain(struct heap_types *types, remote_addr type)
{
	uint16_t number = heap_types_find(types, type);

	assert_true(number >= HEAP_NODE_FIRST_TYPE);
	return types->items[number].plain;
}

/* What refers to nothing by its type; what comes from one of these may have attributes. */
static void test_plain_types(void **state)
{
	struct heap_layout layout = heap_layout_of(python_layout_builtin(11));
	struct heap_types types;
	struct heap heap;
	remote_addr number, integer, bytes, derived, class, wide, list;

	(void)state;
	memset(memory, 0, sizeof(memory));
	put_type(0, "type", FLAG_TYPE | FLAG_COLLECTED, 400, 40);
	number = put_type(1, "float", 0, 24, 0);
	integer = put_type(2, "int", FLAG_INT, 24, 4);
	bytes = put_type(3, "bytes", FLAG_BYTES, 33, 1);
	derived = put_type(4, "Count", FLAG_INT | FLAG_HEAP_TYPE, 24, 4);
	put(TYPES + 4 * 0x400 + TYPE_DICT_OFFSET_AT, (uint64_t)-8);
	class = put_type(5, "float", FLAG_HEAP_TYPE, 24, 0);
	wide = put_type(6, "float", 0, 40, 0);
	list = put_type(7, "list", FLAG_LIST | FLAG_COLLECTED, 40, 0);
	open_heap(&heap, "", POOL_BYTES_3_10);
	assert_int_equal(heap_types_init(&types, &heap.image, &layout, BASE + TYPES), 0);
	assert_true(is_plain(&types, number));
	assert_true(is_plain(&types, integer));
	assert_true(is_plain(&types, bytes));
	assert_false(is_plain(&types, derived));
	assert_false(is_plain(&types, class));
	assert_false(is_plain(&types, wide));
	assert_false(is_plain(&types, list));
	heap_types_deinit(&types);
	close_heap(&heap);
}

static void put_string(uint64_t at, remote_addr type, bool ascii)
{
	put(at, 1);
	put(at + OBJECT_TYPE, type);
	put(at + OBJECT_SIZE, 3);
	put(at + 32, 1u << 2 | 1u << 5 | (uint64_t)ascii << 6);
}

/* Strings of a pool are looked into where one of them is of more than ASCII. */
static void test_pools_of_strings(void **state)
{
	struct heap_layout layout = heap_layout_of(python_layout_builtin(11));
	const uint64_t ascii = 0x10000, mixed = 0x14000;
	struct heap_types types;
	struct heap_place place;
	struct heap heap;
	remote_addr string;

	(void)state;
	memset(memory, 0, sizeof(memory));
	put_type(0, "type", FLAG_TYPE | FLAG_COLLECTED, 400, 40);
	string = put_type(1, "str", FLAG_STR, 80, 0);
	put_pool(ascii, POOL_BYTES_3_10, 96, 3, NULL, 0);
	put_pool(mixed, POOL_BYTES_3_10, 96, 3, NULL, 0);
	for (unsigned i = 0; i < 3; i++) {
		put_string(ascii + POOL_HEAD + i * 96ull, string, true);
		put_string(mixed + POOL_HEAD + i * 96ull, string, i != 1);
	}
	open_heap(&heap, "", POOL_BYTES_3_10);
	assert_int_equal(heap.nodes.pool_count, 2);
	assert_int_equal(heap_types_init(&types, &heap.image, &layout, BASE + TYPES), 0);
	heap_judge_all(&heap.nodes, &types);
	for (uint32_t node = 0; node < 6; node++)
		assert_int_equal(heap.nodes.kinds[node], heap_types_find(&types, string));
	assert_true(heap_nodes_locate(&heap.nodes, BASE + ascii + POOL_HEAD + 96, &place));
	assert_int_equal(place.node, 1);
	assert_int_equal(place.size, 96);
	assert_true(place.ascii);
	assert_true(heap_nodes_locate(&heap.nodes, BASE + mixed + POOL_HEAD + 8, &place));
	assert_int_equal(place.node, 3);
	assert_int_equal(place.inside, 8);
	assert_false(place.ascii);
	heap_types_deinit(&types);
	close_heap(&heap);
}

/* ---- paths */

static void test_paths(void **state)
{
	struct heap_paths paths;
	uint32_t root, next, node, other;

	(void)state;
	assert_int_equal(heap_paths_init(&paths), 0);
	assert_int_equal(heap_paths_string(&paths, ".next"), heap_paths_string(&paths, ".next"));
	root = heap_paths_child(&paths, 0, heap_paths_string(&paths, "app.head"), 7);
	next = heap_paths_child(&paths, root, heap_paths_string(&paths, ".next"), 7);
	assert_int_equal(paths.items[next].parent, root);
	/* A linked list is one path, also with another step between. */
	assert_int_equal(heap_paths_child(&paths, next, heap_paths_string(&paths, ".next"), 7),
			 next);
	node = heap_paths_child(&paths, next, heap_paths_string(&paths, ".value"), 8);
	assert_int_equal(heap_paths_child(&paths, node, heap_paths_string(&paths, ".next"), 7),
			 next);
	/* Of another type it is another path. */
	other = heap_paths_child(&paths, next, heap_paths_string(&paths, ".next"), 9);
	assert_int_not_equal(other, next);
	assert_int_equal(paths.items[other].parent, next);
	assert_string_equal(paths.strings + paths.items[other].step, ".next");
	heap_paths_deinit(&paths);
}

/* More names than there is room for: what was to come is counted in the path before it. */
static void test_path_limits(void **state)
{
	struct heap_paths paths;
	char words[HEAP_STEP_BYTES];
	uint32_t last = 1;

	(void)state;
	assert_int_equal(heap_paths_init(&paths), 0);
	memset(words, 'x', sizeof(words) - 1);
	words[sizeof(words) - 1] = '\0';
	for (unsigned i = 0; last && i < HEAP_STRINGS_MAX / HEAP_STEP_BYTES + 2; i++) {
		words[snprintf(words, sizeof(words), "%u", i)] = 'x';
		last = heap_paths_string(&paths, words);
	}
	assert_int_equal(last, 0);
	assert_true(paths.cut && !paths.no_memory);
	assert_true(paths.string_bytes <= HEAP_STRINGS_MAX);
	heap_paths_deinit(&paths);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pools),
		cmocka_unit_test(test_torn_pools),
		cmocka_unit_test(test_used_pools),
		cmocka_unit_test(test_chunks),
		cmocka_unit_test(test_answers),
		cmocka_unit_test(test_ends),
		cmocka_unit_test(test_mapped_chunks),
		cmocka_unit_test(test_chunk_behind_bss),
		cmocka_unit_test(test_types),
		cmocka_unit_test(test_paths),
		cmocka_unit_test(test_path_limits),
		cmocka_unit_test(test_plain_types),
		cmocka_unit_test(test_pools_of_strings),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
