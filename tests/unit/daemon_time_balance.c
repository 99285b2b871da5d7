/* SPDX-License-Identifier: Apache-2.0 */
/* The sum of two clocks that look at a thread by chance, with the balance and without. */
#include "daemon/sample/time_balance.h"
#include "unit_random.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

#include <cmocka.h>

#define INTERVAL_NS 10000000ull
#define RUNS        200

struct outcome {
	double total, kernel; /* over the truth */
};

/* A thread for so many intervals, in the kernel for a part of each microsecond. */
static struct outcome run(double kernel_part, unsigned intervals, bool balanced, uint64_t seed)
{
	struct unit_random random = { seed };
	struct time_balance balance;
	int64_t ended_ns = 0;
	uint64_t user_ns = 0, kernel_ns = 0, total_ns = intervals * INTERVAL_NS;
	uint64_t next_user = INTERVAL_NS / 2, next_kernel = INTERVAL_NS / 3;

	time_balance_begin(&balance, &ended_ns);
	while (next_user < total_ns || next_kernel < total_ns) {
		double chance = (double)unit_random_below(&random, 1000000) / 1e6;

		if (next_user < next_kernel) {
			if (chance >= kernel_part) {
				time_balance_user(&balance, INTERVAL_NS);
				user_ns += INTERVAL_NS;
			}
			next_user += INTERVAL_NS;
		} else {
			if (chance < kernel_part)
				kernel_ns += balanced ? time_balance_kernel(&balance, next_kernel,
									    INTERVAL_NS)
						      : INTERVAL_NS;
			next_kernel += INTERVAL_NS;
		}
	}
	return (struct outcome){
		.total = (double)(user_ns + kernel_ns) / (double)total_ns,
		.kernel = (double)kernel_ns / (double)total_ns / kernel_part,
	};
}

static double deviation(double kernel_part, bool balanced, double *ret_kernel)
{
	double squares = 0, kernel = 0;

	for (unsigned i = 0; i < RUNS; i++) {
		struct outcome outcome = run(kernel_part, 600, balanced, i + 1);

		squares += (outcome.total - 1) * (outcome.total - 1);
		kernel += outcome.kernel;
	}
	*ret_kernel = kernel / RUNS;
	return sqrt(squares / RUNS);
}

static void test_the_sum_is_the_time_it_ran(void **state)
{
	static const double parts[] = { 0.1, 0.3, 0.5, 0.8 };

	(void)state;
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		double kernel, kernel_before;
		double before = deviation(parts[i], false, &kernel_before);
		double after = deviation(parts[i], true, &kernel);

		print_message("%.0f%% in the kernel: deviation of the sum %.4f, balanced %.4f; "
			      "kernel %.3f of the truth\n",
			      100 * parts[i], before, after, kernel);
		assert_true(before > 0.014);
		assert_true(after < 0.009);
		assert_true(fabs(kernel - 1) < 0.02);
	}
}

static void test_a_sample_stays_near_its_interval(void **state)
{
	struct time_balance balance;
	int64_t ended_ns = 0;

	(void)state;
	time_balance_begin(&balance, &ended_ns);
	assert_int_equal(time_balance_kernel(&balance, 1000 * INTERVAL_NS, INTERVAL_NS),
			 2 * INTERVAL_NS);
	time_balance_begin(&balance, &ended_ns);
	time_balance_user(&balance, 1000 * INTERVAL_NS);
	assert_int_equal(time_balance_kernel(&balance, INTERVAL_NS, INTERVAL_NS), INTERVAL_NS / 2);
}

/* Time that was lost for good is not laid on the kernel for ever. */
static void test_what_was_lost_is_forgotten(void **state)
{
	struct time_balance balance;
	int64_t ended_ns = 0;
	uint64_t now_ns = 100000 * INTERVAL_NS, charged_ns = 0;

	(void)state;
	time_balance_begin(&balance, &ended_ns);
	for (unsigned i = 0; i < 1000; i++)
		charged_ns += time_balance_kernel(&balance, now_ns += INTERVAL_NS, INTERVAL_NS);
	assert_in_range(charged_ns, 1000 * INTERVAL_NS, 1020 * INTERVAL_NS);
	time_balance_user(&balance, 100000 * INTERVAL_NS);
	charged_ns = 0;
	for (unsigned i = 0; i < 1000; i++)
		charged_ns += time_balance_kernel(&balance, now_ns += INTERVAL_NS, INTERVAL_NS);
	assert_in_range(charged_ns, 980 * INTERVAL_NS, 1020 * INTERVAL_NS);
}

static void test_what_ended_threads_lack_is_made_up_for(void **state)
{
	struct time_balance one, other;
	int64_t ended_ns = 0;
	uint64_t charged_ns = 0;

	(void)state;
	time_balance_begin(&one, &ended_ns);
	time_balance_begin(&other, &ended_ns);
	time_balance_user(&one, 2 * INTERVAL_NS);
	time_balance_end(&one, 7 * INTERVAL_NS);
	assert_int_equal(ended_ns, 5 * INTERVAL_NS);
	for (unsigned i = 1; i <= 40; i++)
		charged_ns += time_balance_kernel(&other, i * INTERVAL_NS, INTERVAL_NS);
	assert_int_equal(ended_ns, 0);
	assert_in_range(charged_ns, 44 * INTERVAL_NS, 46 * INTERVAL_NS);
	time_balance_end(&other, 40 * INTERVAL_NS);
	assert_in_range(ended_ns + (int64_t)INTERVAL_NS, 0, 2 * INTERVAL_NS);
}

/* Since the last look alone, and not on next to nothing. */
static void test_rarely_in_the_kernel(void **state)
{
	struct time_balance balance;
	int64_t ended_ns = 0;
	uint64_t running_ns = 0;

	(void)state;
	time_balance_begin(&balance, &ended_ns);
	time_balance_user(&balance, 15 * INTERVAL_NS);
	assert_false(time_balance_is_rare(&balance, 16 * INTERVAL_NS));
	time_balance_user(&balance, 16 * INTERVAL_NS);
	assert_true(time_balance_is_rare(&balance, 16 * INTERVAL_NS));
	time_balance_user(&balance, 20 * INTERVAL_NS);
	running_ns = 53 * INTERVAL_NS;
	for (unsigned i = 0; i < 3; i++)
		(void)time_balance_kernel(&balance, running_ns, INTERVAL_NS);
	assert_false(time_balance_is_rare(&balance, 16 * INTERVAL_NS));
	time_balance_user(&balance, 20 * INTERVAL_NS);
	assert_true(time_balance_is_rare(&balance, 16 * INTERVAL_NS));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_sum_is_the_time_it_ran),
		cmocka_unit_test(test_a_sample_stays_near_its_interval),
		cmocka_unit_test(test_what_was_lost_is_forgotten),
		cmocka_unit_test(test_what_ended_threads_lack_is_made_up_for),
		cmocka_unit_test(test_rarely_in_the_kernel),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
