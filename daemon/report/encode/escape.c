/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/report/encode/escape.h"

#include "common/printable.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* Of "\x1b" for one byte, "\ue0001" for four. */
#define ESCAPED_BYTES_MAX 6

char *escape_printable(const char *text, char also)
{
	static const char digits[] = "0123456789abcdef";
	size_t length = strlen(text), count = 0, at;
	char *plain, *escaped;

	if (length > SIZE_MAX / ESCAPED_BYTES_MAX / 4 - 1)
		return NULL;
	plain = malloc(length * ESCAPED_BYTES_MAX + 1);
	if (!plain)
		return NULL;
	printable_fit(plain, length * ESCAPED_BYTES_MAX + 1, text, UINT_MAX, false);
	for (const char *mark = also ? strchr(plain, also) : NULL; mark;
	     mark = strchr(mark + 1, also))
		count++;
	if (!count)
		return plain;
	escaped = malloc(strlen(plain) + count * 3 + 1);
	at = 0;
	for (const char *from = plain; escaped && *from; from++) {
		if (*from != also) {
			escaped[at++] = *from;
			continue;
		}
		escaped[at++] = '\\';
		escaped[at++] = 'x';
		escaped[at++] = digits[(unsigned char)also >> 4];
		escaped[at++] = digits[also & 0xf];
	}
	if (escaped)
		escaped[at] = '\0';
	free(plain);
	return escaped;
}

void escape_put(FILE *file, const char *text)
{
	char *printable = escape_printable(text, '\0');

	fputs(printable ? printable : "?", file);
	free(printable);
}

static void put_code_point(FILE *file, uint32_t code_point)
{
	if (code_point == '"' || code_point == '\\') {
		fprintf(file, "\\%c", (int)code_point);
	} else if (code_point >= 0x20 && code_point < 0x7f) {
		fputc((int)code_point, file);
	} else if (code_point < 0x10000) {
		fprintf(file, "\\u%04x", (unsigned)code_point);
	} else {
		code_point -= 0x10000;
		fprintf(file, "\\u%04x\\u%04x", 0xd800 + (unsigned)(code_point >> 10),
			0xdc00 + (unsigned)(code_point & 0x3ff));
	}
}

void escape_json(FILE *file, const char *text)
{
	size_t size = strlen(text);

	fputc('"', file);
	for (size_t i = 0; i < size;) {
		uint32_t code_point = 0xfffd;
		size_t length = utf8_decode(text + i, size - i, &code_point);

		put_code_point(file, code_point);
		i += length ? length : 1;
	}
	fputc('"', file);
}

const char *path_last(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

const char *library_name(const char *path, char *buffer, size_t size)
{
	const char *name = path_last(path);
	const char *tag = strstr(name, ".cpython-");
	const char *end = tag ? strstr(tag, ".so") : NULL;

	if (!end || (size_t)(tag - name) + strlen(end) >= size)
		return name;
	snprintf(buffer, size, "%.*s%s", (int)(tag - name), name, end);
	return buffer;
}
