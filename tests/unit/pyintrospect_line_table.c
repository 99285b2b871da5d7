/* SPDX-License-Identifier: Apache-2.0 */
/* Line tables against what every interpreter found says of its own standard library. */
#include "pyintrospect/line_table.h"

#include "tests/unit/support_live.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

/*
 * Prints, for each code object: its first line and table in hexadecimal, then
 * "offset line" for each instruction (0: it has none).
 */
static const char dump[] =
	"\n"
	"import sys, os, dis, types, bisect\n"
	"def lines(c):\n"
	"    n = len(c.co_code)\n"
	"    if hasattr(c, 'co_lines'):\n"
	"        out = {}\n"
	"        for start, end, line in c.co_lines():\n"
	"            for i in range(start, end, 2): out[i] = line or 0\n"
	"        return [(i, out.get(i, 0)) for i in range(0, n, 2)]\n"
	"    starts = list(dis.findlinestarts(c))\n"
	"    offsets = [s[0] for s in starts]\n"
	"    out = []\n"
	"    for i in range(0, n, 2):\n"
	"        k = bisect.bisect_right(offsets, i) - 1\n"
	"        out.append((i, starts[k][1] if k >= 0 else c.co_firstlineno))\n"
	"    return out\n"
	"def show(c):\n"
	"    table = c.co_linetable if hasattr(c, 'co_linetable') else c.co_lnotab\n"
	"    rows = lines(c)\n"
	"    print('CODE %d %d %s' % (c.co_firstlineno, len(rows), table.hex() or '-'))\n"
	"    for row in rows: print(*row)\n"
	"    for k in c.co_consts:\n"
	"        if isinstance(k, types.CodeType): show(k)\n"
	"folder = os.path.dirname(os.__file__)\n"
	"for name in ('dis.py', 'textwrap.py', 'asyncio/tasks.py', 'functools.py', 'bisect.py'):\n"
	"    path = os.path.join(folder, name)\n"
	"    show(compile(open(path, encoding='utf-8').read(), path, 'exec'))\n"
	"text = '\\n' * 300 + 'def f(a):\\n' + '  x = (a,' + '\\n' * 200 + '  a)\\n' * 1\n"
	"show(compile(u'def f(\\u00e9, b):\\n  return \\u00e9 + (b +\\n \\u00e9 * b)\\n' +\n"
	"             'x = ' + '(' * 60 + 'a + ' * 90 + 'b' + ')' * 60 + '\\n', 'wide', 'exec'))\n"
	"show(compile(text + '  y = [' + 'a, ' * 300 + ']\\n' + '\\n' * 1000 + '  return y\\n', "
	"'long', "
	"'exec'))\n";

static size_t decode_hex(const char *text, uint8_t *bytes, size_t size)
{
	size_t count = 0;
	unsigned value;

	for (; text[0] && text[1] && count < size && sscanf(text, "%2x", &value) == 1; text += 2)
		bytes[count++] = (uint8_t)value;
	return count;
}

static void test_standard_library(void **state)
{
	const struct live_pythons *pythons = live_pythons();
	static char line[1 << 18], hex[1 << 18];
	static uint8_t table[1 << 17];

	(void)state;
	for (size_t i = 0; i < pythons->count; i++) {
		unsigned codes = 0, instructions = 0, wrong = 0;
		int first_line, offset, expected;
		struct live_target target;
		size_t count, size;

		assert_true(live_target_start(&target, pythons->items[i].path, dump));
		while (live_target_line(&target, line, sizeof(line))) {
			assert_int_equal(sscanf(line, "CODE %d %zu %s", &first_line, &count, hex),
					 3);
			size = decode_hex(hex, table, sizeof(table));
			codes++;
			for (size_t j = 0; j < count; j++) {
				int found;

				assert_true(live_target_line(&target, line, sizeof(line)));
				assert_int_equal(sscanf(line, "%d %d", &offset, &expected), 2);
				found = line_table_find(pythons->items[i].minor, table, size,
							first_line, offset);
				instructions++;
				if (found == expected)
					continue;
				wrong++;
				print_error("3.%d: offset %d of code at line %d: %d, expected %d\n",
					    pythons->items[i].minor, offset, first_line, found,
					    expected);
			}
		}
		live_target_end(&target);
		print_message("3.%d.%d: %u code objects, %u instructions, %u wrong lines\n",
			      pythons->items[i].minor, pythons->items[i].micro, codes, instructions,
			      wrong);
		assert_true(codes > 50);
		assert_int_equal(wrong, 0);
	}
	if (!pythons->count)
		skip();
}

/* 3.6 to 3.9: signed deltas, pairs without bytes, an offset before the first pair. */
static void test_lnotab(void **state)
{
	const uint8_t table[] = { 0, 1, 4, 2, 6, (uint8_t)-1, 255, 0, 1, 127, 0, 1 };

	(void)state;
	assert_int_equal(line_table_find(8, table, sizeof(table), 10, -1), 10);
	assert_int_equal(line_table_find(8, table, sizeof(table), 10, 0), 11);
	assert_int_equal(line_table_find(8, table, sizeof(table), 10, 3), 11);
	assert_int_equal(line_table_find(8, table, sizeof(table), 10, 4), 13);
	assert_int_equal(line_table_find(8, table, sizeof(table), 10, 10), 12);
	assert_int_equal(line_table_find(8, table, sizeof(table), 10, 266), 140);
	assert_int_equal(line_table_find(8, table, 0, 10, 4), 10);
	/* An odd byte at the end is no pair. */
	assert_int_equal(line_table_find(8, table, 3, 10, 100), 11);
}

static void test_linetable_3_10(void **state)
{
	const uint8_t table[] = { 4, 1, 2, (uint8_t)-128, 0, 5, 2, (uint8_t)-3 };

	(void)state;
	assert_int_equal(line_table_find(10, table, sizeof(table), 10, 0), 11);
	assert_int_equal(line_table_find(10, table, sizeof(table), 10, 4), 0);
	assert_int_equal(line_table_find(10, table, sizeof(table), 10, 6), 13);
	assert_int_equal(line_table_find(10, table, sizeof(table), 10, 8), 0);
	assert_int_equal(line_table_find(10, table, sizeof(table), 10, -2), 10);
}

static void test_locations_3_11(void **state)
{
	const uint8_t table[] = {
		0x80 | (11 << 3) | 0,
		0,
		0,                    /* one instruction, line + 1 */
		0x80 | (15 << 3) | 1, /* two without a line */
		0x80 | (0 << 3) | 0,
		0, /* short form, same line */
		0x80 | (13 << 3) | 0,
		(100 & 63) | 64,
		100 >> 6, /* line + 50 */
		0x80 | (14 << 3) | 0,
		3,
		0,
		0,
		0, /* line - 1, long form */
	};

	(void)state;
	assert_int_equal(line_table_find(11, table, sizeof(table), 10, 0), 11);
	assert_int_equal(line_table_find(11, table, sizeof(table), 10, 2), 0);
	assert_int_equal(line_table_find(11, table, sizeof(table), 10, 4), 0);
	assert_int_equal(line_table_find(11, table, sizeof(table), 10, 6), 11);
	assert_int_equal(line_table_find(11, table, sizeof(table), 10, 8), 61);
	assert_int_equal(line_table_find(11, table, sizeof(table), 10, 10), 60);
	assert_int_equal(line_table_find(11, table, sizeof(table), 10, 12), 0);
	assert_int_equal(line_table_find(11, table, sizeof(table) - 1, 10, 10), 0);
}

/* Any bytes: an answer that is a line or none, within the table. */
static void test_any_bytes(void **state)
{
	int minor, first_line, offset, line;
	uint8_t table[64];

	(void)state;
	srand(2);
	for (unsigned i = 0; i < 200000; i++) {
		size_t size = (size_t)rand() % sizeof(table);
		uint8_t *exact = malloc(size + 1); /* so that the sanitizer sees an overrun */

		for (size_t j = 0; j < size; j++)
			exact[j] = (uint8_t)rand();
		minor = 6 + rand() % 10;
		first_line = rand() - RAND_MAX / 2;
		offset = rand() % 400 - 4;
		line = line_table_find(minor, exact, size, first_line, offset);
		assert_true(line >= 0);
		free(exact);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lnotab),           cmocka_unit_test(test_linetable_3_10),
		cmocka_unit_test(test_locations_3_11),   cmocka_unit_test(test_any_bytes),
		cmocka_unit_test(test_standard_library),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
