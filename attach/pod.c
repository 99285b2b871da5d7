/* SPDX-License-Identifier: Apache-2.0 */
#include "attach/pod.h"

#include "attach/word.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <string.h>

#define KUBEPODS      "kubepods"
#define SLICE         ".slice"
#define DASHED_SIZE   36
#define UNDASHED_SIZE 32

static struct word from(struct word word, size_t at)
{
	return (struct word){ word.at + at, word.size - at };
}

static size_t count_digits(struct word word)
{
	size_t count = 0;

	while (count < word.size && isxdigit((unsigned char)word.at[count]))
		count++;
	return count;
}

/* Five groups of digits, and the same between all of them. */
static bool is_dashed(struct word word)
{
	static const unsigned char groups[] = { 8, 4, 4, 4, 12 };
	size_t at = 0;

	if (word.size < DASHED_SIZE || (word.at[8] != '-' && word.at[8] != '_'))
		return false;
	for (size_t i = 0; i < sizeof(groups); i++, at++) {
		if (i && word.at[at - 1] != word.at[8])
			return false;
		if (count_digits((struct word){ word.at + at, groups[i] }) != groups[i])
			return false;
		at += groups[i];
	}
	return true;
}

/* The uid that a word begins with, and ends with but for what systemd's driver puts behind it. */
static bool parse_uid(struct word word, bool slice, char ret_uid[POD_UID_BYTES])
{
	size_t size = is_dashed(word)                       ? DASHED_SIZE
		      : count_digits(word) == UNDASHED_SIZE ? UNDASHED_SIZE
							    : 0;
	struct word rest = from(word, size);

	if (!size || (slice ? !word_starts(rest, SLICE) : rest.size > 0))
		return false;
	if (slice && rest.size > strlen(SLICE) && rest.at[strlen(SLICE)] != ':')
		return false;
	for (size_t i = 0; i < size; i++)
		ret_uid[i] = word.at[i] == '_' ? '-' : word.at[i];
	ret_uid[size] = '\0';
	return true;
}

/* Where "kubepods" ends in a name of words with dashes between them; 0: it is not there. */
static size_t find_kubepods(struct word name)
{
	for (size_t at = 0; at < name.size; at++) {
		struct word rest = from(name, at);
		size_t end = at + strlen(KUBEPODS);

		if ((at && name.at[at - 1] != '-') || !word_starts(rest, KUBEPODS))
			continue;
		if (end == name.size || name.at[end] == '-' || name.at[end] == '.')
			return end;
	}
	return 0;
}

/* "kubepods-burstable-podUID.slice", from behind "kubepods". */
static bool parse_slice(struct word name, size_t at, char ret_uid[POD_UID_BYTES])
{
	for (; at < name.size; at++)
		if (word_starts(from(name, at), "-pod") &&
		    parse_uid(from(name, at + strlen("-pod")), true, ret_uid))
			return true;
	return false;
}

int pod_parse_path(const char *path, size_t size, char ret_uid[POD_UID_BYTES])
{
	bool below = false;

	for (size_t at = 0; at < size;) {
		const char *slash = memchr(path + at, '/', size - at);
		struct word name = { path + at, slash ? (size_t)(slash - path) - at : size - at };
		size_t kubepods = find_kubepods(name);

		at += name.size + 1;
		if (kubepods && parse_slice(name, kubepods, ret_uid))
			return 0;
		if (below && word_starts(name, "pod") && parse_uid(from(name, 3), false, ret_uid))
			return 0;
		/* What is above one's own namespace has no name. */
		below = below || kubepods || (name.size == 2 && word_starts(name, ".."));
	}
	return -ENOENT;
}

int pod_parse(const char *text, size_t size, char ret_uid[POD_UID_BYTES])
{
	for (size_t at = 0; at < size;) {
		const char *end = memchr(text + at, '\n', size - at);
		size_t length = end ? (size_t)(end - text) - at : size - at;
		const char *colon = memchr(text + at, ':', length);

		/* "hierarchy:controllers:path" */
		if (colon)
			colon = memchr(colon + 1, ':', length - (size_t)(colon + 1 - (text + at)));
		if (colon &&
		    !pod_parse_path(colon + 1, length - (size_t)(colon + 1 - (text + at)), ret_uid))
			return 0;
		at += length + 1;
	}
	return -ENOENT;
}
