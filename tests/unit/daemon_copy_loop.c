/* SPDX-License-Identifier: Apache-2.0 */
/* Loops that copy, in code that every interpreter found here has compiled. */
#include "compiled_python.h"
#include "daemon/bytecode/copy_loop.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

/* Behind # whether the innermost loop of the line is one: y(es), c(alls something), n(o). */
static const char program[] =
	/*  1 */ "def loops(xs, ys, out, rows, order, n, f):\n"
		 /*  2 */ "    for i in range(n):\n"
		 /*  3 */ "        out[i] = xs[i]  #y\n"
		 /*  4 */ "    for i in range(n):\n"
		 /*  5 */ "        out[4 + i] = xs[i - 1]  #y\n"
		 /*  6 */ "    for i in range(n):\n"
		 /*  7 */ "        out.append(xs[i])  #c\n"
		 /*  8 */ "    for r in range(n):\n"
		 /*  9 */ "        for c in range(n):\n"
		 /* 10 */ "            out[r][c] = rows[r][c]  #y\n"
		 /* 11 */ "    for i in range(n):\n"
		 /* 12 */ "        out[i] = xs[order[i]]  #n\n"
		 /* 13 */ "    for i in range(n):\n"
		 /* 14 */ "        out[order[i]] = xs[i]  #n\n"
		 /* 15 */ "    for i in range(n):\n"
		 /* 16 */ "        out[i] = xs[i] + ys[i]  #n\n"
		 /* 17 */ "    for i in range(n):\n"
		 /* 18 */ "        out[i] = rows[i][0]  #n\n"
		 /* 19 */ "    for i in range(n):\n"
		 /* 20 */ "        out[i] = f(xs[i])  #n\n"
		 /* 21 */ "    for i in range(n):\n"
		 /* 22 */ "        out[i] = xs[0]  #n\n"
		 /* 23 */ "    for i in range(n):\n"
		 /* 24 */ "        if i: out[i] = xs[i]  #n\n"
		 /* 25 */ "    for i in range(n):\n"
		 /* 26 */ "        out[i] = xs[i]; ys[i] = out[i]  #n\n";

static char kind_at(const struct compiled_code *code, int line)
{
	int offset = compiled_offset(code, line, "STORE_SUBSCR", 0);
	struct bytecode bytecode;
	struct copy_loop copy;
	struct loop loop;
	char kind = 'n';

	if (offset < 0)
		offset = compiled_offset(code, line, "CALL", 0);
	assert_true(offset >= 0);
	assert_int_equal(bytecode_init(&bytecode, &code->code), 0);
	assert_true(loop_find(&bytecode, offset, &loop));
	if (copy_loop_find(&bytecode, &loop, &copy)) {
		kind = copy.call < 0 ? 'y' : 'c';
		assert_true(bytecode_is_subscript(bytecode_at(&bytecode, copy.taken)));
	}
	bytecode_deinit(&bytecode);
	return kind;
}

static void test_loops(void **state)
{
	const struct live_pythons *pythons = live_pythons();
	unsigned wrong = 0;

	(void)state;
	if (!pythons->count)
		skip();
	for (size_t i = 0; i < pythons->count; i++) {
		struct compiled_python compiled = compiled_python(&pythons->items[i], program);
		const struct compiled_code *code = compiled_function(&compiled, "loops");
		const char *start = program;
		unsigned checked = 0;

		for (int line = 1; *start; line++) {
			const char *end = strchr(start, '\n'), *mark = strchr(start, '#');

			if (mark && mark < end) {
				char kind = kind_at(code, line);

				checked++;
				if (kind != mark[1])
					print_error("3.%d: line %d: %c\n", pythons->items[i].minor,
						    line, kind);
				wrong += kind != mark[1];
			}
			start = end + 1;
		}
		assert_int_equal(checked, 12);
		compiled_python_free(&compiled);
	}
	assert_int_equal(wrong, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_loops) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
