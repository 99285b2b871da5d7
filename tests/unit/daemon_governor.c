/* SPDX-License-Identifier: Apache-2.0 */
/* Does the governor keep stops within their share of the time that a thread runs? */
#include "daemon/detect/governor.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define LIMIT 0.02
#define TICK  10000000u /* CPU time between two samples */

/* A thread that is stopped at each tick, and for longer whenever that is allowed; the share it
 * loses. */
static double stopped_share(unsigned ticks, uint64_t tick_stop_ns, uint64_t cycle_ns,
			    unsigned *ret_overdrafts)
{
	struct governor governor;
	struct governor_bucket bucket;
	uint64_t running_ns = 0, stopped_ns = 0, period_ns = TICK;

	governor_init(&governor, LIMIT);
	governor_bucket_init(&bucket);
	*ret_overdrafts = 0;
	for (unsigned i = 0; i < ticks; i++) {
		running_ns += period_ns;
		governor_fill(&governor, &bucket, running_ns);
		if (governor_allows_cycle(&governor, &bucket)) {
			governor_charge(&bucket, cycle_ns);
			governor_learn_cycle(&governor, cycle_ns);
			stopped_ns += cycle_ns;
		}
		governor_charge(&bucket, tick_stop_ns);
		stopped_ns += tick_stop_ns;
		if (governor_take_overdraft(&bucket)) {
			(*ret_overdrafts)++;
			period_ns += period_ns / 2;
		}
	}
	return (double)stopped_ns / (double)running_ns;
}

static void test_memory_samples_use_what_is_left(void **state)
{
	unsigned overdrafts;
	double share = stopped_share(5000, 60000, 600000, &overdrafts);

	(void)state;
	assert_int_equal(overdrafts, 0);
	assert_true(fabs(share - LIMIT) < 0.001);
}

static void test_dear_stops_lengthen_the_period(void **state)
{
	unsigned overdrafts;
	double share = stopped_share(5000, 400000, 600000, &overdrafts);

	(void)state;
	assert_in_range(overdrafts, 1, 4);
	assert_true(share < LIMIT + 0.002);
}

static void test_storms_are_paid_for(void **state)
{
	unsigned overdrafts;
	/* A cycle as dear as any: forty stops. */
	double share = stopped_share(20000, 60000, 4000000, &overdrafts);

	(void)state;
	assert_true(share < LIMIT + 0.001);
	assert_true(share > LIMIT / 3);
}

/* Time that passes while the thread sleeps buys nothing, nor does a clock that goes backwards. */
static void test_only_running_fills(void **state)
{
	struct governor governor;
	struct governor_bucket bucket;

	(void)state;
	governor_init(&governor, LIMIT);
	governor_bucket_init(&bucket);
	governor_fill(&governor, &bucket, TICK);
	governor_charge(&bucket, 1200000);
	assert_false(governor_allows_cycle(&governor, &bucket));
	for (unsigned i = 0; i < 1000; i++)
		governor_fill(&governor, &bucket, TICK - i);
	assert_false(governor_allows_cycle(&governor, &bucket));
	governor_fill(&governor, &bucket, 100 * (uint64_t)TICK);
	assert_true(governor_allows_cycle(&governor, &bucket));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_memory_samples_use_what_is_left),
		cmocka_unit_test(test_dear_stops_lengthen_the_period),
		cmocka_unit_test(test_storms_are_paid_for),
		cmocka_unit_test(test_only_running_fills),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
