/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Python's str: the head of the object, and its characters in UTF-8. Pure; all
 * bytes come from the target.
 */
#ifndef PIEPROFD_PYINTROSPECT_UNICODE_H
#define PIEPROFD_PYINTROSPECT_UNICODE_H

#include "common/address.h"
#include "pyintrospect/offsets.h"

/* Characters kept of one string; longer ones are cut. */
#define UNICODE_CHARACTERS_MAX 4096

/* Bytes of a str object from its start that unicode_parse() needs, at most. */
#define UNICODE_HEAD_MAX 96

struct unicode {
	size_t characters; /* at most UNICODE_CHARACTERS_MAX */
	unsigned width;    /* bytes a character: 1, 2 or 4 */
	remote_addr data;  /* where characters * width bytes are */
};

/* How much of an object unicode_parse() wants to see. */
size_t unicode_head_size(const struct python_offsets *offsets);

/* object is where the head was read. 0, or -EBADMSG: this is no str. */
__attribute__((warn_unused_result)) int unicode_parse(const struct python_offsets *offsets,
						      remote_addr object, const uint8_t *head,
						      struct unicode *ret_unicode);

/*
 * Its characters are ASCII, behind its head: there is nothing beside it. The head need be no longer
 * than string_ascii_data.
 */
bool unicode_is_ascii(const struct python_offsets *offsets, const uint8_t *head);

/*
 * Writes characters as UTF-8 with a terminating zero into buffer, as many as
 * fit whole; size must be at least 1. What has no UTF-8 (lone surrogates) and
 * zero bytes become U+FFFD. Returns the length without the zero.
 */
size_t unicode_to_utf8(const uint8_t *data, unsigned width, size_t characters, char *buffer,
		       size_t size);

/* Bytes that always suffice for unicode_to_utf8(). */
static inline size_t unicode_utf8_size_max(size_t characters)
{
	return characters * 4 + 1;
}

#endif
