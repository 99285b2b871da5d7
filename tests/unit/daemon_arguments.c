/* SPDX-License-Identifier: Apache-2.0 */
/* What stays the same while a loop calls a function, on code that every interpreter found here has
 * compiled. */
#include "compiled_python.h"
#include "daemon/bytecode/call_site.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static const char program[] =
	/*  1 */ "def turn(kind, marks, angle, d):\n"
		 /*  2 */ "    for mark in marks:\n"
		 /*  3 */ "        rotate(mark, angle)\n"
		 /*  4 */ "        rotate(mark, d[0])\n"
		 /*  5 */ "        rotate(mark, mark + 1)\n"
		 /*  6 */ "        rotate(kind, next(angle))\n"
		 /*  7 */ "        rotate(kind, theta=angle)\n"
		 /*  8 */ "        mark.move(angle)\n"
		 /*  9 */ "        kind.move(mark)\n"
		 /* 10 */ "    rotate(kind, angle)\n"
		 /* 11 */ "def rotate(mark, theta):\n"
		 /* 12 */ "    a = cos(theta)\n"
		 /* 13 */ "    b = cos(mark)\n"
		 /* 14 */ "    c = cos([a, -a, 1])\n"
		 /* 15 */ "    b = cos(b, c)\n"
		 /* 16 */ "    e = cos(theta, b)\n"
		 /* 17 */ "    mark = 3\n"
		 /* 18 */ "    for i in a:\n"
		 /* 19 */ "        cos(theta)\n"
		 /* 20 */ "    return e, cos(mark)\n"
		 /* 21 */ "class Mark:\n"
		 /* 22 */ "    def move(self, by):\n"
		 /* 23 */ "        a = cos(self)\n"
		 /* 24 */ "        return cos(by)\n";

static struct call_site site(struct call_site_table *table, const struct compiled_code *code,
			     int line, const char *opcode)
{
	int offset = compiled_offset(code, line, opcode, 0);
	struct call_site found;

	assert_true(offset >= 0);
	assert_int_equal(call_site_find(table, &code->code, offset, &found), 0);
	return found;
}

static bool constant(const struct compiled_python *compiled, int line, const char *callee,
		     int caller_line)
{
	const struct compiled_code *called = compiled_function(compiled, callee);
	const struct compiled_code *calling = compiled_function(compiled, "turn");
	struct call_site_table table;
	struct call_site inner, outer;
	bool result = true;

	call_site_table_init(&table);
	inner = site(&table, called, line, "CALL");
	outer = site(&table, calling, caller_line, "CALL");
	assert_int_equal(call_site_is_constant(&table, &inner, &outer, &result), 0);
	call_site_table_deinit(&table);
	return result;
}

static void check_function(const struct compiled_python *compiled)
{
	/* turn() passes another mark each time, and the same angle. */
	assert_true(constant(compiled, 12, "rotate", 3));
	assert_false(constant(compiled, 13, "rotate", 3));
	/* So what is computed from it alone is the same; a name assigned twice is not followed. */
	assert_true(constant(compiled, 14, "rotate", 3));
	assert_false(constant(compiled, 15, "rotate", 3));
	assert_false(constant(compiled, 16, "rotate", 3));
	assert_false(constant(compiled, 20, "rotate", 3));
	/* Not in a loop of its own, which may well be the one that changes things. */
	assert_false(constant(compiled, 19, "rotate", 3));
	/* Names alone say that this is the same, those that it changes, and calls not. */
	assert_true(constant(compiled, 12, "rotate", 4));
	assert_false(constant(compiled, 12, "rotate", 5));
	assert_false(constant(compiled, 12, "rotate", 10)); /* no loop */
}

static void test_what_a_loop_passes_on(void **state)
{
	const struct live_pythons *pythons = live_pythons();

	(void)state;
	if (!pythons->count) {
		print_message("skipped: no CPython 3.6 to 3.15 found\n");
		skip();
	}
	for (size_t i = 0; i < pythons->count; i++) {
		struct compiled_python compiled = compiled_python(&pythons->items[i], program);

		check_function(&compiled);
		/* The last call of line 6 is the outer one, before 3.11 by its opcode too. */
		if (pythons->items[i].minor >= 11) {
			assert_true(constant(&compiled, 24, "Mark.move", 8));
			assert_false(constant(&compiled, 23, "Mark.move", 8));
			assert_false(constant(&compiled, 24, "Mark.move", 9));
			assert_true(constant(&compiled, 23, "Mark.move", 9));
		} else {
			assert_false(constant(&compiled, 24, "move", 8));
			assert_false(constant(&compiled, 23, "move", 9));
		}
		compiled_python_free(&compiled);
	}
}

/* The argument is made by a call, or given by name. */
static void test_what_cannot_be_told(void **state)
{
	const struct live_pythons *pythons = live_pythons();

	(void)state;
	for (size_t i = 0; i < pythons->count; i++) {
		struct compiled_python compiled = compiled_python(&pythons->items[i], program);
		const struct compiled_code *calling = compiled_function(&compiled, "turn");
		const struct compiled_code *called = compiled_function(&compiled, "rotate");
		struct call_site_table table;
		struct call_site inner, outer;
		bool result = true;

		call_site_table_init(&table);
		inner = site(&table, called, 12, "CALL");
		for (size_t n = 0; compiled_offset(calling, 6, "CALL", n) >= 0; n++) {
			assert_int_equal(call_site_find(&table, &calling->code,
							compiled_offset(calling, 6, "CALL", n),
							&outer),
					 0);
			assert_int_equal(call_site_is_constant(&table, &inner, &outer, &result), 0);
			if (n > 0) /* the first is next(angle), whose only argument is the same */
				assert_false(result);
		}
		for (size_t n = 0; compiled_offset(calling, 7, "CALL", n) >= 0; n++) {
			assert_int_equal(call_site_find(&table, &calling->code,
							compiled_offset(calling, 7, "CALL", n),
							&outer),
					 0);
			assert_int_equal(call_site_is_constant(&table, &inner, &outer, &result), 0);
			assert_false(result);
		}
		call_site_table_deinit(&table);
		compiled_python_free(&compiled);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_what_a_loop_passes_on),
		cmocka_unit_test(test_what_cannot_be_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
