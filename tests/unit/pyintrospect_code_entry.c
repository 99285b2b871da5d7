/* SPDX-License-Identifier: Apache-2.0 */
#include "compiled_python.h"
#include "pyintrospect/code_entry.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static const char program[] = "def plain(a, b):\n"
			      "    return a + b\n"
			      "def enclosing(a, b):\n"
			      "    def inner():\n"
			      "        return a, b\n"
			      "    return inner\n"
			      "def again(a):\n"
			      "    while a:\n"
			      "        a -= 1\n"
			      "def looping(a):\n"
			      "    while True:\n"
			      "        a()\n"
			      "def counting(a):\n"
			      "    while a:\n"
			      "        yield a\n"
			      "async def waiting(a):\n"
			      "    await a\n";

static const struct live_python *interpreter;

/* The first instruction of the function's own first line, behind what makes cells. */
static void test_functions(void **state)
{
	struct compiled_python compiled = compiled_python(interpreter, program);
	static const char *const functions[] = { "plain", "enclosing", "again", "looping" };

	(void)state;
	for (size_t f = 0; f < sizeof(functions) / sizeof(functions[0]); f++) {
		const struct compiled_code *code = compiled_function(&compiled, functions[f]);
		int expected = 0;

		for (size_t i = 0; i + 1 < code->instruction_count; i++) {
			if (!strcmp(code->instructions[i].name, "RESUME") && !expected)
				expected = code->instructions[i + 1].offset;
			/* To 3.9 a loop may begin there. */
			if (interpreter->minor < 11 && code->instructions[i].target == 0)
				expected = -1;
		}
		assert_int_equal(code_entry(&code->code), expected);
		assert_true(expected > 0 || interpreter->minor < 11);
		assert_true(expected >= 0 || f > 1);
	}
	assert_int_equal(code_entry(&compiled_function(&compiled, "counting")->code), -1);
	assert_int_equal(code_entry(&compiled_function(&compiled, "waiting")->code), -1);
	compiled_python_free(&compiled);
}

static void test_damaged(void **state)
{
	struct compiled_python compiled = compiled_python(interpreter, program);
	struct python_code code = compiled_function(&compiled, "plain")->code;
	uint8_t bytes[64] = { 0 };

	(void)state;
	for (uint32_t size = 0; size < code.bytecode_size; size++) {
		struct python_code cut = code;

		cut.bytecode_size = size;
		assert_true(code_entry(&cut) < (int)size);
	}
	for (unsigned byte = 0; byte < 256; byte++) {
		memset(bytes, (int)byte, sizeof(bytes));
		code.bytecode = bytes;
		code.bytecode_size = sizeof(bytes);
		assert_in_range(code_entry(&code) + 1, 0, sizeof(bytes));
	}
	code.minor = 99;
	assert_int_equal(code_entry(&code), -1);
	compiled_python_free(&compiled);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_functions),
		cmocka_unit_test(test_damaged),
	};
	const struct live_pythons *pythons = live_pythons();
	int failed = 0;

	if (!pythons->count)
		print_message("skipped: no CPython 3.6 to 3.15 found\n");
	for (size_t i = 0; i < pythons->count; i++) {
		interpreter = &pythons->items[i];
		failed += cmocka_run_group_tests(tests, NULL, NULL);
	}
	return failed != 0;
}
