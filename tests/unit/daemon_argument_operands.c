/* SPDX-License-Identifier: Apache-2.0 */
/* Calls that are avoidable for what their operands are, and for how large these are. */
#include "argument_samples.h"
#include "daemon/detect/slow_call.h"

static uint8_t slow_number(const char *function, const char *file)
{
	const struct python_code code = { .function = (char *)(uintptr_t)function,
					  .file = (char *)(uintptr_t)file };
	uint8_t number = slow_call_find(&code);

	assert_true(number);
	return number;
}

/* x in list; a function with a faster counterpart. */
static void test_algorithms(void **state)
{
	struct fixture *fixture = *state;
	uint32_t site = call_at(fixture, "loop", 4);
	struct argument_site *known = site_of(fixture, site);

	add_others(fixture, site, MANY);
	known->kind = OPERATION_CONTAINS;
	known->operands[1].role = OPERAND_CONTAINER;
	known->operands[1].size = 1000;
	all_are(fixture, ARGUMENT_SEARCHED, site);
	known->operands[1].size = 3;
	all_are(fixture, ARGUMENT_NEEDED, site);
	known->operands[1].size = 1000;
	known->operands[1].kind = CONTENT_SET;
	all_are(fixture, ARGUMENT_NEEDED, site);
	known->kind = OPERATION_CALL;
	for (size_t i = 0; i < fixture->log.sample_count; i++)
		fixture->log.samples[i].frames[0].flags |= i % 2 ? ARGUMENT_IN_SLOW : 0;
	known->slow = slow_number("mean", "/usr/lib/python3.11/statistics.py");
	judge(fixture);
	assert_int_equal(votes(fixture, ARGUMENT_SLOW, site), MANY / 2);
	/* On a list, and on single numbers. */
	known->slow = slow_number("clip", "/numpy/core/fromnumeric.py");
	judge(fixture);
	assert_int_equal(votes(fixture, ARGUMENT_SLOW, site), 0);
	/* Of some samples a dispatcher's arguments are read. */
	known->read = MANY;
	known->on_numbers = MANY / 2;
	judge(fixture);
	assert_int_equal(votes(fixture, ARGUMENT_SLOW, site), 0);
	known->on_numbers++;
	judge(fixture);
	assert_int_equal(votes(fixture, ARGUMENT_SLOW, site), MANY / 2);
}

/* Rows that are objects: making them, and what they are asked for in the loop that gets them. */
static void test_rows(void **state)
{
	struct fixture *fixture = *state;
	uint32_t maker = site_at(fixture, "nested", 30, "FOR_ITER");
	uint32_t asks = call_at(fixture, "nested", 31), calls = call_at(fixture, "nested", 32);
	uint32_t inside = call_at(fixture, "once", 15), elsewhere = call_at(fixture, "loop", 12);

	site_of(fixture, maker)->slow = slow_number("DataFrame.iterrows", "pandas/core/frame.py");
	for (uint32_t i = 0; i < MANY; i++) {
		struct argument_frame making = frame(maker, i, i);

		making.flags |= ARGUMENT_IN_SLOW;
		add(fixture, making);
		add(fixture, frame(asks, 100 + i, i));
		add_two(fixture, frame(inside, 200 + i, i), frame(asks, 300 + i, i));
		add_two(fixture, frame(inside, 400 + i, i), frame(calls, 500 + i, i));
		add(fixture, frame(elsewhere, 600 + i, i));
	}
	judge(fixture);
	assert_int_equal(votes(fixture, ARGUMENT_SLOW, maker), MANY);
	for (unsigned i = 0; i < 2; i++) {
		struct argument_site *site = site_of(fixture, i ? inside : asks);

		site->kind = OPERATION_ATTRIBUTE;
		snprintf(site->operands[0].shape, sizeof(site->operands[0].shape), "Series");
	}
	judge(fixture);
	assert_int_equal(votes(fixture, ARGUMENT_SLOW, maker), 3 * MANY);
	assert_true(fixture->findings.votes[1].joined);
	assert_int_equal(fixture->findings.votes[2].frame, 1);
}

/* A function that is called for each row: what it does itself goes with the row, not what it calls.
 */
static void test_function_for_each_row(void **state)
{
	struct fixture *fixture = *state;
	uint32_t maker = call_at(fixture, "loop", 4), function = call_at(fixture, "once", 15);

	site_of(fixture, maker)->slow =
		slow_number("FrameColumnApply.series_generator", "pandas/core/apply.py");
	for (uint32_t i = 0; i < MANY; i++) {
		struct argument_frame around = frame(maker, i, i);

		around.flags |= ARGUMENT_IN_SLOW;
		add_two(fixture, frame(function, 100 + i, i), around);
		add(fixture, around);
	}
	judge(fixture);
	assert_int_equal(votes(fixture, ARGUMENT_SLOW, maker), MANY);
	site_of(fixture, function)->kind = OPERATION_SUBSCRIPT;
	judge(fixture);
	assert_int_equal(votes(fixture, ARGUMENT_SLOW, maker), 2 * MANY);
}

/* A function that is called for each group of rows, and hardly does anything itself. */
static void test_function_for_each_group(void **state)
{
	struct fixture *fixture = *state;
	uint32_t maker = call_at(fixture, "loop", 4), function = call_at(fixture, "once", 15);
	uint32_t looping = call_at(fixture, "nested", 31);

	site_of(fixture, maker)->slow = slow_number("BaseGrouper._aggregate_series_pure_python",
						    "pandas/core/groupby/ops.py");
	for (uint32_t i = 0; i < MANY; i++) {
		struct argument_frame around = frame(maker, i, i);

		around.flags |= ARGUMENT_IN_SLOW;
		add_two(fixture, frame(function, 100 + i, i), around);
	}
	judge(fixture);
	assert_int_equal(votes(fixture, ARGUMENT_SLOW, maker), MANY);
	/* One that goes over its group in a loop of its own is no such. */
	for (uint32_t i = 0; i < MANY; i++) {
		struct argument_frame around = frame(maker, i, i);

		around.flags |= ARGUMENT_IN_SLOW;
		add_two(fixture, frame(looping, 100 + i, i), around);
	}
	judge(fixture);
	assert_int_equal(votes(fixture, ARGUMENT_SLOW, maker), 0);
}

/* sorted(x) of what now and then changes: to keep the result is of use until the next change. */
static void test_sorted_again(void **state)
{
	struct fixture *fixture = *state;
	uint32_t site = call_at(fixture, "once", 15), outer = call_at(fixture, "loop", 4);

	for (uint32_t i = 0; i < MANY; i++)
		add_two(fixture, frame(site, i, i), frame(outer, 100 + i, i));
	site_of(fixture, site)->compared = 20;
	site_of(fixture, site)->repeated = 12;
	all_are(fixture, ARGUMENT_REPEATED, site);
	site_of(fixture, site)->slow = slow_call_find_builtin("sorted", true);
	all_are(fixture, ARGUMENT_SORTED, site);
	assert_true(
		argument_summary_part(&fixture->findings.summaries[site], ARGUMENT_SORTED).middle ==
		1.0);
}

/* A copy is made for somebody to change it: that it is made again is no waste, the way is. */
static void test_copied_again(void **state)
{
	struct fixture *fixture = *state;
	uint32_t site = call_at(fixture, "once", 15), outer = call_at(fixture, "loop", 4);

	for (uint32_t i = 0; i < MANY; i++)
		add_two(fixture, frame(site, i, i), frame(outer, 100 + i, i));
	for (size_t i = 0; i < fixture->log.sample_count; i++)
		fixture->log.samples[i].frames[0].flags |= ARGUMENT_IN_SLOW;
	site_of(fixture, site)->compared = 20;
	site_of(fixture, site)->repeated = 18;
	all_are(fixture, ARGUMENT_REPEATED, site);
	site_of(fixture, site)->slow = slow_number("deepcopy", "/usr/lib/python3.11/copy.py");
	all_are(fixture, ARGUMENT_SLOW, site);
	/* Other objects each time: how could one of them be copied that is to be changed? */
	site_of(fixture, site)->operands[1].kind = CONTENT_OBJECT;
	all_are(fixture, ARGUMENT_SLOW, site);
	site_of(fixture, site)->repeated = 6;
	all_are(fixture, ARGUMENT_NEEDED, site);
	/* Lists and dicts are copied faster by hand. */
	site_of(fixture, site)->operands[1].kind = CONTENT_LIST;
	all_are(fixture, ARGUMENT_SLOW, site);
	/* A dataclass has fields, and no more. */
	site_of(fixture, site)->operands[1].kind = CONTENT_OBJECT;
	site_of(fixture, site)->slow = slow_number("asdict", "/usr/lib/python3.11/dataclasses.py");
	all_are(fixture, ARGUMENT_SLOW, site);
}

/* solve(matrix, x): the same matrix, and another x each time. */
static void test_prepared_again(void **state)
{
	struct fixture *fixture = *state;
	uint32_t site = call_at(fixture, "loop", 4);

	for (uint32_t i = 0; i < MANY; i++) {
		struct argument_frame solving = frame(site, i, i);

		solving.flags |= ARGUMENT_IN_SLOW;
		solving.operands[1] = 7;
		add(fixture, solving);
	}
	all_are(fixture, ARGUMENT_NEEDED, site);
	site_of(fixture, site)->slow = slow_number("spsolve", "/scipy/sparse/linalg/linsolve.py");
	all_are(fixture, ARGUMENT_SLOW, site);
	for (uint32_t i = 0; i < fixture->log.sample_count; i++)
		fixture->log.samples[i].frames[0].operands[1] = i;
	all_are(fixture, ARGUMENT_NEEDED, site);
	/* Too seldom sampled to tell, but of calls watched most had it. */
	site_of(fixture, site)->compared = 12;
	site_of(fixture, site)->first_kept = 10;
	all_are(fixture, ARGUMENT_SLOW, site);
	assert_true(fixture->findings.summaries[site].slow.middle < 0.8);
	site_of(fixture, site)->first_kept = 1;
	all_are(fixture, ARGUMENT_NEEDED, site);
}

/* x = f(x), where f copies all of x; y = f(x) may be what is needed. */
static void test_joined_in_turn(void **state)
{
	struct fixture *fixture = *state;
	uint32_t in_turn = call_at(fixture, "join", 24), once = call_at(fixture, "loop", 4);

	for (uint32_t i = 0; i < MANY; i++) {
		add(fixture, frame(in_turn, i, i));
		add(fixture, frame(once, i, i));
	}
	site_of(fixture, in_turn)->slow = slow_number("concat", "pandas/core/reshape/concat.py");
	site_of(fixture, once)->slow = site_of(fixture, in_turn)->slow;
	judge(fixture);
	assert_int_equal(votes(fixture, ARGUMENT_GROWING, in_turn), MANY);
	assert_int_equal(votes(fixture, ARGUMENT_GROWING, once), 0);
}

/* x = x[n:], where it is shorter each time; y = x[n:] takes what it needs. */
static void test_cut(void **state)
{
	struct fixture *fixture = *state;
	uint32_t cut = subscript_at(fixture, 19, "", CONTENT_SLICE);
	uint32_t taken = subscript_at(fixture, 20, "", CONTENT_SLICE);
	uint32_t sites[] = { cut, taken };

	for (size_t k = 0; k < 2; k++) {
		struct argument_operand *container = &site_of(fixture, sites[k])->operands[0];

		container->kind = CONTENT_BYTES;
		container->size = 5000;
		for (uint32_t i = 0; i < MANY; i++) {
			struct argument_frame one = frame(sites[k], i, i);

			one.largest = 5000 - 7 * i;
			add(fixture, one);
		}
	}
	judge(fixture);
	assert_int_equal(votes(fixture, ARGUMENT_CUT, cut), MANY);
	assert_int_equal(votes(fixture, ARGUMENT_CUT, taken), 0);
	/* The same length: it is not used up. */
	for (size_t i = 0; i < fixture->log.sample_count; i++)
		fixture->log.samples[i].frames[0].largest = 5000;
	judge(fixture);
	assert_int_equal(votes(fixture, ARGUMENT_CUT, cut), 0);
}

/* ---- growing */

static void add_growing(struct fixture *fixture, uint32_t site)
{
	for (uint32_t i = 0; i < MANY; i++) {
		struct argument_frame one = frame(site, i, i);

		one.largest = 1000 + i;
		add(fixture, one);
	}
}

static void test_growing(void **state)
{
	struct fixture *fixture = *state;
	uint32_t site = call_at(fixture, "loop", 4);

	add_growing(fixture, site);
	all_are(fixture, ARGUMENT_GROWING, site);
	/* An own function may do anything with it; where it is indexed its length does not matter.
	 */
	site_of(fixture, site)->of_callee = true;
	all_are(fixture, ARGUMENT_NEEDED, site);
	site_of(fixture, site)->of_callee = false;
	site_of(fixture, site)->kind = OPERATION_SUBSCRIPT;
	all_are(fixture, ARGUMENT_NEEDED, site);
	site_of(fixture, site)->kind = OPERATION_CALL;
	/* Up and down. */
	for (uint32_t i = 0; i < MANY; i++)
		fixture->log.samples[i].frames[0].largest = 1000 + (i % 2 ? i : 0);
	all_are(fixture, ARGUMENT_NEEDED, site);
	/* Two sizes in all. */
	for (uint32_t i = 0; i < MANY; i++)
		fixture->log.samples[i].frames[0].largest = 1000 + (i > MANY / 2);
	all_are(fixture, ARGUMENT_NEEDED, site);
}

/* Each pass begins anew, so that samples see any size; calls see one more than the one before. */
static void test_growing_from_call_to_call(void **state)
{
	struct fixture *fixture = *state;
	uint32_t id = call_at(fixture, "loop", 4);
	struct argument_site *site = site_of(fixture, id);

	for (uint32_t i = 0; i < MANY; i++) {
		struct argument_frame one = frame(id, i, i);

		one.largest = 1000 + i * 7919 % 1000;
		add(fixture, one);
	}
	all_are(fixture, ARGUMENT_NEEDED, id);
	site->compared = 24;
	site->grown = 23;
	all_are(fixture, ARGUMENT_GROWING, id);
	site->grown = site->shrunk = 12;
	all_are(fixture, ARGUMENT_NEEDED, id);
	/* Two sequences in turn, of the same length: the one after the other. */
	site->shrunk = 1;
	all_are(fixture, ARGUMENT_GROWING, id);
	/* A window that has filled up. */
	site->at_most = 8;
	all_are(fixture, ARGUMENT_NEEDED, id);
	site->at_most = 0;
	/* Few items cost little. */
	site->grown = 24;
	for (uint32_t i = 0; i < MANY; i++)
		fixture->log.samples[i].frames[0].largest = 1 + i * 7919 % 50;
	all_are(fixture, ARGUMENT_NEEDED, id);
}

static void test_growing_is_dropped(void **state)
{
	struct fixture *fixture = *state;
	uint32_t site = call_at(fixture, "loop", 5);

	add_growing(fixture, site);
	all_are(fixture, ARGUMENT_NEEDED, site);
}

/* Samples are logged as they come, of several threads and out of a reservoir: time orders them. */
static void test_order(void **state)
{
	struct fixture *fixture = *state;
	uint32_t growing = call_at(fixture, "loop", 4), same = call_at(fixture, "once", 15);
	struct argument_sample *samples;

	for (uint32_t i = 0; i < MANY; i++) {
		struct argument_frame one = frame(growing, i, i);

		one.largest = 1000 + i;
		add(fixture, one);
		add(fixture, frame(same, 9, 0));
	}
	samples = fixture->log.samples;
	for (size_t round = 0; round < 2; round++) {
		judge(fixture);
		assert_int_equal(votes(fixture, ARGUMENT_GROWING, growing), MANY);
		assert_int_equal(fixture->findings.summaries[same].calls, MANY);
		for (size_t i = fixture->log.sample_count; i-- > 1;) {
			size_t other = (size_t)rand() % (i + 1);
			struct argument_sample kept = samples[i];

			samples[i] = samples[other];
			samples[other] = kept;
		}
	}
	judge(fixture);
	assert_int_equal(votes(fixture, ARGUMENT_GROWING, growing), MANY);
	assert_int_equal(fixture->findings.summaries[same].calls, MANY);
}

/* ---- elements */

static void test_elements(void **state)
{
	struct fixture *fixture = *state;
	uint32_t site = subscript_at(fixture, 10, "float64[1000]", CONTENT_INT);

	add_others(fixture, site, MANY);
	all_are(fixture, ARGUMENT_ELEMENTS, site);
	/* x[i] of a table is a row of it, x[i, j] a number; x[a:b] is a slice. */
	subscript_at(fixture, 10, "float64[1000,300]", CONTENT_INT);
	all_are(fixture, ARGUMENT_NEEDED, site);
	/* A row so short that the call costs more than the work. */
	subscript_at(fixture, 10, "float64[1000,3]", CONTENT_INT);
	all_are(fixture, ARGUMENT_ELEMENTS, site);
	subscript_at(fixture, 10, "float64[1000,3]", CONTENT_TUPLE);
	all_are(fixture, ARGUMENT_ELEMENTS, site);
	subscript_at(fixture, 10, "float64[1000]", CONTENT_SLICE);
	all_are(fixture, ARGUMENT_NEEDED, site);
	subscript_at(fixture, 10, "float64[1000]", CONTENT_ARRAY);
	all_are(fixture, ARGUMENT_NEEDED, site);
	/* Objects are asked one by one, whoever does it. */
	subscript_at(fixture, 10, "object[1000]", CONTENT_INT);
	all_are(fixture, ARGUMENT_NEEDED, site);
	/* A list's elements have no array operation. */
	subscript_at(fixture, 10, "list(1000)", CONTENT_INT);
	site_of(fixture, site)->operands[0].kind = CONTENT_LIST;
	all_are(fixture, ARGUMENT_NEEDED, site);
	/* The same element over and over. */
	subscript_at(fixture, 10, "float64[1000]", CONTENT_INT);
	forget_samples(fixture);
	add_same(fixture, site);
	all_are(fixture, ARGUMENT_INVARIANT, site);
}

/* x[i] = f(): a store of an element; what f() does is its own. */
static void test_elements_stored(void **state)
{
	struct fixture *fixture = *state;
	uint32_t called = call_at(fixture, "once", 15);
	uint32_t stored = site_at(fixture, "loop", 9, "STORE_SUBSCR");
	struct argument_site *site = site_of(fixture, stored);

	site->kind = OPERATION_STORE_SUBSCRIPT;
	site->operand_count = 2;
	site->operands[0] = (struct argument_operand){ .role = OPERAND_CONTAINER,
						       .kind = CONTENT_ARRAY,
						       .whole = true,
						       .shape = "float64[1000]" };
	site->operands[1] = (struct argument_operand){ .role = OPERAND_INDEX,
						       .kind = CONTENT_INT,
						       .whole = true };
	add_others(fixture, stored, MANY);
	for (uint32_t i = 0; i < MANY; i++)
		add_two(fixture, frame(called, 100 + i, i), frame(stored, 100 + i, i));
	judge(fixture);
	assert_int_equal(votes(fixture, ARGUMENT_ELEMENTS, stored), MANY);
}

static uint32_t ufunc_at(struct fixture *fixture, int line)
{
	uint32_t site = call_at(fixture, "loop", line);

	snprintf(site_of(fixture, site)->operands[0].shape, FINGERPRINT_SHAPE, "numpy.ufunc");
	site_of(fixture, site)->operands[1].kind = CONTENT_SCALAR;
	return site;
}

static void test_scalars(void **state)
{
	struct fixture *fixture = *state;
	uint32_t summed = ufunc_at(fixture, 11), kept = ufunc_at(fixture, 12);

	add_others(fixture, summed, MANY);
	all_are(fixture, ARGUMENT_SCALARS, summed);
	/* Not summed up: an array is what it should work on. */
	forget_samples(fixture);
	add_others(fixture, kept, MANY);
	all_are(fixture, ARGUMENT_ELEMENTS, kept);
	/* Not a ufunc: there may be nothing that takes an array. */
	forget_samples(fixture);
	snprintf(site_of(fixture, summed)->operands[0].shape, FINGERPRINT_SHAPE, "function");
	add_others(fixture, summed, MANY);
	all_are(fixture, ARGUMENT_NEEDED, summed);
	/* Nor are arrays numbers. */
	ufunc_at(fixture, 11);
	site_of(fixture, summed)->operands[1].kind = CONTENT_ARRAY;
	all_are(fixture, ARGUMENT_NEEDED, summed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_algorithms, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_cut, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_sorted_again, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_copied_again, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_prepared_again, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_rows, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_function_for_each_row, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_function_for_each_group, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_joined_in_turn, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_growing, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_growing_from_call_to_call, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_growing_is_dropped, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_order, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_elements, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_elements_stored, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_scalars, set_up, tear_down),
	};

	return run_on_interpreters(tests);
}
