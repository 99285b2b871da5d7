/* SPDX-License-Identifier: Apache-2.0 */
#include "pyintrospect/unicode.h"

#include <errno.h>
#include <string.h>

#define REPLACEMENT_CHARACTER 0xfffd

/* PyASCIIObject.state, counted from the first bit of the kind, the same from 3.6 to 3.15. */
#define STATE_KIND_MASK   7
#define STATE_COMPACT_BIT 3
#define STATE_ASCII_BIT   4

size_t unicode_head_size(const struct python_offsets *offsets)
{
	/* A str of a subclass keeps a pointer where a compact one has its data. */
	return (size_t)offsets->string_compact_data + sizeof(remote_addr);
}

int unicode_parse(const struct python_offsets *offsets, remote_addr object, const uint8_t *head,
		  struct unicode *ret_unicode)
{
	struct unicode unicode;
	uint64_t length;
	uint32_t state;
	bool ascii;

	memcpy(&length, head + offsets->string_length, sizeof(length));
	memcpy(&state, head + offsets->string_state, sizeof(state));
	state >>= offsets->string_kind;
	unicode.width = state & STATE_KIND_MASK;
	ascii = (state >> STATE_ASCII_BIT) & 1;
	if (unicode.width != 1 && unicode.width != 2 && unicode.width != 4)
		return -EBADMSG;
	if ((ascii && unicode.width != 1) || length > INT64_MAX)
		return -EBADMSG;
	if ((state >> STATE_COMPACT_BIT) & 1)
		unicode.data = object + (uint64_t)(ascii ? offsets->string_ascii_data
							 : offsets->string_compact_data);
	else
		memcpy(&unicode.data, head + offsets->string_compact_data, sizeof(unicode.data));
	unicode.characters = length < UNICODE_CHARACTERS_MAX ? length : UNICODE_CHARACTERS_MAX;
	*ret_unicode = unicode;
	return 0;
}

bool unicode_is_ascii(const struct python_offsets *offsets, const uint8_t *head)
{
	const uint32_t mask = STATE_KIND_MASK | 1u << STATE_COMPACT_BIT | 1u << STATE_ASCII_BIT;
	const uint32_t ascii = 1u | 1u << STATE_COMPACT_BIT | 1u << STATE_ASCII_BIT;
	uint32_t state;

	memcpy(&state, head + offsets->string_state, sizeof(state));
	return (state >> offsets->string_kind & mask) == ascii;
}

static uint32_t character_at(const uint8_t *data, unsigned width, size_t index)
{
	uint32_t four;
	uint16_t two;

	switch (width) {
	case 1:
		return data[index];
	case 2:
		memcpy(&two, data + 2 * index, sizeof(two));
		return two;
	default:
		memcpy(&four, data + 4 * index, sizeof(four));
		return four;
	}
}

static size_t encode_utf8(uint32_t character, char *out)
{
	if (character < 0x80) {
		out[0] = (char)character;
		return 1;
	}
	if (character < 0x800) {
		out[0] = (char)(0xc0 | character >> 6);
		out[1] = (char)(0x80 | (character & 0x3f));
		return 2;
	}
	if (character < 0x10000) {
		out[0] = (char)(0xe0 | character >> 12);
		out[1] = (char)(0x80 | ((character >> 6) & 0x3f));
		out[2] = (char)(0x80 | (character & 0x3f));
		return 3;
	}
	out[0] = (char)(0xf0 | character >> 18);
	out[1] = (char)(0x80 | ((character >> 12) & 0x3f));
	out[2] = (char)(0x80 | ((character >> 6) & 0x3f));
	out[3] = (char)(0x80 | (character & 0x3f));
	return 4;
}

size_t unicode_to_utf8(const uint8_t *data, unsigned width, size_t characters, char *buffer,
		       size_t size)
{
	size_t used = 0;

	for (size_t i = 0; i < characters; i++) {
		uint32_t character = character_at(data, width, i);
		char encoded[4];
		size_t length;

		if (character == 0 || character > 0x10ffff || (character & 0xfffff800) == 0xd800)
			character = REPLACEMENT_CHARACTER;
		length = encode_utf8(character, encoded);
		if (length >= size - used)
			break;
		memcpy(buffer + used, encoded, length);
		used += length;
	}
	buffer[used] = '\0';
	return used;
}
