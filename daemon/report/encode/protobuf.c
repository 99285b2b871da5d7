/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/report/encode/protobuf.h"

#include "common/printable.h"

#include <stdlib.h>
#include <string.h>

enum wire_type {
	WIRE_VARINT = 0,
	WIRE_FIXED64 = 1,
	WIRE_LENGTH = 2, /* a length, then so many bytes */
};

#define VARINT_BYTES_MAX 10

void protobuf_deinit(struct protobuf *message)
{
	free(message->bytes);
	*message = (struct protobuf){ 0 };
}

void protobuf_clear(struct protobuf *message)
{
	message->size = 0;
}

static bool reserve(struct protobuf *message, size_t more)
{
	size_t capacity = message->capacity ? message->capacity : 64;
	unsigned char *bytes;

	if (message->failed || more > SIZE_MAX / 4 || message->size > SIZE_MAX / 4) {
		message->failed = true;
		return false;
	}
	if (more <= message->capacity - message->size)
		return true;
	while (capacity - message->size < more)
		capacity *= 2;
	bytes = realloc(message->bytes, capacity);
	if (!bytes) {
		message->failed = true;
		return false;
	}
	message->bytes = bytes;
	message->capacity = capacity;
	return true;
}

/* Seven bits a byte, the lowest first; the top bit says that more follow. */
static void put_varint(struct protobuf *message, uint64_t value)
{
	if (!reserve(message, VARINT_BYTES_MAX))
		return;
	for (; value >= 0x80; value >>= 7)
		message->bytes[message->size++] = (unsigned char)(value | 0x80);
	message->bytes[message->size++] = (unsigned char)value;
}

static size_t varint_size(uint64_t value)
{
	size_t size = 1;

	for (; value >= 0x80; value >>= 7)
		size++;
	return size;
}

static void put_tag(struct protobuf *message, unsigned field, enum wire_type type)
{
	put_varint(message, (uint64_t)field << 3 | (uint64_t)type);
}

void protobuf_number(struct protobuf *message, unsigned field, uint64_t value)
{
	if (!value)
		return;
	put_tag(message, field, WIRE_VARINT);
	put_varint(message, value);
}

void protobuf_present_number(struct protobuf *message, unsigned field, uint64_t value)
{
	put_tag(message, field, WIRE_VARINT);
	put_varint(message, value);
}

void protobuf_fixed64(struct protobuf *message, unsigned field, uint64_t value)
{
	put_tag(message, field, WIRE_FIXED64);
	if (!reserve(message, sizeof(value)))
		return;
	/* Little-endian, as this machine. */
	memcpy(message->bytes + message->size, &value, sizeof(value));
	message->size += sizeof(value);
}

void protobuf_numbers(struct protobuf *message, unsigned field, const uint64_t *values,
		      size_t count)
{
	uint64_t size = 0;

	if (!count)
		return;
	for (size_t i = 0; i < count; i++)
		size += varint_size(values[i]);
	put_tag(message, field, WIRE_LENGTH);
	put_varint(message, size);
	for (size_t i = 0; i < count; i++)
		put_varint(message, values[i]);
}

void protobuf_bytes(struct protobuf *message, unsigned field, const void *bytes, size_t size)
{
	put_tag(message, field, WIRE_LENGTH);
	put_varint(message, size);
	if (!size || !reserve(message, size))
		return;
	memcpy(message->bytes + message->size, bytes, size);
	message->size += size;
}

void protobuf_text(struct protobuf *message, unsigned field, const char *text)
{
	static const char replacement[] = "\xef\xbf\xbd";
	size_t size = strlen(text), valid = 0, length;
	uint32_t code_point;

	for (size_t i = 0; i < size; i += length ? length : 1) {
		length = utf8_decode(text + i, size - i, &code_point);
		valid += length ? length : sizeof(replacement) - 1;
	}
	put_tag(message, field, WIRE_LENGTH);
	put_varint(message, valid);
	if (!valid || !reserve(message, valid))
		return;
	for (size_t i = 0; i < size; i += length ? length : 1) {
		length = utf8_decode(text + i, size - i, &code_point);
		memcpy(message->bytes + message->size, length ? text + i : replacement,
		       length ? length : sizeof(replacement) - 1);
		message->size += length ? length : sizeof(replacement) - 1;
	}
}

void protobuf_submessage(struct protobuf *message, unsigned field, const struct protobuf *inner)
{
	if (inner->failed)
		message->failed = true;
	else
		protobuf_bytes(message, field, inner->bytes, inner->size);
}

void protobuf_append(struct protobuf *message, const struct protobuf *other)
{
	message->failed = message->failed || other->failed;
	if (!other->size || !reserve(message, other->size))
		return;
	memcpy(message->bytes + message->size, other->bytes, other->size);
	message->size += other->size;
}
