/* SPDX-License-Identifier: Apache-2.0 */
/* What takes nearly the whole run is no repetition, unless calls that follow each other say so. */
#include "argument_samples.h"

/* A caller in a loop of its own, around a call in another loop; one sample in `every` is elsewhere.
 */
static void add_run(struct fixture *fixture, uint32_t inner, uint32_t outer, uint32_t other,
		    uint32_t every)
{
	forget_samples(fixture);
	for (uint32_t i = 0; i < MANY; i++)
		if (i % every)
			add_two(fixture, frame(inner, 1000 + i, i), frame(outer, 2000 + i, i));
		else
			add(fixture, frame(other, 3000 + i, i));
}

static void test_compared_calls(void **state)
{
	struct fixture *fixture = *state;
	uint32_t inner = call_at(fixture, "loop", 4), outer = call_at(fixture, "loop", 12),
		 other = call_at(fixture, "once", 15);
	struct argument_site *site = site_of(fixture, outer);

	site->of_callee = true;
	/* Half of the time: six comparisons are enough. */
	site->compared = site->repeated = 6;
	add_run(fixture, inner, outer, other, 2);
	judge(fixture);
	assert_int_equal(votes(fixture, ARGUMENT_REPEATED, outer), MANY / 2);
	/* Nine tenths of it: twelve, of which nearly all are the same. */
	add_run(fixture, inner, outer, other, 10);
	judge(fixture);
	assert_int_equal(votes(fixture, ARGUMENT_REPEATED, outer), 0);
	site->compared = 12;
	site->repeated = 9;
	judge(fixture);
	assert_int_equal(votes(fixture, ARGUMENT_REPEATED, outer), 0);
	site->repeated = 12;
	judge(fixture);
	assert_int_equal(votes(fixture, ARGUMENT_REPEATED, outer), MANY - MANY / 10);
	/* The program itself. */
	add_run(fixture, inner, outer, other, MANY);
	judge(fixture);
	assert_int_equal(votes(fixture, ARGUMENT_REPEATED, outer), 0);
}

static void test_rows_of_calls(void **state)
{
	struct fixture *fixture = *state;
	uint32_t inner = call_at(fixture, "loop", 4), outer = call_at(fixture, "loop", 12),
		 other = call_at(fixture, "once", 15);
	struct argument_site *site = site_of(fixture, outer);

	site->of_callee = true;
	site->operands[1].kind = CONTENT_INT;
	site->operands[1].hashable = true;
	site->rows = 5;
	site->row_pairs = 600;
	site->row_alike = 15;
	site->row_recurring = 4;
	add_run(fixture, inner, outer, other, 2);
	judge(fixture);
	assert_int_equal(votes(fixture, ARGUMENT_FEW, outer), MANY / 2);
	add_run(fixture, inner, outer, other, 10);
	judge(fixture);
	assert_int_equal(votes(fixture, ARGUMENT_FEW, outer), 0);
	site->row_recurring = 5;
	judge(fixture);
	assert_int_equal(votes(fixture, ARGUMENT_FEW, outer), MANY - MANY / 10);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_compared_calls, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_rows_of_calls, set_up, tear_down),
	};

	return run_on_interpreters(tests);
}
