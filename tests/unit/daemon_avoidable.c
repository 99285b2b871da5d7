/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/detect/avoidable.h"
#include "unit_random.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#define SECOND 1000000000ull

/* A line as an inner loop over single elements has it. */
static struct avoidable_evidence interaction_bound(void)
{
	return (struct avoidable_evidence){
		.time_ns = 10 * SECOND,
		.sampled = 200,
		.redundant = 120,
		.redundant_by_memory = { [MEMORY_HEAP] = 60,
					 [MEMORY_OBJECT] = 50,
					 [MEMORY_STATIC] = 10 },
		.repeated = 110,
		.call_ns = 600,
	};
}

static void test_element_loop_is_mostly_avoidable(void **state)
{
	struct avoidable_evidence evidence = interaction_bound();

	(void)state;
	assert_in_range(avoidable_estimate(&evidence).time_ns, 7 * SECOND, 10 * SECOND);
}

/* The trap: the same raw redundancy, but the work is done in bulk. */
static void test_vectorised_line_of_the_same_redundancy(void **state)
{
	struct avoidable_evidence evidence = interaction_bound();
	uint64_t small = avoidable_estimate(&evidence).time_ns;

	(void)state;
	evidence.call_ns = 1000000;
	assert_int_equal(avoidable_estimate(&evidence).time_ns, 0);
	/* Even when it is far hotter, and all of it redundant. */
	evidence.time_ns *= 20;
	evidence.redundant = evidence.sampled;
	assert_true(avoidable_estimate(&evidence).time_ns < small / 100);
}

static void test_hotness_alone_is_nothing(void **state)
{
	struct avoidable_evidence evidence = { .time_ns = 1000 * SECOND, .call_ns = 500 };

	(void)state;
	assert_int_equal(avoidable_estimate(&evidence).time_ns, 0); /* no samples */
	evidence.sampled = 1000;
	assert_int_equal(avoidable_estimate(&evidence).time_ns, 0); /* none redundant */
	/* What the run has elsewhere stands in as long as nothing is known, and no longer. */
	evidence.run_share = 0.6;
	assert_true(avoidable_estimate(&evidence).time_ns < 10 * SECOND);
	evidence.sampled = 0;
	assert_true(avoidable_estimate(&evidence).time_ns > 100 * SECOND);
	assert_int_equal(avoidable_estimate(&evidence).low_ns, 0);
}

static void test_redundancy_alone_is_nothing(void **state)
{
	struct avoidable_evidence evidence = interaction_bound();

	(void)state;
	evidence.time_ns = 0;
	assert_int_equal(avoidable_estimate(&evidence).time_ns, 0);
}

static void test_few_samples_count_less(void **state)
{
	struct avoidable_evidence many = interaction_bound(), few = many;

	(void)state;
	few.sampled = 5;
	few.redundant = 3;
	few.repeated = 3;
	assert_true(avoidable_estimate(&few).redundancy <
		    avoidable_estimate(&many).redundancy * 0.97);
	few.sampled = few.redundant = few.repeated = 1;
	assert_true(avoidable_estimate(&few).redundancy <
		    avoidable_estimate(&many).redundancy * 0.9);
}

static void test_static_tables_count_less(void **state)
{
	struct avoidable_evidence evidence = interaction_bound();
	double data, mixed;

	(void)state;
	for (size_t i = 0; i < MEMORY_CLASS_COUNT; i++)
		evidence.redundant_by_memory[i] = i == MEMORY_HEAP ? 120 : 0;
	data = avoidable_estimate(&evidence).payload;
	evidence.redundant_by_memory[MEMORY_STATIC] = 120;
	mixed = avoidable_estimate(&evidence).payload;
	evidence.redundant_by_memory[MEMORY_HEAP] = 0;
	assert_true(data > mixed && mixed > avoidable_estimate(&evidence).payload);
	/* What next to nothing is known of lies in the middle. */
	evidence.redundant_by_memory[MEMORY_STATIC] = 0;
	assert_true(avoidable_estimate(&evidence).payload < data);
}

static void test_repetition_on_the_line(void **state)
{
	struct avoidable_evidence evidence = interaction_bound();
	uint64_t same_line = avoidable_estimate(&evidence).time_ns;

	(void)state;
	evidence.repeated = 0; /* handed from line to line */
	assert_true(avoidable_estimate(&evidence).time_ns < same_line / 2);
	assert_true(avoidable_estimate(&evidence).time_ns > same_line / 6);
}

/* Bulk work counts when its stores put there what was there already, often enough. */
static void test_bulk_work_done_again(void **state)
{
	struct avoidable_evidence evidence = interaction_bound();

	(void)state;
	evidence.call_ns = 1000000;
	evidence.stores = evidence.again_stores = 20;
	evidence.again = evidence.again_redundant = 4;
	assert_true(avoidable_estimate(&evidence).invariance < 0.1);
	evidence.again = evidence.again_redundant = 20;
	assert_true(avoidable_estimate(&evidence).invariance > 0.8);
	assert_in_range(avoidable_estimate(&evidence).time_ns, 5 * SECOND, 10 * SECOND);
	assert_true(avoidable_estimate(&evidence).by_invariance);
	/* That other values were stored on the way says nothing, nor where. */
	evidence.redundant = evidence.repeated = 0;
	assert_in_range(avoidable_estimate(&evidence).time_ns, 5 * SECOND, 10 * SECOND);
	assert_in_range(avoidable_estimate(&evidence).low_ns, 5 * SECOND,
			avoidable_estimate(&evidence).time_ns);
	/* What loads found of it may refute that, and prove nothing: scratch memory looks so. */
	evidence.again_loads = 40;
	assert_true(avoidable_estimate(&evidence).invariance == 0);
	evidence.again_loads_redundant = 40;
	assert_true(avoidable_estimate(&evidence).invariance > 0.8);
	assert_true(avoidable_estimate(&evidence).invariance < 0.9);
	evidence.again = evidence.again_redundant = 0;
	assert_true(avoidable_estimate(&evidence).invariance == 0);
	evidence.again = evidence.again_redundant = 20;
	evidence.again_loads = evidence.again_loads_redundant = 0;
	/* Of a line that makes other calls too it is that part. */
	evidence.stores = 83;
	assert_in_range(avoidable_estimate(&evidence).time_ns, SECOND, 5 * SECOND / 2);
	evidence = interaction_bound();
	evidence.call_ns = 1000000;
	evidence.again = evidence.stores = evidence.again_stores = 20;
	evidence.again_redundant = 10;
	assert_int_equal(avoidable_estimate(&evidence).time_ns, 0);
	/* Short calls do not need it. */
	evidence.call_ns = 1000;
	assert_true(avoidable_estimate(&evidence).time_ns > 5 * SECOND);
	assert_false(avoidable_estimate(&evidence).by_invariance);
}

static void test_duration_of_calls(void **state)
{
	struct call_evidence evidence = { .residual_ns = 700 };
	uint64_t by_share, joined;

	(void)state;
	/* Nothing but residuals. */
	assert_int_equal(avoidable_call_ns(&evidence), 700);
	/* A third in the interpreter: 150 ns of it for 300 ns of call. */
	evidence = (struct call_evidence){ .time_ns = 3000 * SECOND,
					   .python_ns = 1000 * SECOND,
					   .period_ns = SECOND / 100 };
	by_share = avoidable_call_ns(&evidence);
	assert_in_range(by_share, 290, 310);
	/* One residual of 60 us, as a page fault makes one: still short. */
	evidence.residual_ns = 60000;
	evidence.residuals = 1;
	joined = avoidable_call_ns(&evidence);
	assert_in_range(joined, by_share + 1, AVOIDABLE_SHORT_CALL_NS);
	/* Many of them are to be taken for serious, but for no more than a half. */
	evidence.residuals = 1000;
	assert_in_range(avoidable_call_ns(&evidence), AVOIDABLE_SHORT_CALL_NS, 6000);
	/* No sample at all in the interpreter: bulk work, the more samples the surer. */
	evidence = (struct call_evidence){ .time_ns = SECOND, .period_ns = SECOND / 100 };
	assert_in_range(avoidable_call_ns(&evidence), AVOIDABLE_LONG_CALL_NS, 1000000);
	evidence.time_ns = SECOND / 100;
	assert_in_range(avoidable_call_ns(&evidence), AVOIDABLE_SHORT_CALL_NS,
			AVOIDABLE_LONG_CALL_NS);
	/* All of it: no native calls to speak of. */
	evidence.time_ns = evidence.python_ns = 100 * SECOND;
	assert_in_range(avoidable_call_ns(&evidence), 1, 1000);
}

/* The interval holds the estimate and narrows as samples come in. */
static void test_interval(void **state)
{
	struct avoidable_evidence evidence = interaction_bound();
	struct avoidable exact, few, many;

	(void)state;
	exact = avoidable_estimate(&evidence); /* time without error */
	assert_true(exact.low_ns < exact.time_ns && exact.time_ns < exact.high_ns);
	evidence.period_ns = SECOND / 10;
	many = avoidable_estimate(&evidence); /* 100 samples: 20% more or less */
	assert_true((double)many.low_ns / (double)many.time_ns <
		    (double)exact.low_ns / (double)exact.time_ns);
	assert_true((double)many.high_ns / (double)many.time_ns >
		    (double)exact.high_ns / (double)exact.time_ns);
	assert_true((double)many.low_ns > 0.7 * (double)many.time_ns);
	assert_true((double)many.high_ns < 1.35 * (double)many.time_ns);
	evidence.sampled = 4;
	evidence.redundant = 2;
	few = avoidable_estimate(&evidence);
	assert_true((double)few.low_ns / (double)few.time_ns <
		    (double)many.low_ns / (double)many.time_ns);
	assert_true((double)few.high_ns / (double)few.time_ns >
		    (double)many.high_ns / (double)many.time_ns);
	/* None found among four: it may yet be some. */
	evidence.redundant = evidence.repeated = 0;
	few = avoidable_estimate(&evidence);
	assert_int_equal(few.time_ns, 0);
	assert_int_equal(few.low_ns, 0);
	assert_true(few.high_ns > 0);
	evidence.sampled = 0;
	assert_int_equal(avoidable_estimate(&evidence).high_ns, 0);
}

/* A few samples of which none could be followed are hardly a reason for anything. */
static void test_confidence(void **state)
{
	struct avoidable_evidence evidence = interaction_bound();

	(void)state;
	evidence.sampled = evidence.redundant = evidence.repeated = 0;
	evidence.period_ns = evidence.time_ns / 6;
	assert_true(avoidable_estimate(&evidence).confidence < 0.2);
	evidence.period_ns = evidence.time_ns / 200;
	assert_true(avoidable_estimate(&evidence).confidence > 0.8);
	evidence.period_ns = evidence.time_ns / 6;
	evidence.sampled = 30;
	assert_true(avoidable_estimate(&evidence).confidence > 0.8);
}

static void test_interaction_over_duration(void **state)
{
	struct avoidable_evidence evidence = interaction_bound();
	double before = 1;

	(void)state;
	evidence.call_ns = 0;
	assert_true(avoidable_estimate(&evidence).interaction == 0.5);
	evidence.call_ns = AVOIDABLE_SHORT_CALL_NS;
	assert_true(avoidable_estimate(&evidence).interaction == 1);
	evidence.call_ns = 10000; /* the middle on a logarithmic scale */
	assert_true(avoidable_estimate(&evidence).interaction > 0.499);
	assert_true(avoidable_estimate(&evidence).interaction < 0.501);
	/* Never up, never a jump. */
	for (evidence.call_ns = 1; evidence.call_ns < 200000; evidence.call_ns += 50) {
		double factor = avoidable_estimate(&evidence).interaction;

		assert_true(factor <= before && before - factor < 0.02);
		before = factor;
	}
	assert_true(before == 0);
}

/* Each factor lies in 0 to 1 and the time never exceeds the line's, whatever the counts are. */
static void test_bounds(void **state)
{
	struct unit_random random = { .state = 4 };

	(void)state;
	for (int round = 0; round < 20000; round++) {
		struct avoidable_evidence evidence = {
			.time_ns = unit_random_next(&random) >> unit_random_below(&random, 64),
			.sampled =
				unit_random_next(&random) >> (1 + unit_random_below(&random, 63)),
			.repeated = unit_random_next(&random) >> unit_random_below(&random, 64),
			.call_ns = unit_random_next(&random) >> unit_random_below(&random, 64),
		};
		struct avoidable avoidable;

		evidence.time_ns >>= 12; /* exact in a double */
		evidence.run_share = (double)unit_random_below(&random, 11) / 10;
		evidence.again = unit_random_below(&random, 1000) + 1;
		evidence.again_redundant = unit_random_below(&random, evidence.again + 1);
		evidence.stores = unit_random_below(&random, 1000);
		evidence.again_stores = unit_random_below(&random, 1000);
		evidence.again_loads = unit_random_below(&random, 1000);
		evidence.again_loads_redundant =
			unit_random_below(&random, evidence.again_loads + 1);
		evidence.period_ns = unit_random_below(&random, 3) * 10000000;
		evidence.redundant =
			evidence.sampled ? unit_random_below(&random, evidence.sampled + 1) : 0;
		for (size_t i = 0; i < MEMORY_CLASS_COUNT; i++)
			evidence.redundant_by_memory[i] =
				unit_random_next(&random) >> unit_random_below(&random, 64);
		avoidable = avoidable_estimate(&evidence);
		assert_true(avoidable.redundancy >= 0 && avoidable.redundancy <= 1);
		assert_true(avoidable.interaction >= 0 && avoidable.interaction <= 1);
		assert_true(avoidable.invariance >= 0 && avoidable.invariance <= 1);
		assert_true(avoidable.payload >= 0.7 && avoidable.payload <= 1);
		assert_true(avoidable.repetition >= 0.2 && avoidable.repetition <= 1);
		assert_true(avoidable.time_ns <= evidence.time_ns);
		assert_true(avoidable.low_ns <= avoidable.time_ns);
		assert_true(avoidable.high_ns >= avoidable.time_ns);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_element_loop_is_mostly_avoidable),
		cmocka_unit_test(test_vectorised_line_of_the_same_redundancy),
		cmocka_unit_test(test_hotness_alone_is_nothing),
		cmocka_unit_test(test_redundancy_alone_is_nothing),
		cmocka_unit_test(test_few_samples_count_less),
		cmocka_unit_test(test_static_tables_count_less),
		cmocka_unit_test(test_repetition_on_the_line),
		cmocka_unit_test(test_bulk_work_done_again),
		cmocka_unit_test(test_duration_of_calls),
		cmocka_unit_test(test_interval),
		cmocka_unit_test(test_confidence),
		cmocka_unit_test(test_interaction_over_duration),
		cmocka_unit_test(test_bounds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
