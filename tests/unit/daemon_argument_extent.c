/* SPDX-License-Identifier: Apache-2.0 */
/* Which instructions are a call's own, on code that every interpreter found here has compiled. */
#include "argument_samples.h"

#include "daemon/detect/argument_extent.h"

static const char chains[] = "def digest(f, a, b):\n"
			     "    return f(f'{a}|{b:>9}', size=8).g()\n"
			     "def other(f, a):\n"
			     "    return a.g(f(a))\n"
			     "def shown(f, a):\n"
			     "    return f(f'{a!r:{a}}').g(1)\n"
			     "def column(f, a):\n"
			     "    return f(a)['k'].g(1)\n"
			     "def taken(f, a):\n"
			     "    return f(a)[1000]\n"
			     "def counted(f, a):\n"
			     "    return f(a)[a]\n"
			     "def kept(f, a):\n"
			     "    a.x = f(a)\n"
			     "    b = f(a)\n"
			     "    a[0] = f(b)\n"
			     "def copied(f, a):\n"
			     "    return f.loads(f.dumps(a))\n";

static int call_offset(const struct compiled_code *code, unsigned number, bool precall)
{
	unsigned seen = 0;

	for (size_t i = 0; i < code->instruction_count; i++)
		if (!strncmp(code->instructions[i].name, precall ? "PRECALL" : "CALL",
			     precall ? 7 : 4) &&
		    seen++ == number)
			return code->instructions[i].offset;
	fail_msg("no call %u", number);
	return -1;
}

/* Of g(), by either of the instructions that 3.11 makes a call with. */
static void check_origin(const struct live_python *python, const char *function, bool of_call)
{
	struct compiled_python chain = compiled_python(python, chains);
	const struct compiled_code *code = compiled_function(&chain, function);
	struct bytecode bytecode;

	assert_int_equal(bytecode_init(&bytecode, &code->code), 0);
	for (unsigned precall = 0; precall < (python->minor == 11 ? 2 : 1); precall++) {
		int outer = call_offset(code, 1, precall), inner = call_offset(code, 0, false);

		assert_int_equal(argument_extent_origin(&bytecode, outer), of_call ? inner : -1);
		assert_true(argument_extent_find(&bytecode, outer).start <
			    argument_extent_find(&bytecode, inner).end);
		if (of_call)
			assert_int_equal(argument_extent_find(&bytecode, outer).start,
					 argument_extent_find(&bytecode, inner).start);
	}
	bytecode_deinit(&bytecode);
	compiled_python_free(&chain);
}

static void test_origin(void **state)
{
	const struct fixture *fixture = *state;

	check_origin(fixture->python, "digest", true);
	check_origin(fixture->python, "shown", true);
	check_origin(fixture->python, "column", true);
	check_origin(fixture->python, "other", false);
}

/* f(a)[1000] is of f(a) alone. */
static void check_subscript(const struct live_python *python, const char *function, bool of_call)
{
	struct compiled_python chain = compiled_python(python, chains);
	const struct compiled_code *code = compiled_function(&chain, function);
	struct bytecode bytecode;
	int subscript = -1;

	assert_int_equal(bytecode_init(&bytecode, &code->code), 0);
	for (size_t i = 0; i < bytecode.count; i++)
		if (!strcmp(bytecode.instructions[i].name, "BINARY_SUBSCR") ||
		    (!strcmp(bytecode.instructions[i].name, "BINARY_OP") &&
		     bytecode.instructions[i].argument == 26))
			subscript = bytecode.instructions[i].offset;
	assert_true(subscript > 0);
	assert_int_equal(argument_extent_origin(&bytecode, subscript),
			 of_call ? call_offset(code, 0, false) : -1);
	bytecode_deinit(&bytecode);
	compiled_python_free(&chain);
}

static void test_origin_of_subscript(void **state)
{
	const struct fixture *fixture = *state;

	check_subscript(fixture->python, "taken", true);
	check_subscript(fixture->python, "counted", false);
}

/* a.x = f(a), b = f(a); the store of an item frees none of what is in an array. */
static void test_stores(void **state)
{
	const struct fixture *fixture = *state;
	struct compiled_python chain = compiled_python(fixture->python, chains);
	const struct compiled_code *code = compiled_function(&chain, "kept");
	static const char *const stores[] = { "STORE_ATTR", "STORE_FAST" };
	struct bytecode bytecode;

	assert_int_equal(bytecode_init(&bytecode, &code->code), 0);
	for (unsigned i = 0; i < 3; i++) {
		struct argument_extent extent =
			argument_extent_find(&bytecode, call_offset(code, i, false));
		const struct bytecode_instruction *store =
			extent.store < 0 ? NULL : bytecode_at(&bytecode, extent.store);

		/* b = ...; a[0] = f(b): in one instruction from 3.13 on. */
		if (i < 2)
			assert_true(store && !strncmp(store->name, stores[i], 10));
		else
			assert_null(store);
	}
	bytecode_deinit(&bytecode);
	compiled_python_free(&chain);
}

/* f.loads(f.dumps(a)) */
static void test_call_of_a_result(void **state)
{
	const struct fixture *fixture = *state;
	struct compiled_python chain = compiled_python(fixture->python, chains);
	const struct compiled_code *code = compiled_function(&chain, "copied");
	struct bytecode bytecode;

	assert_int_equal(bytecode_init(&bytecode, &code->code), 0);
	for (unsigned precall = 0; precall < (fixture->python->minor == 11 ? 2 : 1); precall++) {
		int outer = call_offset(code, 1, precall), inner = call_offset(code, 0, precall);

		assert_int_equal(argument_extent_call(&bytecode, outer),
				 argument_extent_find(&bytecode, inner).end);
	}
	assert_int_equal(argument_extent_call(&bytecode, 0), -1);
	bytecode_deinit(&bytecode);
	compiled_python_free(&chain);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_origin, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_origin_of_subscript, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_stores, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_call_of_a_result, set_up, tear_down),
	};

	return run_on_interpreters(tests);
}
