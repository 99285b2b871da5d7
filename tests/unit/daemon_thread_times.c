/* SPDX-License-Identifier: Apache-2.0 */
/* A target that makes threads for ever: those beyond the limit share one entry, and no time is
 * lost. */
#include "daemon/sample/thread_times.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static void test_too_many_threads(void **state)
{
	struct thread_times times;
	const struct profile_thread *items;
	const int threads = THREAD_TIMES_MAX + 500;
	char name[2 * sizeof(times.items[0].name)] = "";
	uint64_t sum_ns = 0;

	(void)state;
	memset(name, 'x', sizeof(name) - 1);
	assert_int_equal(thread_times_init(&times), 0);
	items = times.items;
	for (int i = 1; i <= threads; i++) {
		size_t index = thread_times_add(&times, i, name);

		assert_int_equal(index, i < THREAD_TIMES_MAX ? i : 0);
		thread_times_charge(&times, index, TIME_PYTHON, 10);
	}
	assert_int_equal(times.count, THREAD_TIMES_MAX);
	/* Whoever keeps a pointer to one may write there. */
	assert_ptr_equal(times.items, items);
	assert_int_equal(strlen(times.items[1].name), sizeof(times.items[1].name) - 1);
	assert_string_equal(times.items[0].name, "others");
	assert_int_equal(times.items[0].time_ns[TIME_PYTHON], 10 * 501);
	for (size_t i = 0; i < times.count; i++)
		sum_ns += times.items[i].time_ns[TIME_PYTHON];
	assert_int_equal(sum_ns, 10 * threads);
	thread_times_deinit(&times);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_too_many_threads),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
