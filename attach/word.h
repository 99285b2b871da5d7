/* SPDX-License-Identifier: Apache-2.0 */
/* A piece of text, not terminated: a part of a control group's path, which is hostile input. */
#ifndef PIEPROFD_ATTACH_WORD_H
#define PIEPROFD_ATTACH_WORD_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

struct word {
	const char *at;
	size_t size;
};

static inline bool word_starts(struct word word, const char *prefix)
{
	size_t size = strlen(prefix);

	return word.size >= size && !memcmp(word.at, prefix, size);
}

static inline bool word_ends(struct word word, const char *suffix)
{
	size_t size = strlen(suffix);

	return word.size >= size && !memcmp(word.at + word.size - size, suffix, size);
}

#endif
