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
		.self_ns = 10 * SECOND,
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
	evidence.self_ns *= 20;
	evidence.redundant = evidence.sampled;
	assert_true(avoidable_estimate(&evidence).time_ns < small / 100);
}

static void test_hotness_alone_is_nothing(void **state)
{
	struct avoidable_evidence evidence = { .self_ns = 1000 * SECOND, .call_ns = 500 };

	(void)state;
	assert_int_equal(avoidable_estimate(&evidence).time_ns, 0); /* no samples */
	evidence.sampled = 1000;
	assert_int_equal(avoidable_estimate(&evidence).time_ns, 0); /* none redundant */
}

static void test_redundancy_alone_is_nothing(void **state)
{
	struct avoidable_evidence evidence = interaction_bound();

	(void)state;
	evidence.self_ns = 0;
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
		    avoidable_estimate(&many).redundancy * 0.85);
	few.sampled = few.redundant = few.repeated = 1;
	assert_true(avoidable_estimate(&few).redundancy < 0.75);
}

static void test_static_tables_count_half(void **state)
{
	struct avoidable_evidence evidence = interaction_bound();

	(void)state;
	for (size_t i = 0; i < MEMORY_CLASS_COUNT; i++)
		evidence.redundant_by_memory[i] = i == MEMORY_STATIC ? 120 : 0;
	assert_true(avoidable_estimate(&evidence).payload == 0.5);
	evidence.redundant_by_memory[MEMORY_HEAP] = 120;
	assert_true(avoidable_estimate(&evidence).payload == 0.75);
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
			.self_ns = unit_random_next(&random) >> unit_random_below(&random, 64),
			.sampled =
				unit_random_next(&random) >> (1 + unit_random_below(&random, 63)),
			.repeated = unit_random_next(&random) >> unit_random_below(&random, 64),
			.call_ns = unit_random_next(&random) >> unit_random_below(&random, 64),
		};
		struct avoidable avoidable;

		evidence.self_ns >>= 12; /* exact in a double */
		evidence.redundant =
			evidence.sampled ? unit_random_below(&random, evidence.sampled + 1) : 0;
		for (size_t i = 0; i < MEMORY_CLASS_COUNT; i++)
			evidence.redundant_by_memory[i] =
				unit_random_next(&random) >> unit_random_below(&random, 64);
		avoidable = avoidable_estimate(&evidence);
		assert_true(avoidable.redundancy >= 0 && avoidable.redundancy <= 1);
		assert_true(avoidable.interaction >= 0 && avoidable.interaction <= 1);
		assert_true(avoidable.payload >= 0.5 && avoidable.payload <= 1);
		assert_true(avoidable.repetition >= 0.6 && avoidable.repetition <= 1);
		assert_true(avoidable.time_ns <= evidence.self_ns);
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
		cmocka_unit_test(test_static_tables_count_half),
		cmocka_unit_test(test_interaction_over_duration),
		cmocka_unit_test(test_bounds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
