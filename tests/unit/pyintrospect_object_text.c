/* SPDX-License-Identifier: Apache-2.0 */
/* Objects in words: what is cut, what is refused, what is left over when memory says nonsense. */
#include "pyintrospect/object_text.h"

#include "pyintrospect/runtime_internal.h"
#include "tests/unit/own_memory.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define MINOR        12
#define COUNT_OR_TAG 16
#define LIST_ITEMS   24
#define DIGITS       24
#define DEPTH        3 /* as object_text.h has it */

struct forged_type {
	uint64_t words[64];
	char name[OBJECT_TEXT_TYPE_SIZE];
};

struct forged_object {
	uint64_t words[16];
};

static struct python_runtime *runtime;
static struct forged_type list_type, int_type, row_type, thing_type, str_type;

static void forge_type(struct forged_type *type, const char *name, const struct forged_type *base)
{
	*type = (struct forged_type){ 0 };
	strcpy(type->name, name);
	own_forge((uint8_t *)type, (size_t)runtime->layout.offsets.type_name,
		  own_address(type->name));
	own_forge((uint8_t *)type, 256, base ? own_address(base) : 0);
}

static struct forged_object object_of(const struct forged_type *type)
{
	struct forged_object object = { 0 };

	own_forge((uint8_t *)&object, (size_t)runtime->layout.offsets.object_type,
		  own_address(type));
	return object;
}

static struct forged_object list_of(const struct forged_type *type, uint64_t count,
				    const uint64_t *items)
{
	struct forged_object list = object_of(type);

	own_forge((uint8_t *)&list, COUNT_OR_TAG, count);
	own_forge((uint8_t *)&list, LIST_ITEMS, own_address(items));
	return list;
}

static int setup(void **state)
{
	(void)state;
	runtime = calloc(1, sizeof(*runtime));
	if (!runtime)
		return -1;
	runtime->reader = &own_memory;
	runtime->layout = *python_layout_builtin(MINOR);
	forge_type(&list_type, "list", NULL);
	forge_type(&int_type, "int", NULL);
	forge_type(&str_type, "str", NULL);
	forge_type(&row_type, "Row", &list_type);
	forge_type(&thing_type, "Thing", NULL);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	free(runtime);
	return 0;
}

/* Until the next call. */
static const struct object_text *told(const void *object, size_t objects)
{
	static struct object_text_reader reader;
	static struct object_text text;

	object_text_begin(&reader, runtime, objects);
	assert_int_equal(object_text_read(&reader, own_address(object), &text), objects > 0);
	return &text;
}

static void test_containers_are_cut(void **state)
{
	struct forged_object one = object_of(&int_type), list, row;
	uint64_t items[8];

	(void)state;
	own_forge((uint8_t *)&one, COUNT_OR_TAG, 1 << 3);
	own_forge((uint8_t *)&one, DIGITS, 42);
	for (size_t i = 0; i < 8; i++)
		items[i] = own_address(&one);
	list = list_of(&list_type, 1000000, items);
	assert_string_equal(told(&list, 100)->text,
			    "[42, 42, 42, 42, 42, 42, 42, 42, ... 999992 more]");
	row = list_of(&row_type, 1, items);
	assert_string_equal(told(&row, 100)->text, "Row([42])");
	assert_string_equal(told(&row, 100)->type, "Row");
	/* No more objects than may be looked at. */
	assert_string_equal(told(&list, 3)->text, "[42, 42, ...");
	assert_string_equal(told(&list, 0)->text, "");
}

static void test_depth_has_an_end(void **state)
{
	uint64_t items[1];
	struct forged_object list;

	(void)state;
	list = list_of(&list_type, 1, items);
	items[0] = own_address(&list);
	_Static_assert(OBJECT_TEXT_DEPTH == DEPTH, "so many brackets");
	assert_string_equal(told(&list, 100)->text, "[[[[... 1 more]]]]");
}

/* Eight to the power of three objects of long names: the text is cut, and says so. */
static void test_text_has_an_end(void **state)
{
	struct forged_object thing = object_of(&thing_type), lists[3];
	uint64_t items[3][8];
	const struct object_text *text;
	size_t length;

	(void)state;
	for (size_t i = 0; i < 8; i++) {
		items[0][i] = own_address(&thing);
		items[1][i] = own_address(&lists[0]);
		items[2][i] = own_address(&lists[1]);
	}
	for (size_t i = 0; i < 3; i++)
		lists[i] = list_of(&list_type, 8, items[i]);
	text = told(&lists[2], 1000);
	length = strlen(text->text);
	assert_true(length < OBJECT_TEXT_SIZE && length > OBJECT_TEXT_SIZE - 40);
	assert_string_equal(text->text + length - 3, "...");
	text = told(&thing, 1);
	assert_true(text->by_type);
	assert_ptr_equal(strstr(text->text, "<Thing 0x"), text->text);
}

static void test_nonsense(void **state)
{
	uint64_t items[1] = { 8 };
	struct forged_object list = list_of(&list_type, 1ull << 60, items), text, number;

	(void)state;
	assert_string_equal(told(&list, 100)->text, "?");
	/* An item that is no object, and an array that cannot be read. */
	list = list_of(&list_type, 1, items);
	assert_string_equal(told(&list, 100)->text, "[?]");
	list = list_of(&list_type, 1, (const uint64_t *)8);
	assert_string_equal(told(&list, 100)->text, "?");
	/* A str as long as memory. */
	text = object_of(&str_type);
	own_forge((uint8_t *)&text, (size_t)runtime->layout.offsets.string_length, 1ull << 43);
	own_forge((uint8_t *)&text, (size_t)runtime->layout.offsets.string_state, 1 << 2);
	assert_string_equal(told(&text, 100)->text, "?");
	/* A digit that is none. */
	number = object_of(&int_type);
	own_forge((uint8_t *)&number, COUNT_OR_TAG, 1 << 3);
	own_forge((uint8_t *)&number, DIGITS, UINT32_MAX);
	assert_string_equal(told(&number, 100)->text, "?");
	own_forge((uint8_t *)&number, COUNT_OR_TAG, 35 << 3);
	assert_string_equal(told(&number, 100)->text, "<int of 1021 to 1050 bits>");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_containers_are_cut),
		cmocka_unit_test(test_depth_has_an_end),
		cmocka_unit_test(test_text_has_an_end),
		cmocka_unit_test(test_nonsense),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
