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

	governor_init(&governor, LIMIT, true);
	governor_bucket_init(&governor, &bucket);
	*ret_overdrafts = 0;
	for (unsigned i = 0; i < ticks; i++) {
		running_ns += period_ns;
		governor_fill(&governor, &bucket, running_ns);
		if (governor_allows_cycle(&governor, &bucket, CYCLE_ACCESS, 0)) {
			governor_begin_cycle(&governor, CYCLE_ACCESS);
			governor_charge(&bucket, cycle_ns);
			governor_spend(&governor, CYCLE_ACCESS, cycle_ns);
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

/* Peeks that the thread waits for, tried at each tick: they take their part, and no more than it.
 */
static void test_peeks_have_a_part_of_the_limit(void **state)
{
	struct governor governor;
	struct governor_bucket bucket;
	uint64_t running_ns = 0, peeked_ns = 0;

	(void)state;
	governor_init(&governor, LIMIT, true);
	governor_bucket_init(&governor, &bucket);
	running_ns += TICK;
	governor_fill(&governor, &bucket, running_ns);
	assert_false(governor_allows_peek(&governor, &bucket));
	governor_share_peeks(&governor);
	for (unsigned i = 0; i < 5000; i++) {
		running_ns += TICK;
		governor_fill(&governor, &bucket, running_ns);
		if (!governor_allows_peek(&governor, &bucket))
			continue;
		governor_charge_peek(&bucket, 100000);
		peeked_ns += 100000;
	}
	assert_true(fabs((double)peeked_ns / (double)running_ns - 0.15 * LIMIT) < 0.0001);
	/* Nor do they make a debt larger. */
	governor_charge(&bucket, 5000000);
	governor_charge(&bucket, 5000000);
	governor_charge(&bucket, 5000000);
	assert_false(governor_allows_peek(&governor, &bucket));
}

static void test_dear_stops_lengthen_the_period(void **state)
{
	unsigned overdrafts;
	double share = stopped_share(5000, 400000, 600000, &overdrafts);

	(void)state;
	assert_in_range(overdrafts, 1, 4);
	assert_true(share < LIMIT + 0.002);
}

/* A thread that waits 2,000 times a second of its CPU time, at 5 us each: stops get the rest. */
static void test_turns_are_paid_for(void **state)
{
	const double turns_share = 0.01, stop_ns = 100000;
	struct governor governor;
	struct governor_bucket bucket;
	uint64_t running_ns = 0, charged_ns = 0;
	double stopped_ns = 0;

	(void)state;
	governor_init(&governor, LIMIT, true);
	governor_bucket_init(&governor, &bucket);
	while (running_ns < 1000ull * TICK) {
		uint64_t wait_ns = governor_wait_ns(&governor, &bucket, 0);

		running_ns += wait_ns > TICK ? wait_ns : TICK;
		governor_fill(&governor, &bucket, running_ns);
		governor_charge(&bucket, (uint64_t)stop_ns);
		governor_learn_clock_stop(&governor, (uint64_t)stop_ns);
		stopped_ns += stop_ns;
		governor_charge_turns(&bucket, turns_share * (double)(running_ns - charged_ns));
		charged_ns = running_ns;
	}
	/* A tenth may be owed. */
	assert_in_range((uint64_t)stopped_ns, (uint64_t)(0.008 * (double)running_ns),
			(uint64_t)(0.0125 * (double)running_ns));
}

/* What waiting cannot make less neither ends the samples nor lengthens the period. */
static void test_turns_beyond_the_limit(void **state)
{
	struct governor governor;
	struct governor_bucket bucket;
	double credit_ns;

	(void)state;
	governor_init(&governor, LIMIT, true);
	governor_bucket_init(&governor, &bucket);
	assert_false(governor_turns_overdrawn(&bucket));
	for (unsigned i = 1; i <= 1000; i++) {
		governor_fill(&governor, &bucket, i * TICK);
		governor_charge_turns(&bucket, 0.05 * TICK);
	}
	assert_false(governor_allows_cycle(&governor, &bucket, CYCLE_ACCESS, 0));
	assert_false(governor_take_overdraft(&bucket));
	assert_true(governor_turns_overdrawn(&bucket));
	assert_in_range(governor_first_wait_ns(&governor, &bucket), 0, 50 * TICK);
	/* Nor do they forgive what stops have cost. */
	for (unsigned i = 0; i < 4; i++)
		governor_charge(&bucket, 4000000);
	credit_ns = bucket.credit_ns;
	governor_charge_turns(&bucket, 1000000);
	assert_true(bucket.credit_ns <= credit_ns);
	assert_true(governor_take_overdraft(&bucket));
}

/* The debt stays, and one and the same is not told twice. */
static void test_an_overdraft_is_paid_back(void **state)
{
	struct governor governor;
	struct governor_bucket bucket;
	uint64_t running_ns = 0;
	unsigned told = 0;

	(void)state;
	governor_init(&governor, LIMIT, true);
	governor_bucket_init(&governor, &bucket);
	for (unsigned i = 0; i < 5; i++) {
		governor_charge(&bucket, 4000000);
		told += governor_take_overdraft(&bucket);
	}
	assert_int_equal(told, 1);
	assert_false(governor_take_overdraft(&bucket));
	/* 20 ms of debt: 50 periods pay 10 ms, 101 all, and a memory sample. */
	for (unsigned i = 0; i < 50; i++)
		governor_fill(&governor, &bucket, running_ns += TICK);
	assert_false(governor_allows_cycle(&governor, &bucket, CYCLE_ACCESS, 0));
	assert_false(governor_take_overdraft(&bucket));
	for (unsigned i = 0; i < 51; i++)
		governor_fill(&governor, &bucket, running_ns += TICK);
	assert_true(governor_allows_cycle(&governor, &bucket, CYCLE_ACCESS, 0));
	/* And a new one counts as the first did. */
	for (unsigned i = 0; i < 4; i++) {
		governor_charge(&bucket, 4000000);
		told += governor_take_overdraft(&bucket);
	}
	assert_int_equal(told, 2);
}

struct spent {
	double access_ns, calls_ns;
};

/* Calls can be watched at each stop, an access begun at one of access_every. */
static struct spent shared(unsigned ticks, unsigned access_every, uint64_t access_ns,
			   uint64_t calls_ns)
{
	const uint64_t costs[CYCLE_KINDS] = { access_ns, calls_ns };
	struct governor governor;
	struct governor_bucket bucket;

	governor_init(&governor, LIMIT, true);
	governor_bucket_init(&governor, &bucket);
	for (unsigned i = 1; i <= ticks; i++) {
		bool possible[CYCLE_KINDS] = { access_every && i % access_every == 0, true };
		enum cycle kind = governor_next_cycle(&governor);

		governor_fill(&governor, &bucket, i * (uint64_t)TICK);
		governor_charge(&bucket, 60000);
		if (!possible[kind] || !governor_allows_cycle(&governor, &bucket, kind, 0))
			kind = kind == CYCLE_CALLS ? CYCLE_ACCESS : CYCLE_CALLS;
		if (!possible[kind] || !governor_allows_cycle(&governor, &bucket, kind, 0))
			continue;
		governor_begin_cycle(&governor, kind);
		governor_charge(&bucket, costs[kind]);
		governor_spend(&governor, kind, costs[kind]);
	}
	return (struct spent){ governor.cycles[CYCLE_ACCESS].spent_ns,
			       governor.cycles[CYCLE_CALLS].spent_ns };
}

/* Whatever one costs: both get half. Where there are no accesses, calls have nearly all. */
static void test_accesses_and_calls_share(void **state)
{
	const double left_ns = 5000 * (LIMIT * TICK - 60000);
	struct spent even = shared(5000, 1, 200000, 3000000);
	struct spent rare = shared(5000, 10, 3000000, 200000);
	struct spent none = shared(5000, 0, 200000, 3000000);

	(void)state;
	assert_true(fabs(even.access_ns - even.calls_ns) < 0.05 * left_ns);
	assert_true(fabs(even.access_ns + even.calls_ns - left_ns) < 0.05 * left_ns);
	assert_true(fabs(rare.access_ns - rare.calls_ns) < 0.05 * left_ns);
	assert_true(none.calls_ns > 0.95 * left_ns);
}

/* Half of what is allowed, known after a few stops, whatever one stall lasted. */
static void test_period_by_what_stops_cost(void **state)
{
	struct governor governor;

	(void)state;
	governor_init(&governor, LIMIT, true);
	for (unsigned i = 0; i < 7; i++) {
		governor_learn_clock_stop(&governor, 200000);
		assert_int_equal(governor_period(&governor), 0);
	}
	governor_learn_clock_stop(&governor, 200000);
	assert_in_range(governor_period(&governor), 19900000, 20000000);
	governor_learn_clock_stop(&governor, 3000000000u);
	assert_true(governor_period(&governor) < 30000000);
	/* Stops become cheaper. */
	for (unsigned i = 0; i < 500; i++)
		governor_learn_clock_stop(&governor, 50000);
	assert_in_range(governor_period(&governor), 4900000, 5100000);
}

/* Without memory samples nearly all is the clock's. */
static void test_period_of_time_alone(void **state)
{
	struct governor governor;

	(void)state;
	governor_init(&governor, LIMIT, false);
	for (unsigned i = 0; i < 8; i++)
		governor_learn_clock_stop(&governor, 180000);
	assert_in_range(governor_period(&governor), 9990000, 10010000);
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

/* Of a thread that has begun, in so much CPU time: each stop as late as the governor has it. */
static double early_share(uint64_t cpu_ns, uint64_t first_stop_ns, uint64_t stop_ns)
{
	struct governor governor;
	struct governor_bucket bucket;
	uint64_t stopped_ns = 0, cost_ns = first_stop_ns;

	governor_init(&governor, LIMIT, false);
	governor_bucket_init(&governor, &bucket);
	for (uint64_t running_ns = governor_first_period(&governor); running_ns <= cpu_ns;) {
		uint64_t wait_ns;

		governor_fill(&governor, &bucket, running_ns);
		wait_ns = governor_wait_ns(&governor, &bucket, cost_ns);
		governor_charge(&bucket, cost_ns);
		governor_learn_clock_stop(&governor, cost_ns);
		stopped_ns += cost_ns;
		cost_ns = stop_ns;
		running_ns += wait_ns > TICK ? wait_ns : TICK;
	}
	return (double)stopped_ns / (double)cpu_ns;
}

/* A first stop of milliseconds is paid before the next; stops as dear as that come seldom. */
static void test_the_limit_holds_from_the_first_stop_on(void **state)
{
	(void)state;
	/* One stop is over what was earned by then, and a tenth may be owed. */
	assert_true(early_share(1000000000, 4000000, 150000) < 1.11 * LIMIT);
	assert_true(early_share(1000000000, 900000, 900000) < 1.11 * LIMIT + 0.0009);
	/* It is sampled all the same. */
	assert_true(early_share(1000000000, 900000, 900000) > 0.8 * LIMIT);
	assert_true(early_share(1000000000, 100000, 100000) > 0.009);
	/* Awake for 1 ms twenty times: 400 us are to be had. */
	assert_true(early_share(20000000, 150000, 150000) < LIMIT);
	assert_true(early_share(20000000, 150000, 150000) > 0);
}

/* A thread's first stop is paid for before it comes; by guess, and by what others have cost. */
static void test_the_first_stop_is_earned(void **state)
{
	struct governor governor;
	struct governor_bucket bucket;

	(void)state;
	governor_init(&governor, LIMIT, true);
	governor_bucket_init(&governor, &bucket);
	/* 900 us are 2% of 45 ms. */
	assert_in_range(governor_first_wait_ns(&governor, &bucket), 44999999, 45000000);
	governor_fill(&governor, &bucket, 10000000);
	/* A tenth of what was earned may be owed. */
	assert_in_range(governor_first_wait_ns(&governor, &bucket), 33999999, 34000000);
	governor_fill(&governor, &bucket, 41000000);
	assert_int_equal(governor_first_wait_ns(&governor, &bucket), 0);
	/* One cheap stop tells nothing of the next; eight do. */
	governor_learn_clock_stop(&governor, 100000);
	governor_bucket_init(&governor, &bucket);
	assert_in_range(governor_first_wait_ns(&governor, &bucket), 44999999, 45000000);
	assert_false(governor_allows_stop(&governor, &bucket));
	for (unsigned i = 0; i < 7; i++)
		governor_learn_clock_stop(&governor, 100000);
	assert_in_range(governor_first_wait_ns(&governor, &bucket), 4999999, 5000000);
	governor_charge(&bucket, 100000);
	assert_in_range(governor_first_wait_ns(&governor, &bucket), 9999999, 10000000);
	/* Of time alone it costs less. */
	governor_init(&governor, LIMIT, false);
	governor_bucket_init(&governor, &bucket);
	assert_in_range(governor_first_wait_ns(&governor, &bucket), 19999999, 20000000);
	governor_init(&governor, 0, true);
	assert_true(governor_first_wait_ns(&governor, &bucket) >= 10000000000);
}

/* What one owes, the next pays: else each of them could be stopped at once. */
static void test_threads_that_live_for_milliseconds_are_one(void **state)
{
	struct governor governor;
	unsigned stops = 0;

	(void)state;
	governor_init(&governor, LIMIT, false);
	governor_learn_clock_stop(&governor, 200000);
	for (unsigned i = 0; i < 1000; i++) {
		struct governor_bucket bucket;

		governor_bucket_init(&governor, &bucket);
		governor_fill(&governor, &bucket, 1000000);
		if (governor_allows_stop(&governor, &bucket)) {
			governor_charge(&bucket, 200000);
			stops++;
		}
		governor_bucket_end(&governor, &bucket);
	}
	/* 1 s, of which 20 ms. */
	assert_in_range(stops, 95, 105);
}

/* Time that passes while the thread sleeps buys nothing, nor does a clock that goes backwards. */
static void test_only_running_fills(void **state)
{
	struct governor governor;
	struct governor_bucket bucket;

	(void)state;
	governor_init(&governor, LIMIT, true);
	governor_bucket_init(&governor, &bucket);
	governor_fill(&governor, &bucket, TICK);
	governor_charge(&bucket, 1200000);
	assert_false(governor_allows_cycle(&governor, &bucket, CYCLE_ACCESS, 0));
	for (unsigned i = 0; i < 1000; i++)
		governor_fill(&governor, &bucket, TICK - i);
	assert_false(governor_allows_cycle(&governor, &bucket, CYCLE_ACCESS, 0));
	governor_fill(&governor, &bucket, 100 * (uint64_t)TICK);
	assert_true(governor_allows_cycle(&governor, &bucket, CYCLE_ACCESS, 0));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_memory_samples_use_what_is_left),
		cmocka_unit_test(test_peeks_have_a_part_of_the_limit),
		cmocka_unit_test(test_dear_stops_lengthen_the_period),
		cmocka_unit_test(test_turns_are_paid_for),
		cmocka_unit_test(test_turns_beyond_the_limit),
		cmocka_unit_test(test_an_overdraft_is_paid_back),
		cmocka_unit_test(test_accesses_and_calls_share),
		cmocka_unit_test(test_period_by_what_stops_cost),
		cmocka_unit_test(test_period_of_time_alone),
		cmocka_unit_test(test_storms_are_paid_for),
		cmocka_unit_test(test_the_limit_holds_from_the_first_stop_on),
		cmocka_unit_test(test_the_first_stop_is_earned),
		cmocka_unit_test(test_threads_that_live_for_milliseconds_are_one),
		cmocka_unit_test(test_only_running_fills),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
