/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/push/receiver_answer.h"

#include <stdbool.h>
#include <string.h>

enum { /* ExportProfilesServiceResponse, ExportProfilesPartialSuccess */
	RESPONSE_PARTIAL_SUCCESS = 1,
	PARTIAL_REJECTED = 1,
	PARTIAL_MESSAGE
};

struct bytes {
	const unsigned char *at;
	size_t size;
};

struct field {
	uint64_t number, value;
	struct bytes inner; /* of a length */
};

enum receiver_verdict receiver_verdict(long status)
{
	if (status >= 200 && status < 300)
		return RECEIVER_ACCEPTED;
	return status == 429 || (status >= 502 && status <= 504) ? RECEIVER_BUSY : RECEIVER_REFUSED;
}

static bool take_varint(struct bytes *bytes, uint64_t *ret_value)
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

/* false: the end, or no such message. */
static bool take_field(struct bytes *bytes, struct field *ret_field)
{
	uint64_t tag, length;

	*ret_field = (struct field){ 0 };
	if (!take_varint(bytes, &tag))
		return false;
	ret_field->number = tag >> 3;
	switch (tag & 7) {
	case 0:
		return take_varint(bytes, &ret_field->value);
	case 1:
		length = 8;
		break;
	case 2:
		if (!take_varint(bytes, &length))
			return false;
		break;
	case 5:
		length = 4;
		break;
	default:
		return false;
	}
	if (length > bytes->size)
		return false;
	ret_field->inner = (struct bytes){ bytes->at, (size_t)length };
	bytes->at += length;
	bytes->size -= (size_t)length;
	return true;
}

static void take_message(struct bytes text, struct receiver_answer *answer)
{
	size_t size = 0;

	for (; size < text.size && size + 1 < sizeof(answer->message); size++)
		answer->message[size] =
			text.at[size] >= ' ' && text.at[size] < 0x7f ? (char)text.at[size] : '?';
	answer->message[size] = '\0';
}

struct receiver_answer receiver_answer_parse(const void *bytes, size_t size)
{
	struct receiver_answer answer = { 0 };
	struct bytes outer = { bytes, size };
	struct field field, partial;

	while (take_field(&outer, &partial)) {
		if (partial.number != RESPONSE_PARTIAL_SUCCESS || !partial.inner.at)
			continue;
		while (take_field(&partial.inner, &field)) {
			if (field.number == PARTIAL_REJECTED && !field.inner.at)
				answer.rejected = field.value;
			else if (field.number == PARTIAL_MESSAGE && field.inner.at)
				take_message(field.inner, &answer);
		}
	}
	return answer;
}
