/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/report/call_time.h"
#include "unit_random.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#define LINES 8

struct found {
	uint64_t call_ns[LINES];
	size_t count;
};

static void take(void *context, uint32_t line, uint64_t call_ns)
{
	struct found *found = context;

	assert_true(line < LINES);
	assert_int_equal(found->call_ns[line], 0);
	found->call_ns[line] = call_ns;
	found->count++;
}

static void test_medians(void **state)
{
	static const uint64_t odd[] = { 9, 1, 1000000 }, even[] = { 10, 30, 20, 40 };
	struct call_times times = { 0 };
	struct found found = { 0 };

	(void)state;
	call_times_estimate(&times, take, &found);
	assert_int_equal(found.count, 0);
	for (size_t i = 0; i < 3; i++)
		assert_int_equal(call_times_add(&times, 5, odd[i], 1), 0);
	for (size_t i = 0; i < 4; i++)
		assert_int_equal(call_times_add(&times, 2, even[i], 1), 0);
	assert_int_equal(call_times_add(&times, 7, UINT64_MAX, 1), 0);
	call_times_estimate(&times, take, &found);
	assert_int_equal(found.count, 3);
	assert_int_equal(found.call_ns[5], 18); /* twice 9: an outlier does not matter */
	assert_int_equal(found.call_ns[2], 50);
	assert_int_equal(found.call_ns[7], UINT64_MAX);
	call_times_deinit(&times);
}

static void test_weights(void **state)
{
	struct call_times times = { 0 };
	struct found found = { 0 };

	(void)state;
	/* One context kept 2 of 20 samples, another its only 5. */
	for (int i = 0; i < 2; i++)
		assert_int_equal(call_times_add(&times, 0, 100, 10), 0);
	for (int i = 0; i < 5; i++)
		assert_int_equal(call_times_add(&times, 0, 7, 1), 0);
	call_times_estimate(&times, take, &found);
	assert_int_equal(found.call_ns[0], 200);
	call_times_deinit(&times);
}

/* Calls of one duration, stopped at random moments: the estimate is the duration. */
static void test_estimates_the_duration(void **state)
{
	struct unit_random random = { .state = 5 };

	(void)state;
	for (uint64_t duration_ns = 500; duration_ns < 100000000; duration_ns *= 7) {
		struct call_times times = { 0 };
		struct found found = { 0 };

		for (int i = 0; i < 2000; i++)
			assert_int_equal(call_times_add(&times, 3, unit_random_below(&random, duration_ns), 1), 0);
		call_times_estimate(&times, take, &found);
		assert_in_range(found.call_ns[3], duration_ns * 93 / 100, duration_ns * 107 / 100);
		call_times_deinit(&times);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_medians),
		cmocka_unit_test(test_weights),
		cmocka_unit_test(test_estimates_the_duration),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
