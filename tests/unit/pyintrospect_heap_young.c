/* SPDX-License-Identifier: Apache-2.0 */
/* A chain in a process that goes on while it is copied. */
#include "pyintrospect/heap/heap_judge.h"
#include "pyintrospect/heap/heap_search.h"
#include "pyintrospect/heap/heap_young.h"
#include "tests/unit/heap_memory.h"

#include <stdio.h>
#include <stdlib.h>

#define POOLS      0x10000ull
#define POOL_COUNT 6u
#define POOL_BYTES ((uint64_t)POOL_BYTES_3_10)
#define BLOCK      64u
#define A_POOL     ((uint32_t)((POOL_BYTES - POOL_HEAD) / BLOCK))
#define PREFIX     16u
#define HEAD       0u /* who refers to the newest link */
#define NEWEST     1u
#define FIRST      2u /* of those that are there all the time */
#define LINKS      (POOL_COUNT * A_POOL)

static remote_addr tuple;

static uint64_t link_at(uint32_t number)
{
	return POOLS + number / A_POOL * POOL_BYTES + POOL_HEAD +
	       (uint64_t)(number % A_POOL) * BLOCK + PREFIX;
}

static void put_link(uint32_t number, remote_addr next)
{
	uint64_t at = link_at(number);

	put(at - PREFIX, 0);
	put(at, 1);
	put(at + OBJECT_TYPE, tuple);
	put(at + OBJECT_SIZE, 2);
	put(at + 24, 0);
	put(at + 32, next);
}

/* head -> newest -> first -> ... -> last; free_ones: blocks of the first pool. */
static void lay_out(const uint32_t *free_ones, size_t free_count)
{
	memset(memory, 0, sizeof(memory));
	put_type(0, "type", FLAG_TYPE | FLAG_COLLECTED, 400, 40);
	tuple = put_type(1, "tuple", FLAG_TUPLE | FLAG_COLLECTED, 24, 8);
	for (uint32_t i = 0; i < LINKS; i++)
		put_link(i, i + 1 < LINKS ? BASE + link_at(i + 1) : 0);
	for (uint32_t i = 0; i < POOL_COUNT; i++)
		put_pool(POOLS + i * POOL_BYTES, (uint32_t)POOL_BYTES, BLOCK, A_POOL,
			 i ? NULL : free_ones, i ? 0 : free_count);
}

struct walked {
	struct heap heap;
	struct heap_layout layout;
	struct heap_types types;
	struct heap_paths paths;
	struct heap_walk walk;
	uint32_t path;
};

/* All that the head leads to in the copy. */
static void walk_copy(struct walked *walked)
{
	uint32_t head;

	walked->layout = heap_layout_of(python_layout_builtin(11));
	open_heap(&walked->heap, "", (uint32_t)POOL_BYTES);
	assert_int_equal(walked->heap.nodes.pool_count, POOL_COUNT);
	assert_int_equal(
		heap_types_init(&walked->types, &walked->heap.image, &walked->layout, BASE + TYPES),
		0);
	assert_int_equal(heap_paths_init(&walked->paths), 0);
	heap_judge_all(&walked->heap.nodes, &walked->types);
	assert_int_equal(
		heap_walk_init(&walked->walk, &walked->heap.nodes, &walked->types, &walked->paths),
		0);
	head = heap_walk_object(&walked->walk, BASE + link_at(HEAD));
	assert_int_not_equal(head, HEAP_NODE_NONE);
	walked->path =
		heap_paths_child(&walked->paths, 0, heap_paths_string(&walked->paths, "app.head"),
				 walked->heap.nodes.kinds[head]);
	heap_walk_take(&walked->walk, head, walked->path);
	heap_search_drain(&walked->walk);
}

static void end_walk(struct walked *walked)
{
	heap_walk_deinit(&walked->walk);
	heap_paths_deinit(&walked->paths);
	heap_types_deinit(&walked->types);
	close_heap(&walked->heap);
}

static uint32_t count_reached(const struct walked *walked, uint32_t first)
{
	uint32_t count = 0;

	for (uint32_t i = first; i < LINKS; i++) {
		uint32_t node = heap_walk_object(&walked->walk, BASE + link_at(i));

		count += node != HEAP_NODE_NONE && walked->walk.path_of[node];
	}
	return count;
}

/* The newest link's page was copied before there was one. */
static void test_young_link(void **state)
{
	static const uint32_t free_ones[] = { NEWEST };
	struct walked walked;
	const struct heap_path *path;

	(void)state;
	lay_out(free_ones, 1);
	walk_copy(&walked);
	assert_int_equal(count_reached(&walked, FIRST), 0);
	assert_int_equal(walked.walk.mends.count, 1);
	put_link(NEWEST, BASE + link_at(FIRST));
	heap_young_follow(&walked.walk);
	assert_int_equal(count_reached(&walked, FIRST), LINKS - FIRST);
	assert_int_equal(walked.walk.mends.objects, 1);
	/* What was read so is not counted, and leads on as if it were. */
	path = &walked.paths.items[walked.path + 1];
	assert_int_equal(walked.paths.count, walked.path + 2);
	assert_int_equal(path->parent, walked.path);
	assert_string_equal(walked.paths.strings + path->step, "[*]");
	assert_int_equal(path->count, LINKS - FIRST);
	assert_null(walked.heap.image.fresh);
	end_walk(&walked);
}

/* A row of them: each leads to the next. */
static void test_young_links(void **state)
{
	static const uint32_t free_ones[] = { 1, 2, 3, 4, 5, 6, 7, 8, 9 };
	struct walked walked;

	(void)state;
	lay_out(free_ones, 9);
	walk_copy(&walked);
	for (uint32_t i = 1; i < 10; i++)
		put_link(i, BASE + link_at(i + 1));
	heap_young_follow(&walked.walk);
	assert_int_equal(count_reached(&walked, 10), LINKS - 10);
	assert_int_equal(walked.walk.mends.objects, 9);
	end_walk(&walked);
}

/* In a circle, and to what is no object. */
static void test_young_circle(void **state)
{
	static const uint32_t free_ones[] = { 1, 2, 3 };
	struct walked walked;

	(void)state;
	lay_out(free_ones, 3);
	walk_copy(&walked);
	put_link(1, BASE + link_at(2));
	put_link(2, BASE + link_at(1));
	put(link_at(2) + 24, BASE + link_at(3));
	put(link_at(3) + OBJECT_TYPE, BASE + POOLS);
	heap_young_follow(&walked.walk);
	assert_int_equal(walked.walk.mends.objects, 2);
	assert_int_equal(count_reached(&walked, 4), 0);
	end_walk(&walked);
}

static int no_pages(void *context, remote_addr start, size_t count, uint8_t *ret_states)
{
	(void)context;
	(void)start;
	memset(ret_states, 0, count);
	return 0;
}

/* A page that is not in memory any more is left alone. */
static void test_absent_page(void **state)
{
	static const uint32_t free_ones[] = { NEWEST };
	struct walked walked;

	(void)state;
	lay_out(free_ones, 1);
	walk_copy(&walked);
	put_link(NEWEST, BASE + link_at(FIRST));
	walked.heap.pages.read = no_pages;
	heap_young_follow(&walked.walk);
	assert_int_equal(walked.walk.mends.objects, 0);
	assert_int_equal(count_reached(&walked, FIRST), 0);
	end_walk(&walked);
}

/* Its block had another object, that led nowhere, when its page was copied. */
static void test_changed_link(void **state)
{
	struct walked walked;

	(void)state;
	lay_out(NULL, 0);
	put_link(NEWEST, 0);
	walk_copy(&walked);
	assert_int_equal(walked.walk.mends.count, 0);
	put_link(NEWEST, BASE + link_at(FIRST));
	assert_int_equal(heap_young_compare(&walked.walk), 0);
	assert_int_equal(walked.walk.mends.count, 1);
	heap_young_follow(&walked.walk);
	assert_int_equal(count_reached(&walked, FIRST), LINKS - FIRST);
	end_walk(&walked);
}

/* As long as next to all is reached, nothing is read again. */
static void test_nothing_missed(void **state)
{
	struct walked walked;

	(void)state;
	lay_out(NULL, 0);
	walk_copy(&walked);
	assert_int_equal(count_reached(&walked, FIRST), LINKS - FIRST);
	put_link(NEWEST, 0);
	assert_int_equal(heap_young_compare(&walked.walk), 0);
	assert_int_equal(walked.walk.mends.count, 0);
	end_walk(&walked);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_young_link),   cmocka_unit_test(test_young_links),
		cmocka_unit_test(test_young_circle), cmocka_unit_test(test_absent_page),
		cmocka_unit_test(test_changed_link), cmocka_unit_test(test_nothing_missed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
