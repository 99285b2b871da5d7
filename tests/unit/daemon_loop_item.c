/* SPDX-License-Identifier: Apache-2.0 */
/* What works on the items that a loop takes out, in code that every interpreter found here has
 * compiled. */
#include "compiled_python.h"
#include "daemon/bytecode/loop_item.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

/* Behind # whether the first call of the line works on an item: y(es), n(o); r: and on what the
 * round before has left. */
static const char program[] =
	/*  1 */ "def rows(f, m, n):\n"
		 /*  2 */ "    for row in m:\n"
		 /*  3 */ "        a = f(row)  #y\n"
		 /*  4 */ "        b = row.mean()  #y\n"
		 /*  5 */ "        c = f(n)  #n\n"
		 /*  6 */ "        d = f(n, row + 1)  #y\n"
		 /*  7 */ "    return a, b, c, d\n"
		 /*  8 */ "def pairs(f, m, n):\n"
		 /*  9 */ "    for i, (x, y) in m:\n"
		 /* 10 */ "        a = f(y)  #y\n"
		 /* 11 */ "        b = f(m[n])  #n\n"
		 /* 12 */ "        c = f(m[y:])  #n\n"
		 /* 13 */ "def state(f, m, n):\n"
		 /* 14 */ "    while n:\n"
		 /* 15 */ "        m = f(m)  #n\n"
		 /* 16 */ "    return m\n"
		 /* 17 */ "def both(f, m, n):\n"
		 /* 18 */ "    for row in m:\n"
		 /* 19 */ "        for k in n:\n"
		 /* 20 */ "            row = f(row)  #n\n"
		 /* 21 */ "    return row\n"
		 /* 22 */ "def carried(f, m, n):\n"
		 /* 23 */ "    level = last = 0\n"
		 /* 24 */ "    for x in m:\n"
		 /* 25 */ "        level = f(x) + n * level  #yr\n"
		 /* 26 */ "        n += f(x)  #y\n"
		 /* 27 */ "        step = f(x) - last  #yr\n"
		 /* 28 */ "        scaled = f(x) * step  #y\n"
		 /* 29 */ "        last = x\n"
		 /* 30 */ "        total = f(x) + n  #y\n"
		 /* 31 */ "    return level, scaled, total\n"
		 /* 32 */ "def hashed(f, m, n):\n"
		 /* 33 */ "    for x in m:\n"
		 /* 34 */ "        n.update(x)\n"
		 /* 35 */ "        k = n\n"
		 /* 36 */ "        k.update(x)\n";

static bool works_on_item(const struct python_code *code, int offset, bool *ret_recurs)
{
	struct bytecode bytecode;
	struct loop loop;
	bool used;

	assert_int_equal(bytecode_init(&bytecode, code), 0);
	assert_true(loop_find(&bytecode, offset, &loop));
	used = loop_item_is_used(&bytecode, offset, &loop);
	*ret_recurs = loop_item_recurs(&bytecode, offset, &loop);
	bytecode_deinit(&bytecode);
	return used;
}

static const struct compiled_code *code_with_line(const struct compiled_python *compiled, int line)
{
	for (size_t i = 0; i < compiled->count; i++)
		if (compiled_offset(&compiled->codes[i], line, "CALL", 0) >= 0)
			return &compiled->codes[i];
	fail_msg("line %d", line);
	return NULL;
}

static void test_items(void **state)
{
	const struct live_pythons *pythons = live_pythons();

	(void)state;
	if (!pythons->count)
		skip();
	for (size_t i = 0; i < pythons->count; i++) {
		struct compiled_python compiled = compiled_python(&pythons->items[i], program);
		const char *start = program;
		unsigned checked = 0;

		for (int line = 1; *start; line++) {
			const char *end = strchr(start, '\n'), *mark = strchr(start, '#');

			start = end + 1;
			if (!mark || mark > end)
				continue;
			for (unsigned precall = 0;
			     precall < (pythons->items[i].minor == 11 ? 2 : 1); precall++) {
				const struct compiled_code *code = code_with_line(&compiled, line);
				int offset = compiled_offset(code, line,
							     precall ? "PRECALL" : "CALL", 0);

				bool recurs;

				if (works_on_item(&code->code, offset, &recurs) != (mark[1] == 'y'))
					fail_msg("%s: line %d", pythons->items[i].path, line);
				if (mark[1] == 'y' && recurs != (mark[2] == 'r'))
					fail_msg("%s: line %d: %d", pythons->items[i].path, line,
						 recurs);
			}
			checked++;
		}
		assert_int_equal(checked, 14);
		compiled_python_free(&compiled);
	}
}

static bool keeps_receiver(const struct compiled_python *compiled, int line, const char *name)
{
	const struct compiled_code *code = compiled_function(compiled, "hashed");
	struct bytecode bytecode;
	struct loop loop;
	int offset = compiled_offset(code, line, name, 0);
	bool keeps;

	assert_int_equal(bytecode_init(&bytecode, &code->code), 0);
	assert_true(loop_find(&bytecode, offset, &loop));
	keeps = loop_keeps_receiver(&bytecode, offset, &loop);
	bytecode_deinit(&bytecode);
	return keeps;
}

static void test_receivers(void **state)
{
	const struct live_pythons *pythons = live_pythons();

	(void)state;
	for (size_t i = 0; i < pythons->count; i++) {
		struct compiled_python compiled = compiled_python(&pythons->items[i], program);

		assert_true(keeps_receiver(&compiled, 34, "CALL"));
		assert_false(keeps_receiver(&compiled, 36, "CALL"));
		if (pythons->items[i].minor == 11)
			assert_true(keeps_receiver(&compiled, 34, "PRECALL"));
		compiled_python_free(&compiled);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_items),
					    cmocka_unit_test(test_receivers) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
