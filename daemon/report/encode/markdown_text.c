/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/report/encode/markdown_text.h"

#include "common/printable.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

/* Between two characters that would mean something together. */
#define APART "<!-- -->"

static void fit(char buffer[PRINTABLE_BYTES(MARKDOWN_COLUMNS_MAX)], const char *text,
		unsigned columns)
{
	if (columns > MARKDOWN_COLUMNS_MAX)
		columns = MARKDOWN_COLUMNS_MAX;
	while (*text == ' ' || *text == '\t')
		text++;
	printable_fit(buffer, PRINTABLE_BYTES(MARKDOWN_COLUMNS_MAX), text, columns, false);
}

/* "@name", "#12", "GH-12", "://" and "www." are links without any markup. */
static bool is_link(const char *text, const char *at)
{
	bool word = isalnum((unsigned char)at[1]);

	switch (*at) {
	case '@':
	case '#':
		return word;
	case '-':
		return word && at - text >= 2 && !strncasecmp(at - 2, "GH", 2);
	case ':':
		return at[1] == '/';
	case '.':
		return at - text >= 3 && !strncasecmp(at - 3, "www", 3);
	default:
		return false;
	}
}

void markdown_text(FILE *file, const char *text, unsigned columns)
{
	char plain[PRINTABLE_BYTES(MARKDOWN_COLUMNS_MAX)];

	fit(plain, text, columns);
	for (const char *at = plain; *at; at++) {
		if (*at == '&')
			fputs("&amp;", file);
		else if (*at == '<')
			fputs("&lt;", file);
		/* At the beginning it would make a list, numbered or not, or a heading. */
		else if (at == plain && strchr("-+=0123456789", *at))
			fprintf(file, "&#%d;", *at);
		else if (strchr("\\`*_[]>|~#$", *at))
			fprintf(file, "\\%c", *at);
		else
			fputc(*at, file);
		if (is_link(plain, at))
			fputs(APART, file);
	}
}

/* A fence longer than any in the text; in a table, a bar ends the cell even in code. */
void markdown_code(FILE *file, const char *text, unsigned columns)
{
	char plain[PRINTABLE_BYTES(MARKDOWN_COLUMNS_MAX)];
	size_t longest = 0, run = 0, length;
	bool padded;

	fit(plain, text, columns);
	length = strlen(plain);
	while (length && plain[length - 1] == ' ')
		plain[--length] = '\0';
	if (!length)
		return;
	for (const char *at = plain; *at; at++) {
		run = *at == '`' ? run + 1 : 0;
		longest = run > longest ? run : longest;
	}
	padded = plain[0] == '`' || plain[length - 1] == '`';
	/* Where a bar or backslash is, code of HTML: a table's escapes differ from reader to
	 * reader. */
	if (strchr(plain, '|')) {
		fputs("<code>", file);
		for (const char *at = plain; *at; at++)
			if (isalnum((unsigned char)*at) || *at == ' ' || (unsigned char)*at >= 0x80)
				fputc(*at, file);
			else
				fprintf(file, "&#%d;", *at);
		fputs("</code>", file);
		return;
	}
	for (size_t i = 0; i <= longest; i++)
		fputc('`', file);
	fprintf(file, "%s%s%s", padded ? " " : "", plain, padded ? " " : "");
	for (size_t i = 0; i <= longest; i++)
		fputc('`', file);
}
