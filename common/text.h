/* SPDX-License-Identifier: Apache-2.0 */
/* How texts begin and end. Pure. */
#ifndef PIEPROFD_COMMON_TEXT_H
#define PIEPROFD_COMMON_TEXT_H

#include <stdbool.h>
#include <string.h>

static inline bool text_starts_with(const char *text, const char *start)
{
	return !strncmp(text, start, strlen(start));
}

static inline bool text_ends_with(const char *text, const char *end)
{
	size_t length = strlen(text), wanted = strlen(end);

	return length >= wanted && !strcmp(text + length - wanted, end);
}

#endif
