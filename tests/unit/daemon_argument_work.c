/* SPDX-License-Identifier: Apache-2.0 */
/* Functions that do the same work in each call, told by what they work on at each place. */
#include "argument_samples.h"

#define PLACES 8

/* f(m) of once(), which a loop calls without arguments, at places of a loop of its own. */
struct called {
	uint32_t inner, outer;
};

static struct called add_called(struct fixture *fixture, bool same, uint8_t flags)
{
	struct called called = { call_at(fixture, "once", 15), call_at(fixture, "loop", 4) };

	site_of(fixture, called.outer)->operand_count = 1;
	site_of(fixture, called.outer)->runs_frame = true;
	for (uint32_t i = 0; i < MANY; i++) {
		struct argument_frame inner =
			frame(called.inner, same ? 100 + i % PLACES : 100 + i, 7);
		struct argument_frame outer = frame(called.outer, 1000 + i, i);

		inner.remaining[0] = i % PLACES;
		inner.flags |= flags;
		outer.flags = 0;
		add_two(fixture, inner, outer);
	}
	/* What else the program does. */
	add_others(fixture, call_at(fixture, "only", 35), MANY);
	return called;
}

static void test_same_work(void **state)
{
	struct fixture *fixture = *state;
	struct called called = add_called(fixture, true, 0);

	judge(fixture);
	assert_int_equal(votes(fixture, ARGUMENT_REPEATED, called.outer), MANY);
	assert_int_equal(fixture->findings.summaries[called.outer].work_pairs, MANY - PLACES);
	assert_int_equal(fixture->findings.summaries[called.outer].work_alike, MANY - PLACES);
	/* By way of C: sorted() calls its key once for each item. */
	site_of(fixture, called.outer)->runs_frame = false;
	strcpy(site_of(fixture, called.outer)->operands[0].shape, "builtin_function_or_method");
	judge(fixture);
	assert_int_equal(votes(fixture, ARGUMENT_REPEATED, called.outer), 0);
	site_of(fixture, called.outer)->runs_frame = true;
	/* It is asked for something else each time. */
	site_of(fixture, called.outer)->operand_count = 2;
	site_of(fixture, called.outer)->compared = 10;
	judge(fixture);
	assert_int_equal(votes(fixture, ARGUMENT_REPEATED, called.outer), 0);
	/* What an object holds need not be what its method asks it for. */
	site_of(fixture, called.outer)->operands[1].kind = CONTENT_OBJECT;
	judge(fixture);
	assert_int_equal(votes(fixture, ARGUMENT_REPEATED, called.outer), MANY);
}

static void test_other_work(void **state)
{
	struct fixture *fixture = *state;
	struct called called = add_called(fixture, false, 0);

	judge(fixture);
	assert_int_equal(votes(fixture, ARGUMENT_REPEATED, called.outer), 0);
}

/* A socket, a generator of random numbers: the same arguments and another outcome. */
static void test_work_on_state(void **state)
{
	struct fixture *fixture = *state;
	struct called called = add_called(fixture, true, ARGUMENT_STATE);

	judge(fixture);
	assert_int_equal(votes(fixture, ARGUMENT_REPEATED, called.outer), 0);
}

/* One long call is the same all the time. */
static void test_one_call(void **state)
{
	struct fixture *fixture = *state;
	uint32_t inner = call_at(fixture, "once", 15), outer = call_at(fixture, "loop", 4);

	site_of(fixture, outer)->operand_count = 1;
	site_of(fixture, outer)->runs_frame = true;
	for (uint32_t i = 0; i < MANY; i++) {
		struct argument_frame first = frame(inner, 100, 7), second = frame(outer, 1000, 1);

		first.remaining[0] = 3;
		second.flags = 0;
		add_two(fixture, first, second);
	}
	judge(fixture);
	assert_int_equal(fixture->findings.summaries[outer].work_pairs, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_same_work, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_other_work, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_work_on_state, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_one_call, set_up, tear_down),
	};

	return run_on_interpreters(tests);
}
