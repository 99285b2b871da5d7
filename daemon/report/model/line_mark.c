/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/report/model/line_mark.h"

#include <stdint.h>
#include <string.h>

static bool is_between_characters(const char *text, size_t at)
{
	return ((unsigned char)text[at] & 0xc0) != 0x80;
}

bool line_mark(const struct profile_line *line, size_t *ret_from, size_t *ret_to)
{
	int64_t from = (int64_t)line->column - line->indent;
	int64_t to = (int64_t)line->end_column - line->indent, length;

	if (!line->finding || !line->source || line->column < 0 || line->indent < 0)
		return false;
	length = (int64_t)strlen(line->source);
	if (line->end_line > line->line || to > length)
		to = length;
	/* Columns of another text, or behind the end of a line that was cut. */
	if (from < 0 || from >= to || !is_between_characters(line->source, (size_t)from) ||
	    !is_between_characters(line->source, (size_t)to))
		return false;
	*ret_from = (size_t)from;
	*ret_to = (size_t)to;
	return true;
}

static size_t count_characters(const char *text, size_t bytes)
{
	size_t count = 0;

	for (size_t i = 0; i < bytes; i++)
		count += is_between_characters(text, i);
	return count;
}

bool line_mark_columns(const struct profile_line *line, size_t *ret_from, size_t *ret_to)
{
	size_t from, to;

	if (!line_mark(line, &from, &to))
		return false;
	*ret_from = (size_t)line->indent + count_characters(line->source, from) + 1;
	*ret_to = (size_t)line->indent + count_characters(line->source, to) + 1;
	return true;
}
