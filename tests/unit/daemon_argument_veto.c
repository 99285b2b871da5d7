/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the bytecode around a call has against its being repeated, on code that
 * every interpreter found here has compiled.
 */
#include "compiled_python.h"
#include "daemon/detect/argument_veto.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

/* Behind # what speaks against the first call of the line, or is done with its result: d(ropped),
 * r(esult), o(perand), m(ultiplied), p(art), (repl)a(ced), -. */
static const char program[] =
	/*  1 */ "def calls(f, m, out, n):\n"
		 /*  2 */ "    for i in range(n):\n"
		 /*  3 */ "        a = f(m)  #-\n"
		 /*  4 */ "        f(m)  #d\n"
		 /*  5 */ "        b = f(n)  #r\n"
		 /*  6 */ "        b[i] = 1\n"
		 /*  7 */ "        c = f(out)  #o\n"
		 /*  8 */ "        out[i] = c + a\n"
		 /*  9 */ "        d = f(m) + i  #-\n"
		 /* 10 */ "        e = f(n)  #-\n"
		 /* 11 */ "        g = e[i]\n"
		 /* 12 */ "    return d, g\n"
		 /* 13 */ "def stores(f, m, out, n):\n"
		 /* 14 */ "    for i in range(n):\n"
		 /* 15 */ "        r = f(m)  #-\n"
		 /* 16 */ "        out[i] = r\n"
		 /* 17 */ "def only_read(f, m, out, n):\n"
		 /* 18 */ "    for i in range(n):\n"
		 /* 19 */ "        r = f(m)  #-\n"
		 /* 20 */ "        out[i] = m[i]\n"
		 /* 21 */ "def augments(f, m, s, n):\n"
		 /* 22 */ "    for i in range(n):\n"
		 /* 23 */ "        r = f(m)  #ro\n"
		 /* 24 */ "        m += 1\n"
		 /* 25 */ "        r *= 2\n"
		 /* 26 */ "        s += f(n)  #-\n"
		 /* 27 */ "def slices(f, m, n):\n"
		 /* 28 */ "    for i in range(n):\n"
		 /* 29 */ "        r = f(m)  #o\n"
		 /* 30 */ "        m[i:n] = r\n"
		 /* 31 */ "def outside(f, m, n):\n"
		 /* 32 */ "    r = f(m)  #-\n"
		 /* 33 */ "    r[0] = 1\n"
		 /* 34 */ "    f(m)  #d\n"
		 /* 35 */ "    for i in range(n):\n"
		 /* 36 */ "        m[i] = r\n"
		 /* 37 */ "def inner_loop(f, m, n):\n"
		 /* 38 */ "    for i in range(n):\n"
		 /* 39 */ "        for j in range(n):\n"
		 /* 40 */ "            r = f(m)  #-\n"
		 /* 41 */ "        m[i] = r\n"
		 /* 42 */ "def returned(f, m):\n"
		 /* 43 */ "    while m:\n"
		 /* 44 */ "        return f(m)  #-\n"
		 /* 45 */ "M = Q = T = 0\n"
		 /* 46 */ "for I in T:\n"
		 /* 47 */ "    R = Q(M)  #o\n"
		 /* 48 */ "    M[I] = R\n"
		 /* 49 */ "    S = Q(T)  #-\n"
		 /* 50 */ "def stored_twice(f, m, o, n):\n"
		 /* 51 */ "    for i in range(n):\n"
		 /* 52 */ "        m[o] = n\n"
		 /* 53 */ "        r = f(o, n)  #-\n"
		 /* 54 */ "        r = f(m)  #o\n"
		 /* 55 */ "def cell(f, m, n):\n"
		 /* 56 */ "    g = lambda: m\n"
		 /* 57 */ "    for i in range(n):\n"
		 /* 58 */ "        r = f(m)  #o\n"
		 /* 59 */ "        m[i] = r\n"
		 /* 60 */ "    return g\n"
		 /* 61 */ "def dropped_by_another(f, g, m, n):\n"
		 /* 62 */ "    for i in range(n):\n"
		 /* 63 */ "        g(f(m))  #-\n"
		 /* 64 */ "def products(f, m, n):\n"
		 /* 65 */ "    a = f(m) @ n  #m\n"
		 /* 66 */ "    b = n @ f(m)  #m\n"
		 /* 67 */ "    c = f(m) @ (n.x + m)  #m\n"
		 /* 68 */ "    d = f(m) + n @ m  #-\n"
		 /* 69 */ "    return a, b, c, d\n"
		 /* 70 */ "def parts(f, m, n):\n"
		 /* 71 */ "    a = f(m)[:n]  #p\n"
		 /* 72 */ "    b = f(m)[::-1][:n]  #p\n"
		 /* 73 */ "    c = f(m)[:, :n]  #p\n"
		 /* 74 */ "    d = f(m)[0]  #p\n"
		 /* 75 */ "    e = f(m)[-n:]  #p\n"
		 /* 76 */ "    g = f(m)[n]  #-\n"
		 /* 77 */ "    h = f(m)[m[:n]]  #-\n"
		 /* 78 */ "    return a, b, c, d, e, g, h\n"
		 /* 79 */ "def kept_parts(f, m, n):\n"
		 /* 80 */ "    a = f(m)  #p\n"
		 /* 81 */ "    b = f(n)  #-\n"
		 /* 82 */ "    return a[:n], a[-1], b[:n], b\n"
		 /* 83 */ "def turned(f, m, n):\n"
		 /* 84 */ "    a = f(m)  #p\n"
		 /* 85 */ "    return n, a[:n]\n"
		 /* 86 */ "def attributes(f, m, n):\n"
		 /* 87 */ "    m.x = f(m.x, 1)  #a\n"
		 /* 88 */ "    m.x = f(m.y, n.x)  #-\n"
		 /* 89 */ "    n.y = f(m.y)  #-\n"
		 /* 90 */ "    for i in n:\n"
		 /* 91 */ "        m.x = f(n, m.x)  #a\n"
		 /* 92 */ "        n = f(n)  #a\n";

static const struct compiled_code *code_with_line(const struct compiled_python *compiled, int line)
{
	/* The innermost last: functions follow the module. */
	const struct compiled_code *found = NULL;

	for (size_t i = 0; i < compiled->count; i++)
		if (compiled_offset(&compiled->codes[i], line, "CALL", 0) >= 0)
			found = &compiled->codes[i];
	assert_non_null(found);
	return found;
}

static struct argument_veto veto_of(const struct python_code *code, int offset)
{
	struct call_site_table table;
	struct call_site site;
	struct argument_veto veto;
	const struct bytecode *bytecode;

	call_site_table_init(&table);
	assert_int_equal(call_site_find(&table, code, offset, &site), 0);
	bytecode = call_site_bytecode(&table, code);
	assert_non_null(bytecode);
	veto = argument_veto_find(bytecode, &site);
	call_site_table_deinit(&table);
	return veto;
}

static void letters(const struct argument_veto *veto, char text[7])
{
	size_t used = 0;

	if (veto->dropped)
		text[used++] = 'd';
	if (veto->result_changes)
		text[used++] = 'r';
	if (veto->operand_changes)
		text[used++] = 'o';
	if (veto->multiplied)
		text[used++] = 'm';
	if (veto->takes_part)
		text[used++] = 'p';
	if (veto->result_replaces)
		text[used++] = 'a';
	if (!used)
		text[used++] = '-';
	text[used] = '\0';
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
				const struct compiled_code *code = code_with_line(&compiled, line);
				/* 3.11: at PRECALL, which is where a call is sampled first. */
				int offset = compiled_offset(
					code, line,
					pythons->items[i].minor == 11 ? "PRECALL" : "CALL", 0);
				struct argument_veto veto = veto_of(&code->code, offset);
				char found[7], expected[7] = "";

				memcpy(expected, mark + 1, (size_t)(end - mark - 1));
				letters(&veto, found);
				checked++;
				if (strcmp(found, expected)) {
					wrong++;
					print_error("%s: line %d: %s, expected %s\n",
						    pythons->items[i].path, line, found, expected);
				}
			}
			start = end + 1;
		}
		assert_int_equal(checked, 40);
		compiled_python_free(&compiled);
	}
	assert_int_equal(wrong, 0);
}

/* Not a call at all, and no bytecode: nothing is said. */
static void test_nothing_known(void **state)
{
	const struct python_code empty = { .minor = 11 };
	struct argument_veto veto = veto_of(&empty, 0);

	(void)state;
	assert_false(veto.dropped || veto.result_changes || veto.operand_changes);
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
