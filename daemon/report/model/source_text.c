/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/report/model/source_text.h"

#include "daemon/cct/library_path.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define OWN_LINES_MAX     400 /* of a function */
#define LIBRARY_LINES_MAX 60
#define MODULE_LINES      5 /* before and behind a line that is in no function */

static const char *text_of(struct source_cache *cache, const char *file, int line)
{
	const char *text = source_cache_columns(cache, file, line);

	return text ? text : source_cache_line(cache, file, line);
}

static int indent_of(const char *text)
{
	return (int)strspn(text, " \t\f\v");
}

/* Nothing, or a comment: its indentation says nothing. */
static bool is_empty(const char *text)
{
	text += indent_of(text);
	return !*text || *text == '#';
}

static bool begins(const char *text, const char *word)
{
	return !strncmp(text, word, strlen(word));
}

static bool is_head(const char *text)
{
	text += indent_of(text);
	return begins(text, "def ") || begins(text, "async def ");
}

/* The line by which the function of a line begins; 0: it is in none. */
static int find_head(struct source_cache *cache, const char *file, int line, int *ret_indent)
{
	const char *text = text_of(cache, file, line);
	int least;

	if (!text)
		return 0;
	least = *text ? indent_of(text) : SOURCE_LINE_BYTES_MAX;
	*ret_indent = least;
	if (is_head(text))
		return line;
	while (least > 0 && --line > 0 && (text = text_of(cache, file, line))) {
		if (is_empty(text) || indent_of(text) >= least)
			continue;
		least = indent_of(text);
		*ret_indent = least;
		if (is_head(text))
			return line;
	}
	return 0;
}

static int first_decorator(struct source_cache *cache, const char *file, int head, int indent)
{
	const char *text;

	while (head > 1 && (text = text_of(cache, file, head - 1)) && indent_of(text) == indent &&
	       text[indent] == '@')
		head--;
	return head;
}

static int find_end(struct source_cache *cache, const char *file, int line, int indent,
		    int lines_max)
{
	int last = line;
	const char *text;

	for (int at = line + 1; at - line < lines_max && (text = text_of(cache, file, at)); at++) {
		if (is_empty(text))
			continue;
		/* The end of a head of several lines is no deeper than its begin. */
		if (indent_of(text) <= indent && text[indent_of(text)] != ')')
			break;
		last = at;
	}
	return last;
}

void source_text_scope(struct source_cache *cache, const char *file, int line, int lines_max,
		       int *ret_first, int *ret_last)
{
	int indent = 0, head = find_head(cache, file, line, &indent);

	if (head) {
		*ret_first = first_decorator(cache, file, head, indent);
		*ret_last = find_end(cache, file, line, indent, lines_max);
	} else {
		*ret_first = line - MODULE_LINES;
		*ret_last = line + MODULE_LINES;
	}
	if (line - *ret_first > lines_max / 2)
		*ret_first = line - lines_max / 2;
	if (*ret_last - line > lines_max / 2)
		*ret_last = line + lines_max / 2;
	if (*ret_first < 1)
		*ret_first = 1;
}

static int source_text_compare(const void *left, const void *right)
{
	const struct profile_line *a = *(const struct profile_line *const *)left;
	const struct profile_line *b = *(const struct profile_line *const *)right;
	int order = strcmp(a->file, b->file);

	return order ? order : a->line < b->line ? -1 : a->line > b->line;
}

/* The scopes of a file's lines, each line once, into texts that have room for `room`. */
static size_t collect_file(struct source_cache *cache, const struct profile_line *const *lines,
			   size_t count, bool library, struct profile_text *texts, size_t room)
{
	size_t used = 0;
	int shown = 0; /* up to this line */

	for (size_t i = 0; i < count; i++) {
		const char *file = lines[i]->file, *text;
		const size_t before = used;
		int first, last;

		if (lines[i]->line <= shown)
			continue;
		source_text_scope(cache, file, lines[i]->line,
				  library ? LIBRARY_LINES_MAX : OWN_LINES_MAX, &first, &last);
		for (int at = first > shown ? first : shown + 1;
		     at <= last && used < room && (text = text_of(cache, file, at)); at++)
			texts[used++] = (struct profile_text){ .line = at, .text = text };
		while (used > before && !*texts[used - 1].text)
			used--;
		shown = last > shown ? last : shown;
	}
	return used;
}

/* Of one file, when they are of its kind; the lines from *at on are this file's or later ones'. */
static int collect_source(struct profile_source *source, struct source_cache *cache,
			  const struct profile_line *const *lines, size_t line_count, bool library,
			  struct profile_text *buffer, size_t *left, struct arena *arena)
{
	size_t count;
	struct profile_text *texts;

	if (path_is_library(source->file) != library)
		return 0;
	count = collect_file(cache, lines, line_count, library, buffer, *left);
	texts = arena_array(arena, count + 1, sizeof(*texts));
	if (!texts)
		return -ENOMEM;
	if (count)
		memcpy(texts, buffer, count * sizeof(*texts));
	*left -= count;
	source->texts = texts;
	source->text_count = count;
	return 0;
}

static int source_texts_collect_kind(struct profile_source *sources, size_t source_count,
				     struct source_cache *cache,
				     const struct profile_line *const *lines, size_t line_count,
				     bool library, struct profile_text *buffer, size_t *left,
				     struct arena *arena)
{
	int result = 0;

	for (size_t i = 0, at = 0; i < source_count && !result; i++) {
		size_t end;

		while (at < line_count && strcmp(lines[at]->file, sources[i].file) < 0)
			at++;
		for (end = at; end < line_count && !strcmp(lines[end]->file, sources[i].file);)
			end++;
		result = collect_source(&sources[i], cache, lines + at, end - at, library, buffer,
					left, arena);
		at = end;
	}
	return result;
}

int source_texts_collect(const struct profile *profile, struct profile_source *sources,
			 size_t source_count, struct source_cache *cache, struct arena *arena)
{
	const struct profile_line **lines = calloc(profile->line_count + 1, sizeof(*lines));
	struct profile_text *buffer = calloc(SOURCE_TEXTS_MAX, sizeof(*buffer));
	size_t count = 0, left = SOURCE_TEXTS_MAX;
	int result = -ENOMEM;

	if (lines && buffer) {
		for (size_t i = 0; i < profile->line_count; i++)
			if (profile->lines[i].line > 0)
				lines[count++] = &profile->lines[i];
		qsort(lines, count, sizeof(*lines), source_text_compare);
		result = source_texts_collect_kind(sources, source_count, cache, lines, count,
						   false, buffer, &left, arena);
		if (!result)
			result = source_texts_collect_kind(sources, source_count, cache, lines,
							   count, true, buffer, &left, arena);
	}
	free(lines);
	free(buffer);
	return result;
}
