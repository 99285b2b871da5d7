/* SPDX-License-Identifier: Apache-2.0 */
/* What a line's verdicts add up to: its kind, the time that it saves, and what clears it. */
#include "daemon/report/model/argument_evidence.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#define MS 1000000ull

static void add(struct argument_evidence *evidence, enum argument_verdict verdict, unsigned count,
		double part)
{
	while (count-- > 0)
		argument_evidence_add(evidence, verdict, 10 * MS,
				      (struct saved_part){ part, part, part });
}

static void test_verdict(void **state)
{
	struct argument_evidence evidence = { .saved_ns = 0 };

	(void)state;
	assert_int_equal(argument_evidence_verdict(&evidence, 0), ARGUMENT_UNKNOWN);
	assert_int_equal(argument_evidence_verdict(&evidence, 1000 * MS), ARGUMENT_UNKNOWN);
	add(&evidence, ARGUMENT_INVARIANT, 4, 1);
	assert_int_equal(argument_evidence_verdict(&evidence, 40 * MS), ARGUMENT_UNKNOWN);
	add(&evidence, ARGUMENT_INVARIANT, 1, 1);
	assert_int_equal(argument_evidence_verdict(&evidence, 50 * MS), ARGUMENT_INVARIANT);
	/* The kind with most time, not samples; those that are needed do not outvote. */
	argument_evidence_add(&evidence, ARGUMENT_FEW, 70 * MS, (struct saved_part){ 1, 1, 1 });
	assert_int_equal(argument_evidence_verdict(&evidence, 120 * MS), ARGUMENT_FEW);
	add(&evidence, ARGUMENT_NEEDED, 50, 1);
	assert_int_equal(argument_evidence_verdict(&evidence, 620 * MS), ARGUMENT_FEW);
}

static void test_clearing(void **state)
{
	struct argument_evidence evidence = { .saved_ns = 0 };

	(void)state;
	add(&evidence, ARGUMENT_NEEDED, 3, 1);
	assert_int_equal(argument_evidence_verdict(&evidence, 30 * MS), ARGUMENT_UNKNOWN);
	add(&evidence, ARGUMENT_NEEDED, 17, 1);
	assert_int_equal(argument_evidence_verdict(&evidence, 200 * MS), ARGUMENT_NEEDED);
	/* Most of the line's time was not compared. */
	assert_int_equal(argument_evidence_verdict(&evidence, 1000 * MS), ARGUMENT_UNKNOWN);
	add(&evidence, ARGUMENT_UNKNOWN, 5, 1);
	assert_int_equal(argument_evidence_verdict(&evidence, 300 * MS), ARGUMENT_NEEDED);
	/* Too many samples that could not be compared. */
	add(&evidence, ARGUMENT_UNKNOWN, 15, 1);
	assert_int_equal(argument_evidence_verdict(&evidence, 300 * MS), ARGUMENT_UNKNOWN);
}

/* Within [low, high]. Of a run that is mostly something else. */
static void saving_of(const struct argument_evidence *evidence, uint64_t limit_ns, uint64_t *ret_ns,
		      uint64_t *ret_low_ns, uint64_t *ret_high_ns)
{
	struct saved_time saved;

	argument_evidence_saving(evidence, limit_ns, 1000000 * MS, 10 * MS, &saved);
	assert_true(saved.low_ns <= saved.time_ns);
	assert_true(saved.time_ns <= saved.high_ns);
	/* What it takes itself is no better known than that, and the fix may save more. */
	assert_true(saved.high_ns <= 3 * limit_ns);
	*ret_ns = saved.time_ns;
	*ret_low_ns = saved.low_ns;
	*ret_high_ns = saved.high_ns;
}

/* A sample of a run that is nearly all of one kind says more of its share than one of many. */
static void test_share_of_run(void **state)
{
	struct argument_evidence evidence = { .saved_ns = 0 };
	struct saved_time most, little;

	(void)state;
	add(&evidence, ARGUMENT_INVARIANT, 100, 1);
	argument_evidence_saving(&evidence, 2000 * MS, 1020 * MS, 10 * MS, &most);
	argument_evidence_saving(&evidence, 2000 * MS, 100000 * MS, 10 * MS, &little);
	/* Nor can a fix save more than there is. */
	assert_true(most.time_ns < little.time_ns);
	assert_true(most.time_ns <= 1020 * MS);
	assert_true(most.low_ns > little.low_ns);
	assert_true(most.high_ns < little.high_ns);
	/* A run of less time than its lines, or of no period, may be forged. */
	argument_evidence_saving(&evidence, 2000 * MS, 0, 10 * MS, &most);
	assert_true(most.low_ns <= most.time_ns && most.time_ns <= most.high_ns);
	argument_evidence_saving(&evidence, 2000 * MS, 1020 * MS, 0, &most);
	assert_int_equal(most.high_ns, 0);
}

static void test_saving(void **state)
{
	uint64_t ns, low_ns, high_ns, wide_ns;

	(void)state;
	for (unsigned v = ARGUMENT_NEEDED + 1; v < ARGUMENT_VERDICT_COUNT; v++) {
		struct argument_evidence few = { .saved_ns = 0 }, many = { .saved_ns = 0 };

		add(&few, v, 10, 1);
		saving_of(&few, 1000 * MS, &ns, &low_ns, &wide_ns);
		/* Most of the time, or little more than there was. */
		assert_in_range(ns, 50 * MS, 155 * MS);
		assert_true(wide_ns > 100 * MS);
		add(&many, v, 1000, 1);
		saving_of(&many, 100000 * MS, &ns, &low_ns, &high_ns);
		assert_in_range(ns, 5000 * MS, 15500 * MS);
		/* More samples, less doubt. */
		assert_true((double)high_ns / (double)ns < (double)wide_ns * 100 / (double)ns);
		/* A line saves no more than it takes. */
		saving_of(&many, 3000 * MS, &ns, &low_ns, &high_ns);
		assert_int_equal(ns, 3000 * MS);
	}
}

/* What does not change in a loop has to be computed once: half of the time of two rounds. */
static void test_trips(void **state)
{
	struct argument_evidence all = { .saved_ns = 0 }, two = { .saved_ns = 0 },
				 one = { .saved_ns = 0 };
	uint64_t ns, low_ns, high_ns, all_ns;

	(void)state;
	add(&all, ARGUMENT_INVARIANT, 100, 1);
	add(&two, ARGUMENT_INVARIANT, 100, 0.5);
	add(&one, ARGUMENT_REPEATED, 100, 0);
	saving_of(&all, 2000 * MS, &all_ns, &low_ns, &high_ns);
	saving_of(&two, 2000 * MS, &ns, &low_ns, &high_ns);
	assert_in_range(ns, all_ns * 0.499, all_ns * 0.501);
	saving_of(&one, 2000 * MS, &ns, &low_ns, &high_ns);
	assert_int_equal(ns, 0);
	assert_int_equal(high_ns, 0);
}

static void test_nothing_saved(void **state)
{
	struct argument_evidence evidence = { .saved_ns = 0 };
	uint64_t ns, low_ns, high_ns;

	(void)state;
	add(&evidence, ARGUMENT_NEEDED, 100, 1);
	add(&evidence, ARGUMENT_UNKNOWN, 100, 1);
	saving_of(&evidence, 2000 * MS, &ns, &low_ns, &high_ns);
	assert_int_equal(high_ns, 0);
	assert_int_equal(evidence.samples[ARGUMENT_NEEDED], 100);
	assert_int_equal(evidence.time_ns[ARGUMENT_UNKNOWN], 1000 * MS);
}

/* One sample: it may be next to nothing. */
/* Samples of a line that nothing was found in widen no interval. */
static void test_others_beside(void **state)
{
	struct argument_evidence alone = { .saved_ns = 0 }, beside;

	(void)state;
	add(&alone, ARGUMENT_REPEATED, 20, 1);
	beside = alone;
	add(&beside, ARGUMENT_UNKNOWN, 1, 1);
	add(&beside, ARGUMENT_NEEDED, 2, 1);
	assert_int_equal(beside.saved_ns, alone.saved_ns);
	assert_int_equal(beside.saved_low_ns, alone.saved_low_ns);
	assert_int_equal(beside.saved_high_ns, alone.saved_high_ns);
}

static void test_one_sample(void **state)
{
	struct argument_evidence evidence = { .saved_ns = 0 };
	uint64_t ns, low_ns, high_ns;

	(void)state;
	add(&evidence, ARGUMENT_GROWING, 1, 1);
	saving_of(&evidence, 2000 * MS, &ns, &low_ns, &high_ns);
	assert_true(low_ns < ns / 4);
	assert_true(ns > 0);
}

static void test_names(void **state)
{
	(void)state;
	for (unsigned v = 0; v < ARGUMENT_VERDICT_COUNT; v++) {
		for (unsigned other = 0; other < v; other++)
			assert_string_not_equal(argument_verdict_name(v),
						argument_verdict_name(other));
		assert_true((argument_verdict_category(v) == CATEGORY_UNCLEAR) ==
			    (v <= ARGUMENT_NEEDED));
	}
	assert_string_equal(argument_verdict_name(ARGUMENT_VERDICT_COUNT), "unknown");
	assert_int_equal(argument_verdict_category(ARGUMENT_FEW), CATEGORY_MEMOIZABLE);
	assert_int_equal(argument_verdict_category(ARGUMENT_INVARIANT), CATEGORY_LOOP_INVARIANT);
	assert_int_equal(argument_verdict_category(ARGUMENT_REPEATED), CATEGORY_REPEATED_CALL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_verdict),       cmocka_unit_test(test_clearing),
		cmocka_unit_test(test_saving),        cmocka_unit_test(test_share_of_run),
		cmocka_unit_test(test_trips),         cmocka_unit_test(test_nothing_saved),
		cmocka_unit_test(test_one_sample),    cmocka_unit_test(test_names),
		cmocka_unit_test(test_others_beside),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
