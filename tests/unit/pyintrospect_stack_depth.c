/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Depths of the evaluation stack against those that every interpreter found
 * computes of its own library, and slots of operands and of loops in code that
 * they compile. PIEPROFD_TEST_STDLIB='*.py' takes more of the library.
 */
#include "pyintrospect/operation.h"

#include "pyintrospect/stack_effect.h"
#include "tests/unit/compiled_python.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static const char *const forms[] = {
	"UNKNOWN",           "CONSTANT",        "MINUS_ARGUMENT", "PLUS_ARGUMENT",
	"MINUS_TWICE",       "PLUS_BIT_0",      "MINUS_BIT_0",    "MINUS_BIT_2",
	"MINUS_BITS_0_TO_3", "PLUS_BOTH_BYTES", "MINUS_ONE_AT_3",
};
static const char *const flows[] = { "NEXT", "BRANCH", "JUMP", "END", "HANDLER", "END_FINALLY" };
static const char *const targets[] = { "NONE", "FORWARD", "BACKWARD", "ABSOLUTE" };

static void test_tables(void **state)
{
	const struct live_pythons *pythons = live_pythons();

	(void)state;
	for (size_t i = 0; i < pythons->count; i++) {
		const struct stack_effect *table = stack_effect_table(pythons->items[i].minor);
		char command[PATH_MAX + 64], line[256], form[32], flow[32], target[32];
		unsigned rows = 0, known = 0, number;
		int next, jump;
		FILE *pipe;

		snprintf(command, sizeof(command), "'%s' tests/tools/stack_effect_table.py",
			 pythons->items[i].path);
		pipe = popen(command, "r");
		assert_non_null(pipe);
		while (fgets(line, sizeof(line), pipe)) {
			if (sscanf(line,
				   " [%u] = { EFFECT_%31[^,], %d, %d, FLOW_%31[^,], "
				   "TARGET_%31[A-Z]",
				   &number, form, &next, &jump, flow, target) != 6)
				continue;
			rows++;
			assert_true(number < 256);
			assert_string_equal(forms[table[number].form], form);
			assert_int_equal(table[number].next, next);
			assert_int_equal(table[number].jump, jump);
			assert_string_equal(flows[table[number].flow], flow);
			assert_string_equal(targets[table[number].target], target);
		}
		pclose(pipe);
		for (number = 0; number < 256; number++)
			known += table[number].form != EFFECT_UNKNOWN;
		assert_true(rows > 100);
		assert_int_equal(known, rows);
	}
	if (!pythons->count)
		skip();
}

struct comparison {
	size_t codes, instructions, unknown, unreached, wrong;
};

/* One line of tests/tools/stack_depth_reference.py. */
static void compare_line(const struct live_python *python, char *line,
			 struct comparison *comparison)
{
	char *rest, *bytecode = strtok_r(line, " \n", &rest);
	char *exceptions = strtok_r(NULL, " \n", &rest);
	char *stack_size = strtok_r(NULL, " \n", &rest), *word;
	struct python_code code = { .minor = python->minor };
	struct stack_depths depths;
	size_t reached = 0;
	int error;

	assert_non_null(stack_size);
	code.bytecode = compiled_bytes(bytecode, &code.bytecode_size);
	code.exception_table = compiled_bytes(exceptions, &code.exception_table_size);
	error = stack_depths_init(&depths, &code);
	if (error)
		fail_msg("3.%d %s: %s", python->minor, bytecode, strerror(-error));
	while ((word = strtok_r(NULL, " \n", &rest))) {
		const struct stack_instruction *found;
		int offset, depth = STACK_DEPTH_UNKNOWN;

		assert_true(sscanf(word, "%d:%d", &offset, &depth) >= 1);
		found = stack_depths_at(&depths, offset);
		assert_non_null(found);
		comparison->instructions++;
		comparison->unknown += depth == STACK_DEPTH_UNKNOWN;
		reached += found->depth != STACK_DEPTH_UNKNOWN;
		assert_true(found->depth <= atoi(stack_size));
		if (found->depth != depth && comparison->wrong++ < 10)
			print_error("3.%d: depth %d, expected %d, at %d of %s\n", python->minor,
				    found->depth, depth, offset, bytecode);
	}
	/* And nothing else is. */
	for (size_t i = 0; i < depths.count; i++) {
		reached -= depths.instructions[i].depth != STACK_DEPTH_UNKNOWN;
		comparison->unreached += depths.instructions[i].depth == STACK_DEPTH_UNKNOWN;
	}
	if (reached != 0)
		comparison->wrong++;
	comparison->codes++;
	stack_depths_deinit(&depths);
	free((void *)(uintptr_t)code.bytecode);
	free((void *)(uintptr_t)code.exception_table);
}

static void test_library(void **state)
{
	const struct live_pythons *pythons = live_pythons();
	const char *patterns = getenv("PIEPROFD_TEST_STDLIB");

	(void)state;
	for (size_t i = 0; i < pythons->count; i++) {
		struct comparison comparison = { 0 };
		char command[2 * PATH_MAX], *line = NULL;
		size_t size = 0;
		FILE *pipe;

		snprintf(command, sizeof(command),
			 "'%s' -W ignore tests/tools/stack_depth_reference.py %s",
			 pythons->items[i].path, patterns ? patterns : "");
		pipe = popen(command, "r");
		assert_non_null(pipe);
		while (getline(&line, &size, pipe) > 0)
			compare_line(&pythons->items[i], line, &comparison);
		free(line);
		assert_int_equal(pclose(pipe), 0);
		print_message("3.%d.%d: %zu code objects, %zu instructions, %zu with several "
			      "depths, %zu not known or not reached\n",
			      pythons->items[i].minor, pythons->items[i].micro, comparison.codes,
			      comparison.instructions, comparison.unknown, comparison.unreached);
		assert_int_equal(comparison.wrong, 0);
		assert_true(comparison.codes > 100);
		/* To 3.8 in finally and where a with statement ends; else nowhere. */
		assert_true(comparison.unknown * 20 < comparison.instructions);
		if (pythons->items[i].minor >= 9)
			assert_int_equal(comparison.unknown, 0);
	}
	if (!pythons->count)
		skip();
}

static const char loops[] = "def f(a, b, g):\n"
			    "    g(a)\n"
			    "    for x in a:\n"
			    "        g(x)\n"
			    "        for y in b:\n"
			    "            g(x, y)\n"
			    "            if y:\n"
			    "                return g(y)\n"
			    "        g(b)\n"
			    "        try:\n"
			    "            g(1)\n"
			    "        except ValueError:\n"
			    "            g(2)\n"
			    "    return g(3)\n";

/* Operands of the call on a line, and the loops around it. */
static void assert_call(const struct live_python *python, const struct compiled_code *code,
			int line, size_t arguments, size_t loops_around)
{
	struct stack_loop around[STACK_LOOPS_MAX];
	const struct stack_instruction *instruction;
	struct operation operation;
	struct stack_depths depths;
	int offset = compiled_offset(code, line, "CALL", 0);
	size_t count;

	assert_int_equal(stack_depths_init(&depths, &code->code), 0);
	instruction = stack_depths_at(&depths, offset);
	assert_non_null(instruction);
	assert_true(operation_of(&depths, instruction, &operation));
	assert_int_equal(operation.kind, OPERATION_CALL);
	assert_int_equal(operation.total, operation.count);
	assert_int_equal(operation.count, arguments + (python->minor >= 11 ? 2 : 1));
	assert_int_equal(operation.places[operation.count - 1].slot, instruction->depth - 1);
	count = stack_depths_loops(&depths, instruction, around);
	assert_int_equal(count, loops_around);
	for (size_t i = 0; i < count; i++) {
		struct operation next;

		assert_true(around[i].slot < operation.places[0].slot);
		assert_true(i == 0 || around[i].slot < around[i - 1].slot);
		instruction = stack_depths_at(&depths, (int)around[i].head);
		assert_true(operation_of(&depths, instruction, &next));
		assert_int_equal(next.kind, OPERATION_NEXT);
		assert_int_equal(next.places[0].slot, around[i].slot);
		assert_int_equal(python_code_line(&code->code, (int)around[i].head),
				 count - i == 1 ? 3 : 5);
	}
	stack_depths_deinit(&depths);
}

static void test_loops(void **state)
{
	const struct live_pythons *pythons = live_pythons();

	(void)state;
	for (size_t i = 0; i < pythons->count; i++) {
		const struct live_python *python = &pythons->items[i];
		struct compiled_python compiled = compiled_python(python, loops);
		const struct compiled_code *code = compiled_function(&compiled, "f");

		assert_call(python, code, 2, 1, 0);
		assert_call(python, code, 4, 1, 1);
		assert_call(python, code, 6, 2, 2);
		assert_call(python, code, 9, 1, 1);
		assert_call(python, code, 11, 1, 1);
		assert_call(python, code, 14, 1, 0);
		/* From 3.8 on the iterators are dropped before a return, behind what it computes.
		 */
		assert_call(python, code, 8, 1, 2);
		compiled_python_free(&compiled);
	}
	if (!pythons->count)
		skip();
}

static int depths_of(int minor, const uint8_t *bytecode, size_t size, const uint8_t *exceptions,
		     size_t exceptions_size)
{
	const struct python_code code = {
		.minor = minor,
		.bytecode = bytecode,
		.bytecode_size = (uint32_t)size,
		.exception_table = exceptions,
		.exception_table_size = (uint32_t)exceptions_size,
	};
	struct stack_depths depths;
	int error = stack_depths_init(&depths, &code);

	if (!error)
		stack_depths_deinit(&depths);
	return error;
}

/* Opcodes of 3.9, whose jumps count bytes. */
enum {
	POP_TOP = 1,
	RETURN_VALUE = 83,
	LOAD_CONST = 100,
	BUILD_LIST = 103,
	JUMP_FORWARD = 110,
	JUMP_ABSOLUTE = 113,
	EXTENDED_ARG = 144,
	UNUSED = 250,
};

static void test_refused(void **state)
{
	const uint8_t good[] = { LOAD_CONST, 0, RETURN_VALUE, 0 };
	const uint8_t underflow[] = { POP_TOP, 0, LOAD_CONST, 0, RETURN_VALUE, 0 };
	const uint8_t off_the_end[] = { LOAD_CONST, 0 };
	const uint8_t far_jump[] = { JUMP_FORWARD, 200, RETURN_VALUE, 0 };
	const uint8_t odd_jump[] = { JUMP_ABSOLUTE, 1, RETURN_VALUE, 0 };
	const uint8_t into_prefix[] = { JUMP_FORWARD, 2, EXTENDED_ARG, 1, LOAD_CONST, 0 };
	const uint8_t unknown[] = { LOAD_CONST, 0, UNUSED, 0, RETURN_VALUE, 0 };
	const uint8_t behind[] = { LOAD_CONST, 0, RETURN_VALUE, 0, UNUSED, 0 };
	const uint8_t many[] = { EXTENDED_ARG, 255, EXTENDED_ARG, 255,
				 BUILD_LIST,   255, RETURN_VALUE, 0 };
	const uint8_t odd_size[] = { JUMP_FORWARD, 2, RETURN_VALUE, 0, RETURN_VALUE };
	uint8_t *large = calloc(STACK_DEPTH_BYTES_MAX + 2, 1);

	(void)state;
	assert_int_equal(depths_of(9, good, sizeof(good), NULL, 0), 0);
	assert_int_equal(depths_of(9, underflow, sizeof(underflow), NULL, 0), -EBADMSG);
	assert_int_equal(depths_of(9, off_the_end, sizeof(off_the_end), NULL, 0), -EBADMSG);
	assert_int_equal(depths_of(9, far_jump, sizeof(far_jump), NULL, 0), -EBADMSG);
	assert_int_equal(depths_of(9, odd_jump, sizeof(odd_jump), NULL, 0), -EBADMSG);
	assert_int_equal(depths_of(9, into_prefix, sizeof(into_prefix), NULL, 0), -EBADMSG);
	assert_int_equal(depths_of(9, unknown, sizeof(unknown), NULL, 0), -ENOTSUP);
	assert_int_equal(depths_of(9, behind, sizeof(behind), NULL, 0), 0);
	assert_int_equal(depths_of(9, many, sizeof(many), NULL, 0), -EBADMSG);
	assert_int_equal(depths_of(9, odd_size, sizeof(odd_size), NULL, 0), -ENOTSUP);
	assert_int_equal(depths_of(5, good, sizeof(good), NULL, 0), -ENOTSUP);
	assert_int_equal(depths_of(9, good, 0, NULL, 0), -ENOTSUP);
	assert_int_equal(depths_of(9, large, STACK_DEPTH_BYTES_MAX + 2, NULL, 0), -E2BIG);
	free(large);
}

/* Two ways to an instruction, with one value on the stack and with two. */
static void test_unclear(void **state)
{
	const uint8_t bytecode[] = {
		LOAD_CONST,
		0,
		114 /* POP_JUMP_IF_FALSE */,
		6,
		LOAD_CONST,
		0,
		/* 6 */ LOAD_CONST,
		0,
		RETURN_VALUE,
		0,
	};
	const struct python_code code = { .minor = 9,
					  .bytecode = bytecode,
					  .bytecode_size = sizeof(bytecode) };
	struct stack_depths depths;
	struct operation operation;

	(void)state;
	assert_int_equal(stack_depths_init(&depths, &code), 0);
	assert_int_equal(stack_depths_at(&depths, 2)->depth, 1);
	assert_int_equal(stack_depths_at(&depths, 4)->depth, 0);
	assert_int_equal(stack_depths_at(&depths, 6)->depth, STACK_DEPTH_UNKNOWN);
	assert_int_equal(stack_depths_at(&depths, 8)->depth, STACK_DEPTH_UNKNOWN);
	assert_false(operation_of(&depths, stack_depths_at(&depths, 8), &operation));
	assert_null(stack_depths_at(&depths, 10));
	assert_null(stack_depths_at(&depths, -1));
	stack_depths_deinit(&depths);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_refused), cmocka_unit_test(test_unclear),
		cmocka_unit_test(test_tables),  cmocka_unit_test(test_loops),
		cmocka_unit_test(test_library),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
