/* SPDX-License-Identifier: Apache-2.0 */
/* Fields of a protocol buffer message that a receiver has sent: foreign bytes. Pure. */
#ifndef PIEPROFD_DAEMON_PUSH_ANSWER_FIELD_H
#define PIEPROFD_DAEMON_PUSH_ANSWER_FIELD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct answer_bytes {
	const unsigned char *at;
	size_t size;
};

struct answer_field {
	uint64_t number, value;
	struct answer_bytes inner; /* of a length; at NULL: a number */
};

/* Takes the next one off the bytes. false: the end, or no such message. */
bool answer_field_take(struct answer_bytes *bytes, struct answer_field *ret_field);

/* One line without control characters, cut to size. */
void answer_text_copy(char *text, size_t size, struct answer_bytes from);

#endif
