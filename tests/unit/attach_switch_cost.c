/* SPDX-License-Identifier: Apache-2.0 */
/* What events cost a thread at each turn: plausible on any machine, and measured once. */
#include "attach/switch_cost.h"

#include "common/clock.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void test_measured_once(void **state)
{
	struct switch_cost first = switch_cost(), second;
	uint64_t began_ns = clock_now_ns();

	(void)state;
	second = switch_cost();
	/* To measure takes some 400 sleeps of 20 us. */
	assert_true(clock_now_ns() - began_ns < NS_PER_SECOND);
	assert_int_equal(first.clock_ns, second.clock_ns);
	assert_int_equal(first.breakpoint_ns, second.breakpoint_ns);
	assert_in_range(first.clock_ns, 0, 10 * NS_PER_US);
	assert_in_range(first.soon_ns, 0, 20 * NS_PER_US);
	assert_in_range(first.tick_ns, NS_PER_MS / 10, 100 * NS_PER_MS);
	assert_in_range(first.breakpoint_ns, 0, 50 * NS_PER_US);
}

static void check(uint64_t interval_ns, double expected)
{
	const struct switch_cost cost = { .clock_ns = 500,
					  .soon_ns = 6000,
					  .tick_ns = 4 * NS_PER_MS };
	double cost_ns = switch_cost_of_clock(&cost, interval_ns);

	assert_true(cost_ns > expected - 1 && cost_ns < expected + 1);
}

static void test_of_a_clock(void **state)
{
	(void)state;
	check(10 * NS_PER_MS, 500 + 6000 / 5);
	check(1000 * NS_PER_SECOND, 500);
	/* Of one as long as the ticks, half the time, from both sides; of a shorter one, nearly
	 * always.
	 */
	check(4 * NS_PER_MS, 3500);
	check(4 * NS_PER_MS + 1, 3500);
	check(NS_PER_US, 6500);
	check(0, 500);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_measured_once),
		cmocka_unit_test(test_of_a_clock),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
