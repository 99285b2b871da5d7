/* SPDX-License-Identifier: Apache-2.0 */
#include "pyintrospect/line_table.h"

#include "pyintrospect/position_table.h"

#include <limits.h>

static int plausible_line(int64_t line)
{
	return line > 0 && line <= INT_MAX ? (int)line : 0;
}

/*
 * Objects/lnotab_notes.txt of 3.6 to 3.9: pairs of (bytes of code, signed
 * lines). The last pair whose bytes do not go past the instruction counts.
 */
static int lnotab_find(const uint8_t *table, size_t size, int first_line, int instruction_offset)
{
	int64_t line = first_line, start = 0;

	for (size_t i = 0; i + 1 < size; i += 2) {
		start += table[i];
		if (start > instruction_offset)
			break;
		line += (int8_t)table[i + 1];
	}
	return plausible_line(line);
}

/*
 * Objects/lnotab_notes.txt of 3.10: pairs of (bytes of code, signed lines),
 * the lines being added before the range; -128 means that it has none.
 */
static int linetable_find(const uint8_t *table, size_t size, int first_line, int instruction_offset)
{
	int64_t line = first_line, end = 0;

	for (size_t i = 0; i + 1 < size; i += 2) {
		int8_t delta = (int8_t)table[i + 1];

		if (delta != -128)
			line += delta;
		end += table[i];
		if (instruction_offset < end)
			return delta == -128 ? 0 : plausible_line(line);
	}
	return 0;
}

/* The location table of 3.11+. */
static int location_table_find(int minor, const uint8_t *table, size_t size, int first_line,
			       int instruction_offset)
{
	struct code_position position;

	if (position_table_find(minor, table, size, first_line, instruction_offset, &position))
		return 0;
	return position.line;
}

int line_table_find(int minor, const uint8_t *table, size_t size, int first_line,
		    int instruction_offset)
{
	if (instruction_offset < 0)
		return plausible_line(first_line);
	if (minor < 10)
		return lnotab_find(table, size, first_line, instruction_offset);
	if (minor == 10)
		return linetable_find(table, size, first_line, instruction_offset);
	return location_table_find(minor, table, size, first_line, instruction_offset);
}
