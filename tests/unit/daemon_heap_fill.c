/* SPDX-License-Identifier: Apache-2.0 */
/* Who wrote last where a heap grows, by a clock of the test's. */
#include "daemon/heap/heap_fill.h"
#include "tests/unit/heap_memory.h"

#define END (BASE + 0x1238)

static const struct memory_reader reader = { read_memory, NULL };

/* A word, written by so many, and then left alone. */
static void fill_once(struct heap_fill *fill, unsigned writes, int last, uint64_t *now_ns)
{
	heap_fill_aim(fill, END, 0, *now_ns);
	for (unsigned i = 0; i < writes; i++)
		heap_fill_write(fill, i + 1 < writes ? 9 : last, *now_ns += NS_PER_MS);
	*now_ns += HEAP_FILL_QUIET_NS;
	heap_fill_keep(fill, &reader, *now_ns);
}

static void test_words(void **state)
{
	struct heap_fill fill = { .word = 0 };
	remote_addr before = 0;

	(void)state;
	for (unsigned i = 0; i < 100; i++) {
		heap_fill_aim(&fill, END, i % 4, 0);
		assert_int_equal(fill.word % 16, 0);
		assert_true(fill.word >= END + 256 && fill.word < END + 0x5000);
		assert_int_not_equal(fill.word, before);
		before = fill.word;
	}
}

static void test_last_one(void **state)
{
	struct heap_fills fills = { .asked = { 0 } };
	struct heap_fill *fill = &fills.items[1];
	struct heap_answer answers[2] = { { .state = HEAP_ANSWER_NATIVE },
					  { .state = HEAP_ANSWER_GONE } };
	uint64_t now_ns = NS_PER_SECOND;

	(void)state;
	memset(memory, 0, sizeof(memory));
	/* Nobody comes; then two do, and it is not quiet at once. */
	heap_fill_aim(fill, END, 0, now_ns);
	assert_false(heap_fill_is_over(fill, now_ns + HEAP_FILL_PATIENCE_NS - 1));
	assert_true(heap_fill_is_over(fill, now_ns + HEAP_FILL_PATIENCE_NS));
	heap_fill_write(fill, 5, now_ns);
	heap_fill_write(fill, 2, now_ns);
	heap_fill_keep(fill, &reader, now_ns + HEAP_FILL_QUIET_NS - 1);
	assert_int_equal(heap_fills_kept(&fills), 0);
	assert_false(heap_fill_is_over(fill, now_ns + HEAP_FILL_QUIET_NS - 1));
	heap_fill_keep(fill, &reader, now_ns + HEAP_FILL_QUIET_NS);
	heap_fill_keep(fill, &reader, now_ns + HEAP_FILL_QUIET_NS);
	assert_int_equal(heap_fills_kept(&fills), 1);
	assert_true(heap_fill_is_over(fill, now_ns + HEAP_FILL_QUIET_NS));
	fill_once(fill, 3, 4, &now_ns);
	assert_int_equal(heap_fills_kept(&fills), 2);
	/* No look has said anything yet. */
	assert_int_equal(heap_fills_stayed(&fills, &reader, -1), 0);
	assert_int_equal(heap_fills_ask(&fills), 2);
	assert_int_equal(fills.asked[0], fill->kept[0].word);
	assert_int_equal(fills.asked[1], fill->kept[1].word);
	/* One that is kept later is not answered for. */
	fill_once(fill, 1, 2, &now_ns);
	heap_fills_answer(&fills, answers);
	assert_int_equal(heap_fills_stayed(&fills, &reader, -1), 1);
	assert_int_equal(heap_fills_stayed(&fills, &reader, 2), 1);
	assert_int_equal(heap_fills_stayed(&fills, &reader, 4), 0);
	/* Something else is there by now. */
	put(fill->kept[0].word - BASE, 1);
	assert_int_equal(heap_fills_stayed(&fills, &reader, -1), 0);
}

/* A temporary's place, a thread without Python, memory that is gone, and more than is wanted. */
static void test_not_kept(void **state)
{
	struct heap_fills fills = { .asked = { 0 } };
	struct heap_fill *fill = &fills.items[0];
	uint64_t now_ns = NS_PER_SECOND;

	(void)state;
	for (unsigned i = 1; i < HEAP_FILL_WRITES_MAX; i++) {
		assert_false(heap_fill_is_last(fill));
		heap_fill_write(fill, 0, now_ns);
	}
	assert_true(heap_fill_is_last(fill));
	heap_fill_write(fill, 0, now_ns);
	assert_true(heap_fill_is_over(fill, now_ns));
	heap_fill_keep(fill, &reader, now_ns + NS_PER_SECOND);
	fill_once(fill, 1, -1, &now_ns);
	fill_once(fill, 0, 0, &now_ns);
	heap_fill_aim(fill, BASE + BYTES, 0, now_ns);
	heap_fill_write(fill, 0, now_ns);
	heap_fill_keep(fill, &reader, now_ns + NS_PER_SECOND);
	assert_int_equal(heap_fills_kept(&fills), 0);
	for (unsigned i = 0; i < 2 * HEAP_FILL_KEPT_MAX; i++)
		fill_once(fill, 1, 0, &now_ns);
	assert_true(heap_fill_is_full(fill));
	assert_int_equal(heap_fills_ask(&fills), HEAP_FILL_KEPT_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_words),
		cmocka_unit_test(test_last_one),
		cmocka_unit_test(test_not_kept),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
