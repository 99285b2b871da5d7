/* SPDX-License-Identifier: Apache-2.0 */
/* Which of several frames is named, and how much of its time its fix saves. */
#include "argument_samples.h"

#include "daemon/detect/argument_element.h"
#include "daemon/detect/argument_meets.h"
#include "daemon/detect/argument_part.h"
#include "daemon/detect/slow_call.h"

#include <math.h>

static bool is_near(double figure, double wanted)
{
	return fabs(figure - wanted) < 1e-9;
}

static void compare(struct fixture *fixture, uint32_t site, uint32_t compared, uint32_t repeated)
{
	site_of(fixture, site)->compared = compared;
	site_of(fixture, site)->repeated = repeated;
}

/* A helper does the same again for each of its callers, of which each asks for the same less often.
 */
static void test_helper_of_several_callers(void **state)
{
	struct fixture *fixture = *state;
	uint32_t inner = call_at(fixture, "once", 15);
	uint32_t callers[] = { call_at(fixture, "loop", 4), call_at(fixture, "loop", 6),
			       call_at(fixture, "loop", 8) };

	for (uint32_t i = 0; i < MANY; i++)
		add_two(fixture, frame(inner, i, i), frame(callers[i % 2], i, i));
	compare(fixture, inner, 20, 20);
	for (size_t c = 0; c < 3; c++) {
		site_of(fixture, callers[c])->of_callee = true;
		compare(fixture, callers[c], 20, 20);
	}
	all_are(fixture, ARGUMENT_REPEATED, inner);
	/* Of one caller all is for nothing. */
	forget_samples(fixture);
	for (uint32_t i = 0; i < MANY; i++)
		add_two(fixture, frame(inner, i, i), frame(callers[0], i, i));
	all_are(fixture, ARGUMENT_INVARIANT, callers[0]);
	compare(fixture, callers[0], 20, 11);
	all_are(fixture, ARGUMENT_REPEATED, inner);
}

static void test_trivial(void **state)
{
	struct fixture *fixture = *state;
	uint32_t site = subscript_at(fixture, 10, "list(1000)", CONTENT_INT);
	struct argument_site *subscript = site_of(fixture, site);

	subscript->operands[0].kind = CONTENT_LIST;
	add_others(fixture, site, MANY);
	compare(fixture, site, 12, 12);
	all_are(fixture, ARGUMENT_NEEDED, site);
	assert_true(argument_is_trivial(subscript));
	/* A mask, a slice, a table's row take work. */
	subscript->operands[1].kind = CONTENT_SLICE;
	assert_false(argument_is_trivial(subscript));
	subscript->operands[1].kind = CONTENT_INT;
	subscript->operands[0].kind = CONTENT_OBJECT;
	assert_false(argument_is_trivial(subscript));
	all_are(fixture, ARGUMENT_INVARIANT, site);
}

/* min(x, 0.3): to keep its result would cost as much. */
static void test_called_on_numbers(void **state)
{
	struct argument_site site = { .kind = OPERATION_CALL, .operand_count = 3 };

	(void)state;
	site.operands[0] = (struct argument_operand){ .role = OPERAND_CALLABLE,
						      .callable = true,
						      .shape = "builtin_function_or_method" };
	site.operands[1] = site.operands[2] =
		(struct argument_operand){ .kind = CONTENT_FLOAT, .shape = "float" };
	assert_true(argument_is_trivial(&site));
	assert_false(argument_computes(&site));
	site.operands[2] =
		(struct argument_operand){ .kind = CONTENT_INT, .size = 7, .shape = "int" };
	assert_true(argument_is_trivial(&site));
	/* math.comb(9, 700) */
	site.operands[2].size = 700;
	assert_false(argument_is_trivial(&site));
	site.operands[2].size = 7;
	site.runs_python = true;
	assert_false(argument_is_trivial(&site));
	site.runs_python = false;
	/* timedelta(days=7); date + timedelta */
	strcpy(site.operands[0].shape, "type");
	assert_true(argument_is_trivial(&site));
	strcpy(site.operands[0].shape, "Factory");
	assert_false(argument_is_trivial(&site));
	site.kind = OPERATION_BINARY;
	site.operands[1].callable = site.operands[0].callable = false;
	site.operands[0].kind = site.operands[1].kind = CONTENT_VALUE;
	strcpy(site.operands[0].shape, "date");
	strcpy(site.operands[1].shape, "timedelta");
	site.operand_count = 2;
	assert_true(argument_is_trivial(&site));
	/* x ** 2, where x was gone. */
	site.operands[1] = (struct argument_operand){ .kind = CONTENT_INT, .shape = "int" };
	site.operands[0] = (struct argument_operand){ .kind = CONTENT_OTHER, .shape = "?" };
	assert_true(argument_is_trivial(&site));
	strcpy(site.operands[0].shape, "Thing");
	assert_false(argument_is_trivial(&site));
}

/* net(cells) in training: the weights were not among what was compared of the net. */
static void test_object_in_part(void **state)
{
	struct fixture *fixture = *state;
	uint32_t site = call_at(fixture, "loop", 4);
	struct argument_site *known = site_of(fixture, site);

	add_others(fixture, site, MANY);
	known->compared = known->repeated = 12;
	known->operands[1].kind = CONTENT_OBJECT;
	all_are(fixture, ARGUMENT_INVARIANT, site);
	known->operands[1].whole = false;
	all_are(fixture, ARGUMENT_NEEDED, site);
	/* What was compared lies all over it, and was never seen to change. */
	known->operands[1].spread = true;
	all_are(fixture, ARGUMENT_NEEDED, site);
	known->held_met = known->held_again = 100;
	all_are(fixture, ARGUMENT_INVARIANT, site);
	known->held_changed = 3;
	all_are(fixture, ARGUMENT_NEEDED, site);
	/* What pandas' objects do to themselves is no matter. */
	known->operands[1].frame = true;
	all_are(fixture, ARGUMENT_INVARIANT, site);
	known->operands[1].kind = CONTENT_LIST;
	all_are(fixture, ARGUMENT_INVARIANT, site);
}

/* cheapest(graph, start, end): what was compared of the graph never changed. */
static void test_few_held(void **state)
{
	struct fixture *fixture = *state;
	uint32_t inner = call_at(fixture, "once", 15), outer = call_at(fixture, "loop", 4);
	struct argument_site *site = site_of(fixture, outer);

	for (uint32_t i = 0; i < MANY; i++)
		add_two(fixture, frame(inner, i, i), frame(outer, i % 8, i));
	site->of_callee = true;
	site->operands[1].kind = CONTENT_DICT;
	site->operands[1].hashable = site->operands[1].whole = false;
	site->operands[1].spread = true;
	site->held_met = site->held_again = site->keys_changed = MANY;
	all_are(fixture, ARGUMENT_FEW_HELD, outer);
	/* It did change, where it was looked at. */
	site->held_changed = MANY / 8;
	all_are(fixture, ARGUMENT_NEEDED, inner);
	site->held_changed = 0;
	/* It was made anew each time. */
	site->held_again = 1;
	all_are(fixture, ARGUMENT_NEEDED, inner);
	site->held_again = MANY;
	/* Parts of it were never looked into. */
	site->operands[1].spread = false;
	all_are(fixture, ARGUMENT_NEEDED, inner);
	/* A few large arrays, again and again: so do programs that measure something. */
	site->operands[1].spread = true;
	site->operands[1].kind = CONTENT_ARRAY;
	all_are(fixture, ARGUMENT_NEEDED, inner);
	site->operands[1].kind = CONTENT_OBJECT;
	site->operands[1].frame = true;
	all_are(fixture, ARGUMENT_NEEDED, inner);
	site->operands[1].kind = CONTENT_DICT;
	site->operands[1].frame = false;
	all_are(fixture, ARGUMENT_FEW_HELD, outer);
	site->operands[1].whole = true;
	all_are(fixture, ARGUMENT_FEW_HELD, outer);
}

static void test_in_turn(void **state)
{
	struct fixture *fixture = *state;
	uint32_t inner = call_at(fixture, "once", 15), outer = call_at(fixture, "loop", 4);
	struct argument_site *site = site_of(fixture, outer);

	for (uint32_t i = 0; i < MANY; i++)
		add_two(fixture, frame(inner, i, i), frame(outer, i, i));
	site->of_callee = true;
	site->rows = 4;
	site->row_alike = 12;
	site->row_recurring = 3;
	/* Equal by chance, and made anew. */
	all_are(fixture, ARGUMENT_NEEDED, inner);
	site->row_held = 12;
	all_are(fixture, ARGUMENT_IN_TURN, outer);
	/* One row is enough where so much of it came back. */
	site->row_recurring = 1;
	all_are(fixture, ARGUMENT_IN_TURN, outer);
	site->row_held = 6;
	all_are(fixture, ARGUMENT_NEEDED, inner);
	site->row_recurring = 3;
	site->row_held = 12;
	/* An object of the program's own, known by all of its attributes. */
	site->operands[1].kind = CONTENT_OBJECT;
	all_are(fixture, ARGUMENT_IN_TURN, outer);
	/* The same object with something else in it. */
	site->row_changed = 1;
	all_are(fixture, ARGUMENT_NEEDED, inner);
	site->row_changed = 0;
	/* What was compared in part may differ in the rest. */
	site->operands[1].whole = false;
	all_are(fixture, ARGUMENT_NEEDED, inner);
}

/* n(f(k)): the call of n. */
static uint32_t call_outside(struct fixture *fixture)
{
	const char *instruction = fixture->python->minor == 11 ? "PRECALL" : "CALL";
	const struct compiled_code *code = compiled_function(fixture->compiled, "twice");
	uint32_t inner = call_at(fixture, "twice", 51), id;
	struct argument_site *site = argument_log_site(
		&fixture->log, &code->code, compiled_offset(code, 51, instruction, 1), &id);

	assert_non_null(site);
	site->kind = OPERATION_CALL;
	site->operand_count = 2;
	memcpy(site->operands, site_of(fixture, inner)->operands, sizeof(site->operands));
	return id;
}

/* int(draw()): numbers are the same by chance, which says nothing of what drew them. */
static void test_numbers_drawn(void **state)
{
	struct fixture *fixture = *state;
	uint32_t inner = call_at(fixture, "twice", 51), outer = call_outside(fixture);
	struct argument_site *site = site_of(fixture, outer);
	struct argument_frame drawn = frame(inner, 7, 0);

	drawn.flags = ARGUMENT_JUDGED | ARGUMENT_OPAQUE | ARGUMENT_STATE;
	for (uint32_t i = 0; i < MANY; i++) {
		add(fixture, drawn);
		add(fixture, frame(outer, i % 3, i));
	}
	site->operands[1].kind = CONTENT_FLOAT;
	site->compared = 20;
	site->repeated = 10;
	judge(fixture);
	assert_int_equal(votes(fixture, ARGUMENT_REPEATED, outer), 0);
	/* A list that is the same again was not drawn. */
	site->operands[1].kind = CONTENT_LIST;
	judge(fixture);
	assert_int_equal(votes(fixture, ARGUMENT_REPEATED, outer), MANY);
}

static void test_one_end_of_what_is_sorted(void **state)
{
	struct fixture *fixture = *state;
	uint32_t first = call_at(fixture, "ends", 39), last = call_at(fixture, "ends", 40),
		 all = call_at(fixture, "ends", 41);
	uint32_t sites[] = { first, last, all };

	for (size_t s = 0; s < 3; s++) {
		site_of(fixture, sites[s])->slow = slow_call_find_builtin("sorted", true);
		add_others(fixture, sites[s], MANY);
	}
	judge(fixture);
	assert_int_equal(votes(fixture, ARGUMENT_END, first), MANY);
	assert_int_equal(votes(fixture, ARGUMENT_END, last), MANY);
	assert_int_equal(votes(fixture, ARGUMENT_END, all), 0);
}

/* f(m)[0] of line 39 */
static uint32_t item_of_call(struct fixture *fixture, uint64_t index)
{
	uint32_t id = site_at(fixture, "ends", 39,
			      fixture->python->minor >= 14 ? "BINARY_OP" : "BINARY_SUBSCR");
	struct argument_site *site = site_of(fixture, id);

	site->kind = OPERATION_SUBSCRIPT;
	site->operand_count = 2;
	site->operands[0] =
		(struct argument_operand){ .role = OPERAND_CONTAINER, .kind = CONTENT_LIST };
	site->operands[1] = (struct argument_operand){
		.role = OPERAND_INDEX, .kind = CONTENT_INT, .whole = true, .size = index
	};
	return id;
}

static void test_middle_of_what_is_sorted(void **state)
{
	struct fixture *fixture = *state;
	uint32_t site = call_at(fixture, "ends", 39), item = item_of_call(fixture, 1);

	site_of(fixture, site)->slow = slow_call_find_builtin("sorted", true);
	add_others(fixture, site, MANY);
	judge(fixture);
	assert_int_equal(votes(fixture, ARGUMENT_END, site), MANY);
	site_of(fixture, item)->operands[1].size = 1000;
	judge(fixture);
	assert_int_equal(votes(fixture, ARGUMENT_END, site), 0);
}

/* What was compared more often says how often both repeat their work. */
static void test_item_of_what_repeats(void **state)
{
	struct fixture *fixture = *state;
	uint32_t site = call_at(fixture, "ends", 39), item = item_of_call(fixture, 1000);

	add_others(fixture, site, MANY);
	site_of(fixture, site)->compared = 24;
	site_of(fixture, site)->repeated = 16;
	site_of(fixture, item)->compared = 4;
	site_of(fixture, item)->repeated = 2;
	judge(fixture);
	assert_int_equal(votes(fixture, ARGUMENT_REPEATED, item), MANY);
	assert_int_equal(fixture->findings.summaries[item].origin, site);
	assert_true(is_near(fixture->findings.summaries[item].repeated, 2.0 / 3));
	site_of(fixture, item)->compared = 40;
	site_of(fixture, item)->repeated = 30;
	judge(fixture);
	assert_int_equal(fixture->findings.summaries[item].origin, ID_NONE);
	assert_true(is_near(fixture->findings.summaries[item].repeated, 0.75));
}

/* f(g(m)): what g() gives is longer each time. */
static void test_work_on_what_grows(void **state)
{
	struct fixture *fixture = *state;
	const struct compiled_code *code = compiled_function(fixture->compiled, "digest");
	const char *name = fixture->python->minor == 11 ? "PRECALL" : "CALL";
	uint32_t inner = call_at(fixture, "digest", 43), outer;
	struct argument_site *site;

	site = argument_log_site(&fixture->log, &code->code, compiled_offset(code, 43, name, 1),
				 &outer);
	assert_non_null(site);
	*site = (struct argument_site){ .code = site->code,
					.offset = site->offset,
					.kind = OPERATION_CALL,
					.operand_count = 1,
					.operands[0] = { .kind = CONTENT_BYTES,
							 .hashable = true } };
	for (uint32_t i = 0; i < MANY; i++) {
		struct argument_frame grown = frame(inner, i, i), worked = frame(outer, i, i);

		grown.largest = 100 + i;
		/* As often less as more. */
		worked.largest = 1000 + i % 2;
		add(fixture, grown);
		add(fixture, worked);
	}
	judge(fixture);
	assert_int_equal(votes(fixture, ARGUMENT_GROWING, inner), MANY);
	assert_int_equal(votes(fixture, ARGUMENT_GROWING, outer), MANY);
}

/* A line takes elements, and works on whole arrays, too: that stays. */
static void test_bulk_beside_elements(void **state)
{
	struct fixture *fixture = *state;
	uint32_t elements = subscript_at(fixture, 11, "float64[1000]", CONTENT_INT);
	uint32_t bulk = call_at(fixture, "loop", 11);
	struct argument_operand *operand = &site_of(fixture, bulk)->operands[1];

	add_others(fixture, elements, MANY);
	add_others(fixture, bulk, MANY / 2);
	all_are(fixture, ARGUMENT_ELEMENTS, elements);
	operand->kind = CONTENT_ARRAY;
	snprintf(operand->shape, sizeof(operand->shape), "float64[400]");
	judge(fixture);
	assert_int_equal(votes(fixture, ARGUMENT_ELEMENTS, elements), MANY);
	assert_int_equal(votes(fixture, ARGUMENT_NEEDED, bulk), MANY / 2);
}

/* As many rounds as a call is worth elements, and one call for all saves next to nothing. */
static void test_few_elements(void **state)
{
	struct fixture *fixture = *state;
	uint32_t site = subscript_at(fixture, 10, "float64[1000]", CONTENT_INT);
	uint64_t trips[OPERAND_LOOPS_MAX] = { 0 };
	struct saved_part part;

	for (uint32_t i = 0; i < MANY; i++) {
		struct argument_frame one = frame(site, 100 + i, i);

		one.remaining[0] = 15;
		add(fixture, one);
	}
	all_are(fixture, ARGUMENT_ELEMENTS, site);
	part = argument_summary_part(&fixture->findings.summaries[site], ARGUMENT_ELEMENTS);
	assert_true(is_near(part.middle, 0.5));
	assert_true(part.low < 0.1 && part.low > 0);
	assert_true(part.high > 0.6 && part.high < 0.75);
	/* Unknown: all of it. */
	part = argument_part_of_elements(site_of(fixture, site), trips);
	assert_true(is_near(part.middle, 1) && is_near(part.low, 1));
	trips[0] = trips[1] = 40;
	part = argument_part_of_elements(site_of(fixture, site), trips);
	assert_true(part.low < 0.7 && part.middle > 0.85 && part.high > 0.99);
	/* x[i, j]: an element for each round of both loops. */
	subscript_at(fixture, 10, "float64[40,40]", CONTENT_TUPLE);
	part = argument_part_of_elements(site_of(fixture, site), trips);
	assert_true(is_near(part.middle, 1 - 8.0 / 1600));
	/* x[i] * array */
	site_of(fixture, site)->kind = OPERATION_BINARY;
	site_of(fixture, site)->operands[1].kind = CONTENT_ARRAY;
	trips[0] = 8;
	part = argument_part_of_elements(site_of(fixture, site), trips);
	assert_true(is_near(part.low, 0.5) && is_near(part.high, 0.875));
	assert_true(part.middle > 0.75 && part.middle < 0.8);
	site_of(fixture, site)->kind = OPERATION_SUBSCRIPT;
	trips[0] = 40;
	/* Bytes have no array's operations. */
	site_of(fixture, site)->operands[0].kind = CONTENT_BYTES;
	part = argument_part_of_elements(site_of(fixture, site), trips);
	assert_true(part.low < 0.3 && part.high > 0.8 && part.high < 1);
	assert_true(argument_part_of_scalars(trips).middle > 0.9);
}

/* A parser takes bytes as it finds them; a loop over positions could take them all. */
static void test_bytes_by_position(void **state)
{
	struct fixture *fixture = *state;
	uint32_t site = subscript_at(fixture, 10, "bytes(1000)", CONTENT_INT);

	site_of(fixture, site)->operands[0].kind = CONTENT_BYTES;
	assert_false(argument_takes_element(site_of(fixture, site)));
	site_of(fixture, site)->counted = true;
	assert_true(argument_takes_element(site_of(fixture, site)));
}

static void test_slow_on_little(void **state)
{
	struct argument_site site = { .kind = OPERATION_CALL,
				      .of_callee = true,
				      .operand_count = 1,
				      .operands[0] = { .kind = CONTENT_LIST, .size = 12 } };

	(void)state;
	assert_true(argument_meets(&site, SLOW_ON_LIST));
	assert_false(argument_meets(&site, SLOW_ON_ONE));
	site.operands[0].size = 100000;
	assert_false(argument_meets(&site, SLOW_ON_LIST));
	site.operands[0].size = 1;
	assert_true(argument_meets(&site, SLOW_ON_ONE));
	site.operands[0].kind = CONTENT_ARRAY;
	assert_false(argument_meets(&site, SLOW_ON_LIST));
	assert_true(is_near(argument_part_of_slow(slow_call_find_builtin("insert", false)).low, 1));
	assert_true(argument_part_of_slow(slow_call_find_builtin("unpack_from", false)).high < 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_helper_of_several_callers, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_trivial, set_up, tear_down),
		cmocka_unit_test(test_called_on_numbers),
		cmocka_unit_test_setup_teardown(test_few_held, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_in_turn, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_object_in_part, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_numbers_drawn, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_one_end_of_what_is_sorted, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_middle_of_what_is_sorted, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_item_of_what_repeats, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_work_on_what_grows, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_bulk_beside_elements, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_few_elements, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_bytes_by_position, set_up, tear_down),
		cmocka_unit_test(test_slow_on_little),
	};

	return run_on_interpreters(tests);
}
