/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/sample/name_pattern.h"

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* glibc's regcomp takes long for repetitions of repetitions: a??????????????+++++ took it 10 s. */
#define REPETITION_SIZE 4

/* Sizes stay at one more than the limit once they are over it. */
static uint64_t pattern_bounded(uint64_t size)
{
	return size <= NAME_PATTERN_MAX ? size : NAME_PATTERN_MAX + 1;
}

/* What is open at one depth of parentheses. */
struct level {
	uint64_t whole; /* all of it so far, but for the last piece */
	uint64_t last;  /* that a repetition would repeat */
};

static void add_piece(struct level *level, uint64_t size)
{
	level->whole = pattern_bounded(level->whole + level->last);
	level->last = pattern_bounded(size);
}

/* Behind a bracket expression that begins here; its own ']' may come first. */
static const char *skip_bracket(const char *at)
{
	at++;
	at += *at == '^';
	at += *at == ']';
	while (*at && *at != ']') {
		const char *end = NULL;

		/* [:alpha:] and its kin end with the same two characters. */
		if (*at == '[' && at[1] && strchr(".:=", at[1])) {
			const char close[] = { at[1], ']', '\0' };

			end = strstr(at + 2, close);
		}
		at = end ? end + 2 : at + 1;
	}
	return *at ? at + 1 : at;
}

/* {m}, {m,} or {m,n}, or else one character. */
static const char *read_interval(const char *at, struct level *level)
{
	char *end;
	uint64_t least, most;

	least = most = pattern_bounded(strtoul(at + 1, &end, 10));
	if (*end == ',') {
		bool open = end[1] == '}';

		most = open ? least + 1 : pattern_bounded(strtoul(end + 1, &end, 10));
		end += open;
	}
	if (*end != '}') {
		add_piece(level, 1);
		return at + 1;
	}
	most = most > least ? most : least;
	level->last = pattern_bounded(level->last * (most ? most : 1));
	return end + 1;
}

bool name_pattern_fits(const char *pattern)
{
	struct level *levels, *level;
	size_t depth = 0;
	bool fits;

	/* Each parenthesis is a character. */
	if (strnlen(pattern, NAME_PATTERN_MAX + 1) > NAME_PATTERN_MAX)
		return false;
	levels = calloc(NAME_PATTERN_MAX + 1, sizeof(*levels));
	if (!levels)
		return false;
	for (const char *at = pattern; *at;) {
		level = &levels[depth];
		switch (*at) {
		case '(':
			levels[++depth] = (struct level){ .whole = 1 };
			at++;
			break;
		case ')':
			at++;
			if (!depth) {
				add_piece(level, 1);
				break;
			}
			depth--;
			add_piece(&levels[depth], level->whole + level->last);
			break;
		case '[':
			at = skip_bracket(at);
			add_piece(level, 1);
			break;
		case '+':
			level->last = pattern_bounded(2 * level->last + REPETITION_SIZE);
			at++;
			break;
		case '*':
		case '?':
			level->last = pattern_bounded(level->last + REPETITION_SIZE);
			at++;
			break;
		case '{':
			at = read_interval(at, level);
			break;
		case '\\':
			at += at[1] ? 2 : 1;
			add_piece(level, 1);
			break;
		default:
			at++;
			add_piece(level, 1);
		}
	}
	/* What is not closed is regcomp's to refuse, having read it. */
	fits = true;
	for (size_t i = 0; i <= depth; i++)
		fits = fits && levels[i].whole + levels[i].last <= NAME_PATTERN_MAX;
	free(levels);
	return fits;
}
