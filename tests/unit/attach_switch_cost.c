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
	/* To measure takes 75 sleeps of 20 us. */
	assert_true(clock_now_ns() - began_ns < NS_PER_SECOND);
	assert_int_equal(first.clock_ns, second.clock_ns);
	assert_int_equal(first.breakpoint_ns, second.breakpoint_ns);
	assert_in_range(first.clock_ns, 0, 10 * NS_PER_US);
	assert_in_range(first.breakpoint_ns, 0, 50 * NS_PER_US);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_measured_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
