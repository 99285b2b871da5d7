/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/report/model/sorted_end.h"

#include <ctype.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* Of Python and of numpy. */
static const char *const sorting[] = { "sorted(", ".sort(" };

/* Behind the closing quote of a string that begins here; the line's end where there is none. */
static const char *behind_string(const char *text)
{
	char quote = *text++;

	while (*text && *text != quote)
		text += text[0] == '\\' && text[1] ? 2 : 1;
	return *text ? text + 1 : text;
}

/* Behind the parenthesis that closes the one before text; NULL: it is on another line. */
static const char *behind_call(const char *text)
{
	unsigned open = 1;

	while (*text && *text != '#') {
		if (*text == '\'' || *text == '"') {
			text = behind_string(text);
			continue;
		}
		open += strchr("([{", *text) != NULL;
		if (strchr(")]}", *text) && !--open)
			return text + 1;
		text++;
	}
	return NULL;
}

static bool is_end(const char *text)
{
	char *end;
	long item;

	if (*text != '[' || !(isdigit((unsigned char)text[1]) || text[1] == '-'))
		return false;
	item = strtol(text + 1, &end, 10);
	return *end == ']' && (item == 0 || item == -1);
}

bool sorted_end_is_taken(const char *line)
{
	for (size_t i = 0; line && i < sizeof(sorting) / sizeof(sorting[0]); i++)
		for (const char *at = strstr(line, sorting[i]); at; at = strstr(at, sorting[i])) {
			const char *behind = behind_call(at += strlen(sorting[i]));

			if (behind && is_end(behind))
				return true;
		}
	return false;
}
