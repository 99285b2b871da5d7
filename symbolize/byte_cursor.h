/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reading numbers out of a piece of an ELF file, front to back.
 *
 * Running over the end is remembered, not checked at each step: the value read
 * is 0 then, the position stays at the end, and the reader asks for `failed`
 * once. No pointer ever leaves [position, end].
 */
#ifndef PIEPROFD_SYMBOLIZE_BYTE_CURSOR_H
#define PIEPROFD_SYMBOLIZE_BYTE_CURSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct byte_cursor {
	const uint8_t *position;
	const uint8_t *end;
	bool failed;
};

static inline struct byte_cursor byte_cursor_over(const uint8_t *bytes, size_t size)
{
	return (struct byte_cursor){ .position = bytes, .end = bytes + size };
}

static inline size_t byte_cursor_left(const struct byte_cursor *cursor)
{
	return (size_t)(cursor->end - cursor->position);
}

static inline void byte_cursor_fail(struct byte_cursor *cursor)
{
	cursor->failed = true;
	cursor->position = cursor->end;
}

static inline const uint8_t *byte_cursor_skip(struct byte_cursor *cursor, uint64_t size)
{
	const uint8_t *skipped = cursor->position;

	if (size > byte_cursor_left(cursor)) {
		byte_cursor_fail(cursor);
		return cursor->end;
	}
	cursor->position += size;
	return skipped;
}

/* Little-endian, 1 to 8 bytes. */
static inline uint64_t byte_cursor_unsigned(struct byte_cursor *cursor, size_t size)
{
	uint64_t value = 0;

	if (size > byte_cursor_left(cursor)) {
		byte_cursor_fail(cursor);
		return 0;
	}
	memcpy(&value, cursor->position, size);
	cursor->position += size;
	return value;
}

static inline int64_t byte_cursor_signed(struct byte_cursor *cursor, size_t size)
{
	unsigned int unused_bits = 64 - 8 * (unsigned int)size;

	return (int64_t)(byte_cursor_unsigned(cursor, size) << unused_bits) >> unused_bits;
}

static inline uint8_t byte_cursor_u8(struct byte_cursor *cursor)
{
	if (cursor->position == cursor->end) {
		cursor->failed = true;
		return 0;
	}
	return *cursor->position++;
}

/* Bits above the 64th are dropped. */
static inline uint64_t byte_cursor_uleb128(struct byte_cursor *cursor)
{
	uint64_t value = 0;
	unsigned int shift = 0;
	uint8_t byte;

	do {
		byte = byte_cursor_u8(cursor);
		if (shift < 64)
			value |= (uint64_t)(byte & 0x7f) << shift;
		shift += 7;
	} while ((byte & 0x80) && !cursor->failed);
	return value;
}

static inline int64_t byte_cursor_sleb128(struct byte_cursor *cursor)
{
	uint64_t value = 0;
	unsigned int shift = 0;
	uint8_t byte;

	do {
		byte = byte_cursor_u8(cursor);
		if (shift < 64)
			value |= (uint64_t)(byte & 0x7f) << shift;
		shift += 7;
	} while ((byte & 0x80) && !cursor->failed);
	if (shift < 64 && (byte & 0x40))
		value |= ~(uint64_t)0 << shift;
	return (int64_t)value;
}

#endif
