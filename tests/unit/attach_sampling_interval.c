/* SPDX-License-Identifier: Apache-2.0 */
/* Are the samples' intervals spread, and does the time they stand for come out right? */
#include "attach/sampling_interval.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define PERIOD_NS 1000000u
#define THREADS   100000u
/* A simulated timer's lateness, as on a virtual machine. */
#define LATE_NS 2000u

static void test_intervals_lie_around_the_period(void **state)
{
	struct sampling_interval interval;
	double sum = 0, squares = 0;
	unsigned count = 100000;

	(void)state;
	sampling_interval_start(&interval, PERIOD_NS, 1);
	for (unsigned i = 0; i < count; i++) {
		sampling_interval_next(&interval, PERIOD_NS, 0);
		assert_in_range(interval.ns, 3 * PERIOD_NS / 4, 5 * PERIOD_NS / 4);
		sum += interval.ns;
		squares += (double)interval.ns * (double)interval.ns;
	}
	assert_true(fabs(sum / count - PERIOD_NS) < 0.01 * PERIOD_NS);
	/* Uniform over half a period. */
	assert_true(fabs(sqrt(squares / count - pow(sum / count, 2)) - PERIOD_NS / 2 / sqrt(12)) <
		    0.02 * PERIOD_NS);
}

/* Once, and as random as others; a shorter one than the period has it changes nothing. */
static void test_one_is_longer(void **state)
{
	struct sampling_interval interval;

	(void)state;
	sampling_interval_start(&interval, PERIOD_NS, 1);
	for (unsigned i = 0; i < 1000; i++) {
		interval.least_ns = 6 * PERIOD_NS;
		sampling_interval_next(&interval, PERIOD_NS, 1000);
		assert_in_range(interval.ns, 6 * PERIOD_NS - 10, 10 * PERIOD_NS);
		assert_int_equal(sampling_interval_charge(&interval, 1000 + interval.ns, true),
				 interval.ns);
		interval.least_ns = PERIOD_NS / 2;
		sampling_interval_next(&interval, PERIOD_NS, 1000);
		assert_in_range(interval.ns, 3 * PERIOD_NS / 4, 5 * PERIOD_NS / 4);
	}
}

static void test_tiny_and_huge_periods(void **state)
{
	static const uint64_t periods[] = { 1, 2, 1000, 20000, 20001, 100000, 10000000000ull };

	(void)state;
	for (size_t i = 0; i < sizeof(periods) / sizeof(periods[0]); i++) {
		for (uint64_t seed = 0; seed < 1000; seed++) {
			struct sampling_interval interval;

			sampling_interval_start(&interval, periods[i], seed);
			assert_in_range(interval.ns, 1, periods[i]);
			sampling_interval_next(&interval, periods[i], 5);
			assert_in_range(interval.ns, 1, 2 * periods[i]);
			/* A clock that went backwards, or was never read. */
			assert_in_range(sampling_interval_charge(&interval, 0, true), 1,
					2 * periods[i]);
		}
	}
}

/* Of each cycle of time, the first part is spent in user code and the rest in the kernel. */
struct thread_life {
	uint64_t length_ns;
	uint64_t cycle_ns;
	uint64_t user_ns;
};

static bool in_user(const struct thread_life *life, uint64_t time_ns)
{
	return time_ns % life->cycle_ns < life->user_ns;
}

/* What the clock that stops charges to user code, being varied at each of its samples. */
static double user_charge(const struct thread_life *life, uint64_t seed)
{
	struct sampling_interval interval;
	uint64_t tick_ns, charged = 0;

	sampling_interval_start(&interval, PERIOD_NS, seed);
	tick_ns = interval.ns;
	while (tick_ns + LATE_NS < life->length_ns) {
		uint64_t now_ns = tick_ns + LATE_NS;

		if (in_user(life, now_ns)) {
			charged += sampling_interval_charge(&interval, now_ns, true);
			sampling_interval_next(&interval, PERIOD_NS, now_ns);
			tick_ns = now_ns;
		}
		tick_ns += interval.ns;
	}
	return (double)charged;
}

/* What the clock that looks at the kernel charges; varied never, or at some moment. */
static double kernel_charge(const struct thread_life *life, uint64_t seed, uint64_t varied_ns)
{
	struct sampling_interval interval;
	uint64_t tick_ns, charged = 0;

	sampling_interval_start(&interval, PERIOD_NS, seed);
	for (tick_ns = interval.ns; tick_ns < life->length_ns; tick_ns += interval.ns) {
		if (tick_ns >= varied_ns && interval.first) {
			sampling_interval_next(&interval, PERIOD_NS, 0);
			tick_ns = varied_ns;
		} else if (!in_user(life, tick_ns)) {
			charged += sampling_interval_charge(&interval, tick_ns, false);
		}
	}
	return (double)charged;
}

static double user_time(const struct thread_life *life)
{
	uint64_t rest_ns = life->length_ns % life->cycle_ns;

	return (double)(life->length_ns / life->cycle_ns * life->user_ns +
			(rest_ns < life->user_ns ? rest_ns : life->user_ns));
}

/* Many threads of the same life: one has no sample or too many, all together have what they took.
 */
static void test_short_lives_are_charged_their_time(void **state)
{
	static const struct thread_life lives[] = {
		{ 100000, 100000, 100000 },     { 500000, 500000, 500000 },
		{ 1500000, 1500000, 1500000 },  { 20000000, 20000000, 20000000 },
		{ 300000, 20000, 12000 },       { 1700000, 30011, 9000 },
		{ 10000000, 1100000, 300000 },  { 10000000, 1000000, 500000 },
		{ 10000000, 9000000, 3000000 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(lives) / sizeof(lives[0]); i++) {
		double user = 0, kernel = 0, length = THREADS * (double)lives[i].length_ns;
		double truth = THREADS * user_time(&lives[i]);

		for (unsigned thread = 0; thread < THREADS; thread++) {
			user += user_charge(&lives[i], thread + 1);
			kernel += kernel_charge(&lives[i], thread + 1, UINT64_MAX);
		}
		print_message("life of %6.3f ms: user %.4f of %.4f, kernel %.4f of %.4f\n",
			      (double)lives[i].length_ns / 1e6, user / length, truth / length,
			      kernel / length, 1 - truth / length);
		assert_true(fabs(user - truth) < 0.04 * length);
		assert_true(fabs(kernel - (length - truth)) < 0.04 * length);
	}
}

/* Work in cycles of exactly a period: equal intervals would see one part of it alone. */
static void test_cycle_of_a_period(void **state)
{
	static const struct thread_life life = { 1000000000, PERIOD_NS, PERIOD_NS / 4 };

	(void)state;
	for (uint64_t seed = 1; seed < 20; seed++) {
		double share = user_charge(&life, seed) / (double)life.length_ns;

		assert_true(fabs(share - 0.25) < 0.1);
	}
}

/* The interval that a long life begins with is changed, and little is lost. */
static void test_change_of_the_first_interval(void **state)
{
	static const struct thread_life life = { 200000000, 200000000, 0 };
	double charged = 0;

	(void)state;
	for (uint64_t seed = 1; seed <= 1000; seed++)
		charged += kernel_charge(&life, seed, 3 * PERIOD_NS) / (double)life.length_ns;
	assert_true(fabs(charged / 1000 - 1) < 0.01);
}

/* One thread after the other goes on where the last one was left: nothing is left to chance. */
static void test_short_lives_one_after_the_other(void **state)
{
	static const uint64_t lengths[] = { 100000, 790000, 1234567, 3300000 };

	(void)state;
	for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		uint64_t threads = 600ull * PERIOD_NS / lengths[i], samples = 0;
		struct sampling_rest rest = { 0 };
		double charged = 0, truth = (double)(threads * lengths[i]);

		for (uint64_t seed = 1; seed <= threads; seed++) {
			struct sampling_interval interval;
			uint64_t now_ns;

			sampling_interval_start(&interval, PERIOD_NS, seed);
			sampling_interval_continue(&interval, rest);
			for (now_ns = interval.ns; now_ns < lengths[i]; now_ns += interval.ns) {
				charged += sampling_interval_charge(&interval, now_ns, true);
				sampling_interval_next(&interval, PERIOD_NS, now_ns);
				samples++;
			}
			rest = sampling_interval_rest(&interval, lengths[i]);
			assert_in_range(rest.left_ns, 1, 5 * PERIOD_NS / 4);
		}
		print_message("lives of %.2f ms: %.4f of the truth in %llu samples\n",
			      (double)lengths[i] / 1e6, charged / truth,
			      (unsigned long long)samples);
		/* By chance alone it would be 0.04 for one standard deviation. */
		assert_true(fabs(charged / truth - 1) < 0.005);
	}
}

/* None is sampled before so much has run since the last sample: nothing is lost by that. */
static void test_delayed(void **state)
{
	static const uint64_t lengths[] = { 100000, 790000, 3300000, 200000000 };
	const uint64_t wait_ns = 3 * PERIOD_NS + 12345; /* no end of a life is one of an interval */

	(void)state;
	for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		uint64_t threads = 2000ull * PERIOD_NS / lengths[i], since_ns = 0;
		struct sampling_rest rest = { 0 };
		double charged = 0, truth = (double)(threads * lengths[i]);

		for (uint64_t seed = 1; seed <= threads; seed++) {
			struct sampling_interval interval;
			uint64_t now_ns = 0, before_ns = 0;

			sampling_interval_start(&interval, PERIOD_NS, seed);
			sampling_interval_continue(&interval, rest);
			sampling_interval_delay(&interval,
						since_ns < wait_ns ? wait_ns - since_ns : 0);
			while (now_ns + interval.ns < lengths[i]) {
				now_ns += interval.ns;
				assert_true(since_ns + now_ns - before_ns >= wait_ns);
				charged += sampling_interval_charge(&interval, now_ns, true);
				interval.least_ns = wait_ns;
				sampling_interval_next(&interval, PERIOD_NS, now_ns);
				since_ns = 0;
				before_ns = now_ns;
			}
			since_ns += lengths[i] - before_ns;
			rest = sampling_interval_rest(&interval, lengths[i]);
		}
		print_message("lives of %.2f ms: %.4f of the truth\n", (double)lengths[i] / 1e6,
			      charged / truth);
		assert_true(fabs(charged / truth - 1) < 0.01);
	}
}

/* Not of one that is under way. */
static void test_delay_of_a_later_one(void **state)
{
	struct sampling_interval interval;
	uint64_t before_ns;

	(void)state;
	sampling_interval_start(&interval, PERIOD_NS, 1);
	before_ns = interval.ns;
	sampling_interval_delay(&interval, before_ns - 1);
	assert_int_equal(interval.ns, before_ns);
	sampling_interval_delay(&interval, 2 * PERIOD_NS);
	assert_int_equal(interval.ns, 2 * PERIOD_NS);
	assert_int_equal(sampling_interval_charge(&interval, 2 * PERIOD_NS, true),
			 3 * PERIOD_NS - before_ns);
	sampling_interval_next(&interval, PERIOD_NS, 2 * PERIOD_NS);
	before_ns = interval.ns;
	sampling_interval_delay(&interval, 10 * PERIOD_NS);
	assert_int_equal(interval.ns, before_ns);
}

static void test_what_is_left(void **state)
{
	struct sampling_interval interval;

	(void)state;
	sampling_interval_start(&interval, PERIOD_NS, 1);
	sampling_interval_continue(&interval, (struct sampling_rest){ 400000, 1100000, 0 });
	assert_int_equal(sampling_interval_rest(&interval, 100000).left_ns, 300000);
	assert_int_equal(sampling_interval_rest(&interval, 100000).whole_ns, 1100000);
	assert_int_equal(sampling_interval_charge(&interval, 400000, true), 1100000);
	/* Its end was met where the clock does not look. */
	assert_int_equal(sampling_interval_rest(&interval, 500000).left_ns, 900000);
	assert_int_equal(sampling_interval_rest(&interval, 2000000).left_ns, 0);
	sampling_interval_continue(&interval, (struct sampling_rest){ 0 });
	assert_int_equal(interval.ns, 400000);
	sampling_interval_continue(&interval, (struct sampling_rest){ 1, 900000, 0 });
	assert_in_range(interval.ns, 10000, PERIOD_NS / 10);
	sampling_interval_next(&interval, PERIOD_NS, 5000000);
	assert_int_equal(sampling_interval_rest(&interval, 5000000 + 2 * interval.ns + 7).left_ns,
			 interval.ns - 7);
	assert_int_equal(sampling_interval_rest(&interval, 4000000).left_ns, 0);
}

/* A life during which the period is changed, at any moments: neither too little nor too much. */
static void test_changes_in_the_middle(void **state)
{
	double charged = 0, length_ns = 20.0 * PERIOD_NS;

	(void)state;
	for (uint64_t seed = 1; seed <= 20000; seed++) {
		struct sampling_interval interval;
		uint64_t change_ns = 1500000, now_ns = 0, period_ns = PERIOD_NS;

		sampling_interval_start(&interval, period_ns, seed);
		for (;;) {
			if (now_ns + interval.ns >= change_ns && change_ns < 10000000) {
				now_ns = change_ns;
				change_ns += 3100000;
				period_ns += period_ns / 2;
				sampling_interval_change(&interval, period_ns, now_ns);
				continue;
			}
			now_ns += interval.ns;
			if ((double)now_ns > length_ns)
				break;
			charged += (double)sampling_interval_charge(&interval, now_ns, true);
			sampling_interval_next(&interval, period_ns, now_ns);
		}
	}
	print_message("with changes: %.4f of the truth\n", charged / 20000 / length_ns);
	assert_true(fabs(charged / 20000 / length_ns - 1) < 0.01);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_intervals_lie_around_the_period),
		cmocka_unit_test(test_one_is_longer),
		cmocka_unit_test(test_tiny_and_huge_periods),
		cmocka_unit_test(test_short_lives_are_charged_their_time),
		cmocka_unit_test(test_cycle_of_a_period),
		cmocka_unit_test(test_change_of_the_first_interval),
		cmocka_unit_test(test_short_lives_one_after_the_other),
		cmocka_unit_test(test_delayed),
		cmocka_unit_test(test_delay_of_a_later_one),
		cmocka_unit_test(test_what_is_left),
		cmocka_unit_test(test_changes_in_the_middle),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
