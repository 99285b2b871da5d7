/* SPDX-License-Identifier: Apache-2.0 */
/* The HTML report, and what tests look for in it. */
#ifndef PIEPROFD_TESTS_UNIT_HTML_PAGE_H
#define PIEPROFD_TESTS_UNIT_HTML_PAGE_H

#include "daemon/report/html/html.h"
#include "report_sample.h"

#include <ctype.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <jansson.h>

#define HOSTILE "</script><img src=x onerror=alert(1)>&amp;<!--\"'"

static const struct writer_options defaults;

static inline char *written(const struct profile *profile)
{
	return sample_written(&writer_html, profile, &defaults);
}

/* What is between two texts, of which the first must be there once; the caller frees. */
static inline char *between(const char *text, const char *start, const char *end)
{
	const char *from = strstr(text, start), *to;

	assert_non_null(from);
	from += strlen(start);
	assert_null(strstr(from, start));
	to = strstr(from, end);
	assert_non_null(to);
	return strndup(from, (size_t)(to - from));
}

static inline json_t *block(const char *page, const char *id)
{
	char start[80], *text;
	json_error_t error;
	json_t *root;

	snprintf(start, sizeof(start), "<script type=\"application/json\" id=\"%s\">", id);
	text = between(page, start, "</script>");
	root = json_loads(text, JSON_REJECT_DUPLICATES, &error);
	if (!root)
		print_error("%s: line %d: %s\nin:\n%s\n", id, error.line, error.text, text);
	assert_non_null(root);
	for (const unsigned char *at = (const unsigned char *)text; *at; at++)
		assert_true(*at < 0x7f && *at != '<' && *at != '>' && *at != '&');
	free(text);
	return root;
}

static inline size_t occurrences(const char *text, const char *words)
{
	size_t count = 0;

	for (const char *at = strstr(text, words); at; at = strstr(at + 1, words))
		count++;
	return count;
}

/* Every element is closed in order; none has a handler or a style of its own, or loads anything. */
static inline void check_markup(const char *page)
{
	static const char *const empty[] = { "meta", "input" };
	char open[64][16], name[16];
	size_t depth = 0;

	for (const char *at = strchr(page, '<'); at; at = strchr(at + 1, '<')) {
		bool closing = at[1] == '/';
		const char *end = strchr(at, '>');
		size_t length = 0;
		bool is_empty = false;

		assert_non_null(end);
		if (at[1] == '!')
			continue;
		for (const char *c = at + 1 + closing;
		     isalnum((unsigned char)*c) && length < sizeof(name) - 1; c++)
			name[length++] = *c;
		name[length] = '\0';
		assert_true(length > 0);
		assert_null(memmem(at, (size_t)(end - at), " on", 3));
		assert_null(memmem(at, (size_t)(end - at), " src", 4));
		assert_null(memmem(at, (size_t)(end - at), " style=", 7));
		if (closing) {
			assert_true(depth > 0);
			assert_string_equal(name, open[--depth]);
			continue;
		}
		for (size_t i = 0; i < sizeof(empty) / sizeof(empty[0]); i++)
			is_empty = is_empty || strcmp(name, empty[i]) == 0;
		if (is_empty)
			continue;
		assert_true(depth < 64);
		strcpy(open[depth++], name);
		/* Their text is not markup. */
		if (strcmp(name, "script") == 0)
			at = strstr(end, "</script>") - 1;
		else if (strcmp(name, "style") == 0)
			at = strstr(end, "</style>") - 1;
	}
	assert_int_equal(depth, 0);
}

#endif
