/* SPDX-License-Identifier: Apache-2.0 */
/* In which slices of its time a thread's clocks run. */
#include "daemon/sample/clock_breaks.h"

#include "common/random.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define ALLOWED 0.01
#define SLICES  48000u

static unsigned count_runs(struct clock_breaks *breaks, double share, unsigned slices)
{
	uint64_t random = random_seed(1);
	unsigned runs = 0;

	for (unsigned i = 0; i < slices; i++)
		runs += clock_breaks_next(breaks, share, ALLOWED, &random);
	return runs;
}

static void test_all_the_time(void **state)
{
	struct clock_breaks breaks = { 0 };

	(void)state;
	assert_int_equal(count_runs(&breaks, 0, 100), 100);
	assert_int_equal(count_runs(&breaks, ALLOWED, 100), 100);
	assert_false(clock_breaks_any(&breaks));
}

static void test_no_more_than_allowed(void **state)
{
	static const struct {
		double share;
		unsigned parts;
	} cases[] = { { 0.011, 2 }, { 0.02, 2 }, { 0.061, 7 }, { 0.5, CLOCK_BREAKS_PARTS_MAX } };

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct clock_breaks breaks = { 0 };
		unsigned runs = count_runs(&breaks, cases[i].share, SLICES);

		assert_int_equal(breaks.parts, cases[i].parts);
		assert_in_range(runs, SLICES / cases[i].parts - 1, SLICES / cases[i].parts + 1);
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
		at[i % 4] += clock_breaks_next(&breaks, 4 * ALLOWED, ALLOWED, &random);
	for (unsigned i = 0; i < 4; i++)
		assert_in_range(at[i], SLICES / 16 - 400, SLICES / 16 + 400);
}

static void test_there_and_back(void **state)
{
	struct clock_breaks breaks = { 0 };

	(void)state;
	(void)count_runs(&breaks, 5 * ALLOWED, 100);
	assert_int_equal(breaks.parts, 5);
	/* A little less is no reason. */
	(void)count_runs(&breaks, 3.5 * ALLOWED, 100);
	assert_int_equal(breaks.parts, 5);
	(void)count_runs(&breaks, 3 * ALLOWED, 100);
	assert_int_equal(breaks.parts, 4);
	(void)count_runs(&breaks, 0, 100);
	assert_false(clock_breaks_any(&breaks));
	assert_int_equal(count_runs(&breaks, 0, 100), 100);
}

static void test_nothing_allowed(void **state)
{
	struct clock_breaks breaks = { 0 };
	uint64_t random = random_seed(1);

	(void)state;
	assert_true(clock_breaks_next(&breaks, 0, 0, &random));
	assert_int_equal(breaks.parts, 1);
	(void)clock_breaks_next(&breaks, 1e-9, 0, &random);
	assert_int_equal(breaks.parts, CLOCK_BREAKS_PARTS_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all_the_time),
		cmocka_unit_test(test_no_more_than_allowed),
		cmocka_unit_test(test_each_slice_is_as_likely),
		cmocka_unit_test(test_there_and_back),
		cmocka_unit_test(test_nothing_allowed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
