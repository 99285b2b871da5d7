/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Protocol buffer messages, written (protobuf.dev, "Encoding"): the three wire
 * types that profiles and traces need. A message grows in memory; a submessage is a
 * message of its own that is put into the outer one when it is complete.
 */
#ifndef PIEPROFD_DAEMON_REPORT_ENCODE_PROTOBUF_H
#define PIEPROFD_DAEMON_REPORT_ENCODE_PROTOBUF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct protobuf { /* all zeros: empty */
	unsigned char *bytes;
	size_t size, capacity;
	bool failed; /* no memory: some field is missing */
};

void protobuf_deinit(struct protobuf *message);
void protobuf_clear(struct protobuf *message); /* keeps the memory, and whether it failed */

/* Field numbers are at least 1. int64 fields take their two's complement; zero, the default, is
 * left out. */
void protobuf_number(struct protobuf *message, unsigned field, uint64_t value);
/* Also zero, which is then there: a member of a oneof, or of a repeated field. */
void protobuf_present_number(struct protobuf *message, unsigned field, uint64_t value);
/* Likewise, in eight bytes. */
void protobuf_fixed64(struct protobuf *message, unsigned field, uint64_t value);
void protobuf_numbers(struct protobuf *message, unsigned field, const uint64_t *values,
		      size_t count); /* packed */
void protobuf_bytes(struct protobuf *message, unsigned field, const void *bytes, size_t size);
/* A string: readers refuse all of a message in which one is no UTF-8, and names are the target's.
 * Bytes that are not become U+FFFD. */
void protobuf_text(struct protobuf *message, unsigned field, const char *text);
void protobuf_submessage(struct protobuf *message, unsigned field, const struct protobuf *inner);

/* The fields of the other message behind its own. */
void protobuf_append(struct protobuf *message, const struct protobuf *other);

#endif
