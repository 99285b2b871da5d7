/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory of allocators that are not read, and of the debug allocator: which one it is, blocks that
 * are known by references, heads before blocks.
 */
#include "pyintrospect/heap/heap_allocator.h"
#include "pyintrospect/heap/heap_debug.h"
#include "pyintrospect/heap/heap_regions.h"
#include "pyintrospect/heap/heap_search.h"
#include "pyintrospect/heap/heap_walk.h"
#include "tests/unit/heap_memory.h"

#include <stdio.h>
#include <stdlib.h>

static const char *allocator_of(const char *path)
{
	struct mapping items[] = { { .path = "/usr/bin/python3" },
				   { .path = "" },
				   { .path = path } };
	const struct mapping_list mappings = { .mappings = items, .count = 3 };

	return heap_allocator_find(&mappings);
}

static void test_allocators(void **state)
{
	(void)state;
	assert_string_equal(allocator_of("/usr/lib/x86_64-linux-gnu/libjemalloc.so.2"), "jemalloc");
	assert_string_equal(allocator_of("/opt/lib/libtcmalloc_minimal.so.4.5.10"), "tcmalloc");
	assert_string_equal(allocator_of("/usr/lib/libtcmalloc.so.4"), "tcmalloc");
	assert_string_equal(allocator_of("/usr/lib/libmimalloc.so.2.0"), "mimalloc");
	assert_string_equal(allocator_of("/lib/ld-musl-x86_64.so.1"), "musl's malloc");
	assert_null(allocator_of("/usr/lib/libjemallocated.so"));
	assert_null(allocator_of("libjemalloc.so.2"));
	assert_null(allocator_of("/usr/lib/libc.so.6"));
	assert_null(allocator_of(""));
}

static void test_table(void **state)
{
	struct heap_found found = { 0 };

	(void)state;
	assert_int_equal(heap_found_look(&found, BASE), HEAP_FOUND_NONE);
	for (uint32_t i = 0; i < 100000; i++)
		assert_int_equal(heap_found_add(&found, BASE + i * 48ull, i, i % 3 * 16), 0);
	assert_int_equal(found.count, 100000);
	for (uint32_t i = 0; i < 100000; i++) {
		uint32_t number = heap_found_look(&found, BASE + i * 48ull);

		assert_int_equal(number, i);
		assert_int_equal(found.items[i].address + found.items[i].prefix, BASE + i * 48ull);
		assert_int_equal(found.items[i].size, i);
		assert_int_equal(heap_found_look(&found, BASE + i * 48ull + 8), HEAP_FOUND_NONE);
	}
	heap_found_deinit(&found);
	assert_int_equal(heap_found_look(&found, BASE), HEAP_FOUND_NONE);
}

/* ---- a walk through memory of nobody known */

#define LIST  0x20000ull
#define TUPLE 0x21010ull
#define ITEMS 0x22000ull

struct walked {
	struct heap heap;
	struct heap_layout layout;
	struct heap_types types;
	struct heap_paths paths;
	struct heap_walk walk;
};

/* A list of three, whose items are in a block of their own; one is a tuple, one is nothing. */
static void lay_out(void)
{
	remote_addr list, tuple;

	memset(memory, 0, sizeof(memory));
	put_type(0, "type", FLAG_TYPE | FLAG_COLLECTED, 400, 40);
	list = put_type(1, "list", FLAG_LIST | FLAG_COLLECTED, 40, 0);
	tuple = put_type(2, "tuple", FLAG_TUPLE | FLAG_COLLECTED, 24, 8);
	put(LIST, 1);
	put(LIST + OBJECT_TYPE, list);
	put(LIST + LIST_SIZE, 3);
	put(LIST + LIST_ITEMS, BASE + ITEMS);
	put(LIST + 32, 4);
	put(ITEMS, BASE + TUPLE);
	put(ITEMS + 8, BASE + TUPLE + 64);
	put(ITEMS + 16, BASE + TUPLE);
	put(TUPLE, 2);
	put(TUPLE + OBJECT_TYPE, tuple);
	put(TUPLE + OBJECT_SIZE, 2);
}

static void open_walk(struct walked *walked, bool foreign)
{
	walked->layout = heap_layout_of(python_layout_builtin(11));
	open_foreign_heap(&walked->heap, "", POOL_BYTES_3_10, foreign);
	assert_int_equal(
		heap_types_init(&walked->types, &walked->heap.image, &walked->layout, BASE + TYPES),
		0);
	assert_int_equal(heap_paths_init(&walked->paths), 0);
	assert_int_equal(
		heap_walk_init(&walked->walk, &walked->heap.nodes, &walked->types, &walked->paths),
		0);
}

static void close_walk(struct walked *walked)
{
	heap_walk_deinit(&walked->walk);
	heap_paths_deinit(&walked->paths);
	heap_types_deinit(&walked->types);
	close_heap(&walked->heap);
}

static void test_found_objects(void **state)
{
	struct walked walked;
	struct heap_regions regions;
	uint32_t list, again, path;
	uint64_t inside;

	(void)state;
	lay_out();
	open_walk(&walked, true);
	list = heap_walk_object(&walked.walk, BASE + LIST);
	assert_int_not_equal(list, HEAP_NODE_NONE);
	assert_int_equal(heap_nodes_block(&walked.heap.nodes, list).address, BASE + LIST - 16);
	assert_int_equal(heap_nodes_block(&walked.heap.nodes, list).size, 40 + 16);
	again = heap_nodes_find(&walked.heap.nodes, BASE + LIST, &inside);
	assert_int_equal(again, list);
	assert_int_equal(inside, 16);
	/* Neither inside of it, nor where no object begins, nor where there is nothing. */
	assert_int_equal(heap_walk_object(&walked.walk, BASE + LIST + 8), HEAP_NODE_NONE);
	assert_int_equal(heap_walk_object(&walked.walk, BASE + TUPLE + 64), HEAP_NODE_NONE);
	assert_int_equal(heap_walk_object(&walked.walk, BASE + BYTES), HEAP_NODE_NONE);
	assert_int_equal(walked.heap.nodes.found.count, 1);

	path = heap_paths_child(&walked.paths, 0, heap_paths_string(&walked.paths, "app.kept"),
				walked.heap.nodes.kinds[list]);
	heap_walk_take(&walked.walk, list, path);
	heap_search_drain(&walked.walk);
	/* The list, its four places, the tuple. */
	assert_int_equal(walked.heap.nodes.found.count, 3);
	assert_int_equal(walked.paths.items[path].bytes, 56 + 32);
	assert_int_equal(walked.paths.count, path + 2);
	assert_int_equal(walked.paths.items[path + 1].count, 1);
	assert_int_equal(walked.paths.items[path + 1].bytes, 16 + 24 + 2 * 8);
	assert_int_equal(walked.types.items[walked.heap.nodes.kinds[list]].storage_bytes, 32);
	assert_int_equal(heap_regions_add_up(&walked.heap.nodes, walked.walk.path_of, &regions), 0);
	assert_int_equal(regions.objects_bytes, 56 + 56);
	assert_int_equal(regions.malloc_held_bytes, 32);
	assert_int_equal(regions.other_bytes, BYTES - 56 - 56 - 32);
	close_walk(&walked);

	/* Where all allocators are known, nothing is found so. */
	open_walk(&walked, false);
	assert_int_equal(heap_walk_object(&walked.walk, BASE + LIST), HEAP_NODE_NONE);
	close_walk(&walked);
}

/* Sizes that a process says, and blocks in each other: no sum is more than there is. */
static void test_false_sizes(void **state)
{
	struct walked walked;
	struct heap_regions regions;
	uint32_t path;

	(void)state;
	lay_out();
	put(TUPLE + OBJECT_SIZE, 1ull << 60);
	open_walk(&walked, true);
	assert_int_equal(heap_walk_object(&walked.walk, BASE + TUPLE), HEAP_NODE_NONE);
	path = heap_paths_child(&walked.paths, 0, heap_paths_string(&walked.paths, "x"), 0);
	heap_walk_claim(&walked.walk, BASE + 0x30000, UINT64_MAX, path, true);
	heap_walk_claim(&walked.walk, BASE + 0x30008, 1ull << 50, path, true);
	heap_walk_claim(&walked.walk, BASE + 0x10000, BYTES, path, false);
	heap_walk_claim(&walked.walk, BASE + BYTES - 8, 64, path, true);
	heap_walk_claim(&walked.walk, BASE + BYTES, 64, path, true);
	heap_walk_claim(&walked.walk, 8, 64, path, true);
	assert_int_equal(walked.heap.nodes.found.count, 4);
	heap_search_drain(&walked.walk);
	assert_int_equal(heap_regions_add_up(&walked.heap.nodes, walked.walk.path_of, &regions), 0);
	assert_int_equal(regions.rss_bytes, BYTES);
	assert_true(regions.malloc_held_bytes <= BYTES && regions.other_bytes <= BYTES);
	assert_int_equal(regions.malloc_held_bytes + regions.objects_bytes + regions.other_bytes,
			 BYTES);
	close_walk(&walked);
}

static void test_limit(void **state)
{
	struct walked walked;
	uint32_t path;

	(void)state;
	lay_out();
	open_walk(&walked, true);
	path = heap_paths_child(&walked.paths, 0, heap_paths_string(&walked.paths, "x"), 0);
	assert_int_equal(walked.heap.nodes.found_limit, BYTES / 32);
	for (uint64_t at = 0; at < BYTES; at += 8)
		heap_walk_claim(&walked.walk, BASE + at, 8, path, true);
	assert_int_equal(walked.heap.nodes.found.count, BYTES / 32);
	assert_true(walked.heap.nodes.cut);
	close_walk(&walked);
}

/* ---- the debug allocator */

static void put_head(uint64_t at, uint64_t size, char domain)
{
	put(at, __builtin_bswap64(size));
	put(at + 8, 0xfdfdfdfdfdfdfd00ull | (uint8_t)domain);
}

static void test_debug_pools(void **state)
{
	struct heap heap;
	uint64_t inside;

	(void)state;
	memset(memory, 0, sizeof(memory));
	put(0, 3);
	put(32, (uint64_t)(64 / 16 - 1) << 32);
	put(40, (POOL_HEAD + 3ull * 64) | (uint64_t)(POOL_BYTES_3_10 - 64) << 32);
	for (uint64_t i = 0; i < 3; i++)
		put_head(POOL_HEAD + i * 64, 40, 'o');
	open_heap(&heap, "", POOL_BYTES_3_10);
	assert_int_equal(heap.nodes.pool_count, 1);
	assert_true(heap.nodes.pools[0].debug);
	assert_int_equal(heap_nodes_block(&heap.nodes, 1).address, BASE + POOL_HEAD + 64 + 16);
	assert_int_equal(heap_nodes_block(&heap.nodes, 1).size, 40);
	assert_int_equal(heap_nodes_find(&heap.nodes, BASE + POOL_HEAD + 64 + 32, &inside), 1);
	assert_int_equal(inside, 16);
	assert_int_equal(heap_nodes_find(&heap.nodes, BASE + POOL_HEAD + 64 + 8, &inside),
			 HEAP_NODE_NONE);
	close_heap(&heap);
}

/* What is too large for a pool is malloc's, with a head for each of both. */
static void test_debug_chunks(void **state)
{
	struct heap heap;
	uint64_t inside;

	(void)state;
	memset(memory, 0, sizeof(memory));
	put(8, 0x400 | 1);
	put_head(0x10, 0x3c0, 'r');
	put_head(0x20, 0x3a0, 'o');
	put(0x408, 0x400 | 1);
	put_head(0x410, 0x3c0, 'r');
	put(0x808, (BYTES - 0x800) | 1);
	open_heap(&heap, "[heap]", POOL_BYTES_3_10);
	assert_int_equal(heap.nodes.chunk_count, 3);
	assert_int_equal(heap.nodes.chunks[0].debug_heads, 2);
	assert_int_equal(heap.nodes.chunks[1].debug_heads, 1);
	assert_int_equal(heap.nodes.chunks[2].debug_heads, 0);
	assert_int_equal(heap_nodes_block(&heap.nodes, 0).address, BASE + 0x30);
	assert_int_equal(heap_nodes_block(&heap.nodes, 0).size, 0x3f8 - 48);
	assert_int_equal(heap_nodes_find(&heap.nodes, BASE + 0x48, &inside), 0);
	assert_int_equal(inside, 0x18);
	assert_int_equal(heap_nodes_find(&heap.nodes, BASE + 0x28, &inside), HEAP_NODE_NONE);
	assert_int_equal(heap_nodes_find(&heap.nodes, BASE + 0x430, &inside), 1);
	assert_int_equal(inside, 0x10);
	close_heap(&heap);
}

static void test_debug_heads(void **state)
{
	uint8_t head[16] = { 0 };

	(void)state;
	head[8] = 'm';
	memset(head + 9, 0xfb, 7);
	assert_true(heap_debug_is_head(head));
	head[15] = 0xfd;
	assert_false(heap_debug_is_head(head));
	memset(head + 9, 0xfd, 7);
	assert_true(heap_debug_is_head(head));
	head[8] = 'x';
	assert_false(heap_debug_is_head(head));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_allocators),    cmocka_unit_test(test_table),
		cmocka_unit_test(test_found_objects), cmocka_unit_test(test_false_sizes),
		cmocka_unit_test(test_limit),         cmocka_unit_test(test_debug_pools),
		cmocka_unit_test(test_debug_chunks),  cmocka_unit_test(test_debug_heads),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
