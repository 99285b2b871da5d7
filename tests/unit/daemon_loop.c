/* SPDX-License-Identifier: Apache-2.0 */
/* Bytecode and loops, on code that every interpreter found here has compiled. */
#include "compiled_python.h"
#include "daemon/bytecode/call_site.h"
#include "unit_random.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

/*
 * Each line says in a comment how many loops of its own function are around
 * it; lines of a loop's head (partly in it) say nothing.
 */
static const char program[] =
	/*  1 */ "def plain(a, b):  # 0\n"
		 /*  2 */ "    c = a[0] + b  # 0\n"
		 /*  3 */ "    return c  # 0\n"
		 /*  4 */ "def nested(d, g, n):  # 0\n"
		 /*  5 */ "    r = g[0]  # 0\n"
		 /*  6 */ "    for i in range(n):\n"
		 /*  7 */ "        h = d[i]  # 1\n"
		 /*  8 */ "        for f in range(n):\n"
		 /*  9 */ "            g[f] += d[i, f] * r  # 2\n"
		 /* 10 */ "        if h is None:  # 1\n"
		 /* 11 */ "            continue  # 1\n"
		 /* 12 */ "        r = h  # 1\n"
		 /* 13 */ "    g[1] = r  # 0\n"
		 /* 14 */ "    while n > 3:\n"
		 /* 15 */ "        n = n - d[n]  # 1\n"
		 /* 16 */ "    return g[n]  # 0\n"
		 /* 17 */ "def invariant(x, y, n):  # 0\n"
		 /* 18 */ "    s = 0  # 0\n"
		 /* 19 */ "    for i in range(n):\n"
		 /* 20 */ "        z = x.dot(y)  # 1\n"
		 /* 21 */ "        w = x.dot(i)  # 1\n"
		 /* 22 */ "        s += w.sum()  # 1\n"
		 /* 23 */ "    return s, z  # 0\n"
		 /* 24 */ "def written(x, y, n):  # 0\n"
		 /* 25 */ "    for i in range(n):\n"
		 /* 26 */ "        z = x.dot(y)  # 1\n"
		 /* 27 */ "        y[i] = z  # 1\n"
		 /* 28 */ "    return z  # 0\n"
		 /* 29 */ "async def waits(x):  # 0\n"
		 /* 30 */ "    y = await x(1)  # 0\n"
		 /* 31 */ "    return y  # 0\n"
		 /* 32 */ "def sliced(x, n):  # 0\n"
		 /* 33 */ "    for i in range(n):\n"
		 /* 34 */ "        y = x[i:i + 2]  # 1\n"
		 /* 35 */ "        x[i:] = y  # 1\n"
		 /* 36 */ "    return x  # 0\n"
		 /* 37 */ "def guarded(x, n):  # 0\n"
		 /* 38 */ "    try:  # 0\n"
		 /* 39 */ "        y = x(n)  # 0\n"
		 /* 40 */ "    except ValueError:  # 0\n"
		 /* 41 */ "        y = x(1)  # 0\n"
		 /* 42 */ "    z = x(y)  # 0\n"
		 /* 43 */ "    with z:  # 0\n"
		 /* 44 */ "        z = x(2)  # 0\n"
		 /* 45 */ "    for i in range(n):\n"
		 /* 46 */ "        try:  # 1\n"
		 /* 47 */ "            y = x(i)  # 1\n"
		 /* 48 */ "        except ValueError as e:\n"
		 /* 49 */ "            x(e)\n"
		 /* 50 */ "            continue\n"
		 /* 51 */ "        y = x(z)  # 1\n"
		 /* 52 */ "    return x(y)  # 0\n"
		 /* 53 */ "def indexed(g, t, d, n):  # 0\n"
		 /* 54 */ "    for r, i in d:\n"
		 /* 55 */ "        u = t[:, None] * r  # 1\n"
		 /* 56 */ "        g[0:n] += u * r  # 1\n"
		 /* 57 */ "        v = d[i, 0:n]  # 1\n"
		 /* 58 */ "        w = d[n, i + 1]  # 1\n"
		 /* 59 */ "        g[n] = g[i]  # 1\n"
		 /* 60 */ "        x = u[n]  # 1\n"
		 /* 61 */ "        y = d[0, -n, u.ndim]  # 1\n"
		 /* 62 */ "    return w, x, y, v  # 0\n"
		 /* 63 */ "def moved(x, y, n, m):  # 0\n"
		 /* 64 */ "    for i in range(n):\n"
		 /* 65 */ "        x[i], x[i + 1] = x[i + 1], x[i]  # 1\n"
		 /* 66 */ "        y[i] = x.dot(m) * i  # 1\n"
		 /* 67 */ "        z = x[i:n] + y[:, :n]  # 1\n"
		 /* 68 */ "        y[i, :n], w = y[i + 1, 0:n], x[i, ...]  # 1\n"
		 /* 69 */ "    return z, w  # 0\n"
		 /* 70 */ "plain([1], 2)  # 0\n";

/* How many loops the comment says; -1: a head, or not a line of the program. */
static int expected_loops(int line)
{
	const char *text = program, *end, *comment;

	for (int i = 1; i < line && text; i++) {
		text = strchr(text, '\n');
		text = text ? text + 1 : NULL;
	}
	if (!text || line < 1 || !(end = strchr(text, '\n')))
		return -1;
	comment = strstr(text, "# ");
	return comment && comment < end ? comment[2] - '0' : -1;
}

static void for_each_python(void (*check)(const struct live_python *,
					  const struct compiled_python *))
{
	const struct live_pythons *pythons = live_pythons();

	if (!pythons->count) {
		print_message("skipped: no CPython 3.6 to 3.15 found\n");
		skip();
	}
	for (size_t i = 0; i < pythons->count; i++) {
		struct compiled_python compiled = compiled_python(&pythons->items[i], program);

		check(&pythons->items[i], &compiled);
		compiled_python_free(&compiled);
	}
}

static void check_instructions(const struct live_python *python,
			       const struct compiled_python *compiled)
{
	(void)python;
	for (size_t c = 0; c < compiled->count; c++) {
		const struct compiled_code *code = &compiled->codes[c];
		struct bytecode bytecode;

		assert_int_equal(bytecode_init(&bytecode, &code->code), 0);
		assert_int_equal(bytecode.count, code->instruction_count);
		for (size_t i = 0; i < bytecode.count; i++) {
			const struct bytecode_instruction *got = &bytecode.instructions[i];
			const struct compiled_instruction *want = &code->instructions[i];
			bool backward = want->target >= 0 && want->target < want->offset &&
					!strstr(want->name, "NO_INTERRUPT");

			assert_string_equal(got->name, want->name);
			assert_in_range(want->offset, got->offset, got->end - 2);
			if (want->argument >= 0)
				assert_int_equal(got->argument, want->argument);
			assert_int_equal(got->target, backward ? want->target : BYTECODE_NO_TARGET);
			assert_ptr_equal(bytecode_at(&bytecode, want->offset), got);
			assert_ptr_equal(bytecode_at(&bytecode, got->end - 1), got);
		}
		assert_null(bytecode_at(&bytecode, -2));
		assert_null(bytecode_at(&bytecode, (int)code->code.bytecode_size));
		bytecode_deinit(&bytecode);
	}
}

static void test_instructions_are_those_of_dis(void **state)
{
	(void)state;
	for_each_python(check_instructions);
}

static void check_loops(const struct live_python *python, const struct compiled_python *compiled)
{
	size_t checked = 0;

	for (size_t c = 0; c < compiled->count; c++) {
		const struct compiled_code *code = &compiled->codes[c];
		struct bytecode bytecode;

		assert_int_equal(bytecode_init(&bytecode, &code->code), 0);
		for (size_t i = 0; i < code->instruction_count; i++) {
			int offset = code->instructions[i].offset;
			int line = python_code_line(&code->code, offset),
			    expected = expected_loops(line);
			struct loop loop;

			/* What 3.6 and 3.7 leave a loop by has the number of its last line. */
			if (expected < 0 || (python->minor <= 7 &&
					     !strcmp(code->instructions[i].name, "POP_BLOCK")))
				continue;
			checked++;
			if (loop_find(&bytecode, offset, &loop) != (expected > 0))
				fail_msg("%s: line %d, %s at %d: %d loops expected", python->path,
					 line, code->instructions[i].name, offset, expected);
			if (expected)
				assert_in_range(offset, loop.start, loop.end - 1);
		}
		bytecode_deinit(&bytecode);
	}
	assert_true(checked > 80);
}

/* The inner loop for a line in both; the outer one for a line behind the inner. */
static void check_innermost(const struct live_python *python,
			    const struct compiled_python *compiled)
{
	const struct compiled_code *code = compiled_function(compiled, "nested");
	struct bytecode bytecode;
	struct loop outer, inner, behind;

	(void)python;
	assert_int_equal(bytecode_init(&bytecode, &code->code), 0);
	assert_true(loop_find(&bytecode, compiled_offset(code, 7, "STORE_FAST", 0), &outer));
	assert_true(loop_find(&bytecode, compiled_offset(code, 9, "STORE_SUBSCR", 0), &inner));
	assert_true(loop_find(&bytecode, compiled_offset(code, 12, "", 0), &behind));
	assert_true(outer.start < inner.start && inner.end <= outer.end);
	assert_int_equal(behind.start, outer.start);
	bytecode_deinit(&bytecode);
}

static void test_loops_are_found(void **state)
{
	(void)state;
	for_each_python(check_loops);
	for_each_python(check_innermost);
}

/* Finds what the n-th instruction of that name does. */
static struct call_site site(const struct compiled_python *compiled, const char *function, int line,
			     const char *name, size_t n)
{
	const struct compiled_code *code = compiled_function(compiled, function);
	int offset = compiled_offset(code, line, name, n);
	struct call_site_table table;
	struct call_site found, again;

	assert_true(offset >= 0);
	call_site_table_init(&table);
	assert_int_equal(call_site_find(&table, &code->code, offset, &found), 0);
	assert_int_equal(call_site_find(&table, &code->code, offset, &again), 0);
	assert_int_equal(table.count, 1);
	assert_int_equal(found.in_loop, again.in_loop);
	call_site_table_deinit(&table);
	return found;
}

static void check_lines(const struct live_python *python, const struct compiled_python *compiled)
{
	const char *subscript = python->minor >= 14 ? "BINARY_OP" : "BINARY_SUBSCR";
	const char *call = "CALL";
	struct call_site found;

	found = site(compiled, "plain", 2, subscript, 0);
	assert_true(found.does.subscript);
	assert_false(found.in_loop);
	assert_false(found.does.accumulates);

	found = site(compiled, "nested", 9, subscript, 0);
	assert_true(found.does.subscript);
	assert_true(found.in_loop);
	assert_true(found.does.elementwise);
	assert_false(found.does.line_calls);
	assert_false(found.does.accumulates); /* into g[f], not into a variable */
	assert_false(found.does.names_constant);
	assert_true(site(compiled, "nested", 9, "STORE_SUBSCR", 0).does.subscript);

	found = site(compiled, "invariant", 20, call, 0);
	assert_true(found.does.call);
	assert_true(found.in_loop);
	assert_false(found.does.subscript);
	assert_true(found.does.operands_constant);
	assert_false(found.does.accumulates);
	assert_false(found.does.elementwise);
	assert_false(site(compiled, "invariant", 21, call, 0).does.operands_constant);
	found = site(compiled, "invariant", 22, call, 0);
	assert_true(found.does.accumulates);
	assert_true(found.does.line_calls);
	assert_false(found.does.names_constant);

	/* The loop writes into y under another line: x.dot(y) need not be the same each time. */
	found = site(compiled, "written", 26, call, 0);
	assert_true(found.does.names_constant);
	assert_false(found.does.operands_constant);

	/* Which of these lines take other elements each time round the loop. */
	for (int line = 55; line <= 61; line++) {
		static const bool elementwise[] = { false, false, true, true, true, false, true };
		const struct compiled_code *code = compiled_function(compiled, "indexed");
		const char *name =
			python->minor < 14 && compiled_offset(code, line, "BINARY_SLICE", 0) >= 0
				? "BINARY_SLICE"
				: subscript;

		if (site(compiled, "indexed", line, name, 0).does.elementwise !=
		    elementwise[line - 55])
			fail_msg("%s: line %d", python->path, line);
	}

	/* An exchange of elements; not two rows where only one is stored. */
	assert_true(site(compiled, "moved", 65, subscript, 0).does.exchanges);
	assert_true(site(compiled, "moved", 65, "STORE_SUBSCR", 1).does.exchanges);
	found = site(compiled, "moved", 68, "STORE_SUBSCR", 0);
	assert_false(found.does.exchanges);
	assert_true(found.does.elementwise);
	/* Of one call's operands nothing changes, though the line's do. */
	assert_true(site(compiled, "moved", 66, call, 0).does.names_constant);
	assert_false(site(compiled, "moved", 66, "STORE_SUBSCR", 0).does.names_constant);
	/* Slices whose ends move are no elements. */
	assert_false(site(compiled, "moved", 67, "STORE_FAST", 0).does.elementwise);

	found = site(compiled, "sliced", 34,
		     python->minor >= 14   ? "BINARY_"
		     : python->minor >= 12 ? "BINARY_SLICE"
					   : "BINARY_SUBSCR",
		     python->minor >= 14 ? 1 : 0);
	if (python->minor < 14)
		assert_true(found.does.subscript);
	assert_true(site(compiled, "sliced", 35, "STORE_S", 0).does.subscript);
}

static void test_what_lines_do(void **state)
{
	(void)state;
	for_each_python(check_lines);
}

/* Bytes from the target may be anything. */
static void test_random_bytes(void **state)
{
	struct unit_random random = { .state = 6 };
	uint8_t bytes[512];

	(void)state;
	for (int round = 0; round < 20000; round++) {
		struct python_code code = {
			.bytecode = bytes,
			.bytecode_size = (uint32_t)unit_random_below(&random, sizeof(bytes) + 1),
			.minor = (int)unit_random_below(&random, 18),
			.line_table = bytes,
			.line_table_size = (uint32_t)unit_random_below(&random, 64),
		};
		struct call_site_table table;
		struct call_site found;

		for (size_t i = 0; i < sizeof(bytes); i++)
			bytes[i] = (uint8_t)unit_random_next(&random);
		call_site_table_init(&table);
		for (int i = 0; i < 3; i++) {
			int offset = (int)unit_random_below(&random, 600) - 50;

			assert_int_equal(call_site_find(&table, &code, offset, &found), 0);
			if (found.in_loop) {
				assert_in_range(offset, found.loop.start, found.loop.end - 1);
				assert_true(found.loop.end <= (int)code.bytecode_size);
			}
		}
		call_site_table_deinit(&table);
	}
}

static void test_no_code(void **state)
{
	struct python_code code = { .minor = 11 };
	struct bytecode bytecode;
	struct loop loop;

	(void)state;
	assert_int_equal(bytecode_init(&bytecode, &code), 0);
	assert_int_equal(bytecode.count, 0);
	assert_false(loop_find(&bytecode, 0, &loop));
	assert_false(loop_line_at(&bytecode, 0, NULL).subscript);
	bytecode_deinit(&bytecode);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_instructions_are_those_of_dis),
		cmocka_unit_test(test_loops_are_found),
		cmocka_unit_test(test_what_lines_do),
		cmocka_unit_test(test_random_bytes),
		cmocka_unit_test(test_no_code),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
