/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Expressions that a function computes twice, in code that every interpreter found here has
 * compiled.
 */
#include "compiled_python.h"
#include "daemon/bytecode/common_subexpression.h"
#include "pyintrospect/line_table.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

/* Behind # the line that computed what the last call (or c(omparison), or p(roduct)) of this line
 * is part of before; -: none. */
static const char program[] =
	/*  1 */ "def calls(f, m, n, out):\n"
		 /*  2 */ "    for i in range(n):\n"
		 /*  3 */ "        a = f(m)[0]  #-\n"
		 /*  4 */ "        b = f(m)[1]  #3\n"
		 /*  5 */ "        c = f(m, i)  #-\n"
		 /*  6 */ "        out.append(f(m))  #-\n"
		 /*  7 */ "        f(i)  #-\n"
		 /*  8 */ "        d = f(i)  #-\n"
		 /*  9 */ "        e = f(m[i])  #-\n"
		 /* 10 */ "        g = f(m[i])  #9\n"
		 /* 11 */ "    return a, b, c, d, e, g, out\n"
		 /* 12 */ "def assigned(f, m, n):\n"
		 /* 13 */ "    a = f(m.x, n)  #-\n"
		 /* 14 */ "    n = f(m.x, n)  #13\n"
		 /* 15 */ "    b = f(m.x, n)  #-\n"
		 /* 16 */ "    m.x = a\n"
		 /* 17 */ "    c = f(m.x, n)  #-\n"
		 /* 18 */ "    m.y(a)\n"
		 /* 19 */ "    d = f(m.x, n)  #-\n"
		 /* 20 */ "    m[0] = d\n"
		 /* 21 */ "    return b, c, f(m.x, n)  #-\n"
		 /* 22 */ "def branches(f, m, n):\n"
		 /* 23 */ "    if n:\n"
		 /* 24 */ "        a = f(m)  #-\n"
		 /* 25 */ "    else:\n"
		 /* 26 */ "        a = f(m)  #-\n"
		 /* 27 */ "    b = f(m)  #-\n"
		 /* 28 */ "    if b:\n"
		 /* 29 */ "        c = f(m)  #27\n"
		 /* 30 */ "    else:\n"
		 /* 31 */ "        c = f(m), f  #27\n"
		 /* 32 */ "    return a, c\n"
		 /* 33 */ "def loops(f, m, n):\n"
		 /* 34 */ "    a = f(m)  #-\n"
		 /* 35 */ "    for i in range(n):\n"
		 /* 36 */ "        a += f(m)  #-\n"
		 /* 37 */ "        b = f(m) + i  #36\n"
		 /* 38 */ "    return a, b, f(m)  #-\n"
		 /* 39 */ "def conditions(f, m):\n"
		 /* 40 */ "    if f(m, 1):\n"
		 /* 41 */ "        return f(m, 1)  #40\n"
		 /* 42 */ "    if f(m, 2) is not None:\n"
		 /* 43 */ "        return f(m, 2)[0]  #42\n"
		 /* 44 */ "    return None\n"
		 /* 45 */ "def changed(f, m, n):\n"
		 /* 46 */ "    a = f(m)  #-\n"
		 /* 47 */ "    b = f(m)  #-\n"
		 /* 48 */ "    a.sort()\n"
		 /* 49 */ "    c = f(n)  #-\n"
		 /* 50 */ "    d = f(n)  #-\n"
		 /* 51 */ "    d[0] = 1\n"
		 /* 52 */ "    return a, b, c, d\n"
		 /* 53 */ "def operators(m, n):\n"
		 /* 54 */ "    a = m[m.v > 0]  #-c\n"
		 /* 55 */ "    b = n[m.v > 0]  #54c\n"
		 /* 56 */ "    c = a * n + 1  #-p\n"
		 /* 57 */ "    d = a * n - 1  #56p\n"
		 /* 58 */ "    return b, c, d\n"
		 /* 59 */ "def given(f, m):\n"
		 /* 60 */ "    a = f(m)\n"
		 /* 61 */ "    yield a\n"
		 /* 62 */ "    b = f(m)  #-\n"
		 /* 63 */ "    yield b\n"
		 /* 64 */ "def keywords(f, m):\n"
		 /* 65 */ "    a = f(m, key=1)  #-\n"
		 /* 66 */ "    b = f(m, key=2)  #-\n"
		 /* 67 */ "    return a, b, f(m, key=1)  #65\n"
		 /* 68 */ "def apart(f, m, n):\n"
		 /* 69 */ "    a = f(m) if n else 0\n"
		 /* 70 */ "    return a, f(m)  #-\n"
		 /* 71 */ "def passed_on(f, m, out):\n"
		 /* 72 */ "    out.append(f(m.x))  #-\n"
		 /* 73 */ "    out.append(f(m.x))  #72f\n"
		 /* 74 */ "    out.append(m)\n"
		 /* 75 */ "    a = f(m.x)  #-\n"
		 /* 76 */ "    out(m.y, key=a)\n"
		 /* 77 */ "    b = f(m.x)  #-\n"
		 /* 78 */ "    out(*m.y)\n"
		 /* 79 */ "    return a, b, f(m.x)  #-\n";

#define MARKS 43

static int last_of(const struct compiled_code *code, int line, const char *name)
{
	int offset = -1, next;

	for (unsigned nth = 0; (next = compiled_offset(code, line, name, nth)) >= 0; nth++)
		offset = next;
	return offset;
}

/* What a sample of the line would name. */
static int operation_of(const struct compiled_code *code, int line, char kind)
{
	static const char *const products[] = { "BINARY_MULTIPLY", "BINARY_OP" };
	int offset;

	if (kind == 'f')
		return compiled_offset(code, line, "CALL", 0);
	if (kind == 'c')
		return last_of(code, line, "COMPARE_OP");
	if (kind != 'p')
		return last_of(code, line, "CALL");
	for (size_t i = 0; i < sizeof(products) / sizeof(products[0]); i++)
		if ((offset = compiled_offset(code, line, products[i], 0)) >= 0)
			return offset;
	return -1;
}

static const struct compiled_code *code_with_line(const struct compiled_python *compiled, int line,
						  char kind)
{
	const struct compiled_code *found = NULL;

	/* The innermost last: functions follow the module. */
	for (size_t i = 0; i < compiled->count; i++)
		if (operation_of(&compiled->codes[i], line, kind) >= 0)
			found = &compiled->codes[i];
	assert_non_null(found);
	return found;
}

/* The line of the first time; 0: none. */
static int found_line(const struct python_code *code, int offset)
{
	struct common_subexpression common;
	struct bytecode bytecode;
	int line = 0;

	assert_int_equal(bytecode_init(&bytecode, code), 0);
	if (common_subexpression_find(&bytecode, offset, &common)) {
		assert_true(common.first < common.start);
		assert_in_range(offset, common.start, common.end - 1);
		assert_in_range(common.result, common.start, common.end - 1);
		line = line_table_find(code->minor, code->line_table, code->line_table_size,
				       code->first_line, common.first);
	}
	bytecode_deinit(&bytecode);
	return line;
}

static void test_compiled(void **state)
{
	const struct live_pythons *pythons = live_pythons();
	unsigned wrong = 0;

	(void)state;
	for (size_t i = 0; i < pythons->count; i++) {
		struct compiled_python compiled = compiled_python(&pythons->items[i], program);
		const char *start = program;
		unsigned checked = 0;

		for (int line = 1; *start; line++) {
			const char *end = strchr(start, '\n'), *mark = strchr(start, '#');

			if (mark && mark < end) {
				char kind = end[-1];
				const struct compiled_code *code =
					code_with_line(&compiled, line, kind);
				int expected = atoi(mark + 1);
				int found = found_line(&code->code, operation_of(code, line, kind));

				checked++;
				if (found != expected) {
					wrong++;
					print_error("%s: line %d: %d, expected %d\n",
						    pythons->items[i].path, line, found, expected);
				}
			}
			start = end + 1;
		}
		assert_int_equal(checked, MARKS);
		compiled_python_free(&compiled);
	}
	assert_int_equal(wrong, 0);
}

/* Nowhere in the code, and no code. */
static void test_nothing_known(void **state)
{
	const struct python_code empty = { .minor = 11 };
	struct bytecode bytecode = { .code = &empty };
	struct common_subexpression common;

	(void)state;
	assert_false(common_subexpression_find(&bytecode, 0, &common));
	assert_false(common_subexpression_find(&bytecode, -2, &common));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_compiled),
		cmocka_unit_test(test_nothing_known),
	};

	if (!live_pythons()->count) {
		print_message("skipped: no CPython 3.6 to 3.15 found\n");
		return 0;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
