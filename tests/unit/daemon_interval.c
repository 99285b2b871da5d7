/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/detect/interval.h"
#include "unit_random.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void check(uint64_t successes, uint64_t trials, double low, double high)
{
	struct interval interval = interval_wilson(successes, trials);

	assert_true(fabs(interval.low - low) < 0.0005);
	assert_true(fabs(interval.high - high) < 0.0005);
}

/* Newcombe, Statistics in Medicine 17 (1998), table I, method 3. */
static void test_published_values(void **state)
{
	(void)state;
	check(81, 263, 0.2553, 0.3662);
	check(15, 148, 0.0624, 0.1605);
	check(0, 20, 0, 0.1611);
	check(1, 29, 0.0061, 0.1718);
}

static void test_ends(void **state)
{
	(void)state;
	check(0, 0, 0, 1);
	check(20, 20, 0.8389, 1);
	check(30, 20, 0.8389, 1); /* more than all is all */
	assert_true(interval_wilson(0, 5).low == 0);
	assert_true(interval_wilson(5, 5).high == 1);
	check(UINT64_MAX / 2, UINT64_MAX, 0.5, 0.5);
}

/* 95% means that it holds the truth in about 95% of cases. */
static void test_coverage(void **state)
{
	static const double truths[] = { 0.05, 0.25, 0.5, 0.75, 0.9 };
	struct unit_random random = { .state = 3 };

	(void)state;
	for (size_t t = 0; t < sizeof(truths) / sizeof(truths[0]); t++) {
		int covered = 0;

		for (int round = 0; round < 4000; round++) {
			uint64_t successes = 0;
			struct interval interval;

			for (int i = 0; i < 60; i++)
				successes += (double)(unit_random_next(&random) >> 11) * 0x1p-53 <
					     truths[t];
			interval = interval_wilson(successes, 60);
			covered += interval.low <= truths[t] && truths[t] <= interval.high;
		}
		assert_in_range(covered, 4000 * 92 / 100, 4000 * 985 / 1000);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_published_values),
		cmocka_unit_test(test_ends),
		cmocka_unit_test(test_coverage),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
