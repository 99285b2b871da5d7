/* SPDX-License-Identifier: Apache-2.0 */
/* Which sampled blocks have stayed, and what is said of the lines that made them. */
#include "daemon/heap/heap_kept.h"

#include "common/clock.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define BLOCK    1000u
#define PLACE(n) (0x10000ull + (n)*0x1000ull)

/* Of 3.9 and before: no line of its own but the first. */
static struct python_code codes[3] = {
	{ .function = "leaky", .file = "/srv/app.py", .first_line = 10, .minor = 8 },
	{ .function = "tidy", .file = "/srv/app.py", .first_line = 20, .minor = 8 },
	{ .function = "dumps",
	  .file = "/usr/lib/python3.11/json/encoder.py",
	  .first_line = 30,
	  .minor = 8 },
};

static struct python_stack *stack_of(const struct python_code *inner,
				     const struct python_code *outer)
{
	static struct python_stack stack;

	memset(&stack, 0, sizeof(stack));
	stack.frames[stack.count++].code = inner;
	if (outer)
		stack.frames[stack.count++].code = outer;
	return &stack;
}

/* One look: which blocks were not seen to be given back, and what is there of them. */
static void look(struct heap_kept *kept, uint64_t second, const uint32_t *live, size_t count,
		 uint8_t state)
{
	struct heap_answer answers[64];

	for (size_t i = 0; i < count; i++)
		heap_kept_mark(kept, PLACE(live[i]), live[i]);
	heap_kept_ask(kept);
	assert_true(kept->asked_count <= 64);
	for (size_t i = 0; i < kept->asked_count; i++)
		answers[i] = (struct heap_answer){ .state = state, .size = BLOCK };
	heap_kept_answer(kept, answers, second * NS_PER_SECOND, second * NS_PER_SECOND / 2);
}

static void note(struct heap_kept *kept, uint32_t number, const struct python_code *code)
{
	assert_true(heap_kept_note(kept, number, BLOCK, 10ull * BLOCK, stack_of(code, NULL)));
}

/* Four of one line stay; of another's four one does; what is young does not count. */
static void test_stays(void **state)
{
	static const uint32_t live[] = { 1, 2, 3, 4, 5, 101, 102 };
	struct heap_kept *kept = calloc(1, sizeof(*kept));
	struct heap_kept_result result;

	(void)state;
	for (uint32_t i = 1; i <= 4; i++)
		note(kept, i, &codes[0]);
	for (uint32_t i = 5; i <= 8; i++)
		note(kept, i, &codes[1]);
	look(kept, 10, live, 5, HEAP_ANSWER_NATIVE);
	for (uint32_t i = 101; i <= 104; i++)
		note(kept, i, &codes[1]);
	look(kept, 30, live, 7, HEAP_ANSWER_NATIVE);
	heap_kept_sites(kept, 0, true, 10000, &result);
	assert_int_equal(result.doubt, HEAP_KEPT_CERTAIN);
	assert_int_equal(result.made.blocks, 8);
	assert_int_equal(result.kept.blocks, 5);
	assert_int_equal(result.native.bytes, 50 * BLOCK);
	assert_int_equal(result.age_ns, 20 * NS_PER_SECOND);
	assert_int_equal(result.observed_ns, 5 * NS_PER_SECOND);
	/* One block is no evidence. */
	assert_int_equal(result.site_count, 1);
	assert_string_equal(result.sites[0]->site.place.function, "leaky");
	assert_int_equal(result.sites[0]->made.blocks, 4);
	assert_int_equal(result.sites[0]->native.blocks, 4);
	/* Far more than it grows by. */
	heap_kept_sites(kept, 0, true, 3000, &result);
	assert_int_equal(result.doubt, HEAP_KEPT_UNSEEN);
	assert_int_equal(result.site_count, 0);
	free(kept);
}

/* Held by an object, smaller than it was, at a place that is not read, gone and never back. */
static void test_states(void **state)
{
	static const uint32_t live[] = { 1, 2, 3 };
	struct heap_answer answers[3] = { { HEAP_ANSWER_HELD, BLOCK },
					  { HEAP_ANSWER_NATIVE, BLOCK - 1 },
					  { HEAP_ANSWER_UNKNOWN, 0 } };
	struct heap_kept *kept = calloc(1, sizeof(*kept));
	struct heap_kept_result result;

	(void)state;
	for (uint32_t i = 1; i <= 3; i++)
		note(kept, i, &codes[0]);
	look(kept, 1, live, 3, HEAP_ANSWER_NATIVE);
	for (size_t i = 0; i < 3; i++)
		heap_kept_mark(kept, PLACE(live[i]), live[i]);
	heap_kept_ask(kept);
	assert_int_equal(kept->asked_count, 3);
	assert_int_equal(kept->asked[2], PLACE(3));
	heap_kept_answer(kept, answers, 9 * NS_PER_SECOND, NS_PER_SECOND);
	heap_kept_sites(kept, 0, false, 1e9, &result);
	assert_int_equal(result.kept.blocks, 2);
	assert_int_equal(result.native.blocks, 1);
	assert_int_equal(result.doubt, HEAP_KEPT_NOTHING);
	/* Marked again: its place is another's by now. */
	look(kept, 10, live, 3, HEAP_ANSWER_NATIVE);
	heap_kept_sites(kept, 0, false, 1e9, &result);
	assert_int_equal(result.kept.blocks, 2);
	free(kept);
}

static void test_places(void **state)
{
	struct heap_kept *kept = calloc(1, sizeof(*kept));
	struct heap_kept_result result;

	(void)state;
	heap_kept_sites(kept, 0, true, 1, &result);
	assert_int_equal(result.doubt, HEAP_KEPT_NO_LOOKS);
	assert_true(heap_kept_note(kept, 1, BLOCK, BLOCK, stack_of(&codes[2], &codes[0])));
	assert_true(heap_kept_note(kept, 1, BLOCK, BLOCK, stack_of(&codes[1], NULL)));
	assert_true(heap_kept_note(kept, 2, BLOCK, BLOCK, NULL));
	assert_int_equal(kept->block_count, 2);
	assert_int_equal(kept->without_python, 1);
	/* Who called the library. */
	assert_string_equal(kept->sites[0].site.place.function, "leaky");
	assert_string_equal(kept->sites[0].site.through.function, "dumps");
	assert_string_equal(kept->sites[1].site.place.file, "");
	/* Of a block that was never sampled nothing is known. */
	heap_kept_mark(kept, PLACE(9), 9);
	heap_kept_ask(kept);
	assert_int_equal(kept->asked_count, 0);
	free(kept);
}

static void test_limits(void **state)
{
	struct heap_kept *kept = calloc(1, sizeof(*kept));
	struct python_code other = codes[0];
	char name[16] = "f0";

	(void)state;
	other.function = name;
	for (uint32_t i = 0; i < HEAP_KEPT_SITES_MAX + 3; i++) {
		other.first_line = (int)i + 1;
		assert_true(heap_kept_note(kept, i + 1, BLOCK, BLOCK, stack_of(&other, NULL)));
	}
	assert_int_equal(kept->site_count, HEAP_KEPT_SITES_MAX);
	assert_int_equal(kept->beyond_sites, 3);
	other.first_line = 1;
	for (uint32_t i = 0; kept->block_count + 1 < HEAP_KEPT_BLOCKS_MAX; i++)
		assert_true(heap_kept_note(kept, 100000 + i, BLOCK, BLOCK, stack_of(&other, NULL)));
	assert_false(heap_kept_note(kept, 7000000, BLOCK, BLOCK, stack_of(&other, NULL)));
	assert_false(heap_kept_note(kept, 7000001, BLOCK, BLOCK, stack_of(&other, NULL)));
	assert_int_equal(kept->beyond_blocks, 1);
	/* However many looks there are. */
	for (uint64_t i = 1; i < 2 * HEAP_KEPT_LOOKS_MAX; i++)
		look(kept, i, NULL, 0, HEAP_ANSWER_NATIVE);
	assert_int_equal(kept->look_count, HEAP_KEPT_LOOKS_MAX);
	free(kept);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_stays),
		cmocka_unit_test(test_states),
		cmocka_unit_test(test_places),
		cmocka_unit_test(test_limits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
