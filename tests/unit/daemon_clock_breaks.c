/* SPDX-License-Identifier: Apache-2.0 */
/* In which slices of its time a thread's clocks run. */
#include "daemon/sample/clock_breaks.h"

#include "common/random.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define SLICES 48000u

static unsigned count_runs(struct clock_breaks *breaks, unsigned parts, unsigned slices)
{
	uint64_t random = random_seed(1);
	unsigned runs = 0;

	for (unsigned i = 0; i < slices; i++)
		runs += clock_breaks_next(breaks, parts, parts, &random);
	return runs;
}

static void test_all_the_time(void **state)
{
	struct clock_breaks breaks = { 0 };

	(void)state;
	assert_int_equal(count_runs(&breaks, 0, 100), 100);
	assert_int_equal(count_runs(&breaks, 1, 100), 100);
	assert_false(clock_breaks_any(&breaks));
}

static void test_one_of_so_many(void **state)
{
	static const unsigned parts[] = { 2, 7, CLOCK_BREAKS_PARTS_MAX };

	(void)state;
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		struct clock_breaks breaks = { 0 };
		unsigned runs = count_runs(&breaks, parts[i], SLICES);

		assert_int_equal(breaks.parts, parts[i]);
		assert_true(clock_breaks_any(&breaks));
		assert_in_range(runs, SLICES / parts[i] - 1, SLICES / parts[i] + 1);
	}
}

/* Those that run at a certain place in time are as many as anywhere. */
static void test_each_slice_is_as_likely(void **state)
{
	struct clock_breaks breaks = { 0 };
	uint64_t random = random_seed(7);
	unsigned at[4] = { 0 };

	(void)state;
	for (unsigned i = 0; i < SLICES; i++)
		at[i % 4] += clock_breaks_next(&breaks, 4, 4, &random);
	for (unsigned i = 0; i < 4; i++)
		assert_in_range(at[i], SLICES / 16 - 400, SLICES / 16 + 400);
}

static void test_there_and_back(void **state)
{
	struct clock_breaks breaks = { 0 };
	uint64_t random = random_seed(1);

	(void)state;
	(void)count_runs(&breaks, 5, 100);
	assert_int_equal(breaks.parts, 5);
	/* Fewer would do; of a little more, no fewer. */
	for (unsigned i = 0; i < 100; i++)
		(void)clock_breaks_next(&breaks, 4, 5, &random);
	assert_int_equal(breaks.parts, 5);
	for (unsigned i = 0; i < 100; i++)
		(void)clock_breaks_next(&breaks, 3, 4, &random);
	assert_int_equal(breaks.parts, 4);
	/* Half as many, or fewer: at once. */
	(void)clock_breaks_next(&breaks, 1, 2, &random);
	assert_int_equal(breaks.parts, 2);
	assert_true(clock_breaks_next(&breaks, 1, 1, &random));
	assert_false(clock_breaks_any(&breaks));
	assert_int_equal(count_runs(&breaks, 1, 100), 100);
	(void)count_runs(&breaks, 1000, 100);
	assert_int_equal(breaks.parts, CLOCK_BREAKS_PARTS_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all_the_time),
		cmocka_unit_test(test_one_of_so_many),
		cmocka_unit_test(test_each_slice_is_as_likely),
		cmocka_unit_test(test_there_and_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
