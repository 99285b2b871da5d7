/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/push/receiver_answer.h"

#include "daemon/push/answer_field.h"

#include <string.h>

enum { /* ExportProfilesServiceResponse, ExportProfilesPartialSuccess */
	RESPONSE_PARTIAL_SUCCESS = 1,
	PARTIAL_REJECTED = 1,
	PARTIAL_MESSAGE
};
enum { /* google.rpc.Status */
	STATUS_MESSAGE = 2
};

enum receiver_verdict receiver_verdict(long status)
{
	if (status >= 200 && status < 300)
		return RECEIVER_ACCEPTED;
	return status == 429 || (status >= 502 && status <= 504) ? RECEIVER_BUSY : RECEIVER_REFUSED;
}

struct receiver_answer receiver_answer_parse(const void *bytes, size_t size)
{
	struct receiver_answer answer = { 0 };
	struct answer_bytes outer = { bytes, size };
	struct answer_field field, partial;

	while (answer_field_take(&outer, &partial)) {
		if (partial.number != RESPONSE_PARTIAL_SUCCESS || !partial.inner.at)
			continue;
		while (answer_field_take(&partial.inner, &field)) {
			if (field.number == PARTIAL_REJECTED && !field.inner.at)
				answer.rejected = field.value;
			else if (field.number == PARTIAL_MESSAGE && field.inner.at)
				answer_text_copy(answer.message, sizeof(answer.message),
						 field.inner);
		}
	}
	return answer;
}

static void parse_status(struct answer_bytes bytes, char message[RECEIVER_MESSAGE_BYTES])
{
	struct answer_field field;

	while (answer_field_take(&bytes, &field))
		if (field.number == STATUS_MESSAGE && field.inner.at)
			answer_text_copy(message, RECEIVER_MESSAGE_BYTES, field.inner);
}

void receiver_refusal_parse(const char *type, const void *bytes, size_t size,
			    char message[RECEIVER_MESSAGE_BYTES])
{
	struct answer_bytes all = { bytes, size };

	message[0] = '\0';
	if (!type)
		return;
	if (strstr(type, "protobuf")) {
		parse_status(all, message);
	} else if (!strncmp(type, "text/plain", 10) || !strncmp(type, "application/json", 16)) {
		const void *end = size ? memchr(bytes, '\n', size) : NULL;

		if (end)
			all.size = (size_t)((const unsigned char *)end - all.at);
		answer_text_copy(message, RECEIVER_MESSAGE_BYTES, all);
	}
}
