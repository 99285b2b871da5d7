/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/report/model/pattern_text.h"

#include <stddef.h>
#include <string.h>

static bool in_name(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '_' || (unsigned char)c >= 0x80;
}

static const char *after_spaces(const char *at)
{
	return at + strspn(at, " \t");
}

/* A name, or one of another's: "a", "self.rows". */
static size_t name_length(const char *at)
{
	size_t length = 0;

	while (in_name(at[length]) || (length && at[length] == '.' && in_name(at[length + 1])))
		length++;
	return length;
}

/* The name, and not a part of another one. */
static const char *find_name(const char *text, const char *name, size_t length)
{
	for (const char *at = text; *at; at++)
		if (!strncmp(at, name, length) && !in_name(at[length]) &&
		    (at == text || (!in_name(at[-1]) && at[-1] != '.')))
			return at;
	return NULL;
}

/* Of "name = rest" the rest; NULL: it is none. */
static const char *assigned(const char *source, const char **ret_name, size_t *ret_length)
{
	const char *name = after_spaces(source), *at;
	size_t length = name_length(name);

	at = after_spaces(name + length);
	if (!length || at[0] != '=' || at[1] == '=')
		return NULL;
	*ret_name = name;
	*ret_length = length;
	return after_spaces(at + 1);
}

bool pattern_text_grows(const char *source)
{
	static const char *const joins[] = { ".append(", "concatenate(",  "hstack(",
					     "vstack(",  "column_stack(", "concat(" };
	const char *name, *rest, *call;
	size_t length;

	rest = assigned(source, &name, &length);
	if (!rest)
		return false;
	for (size_t i = 0; i < sizeof(joins) / sizeof(joins[0]); i++) {
		call = strstr(rest, joins[i]);
		if (call && (find_name(call, name, length) ||
			     (!strncmp(rest, name, length) && rest + length == call)))
			return true;
	}
	return false;
}

bool pattern_text_adds_list(const char *source)
{
	const char *name, *rest, *sum = strstr(source, "sum(");
	size_t length;

	if (sum && (sum == source || !in_name(sum[-1])) && strstr(sum, ", [])"))
		return true;
	rest = assigned(source, &name, &length);
	if (!rest || strncmp(rest, name, length) || in_name(rest[length]))
		return false;
	rest = after_spaces(rest + length);
	return *rest == '+' && *after_spaces(rest + 1) == '[';
}

bool pattern_text_single_float(const char *source)
{
	static const char *const makers[] = { "float(", "int(" };

	for (size_t i = 0; i < sizeof(makers) / sizeof(makers[0]); i++)
		for (const char *at = source; (at = strstr(at, makers[i])); at++) {
			const char *array = at + strlen(makers[i]);
			size_t length = name_length(array);
			const char *end =
				length && array[length] == '[' ? strchr(array + length, ']') : NULL;

			if ((at == source || (!in_name(at[-1]) && at[-1] != '.')) && end &&
			    end[1] == ')')
				return true;
		}
	return false;
}

bool pattern_text_by_rows(const char *source)
{
	return strstr(source, "axis=1") || strstr(source, "axis='columns'") ||
	       strstr(source, "axis=\"columns\"") || strstr(source, "axis = 1");
}
