/* SPDX-License-Identifier: Apache-2.0 */
/* Why there is no CPU: the texts of both versions, and what cannot be one. */
#include "attach/cpu_supply.h"

#include "common/clock.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <unistd.h>

#include <cmocka.h>

static void test_throttled(void **state)
{
	(void)state;
	assert_int_equal(
		cpu_supply_throttled_ns("nr_periods 2\nnr_throttled 1\nthrottled_time 77\n"), 77);
	assert_int_equal(
		cpu_supply_throttled_ns("usage_usec 5\nthrottled_usec 1500\nnr_bursts 0\n"),
		1500000);
	assert_int_equal(cpu_supply_throttled_ns("throttled_usec 7"), 7000);
	assert_int_equal(cpu_supply_throttled_ns(""), 0);
	assert_int_equal(cpu_supply_throttled_ns("usage_usec 5\nthrottled_usecs 5\n"), 0);
	assert_int_equal(cpu_supply_throttled_ns("throttled_usec 18446744073709551615\n"), 0);
	assert_int_equal(cpu_supply_throttled_ns("throttled_time"), 0);
}

static void check_machine(const char *text, uint64_t idle_ns, uint64_t all_ns)
{
	uint64_t idle = 1, all = 1;

	cpu_supply_machine(text, 100, &idle, &all);
	assert_int_equal(idle, idle_ns);
	assert_int_equal(all, all_ns);
}

static void test_machine(void **state)
{
	uint64_t idle, all;

	(void)state;
	/* Guests are part of user. */
	check_machine("cpu  10 20 30 400 50 6 7 8 9 9\ncpu0 1 2 3 4 5 6 7 8 9 9\n",
		      4500 * NS_PER_MS, 5310 * NS_PER_MS);
	check_machine("cpu  10 20 30 400\n", 0, 0);
	check_machine("cpu0 1 2 3 4 5 6 7 8\n", 0, 0);
	check_machine("cpu  1 2 3 4 5 6 7 18446744073709551615\n", 0, 0);
	check_machine("", 0, 0);
	cpu_supply_machine("cpu  1 2 3 4 5 6 7 8\n", 0, &idle, &all);
	assert_int_equal(all, 0);
}

/* The machine's time goes on; of a process that is not there nothing else is known. */
static void test_live(void **state)
{
	struct cpu_supply before, after, nobody;

	(void)state;
	cpu_supply_read(getpid(), &before);
	assert_true(before.all_ns > 0 && before.idle_ns <= before.all_ns);
	usleep(50000);
	cpu_supply_read(getpid(), &after);
	assert_true(after.all_ns > before.all_ns);
	assert_true(after.throttled_ns >= before.throttled_ns);
	cpu_supply_read(0x7ffffff0, &nobody);
	assert_int_equal(nobody.throttled_ns, 0);
	assert_true(nobody.all_ns >= after.all_ns);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_throttled),
		cmocka_unit_test(test_machine),
		cmocka_unit_test(test_live),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
