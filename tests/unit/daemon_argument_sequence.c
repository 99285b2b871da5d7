/* SPDX-License-Identifier: Apache-2.0 */
/* Sites that go over all of a sequence in each call, and what of it is as in the call before. */
#include "argument_samples.h"
#include "daemon/detect/slow_call.h"

#define COMPARED 20

static uint8_t slow_number(const char *function, const char *file)
{
	const struct python_code code = { .function = (char *)(uintptr_t)function,
					  .file = (char *)(uintptr_t)file };
	uint8_t number = file ? slow_call_find(&code) : slow_call_find_builtin(function, true);

	assert_true(number);
	return number;
}

/* min(list): of most calls the list is the one of the call before, bar an item. */
static void test_list_that_hardly_changes(void **state)
{
	struct fixture *fixture = *state;
	uint32_t site = call_at(fixture, "loop", 4);
	struct argument_site *known = site_of(fixture, site);

	for (uint32_t i = 0; i < MANY; i++) {
		struct argument_frame one = frame(site, 100 + i, i);

		one.largest = 200;
		add(fixture, one);
	}
	known->slow = slow_number("min", NULL);
	known->compared = COMPARED;
	all_are(fixture, ARGUMENT_NEEDED, site);
	known->kept = COMPARED - 2;
	all_are(fixture, ARGUMENT_SORTED, site);
	/* Half of them may be chance. */
	known->kept = COMPARED / 2;
	all_are(fixture, ARGUMENT_NEEDED, site);
	/* A function of which it is not known that it goes over all. */
	known->kept = COMPARED;
	known->slow = 0;
	all_are(fixture, ARGUMENT_NEEDED, site);
	/* One that grows is told as that. */
	known->slow = slow_number("sum", NULL);
	known->grown = COMPARED;
	all_are(fixture, ARGUMENT_GROWING, site);
}

/* A short list costs less to go over than to keep in a heap; to sort one takes longer. */
static void test_short_list(void **state)
{
	struct fixture *fixture = *state;
	uint32_t site = call_at(fixture, "loop", 4);
	struct argument_site *known = site_of(fixture, site);

	for (uint32_t i = 0; i < MANY; i++) {
		struct argument_frame one = frame(site, 100 + i, i);

		one.largest = 40;
		add(fixture, one);
	}
	known->compared = known->kept = COMPARED;
	known->slow = slow_number("max", NULL);
	all_are(fixture, ARGUMENT_NEEDED, site);
	known->slow = slow_number("sorted", NULL);
	all_are(fixture, ARGUMENT_SORTED, site);
	/* Its result is dropped: it is called for what it does to its list. */
	forget_samples(fixture);
	site = call_at(fixture, "loop", 5);
	add_others(fixture, site, MANY);
	site_of(fixture, site)->compared = site_of(fixture, site)->kept = COMPARED;
	site_of(fixture, site)->most_items = 100;
	site_of(fixture, site)->slow = slow_call_find_builtin("heapify", false);
	all_are(fixture, ARGUMENT_SORTED, site);
}

/* min(todo, key=dist.get) of a set; by a key of its own the order may be another one each time. */
static void test_set_by_a_key(void **state)
{
	struct fixture *fixture = *state;
	uint32_t site = call_at(fixture, "loop", 4);
	struct argument_site *known = site_of(fixture, site);

	add_others(fixture, site, MANY);
	known->slow = slow_number("min", NULL);
	known->compared = known->kept = COMPARED;
	known->most_items = 200;
	known->operand_count = 3;
	known->operands[1].kind = CONTENT_SET;
	known->operands[2] = (struct argument_operand){ .kind = CONTENT_METHOD, .callable = true };
	all_are(fixture, ARGUMENT_SORTED, site);
	known->operands[2].kind = CONTENT_FUNCTION;
	all_are(fixture, ARGUMENT_NEEDED, site);
	/* What a list's items are is as they were. */
	known->operands[1].kind = CONTENT_LIST;
	all_are(fixture, ARGUMENT_SORTED, site);
}

/* list.sort(): while it runs, its list has no items. */
static void test_list_being_sorted(void **state)
{
	struct fixture *fixture = *state;
	uint32_t site = call_at(fixture, "loop", 4);
	struct argument_site *known = site_of(fixture, site);

	add_others(fixture, site, MANY);
	known->slow = slow_call_find_builtin("sort", false);
	assert_true(known->slow);
	known->compared = known->kept = COMPARED;
	all_are(fixture, ARGUMENT_NEEDED, site);
	known->most_items = 40;
	all_are(fixture, ARGUMENT_SORTED, site);
}

/* x[i - n:i].sum() */
static void test_part_that_moves(void **state)
{
	struct fixture *fixture = *state;
	uint32_t site = call_at(fixture, "loop", 4), once = call_at(fixture, "once", 15);

	add_others(fixture, site, MANY);
	site_of(fixture, site)->compared = COMPARED;
	all_are(fixture, ARGUMENT_NEEDED, site);
	site_of(fixture, site)->shifted = COMPARED - 1;
	all_are(fixture, ARGUMENT_GROWING, site);
	/* heat += share * burning[y:y + n]: a stencil. */
	site_of(fixture, site)->kind = OPERATION_BINARY;
	all_are(fixture, ARGUMENT_NEEDED, site);
	site_of(fixture, site)->kind = OPERATION_CALL;
	/* Out of a loop nobody can take all parts at once. */
	forget_samples(fixture);
	add_others(fixture, once, MANY);
	site_of(fixture, once)->compared = site_of(fixture, once)->shifted = COMPARED;
	all_are(fixture, ARGUMENT_NEEDED, once);
}

/* x in deque, x in dict.values() */
static void test_searched(void **state)
{
	struct fixture *fixture = *state;
	uint32_t site = call_at(fixture, "loop", 4);
	struct argument_site *known = site_of(fixture, site);

	add_others(fixture, site, MANY);
	known->kind = OPERATION_CONTAINS;
	known->operands[1] = (struct argument_operand){ .role = OPERAND_CONTAINER,
							.kind = CONTENT_DEQUE,
							.size = 1000,
							.shape = "deque(1000)" };
	all_are(fixture, ARGUMENT_SEARCHED, site);
	known->operands[1].kind = CONTENT_OBJECT;
	snprintf(known->operands[1].shape, sizeof(known->operands[1].shape), "dict_values");
	all_are(fixture, ARGUMENT_SEARCHED, site);
	known->operands[1].kind = CONTENT_ARRAY;
	snprintf(known->operands[1].shape, sizeof(known->operands[1].shape), "int64[1000]");
	all_are(fixture, ARGUMENT_SEARCHED, site);
	snprintf(known->operands[1].shape, sizeof(known->operands[1].shape), "int64[3]");
	all_are(fixture, ARGUMENT_NEEDED, site);
	known->operands[1].kind = CONTENT_OBJECT;
	snprintf(known->operands[1].shape, sizeof(known->operands[1].shape), "dict_values");
	known->operands[1].size = 3;
	all_are(fixture, ARGUMENT_NEEDED, site);
	known->operands[1].size = 1000;
	snprintf(known->operands[1].shape, sizeof(known->operands[1].shape), "dict_keys");
	all_are(fixture, ARGUMENT_NEEDED, site);
}

/* del queue[0] */
static void test_deleted_at_front(void **state)
{
	struct fixture *fixture = *state;
	uint32_t site = call_at(fixture, "loop", 4);
	struct argument_site *known = site_of(fixture, site);

	add_others(fixture, site, MANY);
	known->kind = OPERATION_DELETE_SUBSCRIPT;
	known->operand_count = 2;
	known->operands[0] = (struct argument_operand){
		.role = OPERAND_CONTAINER, .kind = CONTENT_LIST, .size = 1000, .shape = "list(1000)"
	};
	known->operands[1] = (struct argument_operand){
		.role = OPERAND_INDEX, .kind = CONTENT_INT, .zero = true, .shape = "int"
	};
	all_are(fixture, ARGUMENT_CUT, site);
	known->operands[1].zero = false;
	all_are(fixture, ARGUMENT_NEEDED, site);
	known->operands[1].zero = true;
	known->operands[0].kind = CONTENT_DICT;
	all_are(fixture, ARGUMENT_NEEDED, site);
}

/* m = [*m, i]: the store frees what m was before. */
static void test_store_of_what_grows(void **state)
{
	struct fixture *fixture = *state;
	const struct compiled_code *code = compiled_function(fixture->compiled, "grow");
	uint32_t site = call_at(fixture, "loop", 4), built = ID_NONE, store = ID_NONE;
	int offset = compiled_offset(code, 46, "BUILD_LIST", 0);

	/* What makes the list is another instruction in each version: the last before the store. */
	for (size_t i = 1; i < code->instruction_count; i++)
		if (code->instructions[i].offset > offset &&
		    !strcmp(code->instructions[i].name, "STORE_FAST")) {
			(void)argument_log_site(&fixture->log, &code->code,
						code->instructions[i - 1].offset, &built);
			(void)argument_log_site(&fixture->log, &code->code,
						code->instructions[i].offset, &store);
			break;
		}
	add_others(fixture, site, MANY);
	add_others(fixture, built, MANY);
	for (uint32_t i = 0; i < MANY; i++) {
		struct argument_frame one = frame(store, 0, i);

		one.flags = ARGUMENT_DIRECT;
		add(fixture, one);
	}
	site_of(fixture, built)->kind = OPERATION_EXTEND;
	site_of(fixture, built)->compared = site_of(fixture, built)->grown = COMPARED;
	for (size_t i = 0; i < fixture->log.sample_count; i++)
		fixture->log.samples[i].frames[0].largest = 1000;
	judge(fixture);
	assert_int_equal(votes(fixture, ARGUMENT_GROWING, built), 2 * MANY);
	site_of(fixture, built)->grown = 0;
	judge(fixture);
	assert_int_equal(votes(fixture, ARGUMENT_GROWING, built), 0);
}

/* column.map(f): f only reckons with numbers, or works on texts, or calls others. */
static void test_items_of_columns(void **state)
{
	struct fixture *fixture = *state;
	uint32_t maps = call_at(fixture, "loop", 4), inside = call_at(fixture, "once", 15);
	struct argument_site *known = site_of(fixture, inside);

	site_of(fixture, maps)->slow = slow_number("map_array", "/pandas/core/algorithms.py");
	for (uint32_t i = 0; i < MANY; i++) {
		struct argument_frame one = frame(inside, 100 + i, i);
		struct argument_frame outer = frame(maps, 7000 + i, i);

		one.loop_count = 0;
		outer.flags |= ARGUMENT_IN_SLOW;
		add_two(fixture, one, outer);
	}
	known->kind = OPERATION_BINARY;
	known->operand_count = 2;
	for (size_t i = 0; i < 2; i++)
		known->operands[i] =
			(struct argument_operand){ .kind = CONTENT_FLOAT, .shape = "float" };
	all_are(fixture, ARGUMENT_SLOW, maps);
	known->operands[1] = (struct argument_operand){ .kind = CONTENT_STR, .shape = "str(3)" };
	judge(fixture);
	assert_int_equal(votes(fixture, ARGUMENT_SLOW, maps), 0);
	known->operands[1] = known->operands[0];
	known->kind = OPERATION_CALL;
	judge(fixture);
	assert_int_equal(votes(fixture, ARGUMENT_SLOW, maps), 0);
}

/* pandas.to_datetime("2024-03-01") */
static void test_single_texts(void **state)
{
	struct fixture *fixture = *state;
	uint32_t site = call_at(fixture, "loop", 4);
	struct argument_site *known = site_of(fixture, site);

	add_others(fixture, site, MANY);
	for (size_t i = 0; i < fixture->log.sample_count; i++)
		fixture->log.samples[i].frames[0].flags |= ARGUMENT_IN_SLOW;
	known->slow = slow_number("to_datetime", "/pandas/core/tools/datetimes.py");
	all_are(fixture, ARGUMENT_NEEDED, site);
	known->operands[1] = (struct argument_operand){ .kind = CONTENT_STR, .shape = "str(10)" };
	all_are(fixture, ARGUMENT_SLOW, site);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_list_that_hardly_changes, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_short_list, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_set_by_a_key, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_list_being_sorted, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_part_that_moves, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_searched, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_deleted_at_front, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_store_of_what_grows, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_items_of_columns, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_single_texts, set_up, tear_down),
	};

	return run_on_interpreters(tests);
}
