/* SPDX-License-Identifier: Apache-2.0 */
/* The detector's pure parts: slot policy, verdicts, stop times. */
#include "daemon/detect/slot_policy.h"
#include "daemon/detect/verdict.h"
#include "daemon/sample/stop_times.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static void test_free_slots_first(void **state)
{
	struct slot_policy policy;
	int slot;

	(void)state;
	slot_policy_init(&policy, 3, 1);
	for (int i = 0; i < 3; i++) {
		slot = slot_policy_choose(&policy);
		assert_int_equal(slot, i);
		slot_policy_take(&policy, slot);
	}
	slot_policy_release(&policy, 1);
	assert_int_equal(slot_policy_choose(&policy), 1);
	slot_policy_init(&policy, 0, 1);
	assert_int_equal(slot_policy_choose(&policy), SLOT_NONE);
}

static void test_fixed_slots_stay(void **state)
{
	struct slot_policy policy;

	(void)state;
	slot_policy_init(&policy, 2, 7);
	slot_policy_take(&policy, 0);
	slot_policy_take(&policy, 1);
	policy.fixed[0] = true;
	for (int i = 0; i < 1000; i++) {
		int slot = slot_policy_choose(&policy);

		assert_int_not_equal(slot, 0);
		if (slot == 1)
			slot_policy_take(&policy, 1);
	}
}

/*
 * Each of n samples must have the same chance to be the one that is still
 * watched at the end: 1/n for one slot. 20,000 rounds of 10 samples; the
 * chi-squared statistic with 9 degrees of freedom exceeds 33.7 once in 10,000.
 */
static void test_reservoir_is_fair(void **state)
{
	enum {
		SAMPLES = 10,
		ROUNDS = 20000
	};
	unsigned survived[SAMPLES] = { 0 };
	double statistic = 0, expected = (double)ROUNDS / SAMPLES;
	struct slot_policy policy;

	(void)state;
	slot_policy_init(&policy, 1, 42);
	for (int round = 0; round < ROUNDS; round++) {
		int watched = 0;

		slot_policy_release(&policy, 0);
		slot_policy_take(&policy, slot_policy_choose(&policy));
		for (int sample = 1; sample < SAMPLES; sample++) {
			/* The slot keeps counting from the first sample of the round. */
			uint64_t seen = policy.seen[0];

			if (slot_policy_choose(&policy) == 0) {
				watched = sample;
				slot_policy_take(&policy, 0);
				policy.seen[0] = seen + 1;
			}
		}
		survived[watched]++;
	}
	for (int i = 0; i < SAMPLES; i++)
		statistic += (survived[i] - expected) * (survived[i] - expected) / expected;
	assert_true(statistic < 33.7);
}

static enum access_verdict compare_doubles(double a, double b)
{
	uint8_t before[8], after[8];

	memcpy(before, &a, 8);
	memcpy(after, &b, 8);
	return verdict_compare(before, after, 8, 8);
}

static void test_verdicts(void **state)
{
	float four[2] = { 1.0f, 100.0f }, near[2] = { 1.005f, 100.9f }, far[2] = { 1.005f, 102.0f };

	(void)state;
	assert_int_equal(compare_doubles(1.5, 1.5), VERDICT_REDUNDANT);
	assert_int_equal(compare_doubles(1.5, 1.5149), VERDICT_APPROXIMATE);
	assert_int_equal(compare_doubles(1.5, 1.52), VERDICT_NEW);
	assert_int_equal(compare_doubles(-1.5, 1.5), VERDICT_NEW);
	assert_int_equal(compare_doubles(0.0, -0.0), VERDICT_APPROXIMATE);
	assert_int_equal(compare_doubles(NAN, NAN), VERDICT_REDUNDANT); /* by bits */
	assert_int_equal(compare_doubles(NAN, 1.0), VERDICT_NEW);
	assert_int_equal(compare_doubles(INFINITY, 1.0), VERDICT_NEW);
	assert_int_equal(verdict_compare((uint8_t *)four, (uint8_t *)near, 8, 4),
			 VERDICT_APPROXIMATE);
	assert_int_equal(verdict_compare((uint8_t *)four, (uint8_t *)far, 8, 4), VERDICT_NEW);
	/* Integers have no "nearly". */
	assert_int_equal(verdict_compare((uint8_t *)four, (uint8_t *)near, 8, 0), VERDICT_NEW);
	/* Half of a double cannot be compared as one. */
	assert_int_equal(verdict_compare((uint8_t *)four, (uint8_t *)near, 4, 8), VERDICT_NEW);
}

static void test_watch_ranges(void **state)
{
	(void)state;
	for (remote_addr address = 0x1000; address < 0x1010; address++) {
		for (uint32_t size = 1; size <= 64; size++) {
			struct address_range range = verdict_watch_range(address, size);
			uint64_t length = range.end - range.start;

			assert_true(length == 1 || length == 2 || length == 4 || length == 8);
			assert_int_equal(range.start % length, 0);
			assert_true(range.start >= address && range.end <= address + size);
			/* Nothing larger would have fitted. */
			if (length < 8) {
				remote_addr larger = (address + 2 * length - 1) & ~(2 * length - 1);

				assert_true(larger + 2 * length > address + size);
			}
		}
	}
}

static void test_stop_times(void **state)
{
	struct stop_histogram histogram = { 0 };

	(void)state;
	assert_int_equal(stop_histogram_quantile(&histogram, 0.5), 0);
	for (uint64_t ns = 1; ns <= 100000; ns++)
		stop_histogram_add(&histogram, ns);
	assert_int_equal(histogram.count, 100000);
	assert_int_equal(histogram.max_ns, 100000);
	assert_true(stop_histogram_quantile(&histogram, 0.5) >= 50000);
	assert_true(stop_histogram_quantile(&histogram, 0.5) <= 50000 * 17 / 16);
	assert_true(stop_histogram_quantile(&histogram, 0.99) >= 99000);
	assert_true(stop_histogram_quantile(&histogram, 0.99) <= 100000);
	assert_int_equal(stop_histogram_quantile(&histogram, 1.0), 100000);
	stop_histogram_add(&histogram, UINT64_MAX);
	stop_histogram_add(&histogram, 0);
	assert_true(stop_histogram_quantile(&histogram, 1.0) == UINT64_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_free_slots_first),  cmocka_unit_test(test_fixed_slots_stay),
		cmocka_unit_test(test_reservoir_is_fair), cmocka_unit_test(test_verdicts),
		cmocka_unit_test(test_watch_ranges),      cmocka_unit_test(test_stop_times),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
