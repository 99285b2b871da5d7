/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/push/grpc_answer.h"

#include "common/clock.h"
#include "daemon/push/answer_field.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

/* Details are longer only where somebody means to keep us busy. */
#define DETAILS_MAX 4096
#define RETRY_S_MAX 86400

enum grpc_status {
	GRPC_OK,
	GRPC_CANCELLED,
	GRPC_DEADLINE_EXCEEDED = 4,
	GRPC_RESOURCE_EXHAUSTED = 8,
	GRPC_ABORTED = 10,
	GRPC_OUT_OF_RANGE,
	GRPC_UNAVAILABLE = 14,
	GRPC_DATA_LOSS
};
enum { /* google.rpc.Status, google.protobuf.Any, google.rpc.RetryInfo, google.protobuf.Duration */
	STATUS_DETAILS = 3,
	ANY_TYPE = 1,
	ANY_VALUE,
	RETRY_INFO_DELAY = 1,
	DURATION_SECONDS = 1,
	DURATION_NANOS
};

void grpc_frame_put(unsigned char frame[GRPC_FRAME_BYTES], size_t size)
{
	frame[0] = 1;
	for (unsigned i = 0; i < 4; i++)
		frame[1 + i] = (unsigned char)(size >> (24 - 8 * i));
}

size_t grpc_frame_message(const void *bytes, size_t size, const void **ret_message)
{
	const unsigned char *frame = bytes;
	size_t length = 0;

	if (size < GRPC_FRAME_BYTES || frame[0])
		return 0;
	for (unsigned i = 1; i < GRPC_FRAME_BYTES; i++)
		length = length << 8 | frame[i];
	if (length > size - GRPC_FRAME_BYTES)
		return 0;
	*ret_message = frame + GRPC_FRAME_BYTES;
	return length;
}

/* ---- trailers */

static int digit_value(unsigned char digit)
{
	return isdigit(digit) ? digit - '0' : tolower(digit) - 'a' + 10;
}

/* "%20" is one character. */
static void take_message(struct grpc_trailers *trailers, struct answer_bytes value)
{
	unsigned char text[RECEIVER_MESSAGE_BYTES];
	size_t used = 0;

	while (value.size && used < sizeof(text)) {
		size_t taken = 1;

		text[used] = value.at[0];
		if (value.size >= 3 && value.at[0] == '%' && isxdigit(value.at[1]) &&
		    isxdigit(value.at[2])) {
			text[used] = (unsigned char)(digit_value(value.at[1]) * 16 +
						     digit_value(value.at[2]));
			taken = 3;
		}
		used++;
		value.at += taken;
		value.size -= taken;
	}
	answer_text_copy(trailers->message, sizeof(trailers->message),
			 (struct answer_bytes){ text, used });
}

static int sextet(unsigned char c)
{
	static const char alphabet[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	const char *at = c ? strchr(alphabet, c) : NULL;

	return at ? (int)(at - alphabet) : -1;
}

/* Base64, with or without padding; how many bytes. */
static size_t decode(struct answer_bytes value, unsigned char bytes[DETAILS_MAX])
{
	uint32_t bits = 0;
	unsigned bit_count = 0;
	size_t used = 0;

	for (size_t i = 0; i < value.size && used < DETAILS_MAX; i++) {
		int six = sextet(value.at[i]);

		if (six < 0)
			break;
		bits = (bits << 6 | (uint32_t)six) & 0xffffff;
		bit_count += 6;
		if (bit_count < 8)
			continue;
		bit_count -= 8;
		bytes[used++] = (unsigned char)(bits >> bit_count);
	}
	return used;
}

static void take_retry_info(struct grpc_trailers *trailers, struct answer_bytes info)
{
	struct answer_field delay, field;
	uint64_t seconds = 0, nanos = 0;

	trailers->retry_asked = 1;
	while (answer_field_take(&info, &delay)) {
		if (delay.number != RETRY_INFO_DELAY || !delay.inner.at)
			continue;
		while (answer_field_take(&delay.inner, &field)) {
			if (field.number == DURATION_SECONDS && !field.inner.at)
				seconds = field.value;
			else if (field.number == DURATION_NANOS && !field.inner.at)
				nanos = field.value;
		}
	}
	/* A negative one is at once. */
	if (seconds > INT64_MAX || nanos >= NS_PER_SECOND)
		seconds = nanos = 0;
	if (seconds > RETRY_S_MAX)
		seconds = RETRY_S_MAX;
	trailers->retry_ns = seconds * NS_PER_SECOND + nanos;
}

static void take_details(struct grpc_trailers *trailers, struct answer_bytes value)
{
	static const char wanted[] = "/google.rpc.RetryInfo";
	unsigned char bytes[DETAILS_MAX];
	struct answer_bytes status = { bytes, decode(value, bytes) };
	struct answer_field detail, field;

	while (answer_field_take(&status, &detail)) {
		struct answer_bytes type = { NULL, 0 }, content = { NULL, 0 };

		if (detail.number != STATUS_DETAILS || !detail.inner.at)
			continue;
		while (answer_field_take(&detail.inner, &field)) {
			if (field.number == ANY_TYPE)
				type = field.inner;
			else if (field.number == ANY_VALUE)
				content = field.inner;
		}
		if (type.at && type.size >= sizeof(wanted) - 1 &&
		    !memcmp(type.at + type.size - (sizeof(wanted) - 1), wanted, sizeof(wanted) - 1))
			take_retry_info(trailers, content);
	}
}

static void take_status(struct grpc_trailers *trailers, struct answer_bytes value)
{
	long status = 0;

	if (!value.size || value.size > 4)
		return;
	for (size_t i = 0; i < value.size; i++) {
		if (!isdigit(value.at[i]))
			return;
		status = status * 10 + (value.at[i] - '0');
	}
	trailers->status = status;
}

void grpc_trailers_take(struct grpc_trailers *trailers, const char *line, size_t size)
{
	static const struct {
		const char *name;
		void (*take)(struct grpc_trailers *trailers, struct answer_bytes value);
	} known[] = {
		{ "grpc-status", take_status },
		{ "grpc-message", take_message },
		{ "grpc-status-details-bin", take_details },
	};
	const char *colon = size ? memchr(line, ':', size) : NULL;
	struct answer_bytes value;
	size_t name;

	if (!colon)
		return;
	name = (size_t)(colon - line);
	value = (struct answer_bytes){ (const unsigned char *)colon + 1, size - name - 1 };
	while (value.size && strchr(" \t", value.at[0])) {
		value.at++;
		value.size--;
	}
	while (value.size && strchr(" \t\r\n", value.at[value.size - 1]))
		value.size--;
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (strlen(known[i].name) == name && !strncasecmp(known[i].name, line, name))
			known[i].take(trailers, value);
}

enum receiver_verdict grpc_verdict(const struct grpc_trailers *trailers, long http_status)
{
	switch (trailers->status) {
	case GRPC_NO_STATUS:
		/* What stands in between has answered, or the answer was cut off: whether it was
		 * taken is not known. */
		return http_status / 100 == 2 ? RECEIVER_BUSY : receiver_verdict(http_status);
	case GRPC_OK:
		return RECEIVER_ACCEPTED;
	case GRPC_CANCELLED:
	case GRPC_DEADLINE_EXCEEDED:
	case GRPC_ABORTED:
	case GRPC_OUT_OF_RANGE:
	case GRPC_UNAVAILABLE:
	case GRPC_DATA_LOSS:
		return RECEIVER_BUSY;
	case GRPC_RESOURCE_EXHAUSTED:
		return trailers->retry_asked ? RECEIVER_BUSY : RECEIVER_REFUSED;
	default:
		return RECEIVER_REFUSED;
	}
}

const char *grpc_status_name(long status)
{
	static const char *const names[] = {
		"OK",
		"CANCELLED",
		"UNKNOWN",
		"INVALID_ARGUMENT",
		"DEADLINE_EXCEEDED",
		"NOT_FOUND",
		"ALREADY_EXISTS",
		"PERMISSION_DENIED",
		"RESOURCE_EXHAUSTED",
		"FAILED_PRECONDITION",
		"ABORTED",
		"OUT_OF_RANGE",
		"UNIMPLEMENTED",
		"INTERNAL",
		"UNAVAILABLE",
		"DATA_LOSS",
		"UNAUTHENTICATED",
	};

	return status >= 0 && status < (long)(sizeof(names) / sizeof(names[0]))
		       ? names[status]
		       : "of no known name";
}
