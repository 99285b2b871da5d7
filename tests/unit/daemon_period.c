/* SPDX-License-Identifier: Apache-2.0 */
/* The period between two samples: planned by what stops cost, then balanced by what was refused. */
#include "daemon/session/period.h"

#include "common/clock.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define WANTED_NS (20 * NS_PER_MS)
#define BEGIN_NS  (100 * NS_PER_SECOND)

static struct period begun(void)
{
	struct period period;

	period_init(&period, WANTED_NS);
	return period;
}

static void test_nothing_is_known_at_first(void **state)
{
	struct period period = begun();
	struct period_figures figures = { .offers = 10, .skipped = 10, .follows_accesses = true };

	(void)state;
	assert_int_equal(period_balance(&period, WANTED_NS, &figures, BEGIN_NS), WANTED_NS);
	assert_false(period.planned);
	/* What stops cost says nothing yet either where no access was offered. */
	figures =
		(struct period_figures){ .suggested_ns = 2 * WANTED_NS, .follows_accesses = true };
	assert_int_equal(period_balance(&period, WANTED_NS, &figures, BEGIN_NS), WANTED_NS);
	assert_false(period.planned);
}

static void test_the_plan_is_kept_within_limits(void **state)
{
	static const struct {
		uint64_t wanted_ns, suggested_ns, planned_ns;
	} cases[] = {
		/* Never shorter than asked for, never longer than six times that. */
		{ WANTED_NS, WANTED_NS / 2, WANTED_NS },
		{ WANTED_NS, 2 * WANTED_NS, 2 * WANTED_NS },
		{ WANTED_NS, 10 * WANTED_NS, 6 * WANTED_NS },
		/* At high rates 30 ms may be more than that. */
		{ NS_PER_MS, 10 * NS_PER_MS, 10 * NS_PER_MS },
		{ NS_PER_MS, 50 * NS_PER_MS, 30 * NS_PER_MS },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct period_figures figures = { .suggested_ns = cases[i].suggested_ns };
		struct period period;

		period_init(&period, cases[i].wanted_ns);
		assert_int_equal(period_balance(&period, cases[i].wanted_ns, &figures, BEGIN_NS),
				 cases[i].planned_ns);
		assert_true(period.planned);
	}
}

static void test_longer_where_most_offers_are_refused(void **state)
{
	struct period period = begun();
	struct period_figures figures = {
		.suggested_ns = WANTED_NS, .offers = 100, .skipped = 51, .follows_accesses = true
	};
	uint64_t period_ns = period_balance(&period, WANTED_NS, &figures, BEGIN_NS);

	(void)state;
	assert_int_equal(period_ns, WANTED_NS + WANTED_NS / 2);
	/* Once a second, by what came since. */
	figures.offers = figures.skipped = 200;
	period_ns = period_balance(&period, period_ns, &figures, BEGIN_NS + NS_PER_SECOND - 1);
	assert_int_equal(period_ns, WANTED_NS + WANTED_NS / 2);
	period_ns = period_balance(&period, period_ns, &figures, BEGIN_NS + NS_PER_SECOND);
	assert_int_equal(period_ns, period_longer(WANTED_NS + WANTED_NS / 2));
	/* The last step may lead beyond the longest; behind it there is none. */
	for (unsigned i = 2; i < 10; i++) {
		figures.offers += 100;
		figures.skipped += 100;
		period_ns =
			period_balance(&period, period_ns, &figures, BEGIN_NS + i * NS_PER_SECOND);
	}
	assert_true(period_ns >= 3 * WANTED_NS && period_ns < period_longer(3 * WANTED_NS));
}

static void test_shorter_again_once_stops_are_cheap(void **state)
{
	struct period period = begun();
	struct period_figures figures = { .suggested_ns = 2 * WANTED_NS,
					  .offers = 100,
					  .skipped = 30,
					  .follows_accesses = true };
	uint64_t period_ns = period_balance(&period, WANTED_NS, &figures, BEGIN_NS);

	(void)state;
	assert_int_equal(period_ns, 2 * WANTED_NS);
	figures.suggested_ns = WANTED_NS;
	/* Between a quarter and half refused: it stays. */
	figures.offers = 200;
	figures.skipped = 60;
	period_ns = period_balance(&period, period_ns, &figures, BEGIN_NS + NS_PER_SECOND);
	assert_int_equal(period_ns, 2 * WANTED_NS);
	/* A quarter. */
	figures.offers = 300;
	figures.skipped = 85;
	period_ns = period_balance(&period, period_ns, &figures, BEGIN_NS + 2 * NS_PER_SECOND);
	assert_int_equal(period_ns, WANTED_NS);
	/* Not for a little. */
	assert_int_equal(period_balance(&period, WANTED_NS + WANTED_NS / 4, &figures,
					BEGIN_NS + 3 * NS_PER_SECOND),
			 WANTED_NS + WANTED_NS / 4);
}

static void test_longer_once_stops_are_dear(void **state)
{
	struct period period = begun();
	struct period_figures figures = { .suggested_ns = WANTED_NS, .offers = 100 };
	uint64_t period_ns = period_balance(&period, WANTED_NS, &figures, BEGIN_NS);

	(void)state;
	/* Not for a little. */
	figures.suggested_ns = WANTED_NS + WANTED_NS / 4;
	period_ns = period_balance(&period, period_ns, &figures, BEGIN_NS + NS_PER_SECOND);
	assert_int_equal(period_ns, WANTED_NS);
	/* Once a second. */
	figures.suggested_ns = 5 * WANTED_NS;
	period_ns = period_balance(&period, period_ns, &figures, BEGIN_NS + 2 * NS_PER_SECOND - 1);
	assert_int_equal(period_ns, WANTED_NS);
	period_ns = period_balance(&period, period_ns, &figures, BEGIN_NS + 2 * NS_PER_SECOND);
	assert_int_equal(period_ns, 5 * WANTED_NS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nothing_is_known_at_first),
		cmocka_unit_test(test_the_plan_is_kept_within_limits),
		cmocka_unit_test(test_longer_where_most_offers_are_refused),
		cmocka_unit_test(test_shorter_again_once_stops_are_cheap),
		cmocka_unit_test(test_longer_once_stops_are_dear),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
