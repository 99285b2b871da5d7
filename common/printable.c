/* SPDX-License-Identifier: Apache-2.0 */
#include "common/printable.h"

#include <stdio.h>
#include <string.h>

/* One character as it will appear: a copy or an escape. */
struct piece {
	char bytes[12];
	unsigned size;    /* of bytes */
	unsigned columns; /* on the terminal */
	unsigned taken;   /* bytes of the text it stands for */
};

struct code_range {
	uint32_t first, last;
};

/* What no terminal should be sent from a name. */
static const struct code_range unprintable[] = {
	{ 0x0000, 0x001f }, /* C0 */
	{ 0x007f, 0x009f }, /* DEL and C1, which some terminals obey */
	{ 0x00ad, 0x00ad }, /* soft hyphen */
	{ 0x061c, 0x061c }, /* direction of text from here on */
	{ 0x200b, 0x200f }, { 0x2028, 0x202e },   { 0x2060, 0x206f }, { 0xfeff, 0xfeff },
	{ 0xfff0, 0xfffb }, { 0xe0000, 0xe0fff }, /* tags and other invisible ones */
};

/* Marks that combine with the character before them. */
static const struct code_range zero_columns[] = {
	{ 0x0300, 0x036f }, { 0x0483, 0x0489 }, { 0x0591, 0x05bd },
	{ 0x064b, 0x065f }, { 0x1ab0, 0x1aff }, { 0x1dc0, 0x1dff },
	{ 0x20d0, 0x20ff }, { 0xfe00, 0xfe0f }, { 0xfe20, 0xfe2f },
};

static const struct code_range two_columns[] = {
	{ 0x1100, 0x115f },   { 0x2e80, 0x303e },   { 0x3041, 0xa4cf },   { 0xac00, 0xd7a3 },
	{ 0xf900, 0xfaff },   { 0xfe30, 0xfe6f },   { 0xff00, 0xff60 },   { 0xffe0, 0xffe6 },
	{ 0x1f300, 0x1f64f }, { 0x1f680, 0x1f6ff }, { 0x1f900, 0x1f9ff }, { 0x20000, 0x3fffd },
};

#define ARRAY_SIZE(array) (sizeof(array) / sizeof((array)[0]))

static bool in_ranges(const struct code_range *ranges, size_t count, uint32_t code_point)
{
	for (size_t i = 0; i < count; i++)
		if (code_point >= ranges[i].first && code_point <= ranges[i].last)
			return true;
	return false;
}

bool code_point_printable(uint32_t code_point)
{
	return !in_ranges(unprintable, ARRAY_SIZE(unprintable), code_point);
}

size_t utf8_decode(const char *text, size_t size, uint32_t *ret_code_point)
{
	static const uint32_t smallest[] = { 0, 0, 0x80, 0x800, 0x10000 };
	const unsigned char *bytes = (const unsigned char *)text;
	uint32_t code_point;
	size_t length;

	if (size == 0)
		return 0;
	if (bytes[0] < 0x80) {
		*ret_code_point = bytes[0];
		return 1;
	}
	if (bytes[0] >= 0xc2 && bytes[0] <= 0xdf) {
		length = 2;
		code_point = bytes[0] & 0x1f;
	} else if (bytes[0] >= 0xe0 && bytes[0] <= 0xef) {
		length = 3;
		code_point = bytes[0] & 0x0f;
	} else if (bytes[0] >= 0xf0 && bytes[0] <= 0xf4) {
		length = 4;
		code_point = bytes[0] & 0x07;
	} else {
		return 0;
	}
	if (size < length)
		return 0;
	for (size_t i = 1; i < length; i++) {
		if ((bytes[i] & 0xc0) != 0x80)
			return 0;
		code_point = code_point << 6 | (bytes[i] & 0x3f);
	}
	if (code_point < smallest[length] || code_point > 0x10ffff ||
	    (code_point >= 0xd800 && code_point <= 0xdfff))
		return 0;
	*ret_code_point = code_point;
	return length;
}

/* The piece at text, which is not at its end. */
static struct piece piece_next(const char *text)
{
	struct piece piece = { .size = 0 };
	uint32_t code_point = 0;
	/* strnlen: a sequence is at most four bytes, and the text ends with NUL. */
	size_t length = utf8_decode(text, strnlen(text, 4), &code_point);

	piece.taken = length ? (unsigned)length : 1;
	if (length == 0) {
		piece.size = (unsigned)snprintf(piece.bytes, sizeof(piece.bytes), "\\x%02x",
						(unsigned char)text[0]);
	} else if (code_point == '\n') {
		piece.size = (unsigned)snprintf(piece.bytes, sizeof(piece.bytes), "\\n");
	} else if (code_point == '\t') {
		piece.size = (unsigned)snprintf(piece.bytes, sizeof(piece.bytes), " ");
	} else if (!code_point_printable(code_point)) {
		piece.size = (unsigned)snprintf(piece.bytes, sizeof(piece.bytes), "\\u%04x",
						(unsigned)code_point);
	} else {
		memcpy(piece.bytes, text, length);
		piece.size = (unsigned)length;
		if (in_ranges(zero_columns, ARRAY_SIZE(zero_columns), code_point))
			piece.columns = 0;
		else if (in_ranges(two_columns, ARRAY_SIZE(two_columns), code_point))
			piece.columns = 2;
		else
			piece.columns = 1;
		return piece;
	}
	piece.columns = piece.size; /* ASCII */
	return piece;
}

/*
 * Copies pieces until the text, the columns or the buffer end; *rest is what
 * was not copied.
 */
static unsigned printable_copy(char *buffer, size_t size, const char *text, unsigned columns,
			       size_t *ret_size, const char **rest)
{
	size_t used = 0;
	unsigned width = 0;

	while (*text) {
		struct piece piece = piece_next(text);

		if (width + piece.columns > columns || used + piece.size >= size)
			break;
		memcpy(buffer + used, piece.bytes, piece.size);
		used += piece.size;
		width += piece.columns;
		text += piece.taken;
	}
	buffer[used] = '\0';
	*ret_size = used;
	*rest = text;
	return width;
}

unsigned printable_columns(const char *text, size_t bytes)
{
	const char *end = text + bytes;
	unsigned columns = 0;

	while (text < end && *text) {
		struct piece piece = piece_next(text);

		columns += piece.columns;
		text += piece.taken;
	}
	return columns;
}

unsigned printable_fit(char *buffer, size_t size, const char *text, unsigned columns, bool keep_end)
{
	static const char ellipsis[] = "...";
	unsigned marks = columns >= 8 ? 3 : 0; /* no room for dots in a narrow column */
	const char *rest;
	size_t used;
	unsigned width = printable_copy(buffer, size, text, columns, &used, &rest);

	if (!*rest)
		return width;
	if (size <= marks)
		return width;
	if (!keep_end) {
		width = printable_copy(buffer, size - marks, text, columns - marks, &used, &rest);
		memcpy(buffer + used, ellipsis, marks);
		buffer[used + marks] = '\0';
		return width + marks;
	}
	/* Drop from the start until the rest fits; a second walk measures it first. */
	uint64_t total = 0;

	for (const char *at = text; *at;) {
		struct piece piece = piece_next(at);

		total += piece.columns;
		at += piece.taken;
	}
	while (*text && total > columns - marks) {
		struct piece piece = piece_next(text);

		total -= piece.columns;
		text += piece.taken;
	}
	memcpy(buffer, ellipsis, marks);
	return marks +
	       printable_copy(buffer + marks, size - marks, text, columns - marks, &used, &rest);
}
