/* SPDX-License-Identifier: Apache-2.0 */
/* CPU time that no clock saw: the whole of it, and whose it is. */
#include "daemon/sample/unclocked_time.h"

#include "common/clock.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

static uint64_t process_cpu_ns(void)
{
	struct timespec now;

	assert_int_equal(clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now), 0);
	return (uint64_t)now.tv_sec * NS_PER_SECOND + (uint64_t)now.tv_nsec;
}

static void work_ns(uint64_t time_ns)
{
	uint64_t began_ns = process_cpu_ns();

	while (process_cpu_ns() < began_ns + time_ns)
		;
}

/* This thread works, and its clock runs for all of that, or for half of it. */
static void check_living(unsigned clocked_halves)
{
	struct unclocked_time time;
	struct unclocked_thread thread;
	uint64_t began_ns, cpu_ns, whole_ns, part_ns;

	unclocked_begin(&time, clock_now_ns());
	unclocked_thread_begin(&thread, getpid(), gettid(), 1000);
	began_ns = process_cpu_ns();
	work_ns(60 * NS_PER_MS);
	cpu_ns = process_cpu_ns() - began_ns;
	unclocked_thread_measure(&time, &thread, getpid(), gettid(),
				 1000 + cpu_ns * clocked_halves / 2);
	whole_ns = unclocked_whole_ns(&time, cpu_ns);
	part_ns = unclocked_part_ns(&time, &thread, whole_ns);
	assert_int_equal(whole_ns, clocked_halves == 2 ? 0 : cpu_ns - cpu_ns / 2);
	/* Its account may be a tick late. */
	assert_true(part_ns <= whole_ns && part_ns >= whole_ns / 2);
}

static void test_living(void **state)
{
	(void)state;
	check_living(2);
	check_living(1);
}

static void test_ended(void **state)
{
	struct unclocked_time time;
	struct unclocked_thread thread = { 0 };

	(void)state;
	unclocked_begin(&time, 1);
	unclocked_thread_ended(&time, &thread, 700);
	/* Told once more, when it is forgotten. */
	unclocked_thread_ended(&time, &thread, 700);
	unclocked_thread_ended(&time, &thread, 0);
	assert_int_equal(unclocked_whole_ns(&time, 1000), 300);
	assert_int_equal(unclocked_part_ns(&time, &thread, 300), 0);
	/* Clocks that ran for longer than the process: its last time was not seen. */
	assert_int_equal(unclocked_whole_ns(&time, 600), 0);
}

static void test_parts_are_no_more_than_the_whole(void **state)
{
	struct unclocked_time time;
	struct unclocked_thread threads[3] = { { .beyond_ns = 500 },
					       { .beyond_ns = 300 },
					       { .beyond_ns = 200 } };
	uint64_t sum = 0;

	(void)state;
	unclocked_begin(&time, 1);
	time.living_ns = 1000;
	for (size_t i = 0; i < 3; i++)
		sum += unclocked_part_ns(&time, &threads[i], 100);
	assert_int_equal(sum, 100);
	assert_int_equal(unclocked_part_ns(&time, &threads[0], 2000), 500);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_living),
		cmocka_unit_test(test_ended),
		cmocka_unit_test(test_parts_are_no_more_than_the_whole),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
