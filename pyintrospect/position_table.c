/* SPDX-License-Identifier: Apache-2.0 */
#include "pyintrospect/position_table.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>

#define FIRST_MINOR_WITH_POSITIONS 11

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

/* Entry codes; those below are the short forms on one line. */
enum {
	LOCATION_ONE_LINE_0 = 10,
	LOCATION_NO_COLUMNS = 13,
	LOCATION_LONG = 14,
	LOCATION_NONE = 15,
};

/* Wide enough for any sum of the table's numbers. */
struct location {
	int64_t line, end_line, column, end_column;
};

/* What follows the entry's first byte. location: that of the entry before it. */
static void next_location(struct location_cursor *cursor, unsigned code, struct location *location)
{
	int64_t line = location->line;
	uint8_t byte;

	*location = (struct location){ line, line, POSITION_NO_COLUMN, POSITION_NO_COLUMN };
	switch (code) {
	case LOCATION_NONE:
		return;
	case LOCATION_NO_COLUMNS:
		location->line += next_signed_varint(cursor);
		location->end_line = location->line;
		return;
	case LOCATION_LONG:
		location->line += next_signed_varint(cursor);
		location->end_line = location->line + next_varint(cursor);
		/* One more than the column; 0: none. */
		location->column = (int64_t)next_varint(cursor) - 1;
		location->end_column = (int64_t)next_varint(cursor) - 1;
		return;
	default:
		if (code >= LOCATION_ONE_LINE_0) {
			location->line += code - LOCATION_ONE_LINE_0;
			location->end_line = location->line;
			location->column = next_byte(cursor);
			location->end_column = next_byte(cursor);
			return;
		}
		byte = next_byte(cursor);
		location->column = (int64_t)code << 3 | byte >> 4;
		location->end_column = location->column + (byte & 15);
	}
}

static int position_of(const struct location *location, struct code_position *ret_position)
{
	bool columns = location->column >= 0 && location->end_column >= 0 &&
		       location->column <= INT_MAX && location->end_column <= INT_MAX;

	if (location->line <= 0 || location->line > INT_MAX)
		return -ENOENT;
	*ret_position = (struct code_position){
		.line = (int)location->line,
		.end_line = location->end_line > INT_MAX ? INT_MAX : (int)location->end_line,
		.column = columns ? (int)location->column : POSITION_NO_COLUMN,
		.end_column = columns ? (int)location->end_column : POSITION_NO_COLUMN,
	};
	return 0;
}

/* Entries start with a byte of 1, 4 bits of code and 3 bits of length in instructions less one. */
int position_table_find(int minor, const uint8_t *table, size_t size, int first_line,
			int instruction_offset, struct code_position *ret_position)
{
	struct location_cursor cursor = { .bytes = table, .size = size };
	struct location location = { .line = first_line };
	int64_t end = 0;

	if (minor < FIRST_MINOR_WITH_POSITIONS)
		return -ENOTSUP;
	while (instruction_offset >= 0 && cursor.position < size) {
		uint8_t head = next_byte(&cursor);
		unsigned code = (head >> 3) & 15;

		next_location(&cursor, code, &location);
		if (cursor.overrun)
			return -ENOENT;
		end += ((head & 7) + 1) * 2;
		if (instruction_offset < end)
			return code == LOCATION_NONE ? -ENOENT
						     : position_of(&location, ret_position);
	}
	return -ENOENT;
}
