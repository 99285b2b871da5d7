/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/detect/argument_note.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

struct noted {
	struct argument_site site;
	struct argument_frame frame;
};

static void note(struct noted *noted, uint8_t role, enum content_kind kind, const char *shape,
		 uint64_t object, uint64_t content)
{
	const struct operand_value value = { .role = role, .state = OPERAND_IS_OBJECT };
	struct fingerprint print = {
		.kind = kind, .object = object, .content = content, .whole = true
	};

	snprintf(print.shape, sizeof(print.shape), "%s", shape);
	argument_note_operand(&noted->frame, &noted->site, noted->site.operand_count++, &value,
			      &print);
}

/* ring_pop(handle): a number stands for what cannot be seen. */
static void test_foreign(void **state)
{
	struct noted numbers = { 0 }, text = { 0 }, python = { 0 };

	(void)state;
	note(&numbers, OPERAND_CALLABLE, CONTENT_OTHER, "_FuncPtr", 1, 1);
	note(&numbers, OPERAND_VALUE, CONTENT_INT, "int", 2, 2);
	assert_true(argument_is_foreign(&numbers.site));
	note(&text, OPERAND_CALLABLE, CONTENT_OTHER, "_FuncPtr", 1, 1);
	note(&text, OPERAND_VALUE, CONTENT_BYTES, "bytes(9)", 2, 2);
	assert_false(argument_is_foreign(&text.site));
	note(&python, OPERAND_CALLABLE, CONTENT_FUNCTION, "function", 1, 1);
	note(&python, OPERAND_VALUE, CONTENT_INT, "int", 2, 2);
	assert_false(argument_is_foreign(&python.site));
}

/* A single sample in which something else lies there. */
static void test_one_odd_sample(void **state)
{
	struct noted noted = { 0 };

	(void)state;
	note(&noted, OPERAND_CONTAINER, CONTENT_ARRAY, "float64[9]", 1, 1);
	noted.site.operand_count = 0;
	note(&noted, OPERAND_CONTAINER, CONTENT_SLICE, "slice", 2, 2);
	assert_int_equal(noted.site.operands[0].kind, CONTENT_ARRAY);
	noted.site.operand_count = 0;
	note(&noted, OPERAND_CONTAINER, CONTENT_ARRAY, "float64[9]", 1, 1);
	assert_false(noted.site.operands[0].doubted);
	for (int i = 0; i < 2; i++) {
		noted.site.operand_count = 0;
		note(&noted, OPERAND_CONTAINER, CONTENT_LIST, "list(9)", 3, 3);
	}
	assert_int_equal(noted.site.operands[0].kind, CONTENT_LIST);
	assert_string_equal(noted.site.operands[0].shape, "list(9)");
}

/* {**d} goes over all of d; f(d) need not. */
static void test_copied_dict(void **state)
{
	const struct operand_value value = { .role = OPERAND_VALUE, .state = OPERAND_IS_OBJECT };
	const struct fingerprint print = { .kind = CONTENT_DICT, .size = 70, .shape = "dict(70)" };
	struct noted called = { .site.kind = OPERATION_CALL };
	struct noted copied = { .site.kind = OPERATION_EXTEND };

	(void)state;
	argument_note_operand(&called.frame, &called.site, 0, &value, &print);
	assert_int_equal(called.frame.largest, 0);
	argument_note_operand(&copied.frame, &copied.site, 0, &value, &print);
	assert_int_equal(copied.frame.largest, 70);
}

/* m.group(1) in a function works on no state: who calls it gave the text. */
static void test_match(void **state)
{
	const struct operand_value value = { .role = OPERAND_SELF, .state = OPERAND_IS_OBJECT };
	struct fingerprint print = { .kind = CONTENT_OTHER, .opaque = true, .shape = "Match" };
	struct noted match = { 0 }, reader = { 0 };

	(void)state;
	argument_note_operand(&match.frame, &match.site, 0, &value, &print);
	assert_int_equal(match.frame.flags & (ARGUMENT_OPAQUE | ARGUMENT_STATE), ARGUMENT_OPAQUE);
	snprintf(print.shape, sizeof(print.shape), "BufferedReader");
	argument_note_operand(&reader.frame, &reader.site, 0, &value, &print);
	assert_true(reader.frame.flags & ARGUMENT_STATE);
}

/* datetime.strptime is another object each time, and yet the same. */
static void test_class_methods(void **state)
{
	struct noted first = { 0 }, again = { 0 }, other = { 0 };

	(void)state;
	note(&first, OPERAND_CALLABLE, CONTENT_CALLABLE, "builtin_function_or_method", 100, 7);
	note(&again, OPERAND_CALLABLE, CONTENT_CALLABLE, "builtin_function_or_method", 200, 7);
	note(&other, OPERAND_CALLABLE, CONTENT_CALLABLE, "builtin_function_or_method", 100, 8);
	assert_int_equal(first.frame.contents, again.frame.contents);
	assert_int_not_equal(first.frame.contents, other.frame.contents);
	assert_int_equal(first.frame.flags & (ARGUMENT_DATA | ARGUMENT_OPAQUE), 0);
}

/* What functools.lru_cache made of a function, called by its name and as a method. */
static void test_caches(void **state)
{
	static const struct {
		uint8_t role;
		const char *shape;
		bool cached;
	} cases[] = {
		{ OPERAND_CALLABLE, "_lru_cache_wrapper", true },
		{ OPERAND_METHOD, "functools._lru_cache_wrapper", true },
		{ OPERAND_CALLABLE, "function", false },
		{ OPERAND_VALUE, "_lru_cache_wrapper", false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct noted noted = { 0 };

		note(&noted, cases[i].role, CONTENT_CALLABLE, cases[i].shape, 1, 1);
		assert_int_equal(argument_calls_cache(&noted.site), cases[i].cached);
	}
}

/* A graph and a name: the graph is held, and changes or not; the name comes and goes. */
static void test_last(void **state)
{
	struct noted noted = { 0 };

	(void)state;
	for (uint64_t i = 0; i < 6; i++) {
		noted.site.operand_count = 0;
		note(&noted, OPERAND_VALUE, CONTENT_LIST, "list(9)", i < 4 ? 100 : 200,
		     i < 3 ? 7 : 8);
		note(&noted, OPERAND_VALUE, CONTENT_STR, "str(1)", 300 + i, i / 2);
	}
	assert_int_equal(noted.site.held_met, 6);
	assert_int_equal(noted.site.held_again, 4);
	assert_int_equal(noted.site.held_changed, 1);
	assert_int_equal(noted.site.keys_changed, 2);
}

/* What could be a key is the same wherever it lies. */
static void test_same_objects(void **state)
{
	struct noted one = { 0 }, other = { 0 }, moved = { 0 };

	(void)state;
	note(&one, OPERAND_VALUE, CONTENT_LIST, "list(9)", 100, 7);
	note(&one, OPERAND_VALUE, CONTENT_STR, "str(1)", 200, 8);
	note(&other, OPERAND_VALUE, CONTENT_LIST, "list(9)", 100, 7);
	note(&other, OPERAND_VALUE, CONTENT_STR, "str(1)", 300, 8);
	note(&moved, OPERAND_VALUE, CONTENT_LIST, "list(9)", 400, 7);
	note(&moved, OPERAND_VALUE, CONTENT_STR, "str(1)", 200, 8);
	assert_int_equal(one.frame.objects, other.frame.objects);
	assert_int_not_equal(one.frame.objects, moved.frame.objects);
}

/* What is not read is the same whatever it is; what is read by attributes can be a key. */
static void test_what_is_read(void **state)
{
	const struct operand_value value = { .role = OPERAND_VALUE, .state = OPERAND_IS_OBJECT };
	struct fingerprint print = {
		.kind = CONTENT_OBJECT, .object = 1, .content = 5, .shape = "Thing"
	};
	struct fingerprint other = { .kind = CONTENT_LIST,
				     .object = 2,
				     .content = 6,
				     .size = 9,
				     .opaque = true,
				     .shape = "list(9)" };
	struct noted first = { 0 }, second = { 0 };

	(void)state;
	argument_note_unused(&first.frame, &first.site, 0, &value, &print);
	argument_note_unused(&second.frame, &second.site, 0, &value, &other);
	assert_int_equal(first.frame.contents, second.frame.contents);
	assert_int_equal(first.frame.objects, second.frame.objects);
	assert_int_equal(second.frame.flags, 0);
	assert_int_equal(second.frame.largest, 0);
	assert_true(first.site.operands[0].hashable && second.site.operands[0].hashable);
	note(&first, OPERAND_VALUE, CONTENT_OBJECT, "Thing", 1, 5);
	first.site.operand_count = 1;
	assert_false(argument_reads_attributes(&first.site));
	assert_false(first.site.operands[0].hashable);
	print.keyed = true;
	argument_note_operand(&first.frame, &first.site, 0, &value, &print);
	assert_true(argument_reads_attributes(&first.site));
	assert_true(first.site.operands[0].hashable);
}

/* f(x, **kwargs) called without any can be told apart by x; with some, it is what a dict holds. */
static void test_no_keywords(void **state)
{
	const struct operand_value value = { .role = OPERAND_VALUE, .state = OPERAND_IS_OBJECT };
	struct fingerprint print = { .kind = CONTENT_DICT, .whole = true, .shape = "dict(0)" };
	struct noted noted = { 0 };

	(void)state;
	argument_note_operand(&noted.frame, &noted.site, 0, &value, &print);
	assert_true(noted.site.operands[0].hashable);
	print.size = 1;
	argument_note_operand(&noted.frame, &noted.site, 0, &value, &print);
	assert_false(noted.site.operands[0].hashable);
}

/* text.count("\n", 2, 100) goes over a part of the text. */
static void test_range(void **state)
{
	struct noted noted = { .site.kind = OPERATION_CALL };
	const struct operand_value start = { .integer = 2 }, end = { .integer = 100 };

	(void)state;
	note(&noted, OPERAND_SELF, CONTENT_STR, "str(400)", 1, 1);
	noted.site.operands[0].size = 400;
	note(&noted, OPERAND_VALUE, CONTENT_STR, "str(1)", 2, 2);
	argument_note_integer(&noted.frame, &noted.site, noted.site.operand_count++, &start);
	noted.frame.largest = 400;
	argument_note_range(&noted.frame, &noted.site);
	assert_int_equal(noted.frame.largest, 400);
	argument_note_integer(&noted.frame, &noted.site, noted.site.operand_count++, &end);
	argument_note_range(&noted.frame, &noted.site);
	assert_int_equal(noted.frame.largest, 98);
	/* No range of the text. */
	noted.site.operands[0].size = 50;
	noted.frame.largest = 50;
	argument_note_range(&noted.frame, &noted.site);
	assert_int_equal(noted.frame.largest, 50);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_foreign),       cmocka_unit_test(test_one_odd_sample),
		cmocka_unit_test(test_copied_dict),   cmocka_unit_test(test_match),
		cmocka_unit_test(test_class_methods), cmocka_unit_test(test_caches),
		cmocka_unit_test(test_what_is_read),  cmocka_unit_test(test_no_keywords),
		cmocka_unit_test(test_last),          cmocka_unit_test(test_same_objects),
		cmocka_unit_test(test_range),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
