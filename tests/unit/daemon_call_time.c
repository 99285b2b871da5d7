/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/report/model/call_time.h"
#include "unit_random.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#define LINES 8

struct found {
	uint64_t call_ns[LINES];
	size_t residuals[LINES];
	size_t count;
};

static void take(void *context, uint32_t line, uint64_t call_ns, size_t count)
{
	struct found *found = context;

	assert_true(line < LINES);
	assert_int_equal(found->call_ns[line], 0);
	found->call_ns[line] = call_ns;
	found->residuals[line] = count;
	found->count++;
}

static void add(struct call_times *times, uint32_t line, uint64_t left_ns, double weight)
{
	assert_int_equal(call_times_add(times, line, left_ns, weight), 0);
}

/* Lines of too few residuals to serve as the measure for others. */
static void test_medians(void **state)
{
	static const uint64_t odd[] = { 900, 100, 1000000 }, even[] = { 1000, 3000, 2000, 4000 };
	struct call_times times = { 0 };
	struct found found = { 0 };

	(void)state;
	call_times_estimate(&times, take, &found);
	assert_int_equal(found.count, 0);
	for (size_t i = 0; i < 3; i++)
		add(&times, 5, odd[i], 1);
	for (size_t i = 0; i < 4; i++)
		add(&times, 2, even[i], 1);
	add(&times, 7, UINT64_MAX, 1);
	add(&times, 1, 3, 1);
	call_times_estimate(&times, take, &found);
	assert_int_equal(found.count, 4);
	assert_int_equal(found.call_ns[5], 1800); /* twice 900: an outlier does not matter */
	assert_int_equal(found.call_ns[2], 5000);
	assert_int_equal(found.residuals[2], 4);
	assert_int_equal(found.residuals[7], 1);
	assert_int_equal(found.call_ns[7], UINT64_MAX);
	assert_int_equal(found.call_ns[1], CALL_TIME_FLOOR_NS);
	call_times_deinit(&times);
}

static void test_weights(void **state)
{
	struct call_times times = { 0 };
	struct found found = { 0 };

	(void)state;
	/* One context kept 2 of 20 samples, another its only 5. */
	for (int i = 0; i < 2; i++)
		add(&times, 0, 1000, 10);
	for (int i = 0; i < 5; i++)
		add(&times, 0, 70, 1);
	call_times_estimate(&times, take, &found);
	assert_int_equal(found.call_ns[0], 2000);
	call_times_deinit(&times);
}

/* n calls of one duration, stopped at random moments, each with the noise of a stop. */
static void add_calls(struct call_times *times, struct unit_random *random, uint32_t line,
		      uint64_t duration_ns, int n)
{
	for (int i = 0; i < n; i++) {
		uint64_t noise_ns = unit_random_below(random, 10) < 4
					    ? 1000 + unit_random_below(random, 3000)
					    : 7000 + unit_random_below(random, 10000);

		add(times, line, noise_ns + unit_random_below(random, duration_ns), 1);
	}
}

static void test_estimates_the_duration(void **state)
{
	struct unit_random random = { .state = 5 };

	(void)state;
	for (int round = 0; round < 50; round++) {
		struct call_times times = { 0 };
		struct found found = { 0 };

		add_calls(&times, &random, 0, 600, 200);
		add_calls(&times, &random, 1, 200000, 200);
		add_calls(&times, &random, 2, 5000000, 200);
		add_calls(&times, &random, 3, 40000, 200);
		call_times_estimate(&times, take, &found);
		assert_in_range(found.call_ns[0], CALL_TIME_FLOOR_NS, 8000);
		assert_in_range(found.call_ns[1], 140000, 270000);
		assert_in_range(found.call_ns[2], 3500000, 6500000);
		assert_in_range(found.call_ns[3], 20000, 60000);
		call_times_deinit(&times);
	}
}

/* The line with the shortest calls is the measure, but long calls do not make each other short. */
static void test_where_all_calls_are_long(void **state)
{
	struct unit_random random = { .state = 6 };

	(void)state;
	for (int round = 0; round < 50; round++) {
		struct call_times times = { 0 };
		struct found found = { 0 };

		add_calls(&times, &random, 0, 1000000, 200);
		add_calls(&times, &random, 1, 1200000, 200);
		call_times_estimate(&times, take, &found);
		assert_in_range(found.call_ns[0], 700000, 1350000);
		assert_in_range(found.call_ns[1], 850000, 1600000);
		call_times_deinit(&times);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_medians),
		cmocka_unit_test(test_weights),
		cmocka_unit_test(test_estimates_the_duration),
		cmocka_unit_test(test_where_all_calls_are_long),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
