/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/report/model/category_choice.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static const struct python_code code;

/* Both accesses at one instruction of line 10, in a loop, nothing special about it. */
static struct category_evidence same_line(enum pair_kind kind)
{
	struct call_site site = {
		.code = &code, .offset = 20, .in_loop = true, .loop = { 10, 40 }
	};

	return (struct category_evidence){
		.kind = kind,
		.known = true,
		.first = site,
		.second = site,
		.same_function = true,
		.first_line = 10,
		.second_line = 10,
		.call_ns = 800,
	};
}

static void test_subscripts_of_one_line(void **state)
{
	struct category_evidence evidence = same_line(PAIR_LOAD);

	(void)state;
	evidence.second.offset = 24;
	evidence.first.does.subscript = evidence.second.does.subscript = true;
	/* x[0:n]: the same slice each time. */
	assert_int_equal(category_of(&evidence), CATEGORY_UNCLEAR);
	evidence.first.does.elementwise = evidence.second.does.elementwise = true;
	assert_int_equal(category_of(&evidence), CATEGORY_SLICE_UNDERUTILISATION);
	evidence.kind = PAIR_STORE;
	assert_int_equal(category_of(&evidence), CATEGORY_SLICE_UNDERUTILISATION);
	/* The native function tells as well. */
	evidence.first.does.subscript = false;
	evidence.first_native_subscript = true;
	assert_int_equal(category_of(&evidence), CATEGORY_SLICE_UNDERUTILISATION);
	/* Not without a loop, nor when one end is something else ... */
	evidence.second.does.subscript = false;
	evidence.call_ns = 10000000;
	assert_int_equal(category_of(&evidence), CATEGORY_UNCLEAR);
	evidence.second.does.subscript = true;
	evidence.second.in_loop = false;
	assert_int_equal(category_of(&evidence), CATEGORY_UNCLEAR);
	/* ... unless it is arithmetic on what the line's subscripts take out, in short calls. */
	evidence = same_line(PAIR_LOAD);
	evidence.first.does.elementwise = evidence.second.does.elementwise = true;
	assert_int_equal(category_of(&evidence), CATEGORY_SLICE_UNDERUTILISATION);
	evidence.call_ns = 10000000;
	assert_int_equal(category_of(&evidence), CATEGORY_UNCLEAR);
}

static void test_same_call_site(void **state)
{
	struct category_evidence evidence = same_line(PAIR_STORE);

	(void)state;
	evidence.first.does.call = evidence.second.does.call = true;
	/* A loop changes the arguments: it is not the same call again. */
	assert_int_equal(category_of(&evidence), CATEGORY_UNCLEAR);
	evidence.first.does.names_constant = evidence.second.does.names_constant = true;
	assert_int_equal(category_of(&evidence), CATEGORY_REPEATED_CALL);
	evidence.first.does.operands_constant = evidence.second.does.operands_constant = true;
	assert_int_equal(category_of(&evidence), CATEGORY_LOOP_INVARIANT);
	/* Re-reading its arguments is what every call does, unless these cannot change. */
	evidence.kind = PAIR_LOAD;
	evidence.first.does.line_calls = evidence.second.does.line_calls = true;
	assert_int_equal(category_of(&evidence), CATEGORY_LOOP_INVARIANT);
	evidence.first.does.operands_constant = false;
	assert_int_equal(category_of(&evidence), CATEGORY_REPEATED_CALL);
	evidence.first.does.names_constant = false;
	assert_int_equal(category_of(&evidence), CATEGORY_UNCLEAR);
	/* Called again from outside: no loop here. */
	evidence = same_line(PAIR_STORE);
	evidence.first.in_loop = evidence.second.in_loop = false;
	assert_int_equal(category_of(&evidence), CATEGORY_REPEATED_CALL);
	evidence.second.offset = 30;
	assert_int_equal(category_of(&evidence), CATEGORY_UNCLEAR);
}

static void test_reduction_by_scalar_calls(void **state)
{
	struct category_evidence evidence = same_line(PAIR_LOAD);

	(void)state;
	evidence.first.does.accumulates = evidence.second.does.accumulates = true;
	assert_int_equal(category_of(&evidence), CATEGORY_API_MISUSE);
	evidence.call_ns = 10000000; /* long calls are no scalars */
	assert_int_equal(category_of(&evidence), CATEGORY_UNCLEAR);
	/* s += np.square(x[i]), seen at its subscript; without a call it is the subscript that
	 * counts. */
	evidence = same_line(PAIR_LOAD);
	evidence.first.does.accumulates = evidence.first.does.subscript = true;
	evidence.first.does.elementwise = true;
	evidence.second.does = evidence.first.does;
	assert_int_equal(category_of(&evidence), CATEGORY_SLICE_UNDERUTILISATION);
	evidence.first.does.line_calls = evidence.second.does.line_calls = true;
	assert_int_equal(category_of(&evidence), CATEGORY_API_MISUSE);
}

static void test_neighbouring_lines(void **state)
{
	struct category_evidence evidence = same_line(PAIR_LOAD);

	(void)state;
	evidence.second_line = 12;
	evidence.second.offset = 30;
	/* One step hands its result to the next. */
	assert_int_equal(category_of(&evidence), CATEGORY_UNCLEAR);
	evidence.first.does.elementwise = true;
	assert_int_equal(category_of(&evidence), CATEGORY_INEFFICIENT_ALGORITHM);
	/* Elements on both: as on one line. */
	evidence.second.does.elementwise = true;
	assert_int_equal(category_of(&evidence), CATEGORY_SLICE_UNDERUTILISATION);
	evidence.second.does.elementwise = false;
	evidence.second_line = 200;
	assert_int_equal(category_of(&evidence), CATEGORY_UNCLEAR);
	evidence.second_line = 12;
	evidence.same_function = false;
	assert_int_equal(category_of(&evidence), CATEGORY_UNCLEAR);
	evidence.same_function = true;
	evidence.call_ns = 10000000;
	assert_int_equal(category_of(&evidence), CATEGORY_UNCLEAR);
}

static void test_exchange_of_elements(void **state)
{
	struct category_evidence evidence = same_line(PAIR_STORE);

	(void)state;
	evidence.first.does.exchanges = evidence.first.does.elementwise = true;
	evidence.first.does.subscript = true;
	evidence.second.does = evidence.first.does;
	assert_int_equal(category_of(&evidence), CATEGORY_INEFFICIENT_ALGORITHM);
}

/* New values stored from one call site: that is no repetition of the same work. */
static void test_of_a_line(void **state)
{
	uint64_t support[CATEGORY_COUNT] = {
		[CATEGORY_LOOP_INVARIANT] = 8, [CATEGORY_UNCLEAR] = 4
	};
	struct line_evidence evidence = { 0 };

	(void)state;
	assert_int_equal(category_of_line(support, &evidence), CATEGORY_LOOP_INVARIANT);
	evidence.site_stores = 6;
	assert_int_equal(category_of_line(support, &evidence), CATEGORY_UNCLEAR);
	evidence.site_stores_redundant = 5;
	assert_int_equal(category_of_line(support, &evidence), CATEGORY_LOOP_INVARIANT);
	evidence.site_stores_redundant = 0;
	support[CATEGORY_API_MISUSE] = 8;
	assert_int_equal(category_of_line(support, &evidence), CATEGORY_API_MISUSE);
}

/* Stores decide, with whatever operands: every call reads what it was given again. */
static void test_of_a_line_whose_results_repeat(void **state)
{
	uint64_t support[CATEGORY_COUNT] = {
		[CATEGORY_UNCLEAR] = 10, [CATEGORY_REPEATED_CALL] = 2
	};
	struct line_evidence evidence = { .site_loads = 10,
					  .site_loads_redundant = 10,
					  .site_stores = 3,
					  .site_stores_redundant = 2 };

	(void)state;
	assert_int_equal(category_of_line(support, &evidence), CATEGORY_REPEATED_CALL);
	/* One store does not decide; nor does a half; nor is all that much repeated here. */
	evidence.site_stores = evidence.site_stores_redundant = 1;
	assert_int_equal(category_of_line(support, &evidence), CATEGORY_UNCLEAR);
	evidence.site_stores_redundant = 2;
	evidence.site_stores = 4;
	assert_int_equal(category_of_line(support, &evidence), CATEGORY_UNCLEAR);
	evidence.site_stores = 3;
	evidence.site_loads = 20;
	assert_int_equal(category_of_line(support, &evidence), CATEGORY_UNCLEAR);
	/* Loads of other call sites have their say. */
	evidence.site_loads = evidence.site_loads_redundant = 6;
	evidence.site_stores = evidence.site_stores_redundant = 3;
	assert_int_equal(category_of_line(support, &evidence), CATEGORY_REPEATED_CALL);
	support[CATEGORY_UNCLEAR] = 16;
	assert_int_equal(category_of_line(support, &evidence), CATEGORY_UNCLEAR);
	/* So many results the same need no name that tells why. */
	support[CATEGORY_UNCLEAR] = 100;
	support[CATEGORY_REPEATED_CALL] = 0;
	assert_int_equal(category_of_line(support, &evidence), CATEGORY_UNCLEAR);
	evidence.site_stores = evidence.site_stores_redundant = 4;
	assert_int_equal(category_of_line(support, &evidence), CATEGORY_REPEATED_CALL);
	evidence.site_stores = 5;
	assert_int_equal(category_of_line(support, &evidence), CATEGORY_UNCLEAR);
	/* But not of elements taken one by one. */
	evidence.site_stores = 4;
	support[CATEGORY_SLICE_UNDERUTILISATION] = 90;
	assert_int_equal(category_of_line(support, &evidence), CATEGORY_SLICE_UNDERUTILISATION);
}

static void test_nothing_known(void **state)
{
	struct category_evidence evidence = same_line(PAIR_STORE);

	(void)state;
	evidence.known = false;
	assert_int_equal(category_of(&evidence), CATEGORY_UNCLEAR);
}

static void test_choose(void **state)
{
	uint64_t support[CATEGORY_COUNT] = { 0 };

	(void)state;
	assert_int_equal(category_choose(support), CATEGORY_UNCLEAR);
	support[CATEGORY_UNCLEAR] = 75;
	support[CATEGORY_API_MISUSE] = 25;
	assert_int_equal(category_choose(support), CATEGORY_API_MISUSE);
	support[CATEGORY_UNCLEAR] = 76;
	assert_int_equal(category_choose(support), CATEGORY_UNCLEAR);
	support[CATEGORY_REPEATED_CALL] = 30;
	assert_int_equal(category_choose(support), CATEGORY_UNCLEAR); /* 30 of 131 */
	support[CATEGORY_UNCLEAR] = 10;
	assert_int_equal(category_choose(support), CATEGORY_REPEATED_CALL);
	support[CATEGORY_API_MISUSE] = 30; /* a tie */
	assert_int_equal(category_choose(support), CATEGORY_REPEATED_CALL);
}

static void test_words(void **state)
{
	(void)state;
	for (int c = 0; c < CATEGORY_COUNT; c++) {
		assert_true(strlen(category_name(c)) > 0);
		assert_true(strlen(category_advice(c)) > 0);
		assert_int_equal(category_reason(c) == NULL, c == CATEGORY_UNCLEAR);
	}
	assert_string_equal(category_name(CATEGORY_SLICE_UNDERUTILISATION),
			    "slice-underutilisation");
	assert_string_equal(category_name((enum category)77), "unclear");
	assert_true(category_is_subscript_function("array_assign_subscript"));
	assert_true(category_is_subscript_function("list_subscript"));
	assert_true(category_is_subscript_function("array_item"));
	assert_false(category_is_subscript_function("array_items"));
	assert_false(category_is_subscript_function("DOUBLE_add"));
	assert_false(category_is_subscript_function("?"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_subscripts_of_one_line),
		cmocka_unit_test(test_same_call_site),
		cmocka_unit_test(test_reduction_by_scalar_calls),
		cmocka_unit_test(test_neighbouring_lines),
		cmocka_unit_test(test_exchange_of_elements),
		cmocka_unit_test(test_of_a_line),
		cmocka_unit_test(test_of_a_line_whose_results_repeat),
		cmocka_unit_test(test_nothing_known),
		cmocka_unit_test(test_choose),
		cmocka_unit_test(test_words),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
