/* SPDX-License-Identifier: Apache-2.0 */
/* Calls whose result was there already, by what samples saw of them. */
#include "argument_samples.h"

/* f(k) of lines 50 and 51, with other contents in each round */
static void add_common(struct fixture *fixture, uint32_t first, uint32_t second)
{
	forget_samples(fixture);
	add_others(fixture, first, MANY);
	add_others(fixture, second, MANY);
	judge(fixture);
	assert_int_equal(votes(fixture, ARGUMENT_NEEDED, first), MANY);
}

static void test_second_time(void **state)
{
	struct fixture *fixture = *state;
	uint32_t first = call_at(fixture, "twice", 50), second = call_at(fixture, "twice", 51);

	add_common(fixture, first, second);
	assert_int_equal(votes(fixture, ARGUMENT_COMMON, second), MANY);
	/* The same of what is seen below it. */
	forget_samples(fixture);
	for (uint32_t i = 0; i < MANY; i++) {
		add(fixture, frame(second, i, i));
		add_two(fixture, frame(call_at(fixture, "once", 15), i, i), frame(second, i, i));
	}
	all_are(fixture, ARGUMENT_COMMON, second);
}

/* Of which the operands do not say all. */
static void test_another_outcome(void **state)
{
	struct fixture *fixture = *state;
	uint32_t first = call_at(fixture, "twice", 50), second = call_at(fixture, "twice", 51);
	struct argument_site *site = site_of(fixture, second);

	site->asks = true;
	add_common(fixture, first, second);
	assert_int_equal(votes(fixture, ARGUMENT_NEEDED, second), MANY);
	site->asks = false;
	site->awaits = true;
	add_common(fixture, first, second);
	assert_int_equal(votes(fixture, ARGUMENT_NEEDED, second), MANY);
	site->awaits = false;
	/* A function of the program's own may do anything. */
	site->of_callee = site->runs_python = true;
	add_common(fixture, first, second);
	assert_int_equal(votes(fixture, ARGUMENT_NEEDED, second), MANY);
	site->of_library = true;
	add_common(fixture, first, second);
	assert_int_equal(votes(fixture, ARGUMENT_COMMON, second), MANY);
}

static void test_state(void **state)
{
	struct fixture *fixture = *state;
	uint32_t second = call_at(fixture, "twice", 51);

	for (uint32_t i = 0; i < MANY; i++) {
		struct argument_frame one = frame(second, i, i);

		one.flags |= i % 4 ? 0 : ARGUMENT_STATE;
		add(fixture, one);
	}
	all_are(fixture, ARGUMENT_NEEDED, second);
}

/* Other ways spare the first, too. */
static void test_growing(void **state)
{
	struct fixture *fixture = *state;
	uint32_t second = call_at(fixture, "twice", 51);

	for (uint32_t i = 0; i < 3 * MANY; i++) {
		struct argument_frame one = frame(second, i, i);

		one.largest = 100 + i;
		add(fixture, one);
	}
	all_are(fixture, ARGUMENT_GROWING, second);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_second_time, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_another_outcome, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_state, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_growing, set_up, tear_down),
	};

	return run_on_interpreters(tests);
}
