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

/* once(k) of lines 50 and 51: half of its calls get what the one before got. */
static void test_own_function(void **state)
{
	struct fixture *fixture = *state;
	uint32_t callers[] = { call_at(fixture, "twice", 50), call_at(fixture, "twice", 51) };
	uint32_t inside = call_at(fixture, "once", 15), entry;

	site_of(fixture, callers[0])->of_callee = site_of(fixture, callers[0])->runs_python = true;
	site_of(fixture, callers[1])->of_callee = site_of(fixture, callers[1])->runs_python = true;
	assert_non_null(argument_log_site(&fixture->log,
					  &compiled_function(fixture->compiled, "once")->code,
					  ARGUMENT_ENTRY, &entry));
	for (uint32_t i = 0; i < 2 * MANY; i++)
		add_two(fixture, frame(inside, i / 2, i / 2), frame(callers[i % 2], i / 2, i / 2));
	judge(fixture);
	assert_int_equal(votes(fixture, ARGUMENT_COMMON, callers[1]), 0);
	site_of(fixture, entry)->compared = 16;
	site_of(fixture, entry)->repeated = 8;
	judge(fixture);
	assert_int_equal(votes(fixture, ARGUMENT_COMMON, callers[1]), MANY);
	assert_int_equal(votes(fixture, ARGUMENT_NEEDED, inside), MANY);
	/* A third place has a half of its calls: it is the function that is to keep its results. */
	for (uint32_t i = 0; i < 2 * MANY; i++)
		add_two(fixture, frame(inside, i, i), frame(call_at(fixture, "join", 24), i, i));
	judge(fixture);
	assert_int_equal(votes(fixture, ARGUMENT_COMMON, callers[1]), 0);
	assert_int_equal(votes(fixture, ARGUMENT_REPEATED, inside), 4 * MANY);
	fixture->log.sample_count = 2 * MANY;
	/* More than two places would explain. */
	site_of(fixture, entry)->repeated = 15;
	judge(fixture);
	assert_int_equal(votes(fixture, ARGUMENT_COMMON, callers[1]), 0);
	assert_int_equal(votes(fixture, ARGUMENT_REPEATED, inside), 2 * MANY);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_second_time, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_another_outcome, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_state, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_growing, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_own_function, set_up, tear_down),
	};

	return run_on_interpreters(tests);
}
