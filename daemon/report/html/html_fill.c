/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/report/html/html_fill.h"

#include "daemon/report/encode/sha256.h"

#include <errno.h>
#include <string.h>

size_t html_part_at(const char *name, const char *text, size_t size)
{
	size_t length = strlen(name);

	return length <= size && memcmp(text, name, length) == 0 ? length : 0;
}

int html_fill(FILE *file, struct html_file page, html_put_part *put, const void *context)
{
	int result = 0;

	for (size_t at = 0; at < page.size && result == 0;) {
		size_t length = 0;

		if (page.text[at] == '@')
			length = put(file, context, page.text + at, page.size - at, &result);
		if (length == 0)
			putc(page.text[at], file);
		at += length ? length : 1;
	}
	if (result == 0 && ferror(file))
		result = -EIO;
	return result;
}

void html_put_file(FILE *file, struct html_file part)
{
	fwrite(part.text, 1, part.size, file);
}

void html_put_policy(FILE *file, struct html_file style, struct html_file script)
{
	char style_hash[SHA256_BASE64_BYTES], script_hash[SHA256_BASE64_BYTES];

	sha256_base64(style.text, style.size, style_hash);
	sha256_base64(script.text, script.size, script_hash);
	fprintf(file,
		"default-src 'none'; style-src 'sha256-%s'; script-src 'sha256-%s'; "
		"base-uri 'none'; form-action 'none'",
		style_hash, script_hash);
}

size_t html_put_frame(FILE *file, struct html_file style, struct html_file script, const char *text,
		      size_t size)
{
	size_t length = html_part_at("@POLICY@", text, size);

	if (length) {
		html_put_policy(file, style, script);
		return length;
	}
	length = html_part_at("@STYLE@", text, size);
	if (length) {
		html_put_file(file, style);
		return length;
	}
	length = html_part_at("@SCRIPT@", text, size);
	if (length)
		html_put_file(file, script);
	return length;
}
