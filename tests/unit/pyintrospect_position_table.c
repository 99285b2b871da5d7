/* SPDX-License-Identifier: Apache-2.0 */
/* Positions against what every interpreter found says of its own standard library. */
#include "pyintrospect/line_table.h"
#include "pyintrospect/position_table.h"

#include "tests/unit/support_live.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

/*
 * Prints, for each code object: its first line, how many instructions it has and
 * its table in hexadecimal, then for each instruction "line end_line column
 * end_column" (-1: it has none).
 */
static const char dump[] =
	"import sys, os, types\n"
	"def show(c):\n"
	"    rows = list(c.co_positions())\n"
	"    print('CODE %d %d %s' % (c.co_firstlineno, len(rows), c.co_linetable.hex() or '-'))\n"
	"    for row in rows: print(*[-1 if x is None else x for x in row])\n"
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

struct tally {
	unsigned codes, instructions, columns, wrong;
};

static void check_code(int minor, const uint8_t *table, size_t size, int first_line, int offset,
		       const struct code_position *expected, struct tally *tally)
{
	static const struct code_position nowhere = { -1, -1, -1, -1 };
	struct code_position found = nowhere;
	int error = position_table_find(minor, table, size, first_line, offset, &found);

	/* A module begins with an instruction at line 0, which is none. */
	if (expected->line <= 0)
		expected = &nowhere;
	tally->instructions++;
	tally->columns += found.column >= 0;
	if (error == (expected->line < 0 ? -ENOENT : 0) && found.line == expected->line &&
	    found.end_line == expected->end_line && found.column == expected->column &&
	    found.end_column == expected->end_column)
		return;
	tally->wrong++;
	print_error("3.%d: offset %d of code at line %d: %d: %d-%d %d-%d, expected %d-%d %d-%d\n",
		    minor, offset, first_line, error, found.line, found.end_line, found.column,
		    found.end_column, expected->line, expected->end_line, expected->column,
		    expected->end_column);
}

static struct tally check_python(const struct live_python *python)
{
	static char line[1 << 18], hex[1 << 18];
	static uint8_t table[1 << 17];
	struct live_target target;
	struct tally tally = { 0 };
	size_t count, size;
	int first_line;

	assert_true(live_target_start(&target, python->path, dump));
	while (live_target_line(&target, line, sizeof(line))) {
		assert_int_equal(sscanf(line, "CODE %d %zu %262143s", &first_line, &count, hex), 3);
		size = decode_hex(hex, table, sizeof(table));
		tally.codes++;
		for (size_t i = 0; i < count; i++) {
			struct code_position expected;

			assert_true(live_target_line(&target, line, sizeof(line)));
			assert_int_equal(sscanf(line, "%d %d %d %d", &expected.line,
						&expected.end_line, &expected.column,
						&expected.end_column),
					 4);
			check_code(python->minor, table, size, first_line, (int)i * 2, &expected,
				   &tally);
		}
	}
	live_target_end(&target);
	return tally;
}

static void check_pythons(bool columns)
{
	const struct live_pythons *pythons = live_pythons();
	unsigned checked = 0;

	for (size_t i = 0; i < pythons->count; i++) {
		const struct live_python *python = &pythons->items[i];
		struct tally tally;

		if (python->minor < 11)
			continue;
		tally = check_python(python);
		print_message("3.%d.%d: %u code objects, %u instructions, %u with columns, %u "
			      "wrong positions\n",
			      python->minor, python->micro, tally.codes, tally.instructions,
			      tally.columns, tally.wrong);
		assert_true(tally.codes > 50);
		assert_int_equal(tally.wrong, 0);
		if (columns)
			assert_true(tally.columns > tally.instructions / 2);
		else
			assert_int_equal(tally.columns, 0);
		checked++;
	}
	if (!checked)
		skip();
}

static void test_standard_library(void **state)
{
	(void)state;
	check_pythons(true);
}

/* As -X no_debug_ranges. */
static void test_compiled_without_columns(void **state)
{
	(void)state;
	setenv("PYTHONNODEBUGRANGES", "1", 1);
	check_pythons(false);
	unsetenv("PYTHONNODEBUGRANGES");
}

static void check(const uint8_t *table, size_t size, int offset, struct code_position expected)
{
	struct code_position found;

	assert_int_equal(position_table_find(11, table, size, 10, offset, &found), 0);
	assert_int_equal(found.line, expected.line);
	assert_int_equal(found.end_line, expected.end_line);
	assert_int_equal(found.column, expected.column);
	assert_int_equal(found.end_column, expected.end_column);
}

static void test_kinds_of_entries(void **state)
{
	const uint8_t table[] = {
		0x80 | (11 << 3) | 0,
		4,
		250,                  /* next line, both columns in a byte */
		0x80 | (15 << 3) | 1, /* two instructions without a line */
		0x80 | (9 << 3) | 0,
		0x7f, /* short: columns 79 to 94 */
		0x80 | (13 << 3) | 0,
		(100 & 63) | 64,
		100 >> 6, /* line + 50, no columns */
		0x80 | (14 << 3) | 0,
		3,
		2,
		(200 & 63) | 64,
		200 >> 6,
		8, /* line - 1, to 2 behind it */
		0x80 | (14 << 3) | 0,
		0,
		0,
		0,
		0, /* no columns in the long form */
		0x80 | (12 << 3) | 7,
		0,
		1, /* eight of them, two lines on */
	};
	struct code_position position;

	(void)state;
	check(table, sizeof(table), 0, (struct code_position){ 11, 11, 4, 250 });
	assert_int_equal(position_table_find(11, table, sizeof(table), 10, 2, &position), -ENOENT);
	assert_int_equal(position_table_find(11, table, sizeof(table), 10, 4, &position), -ENOENT);
	check(table, sizeof(table), 6, (struct code_position){ 11, 11, 79, 94 });
	check(table, sizeof(table), 8, (struct code_position){ 61, 61, -1, -1 });
	check(table, sizeof(table), 10, (struct code_position){ 60, 62, 199, 7 });
	check(table, sizeof(table), 12, (struct code_position){ 60, 60, -1, -1 });
	check(table, sizeof(table), 28, (struct code_position){ 62, 62, 0, 1 });
	assert_int_equal(position_table_find(11, table, sizeof(table), 10, 30, &position), -ENOENT);
	/* The table's last byte is missing. */
	assert_int_equal(position_table_find(11, table, sizeof(table) - 1, 10, 28, &position),
			 -ENOENT);
	assert_int_equal(position_table_find(11, table, sizeof(table), 10, -1, &position), -ENOENT);
	assert_int_equal(position_table_find(10, table, sizeof(table), 10, 0, &position), -ENOTSUP);
}

/* Lines and columns that no file has. */
static void test_huge_numbers(void **state)
{
	const uint8_t table[] = {
		0x80 | (14 << 3),
		0, /* same line */
		0x7f,
		0x7f,
		0x7f,
		0x7f,
		0x7f,
		0x03, /* to 2^32 - 1 lines on */
		0x7f,
		0x7f,
		0x7f,
		0x7f,
		0x7f,
		0x03,
		0x01, /* and columns */
		0x80 | (13 << 3),
		0x7e,
		0x7f,
		0x7f,
		0x7f,
		0x7f,
		0x03, /* past INT_MAX */
	};
	struct code_position position;

	(void)state;
	check(table, sizeof(table), 0, (struct code_position){ 10, INT_MAX, -1, -1 });
	assert_int_equal(position_table_find(11, table, sizeof(table), 10, 2, &position), -ENOENT);
}

/* Any bytes: a position within what its fields may be, at the line that the line table says. */
static void test_any_bytes(void **state)
{
	unsigned found = 0;

	(void)state;
	srand(3);
	for (unsigned i = 0; i < 200000; i++) {
		size_t size = (size_t)rand() % 64;
		uint8_t *exact = malloc(size + 1); /* so that the sanitizer sees an overrun */
		int first_line = rand() - RAND_MAX / 2, offset = rand() % 400 - 4;
		struct code_position position;

		for (size_t j = 0; j < size; j++)
			exact[j] = (uint8_t)rand();
		if (!position_table_find(13, exact, size, first_line, offset, &position)) {
			found++;
			assert_int_equal(line_table_find(13, exact, size, first_line, offset),
					 position.line);
			assert_true(position.line > 0 && position.end_line >= position.line);
			assert_int_equal(position.column < 0, position.end_column < 0);
			assert_true(position.column >= -1 && position.end_column >= -1);
		}
		free(exact);
	}
	assert_true(found > 1000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_kinds_of_entries),
		cmocka_unit_test(test_huge_numbers),
		cmocka_unit_test(test_any_bytes),
		cmocka_unit_test(test_standard_library),
		cmocka_unit_test(test_compiled_without_columns),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
