/* SPDX-License-Identifier: Apache-2.0 */
#include "pyintrospect/line_table.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>

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

struct location_cursor {
	const uint8_t *bytes;
	size_t size, position;
	bool overrun;
};

static uint8_t next_byte(struct location_cursor *cursor)
{
	if (cursor->position >= cursor->size) {
		cursor->overrun = true;
		return 0;
	}
	return cursor->bytes[cursor->position++];
}

/* 6 bits a byte, least significant first; bit 6 says that more follow. */
static uint32_t next_varint(struct location_cursor *cursor)
{
	uint32_t value = 0;
	unsigned shift = 0;
	uint8_t byte;

	do {
		byte = next_byte(cursor);
		if (shift < 32)
			value |= (uint32_t)(byte & 0x3f) << shift;
		shift += 6;
	} while (byte & 0x40);
	return value;
}

static int64_t next_signed_varint(struct location_cursor *cursor)
{
	uint32_t value = next_varint(cursor);

	return value & 1 ? -(int64_t)(value >> 1) : (int64_t)(value >> 1);
}

/* Entry codes of Objects/locations.md (3.11+); those below are the short forms on one line. */
enum {
	LOCATION_ONE_LINE_0 = 10,
	LOCATION_NO_COLUMNS = 13,
	LOCATION_LONG = 14,
	LOCATION_NONE = 15,
};

/*
 * Objects/locations.md: entries that start with a byte of 1, 4 bits of code
 * and 3 bits of length in instructions less one; line deltas by code.
 */
static int location_table_find(const uint8_t *table, size_t size, int first_line,
			       int instruction_offset)
{
	struct location_cursor cursor = { .bytes = table, .size = size };
	int64_t line = first_line, end = 0;

	while (cursor.position < size) {
		uint8_t head = next_byte(&cursor);
		unsigned code = (head >> 3) & 15;

		switch (code) {
		case LOCATION_NONE:
			break;
		case LOCATION_LONG:
			line += next_signed_varint(&cursor);
			next_varint(&cursor); /* end line */
			next_varint(&cursor); /* columns */
			next_varint(&cursor);
			break;
		case LOCATION_NO_COLUMNS:
			line += next_signed_varint(&cursor);
			break;
		default:
			if (code >= LOCATION_ONE_LINE_0) {
				line += code - LOCATION_ONE_LINE_0;
				next_byte(&cursor);
			}
			next_byte(&cursor);
		}
		if (cursor.overrun)
			return 0;
		end += ((head & 7) + 1) * 2;
		if (instruction_offset < end)
			return code == LOCATION_NONE ? 0 : plausible_line(line);
	}
	return 0;
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
	return location_table_find(table, size, first_line, instruction_offset);
}
