/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/push/answer_field.h"

enum wire_type { /* protobuf.dev, "Encoding" */
	WIRE_VARINT,
	WIRE_FIXED64,
	WIRE_LENGTH,
	WIRE_FIXED32 = 5
};

static bool take_varint(struct answer_bytes *bytes, uint64_t *ret_value)
{
	uint64_t value = 0;

	for (unsigned shift = 0; shift < 64 && bytes->size > 0; shift += 7) {
		unsigned char byte = *bytes->at++;

		bytes->size--;
		value |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80)) {
			*ret_value = value;
			return true;
		}
	}
	return false;
}

bool answer_field_take(struct answer_bytes *bytes, struct answer_field *ret_field)
{
	uint64_t tag, length;

	*ret_field = (struct answer_field){ 0 };
	if (!take_varint(bytes, &tag))
		return false;
	ret_field->number = tag >> 3;
	switch (tag & 7) {
	case WIRE_VARINT:
		return take_varint(bytes, &ret_field->value);
	case WIRE_FIXED64:
		length = 8;
		break;
	case WIRE_LENGTH:
		if (!take_varint(bytes, &length))
			return false;
		break;
	case WIRE_FIXED32:
		length = 4;
		break;
	default:
		return false;
	}
	if (length > bytes->size)
		return false;
	ret_field->inner = (struct answer_bytes){ bytes->at, (size_t)length };
	bytes->at += length;
	bytes->size -= (size_t)length;
	return true;
}

void answer_text_copy(char *text, size_t size, struct answer_bytes from)
{
	size_t used = 0;

	for (; used < from.size && used + 1 < size; used++)
		text[used] =
			from.at[used] >= ' ' && from.at[used] < 0x7f ? (char)from.at[used] : '?';
	text[used] = '\0';
}
