/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/report/html/html.h"

#include "daemon/report/encode/sha256.h"
#include "daemon/report/html/html_data.h"
#include "daemon/report/html/html_files.h"
#include "daemon/report/html/html_sections.h"
#include "daemon/report/html/html_tree.h"

#include <errno.h>
#include <string.h>

/* What is written out; further ones are counted. Lines are by time, pairs by rank. */
#define LINES_MAX 5000
#define PAIRS_MAX 200

static int put_file(FILE *file, struct html_file part)
{
	fwrite(part.text, 1, part.size, file);
	return 0;
}

static int put_style(FILE *file, const struct profile *profile)
{
	(void)profile;
	return put_file(file, html_style());
}

static int put_script(FILE *file, const struct profile *profile)
{
	(void)profile;
	return put_file(file, html_script());
}

static int put_policy(FILE *file, const struct profile *profile)
{
	const struct html_file style = html_style(), script = html_script();
	char style_hash[SHA256_BASE64_BYTES], script_hash[SHA256_BASE64_BYTES];

	(void)profile;
	sha256_base64(style.text, style.size, style_hash);
	sha256_base64(script.text, script.size, script_hash);
	fprintf(file,
		"default-src 'none'; style-src 'sha256-%s'; script-src 'sha256-%s'; "
		"base-uri 'none'; form-action 'none'",
		style_hash, script_hash);
	return 0;
}

static int put_report_json(FILE *file, const struct profile *profile)
{
	const struct writer_options options = { 0 };
	struct profile part = *profile;

	if (part.line_count > LINES_MAX)
		part.line_count = LINES_MAX;
	if (part.pair_count > PAIRS_MAX) {
		part.pairs_omitted += part.pair_count - PAIRS_MAX;
		part.pair_count = PAIRS_MAX;
	}
	part.function_count = 0; /* not shown */
	return writer_json.write(&part, &options, file);
}

static int put_tree_json(FILE *file, const struct profile *profile)
{
	return html_tree(file, profile, LINES_MAX);
}

static int html_put_report(FILE *file, const struct profile *profile)
{
	return html_data(file, "report-data", profile, put_report_json);
}

static int put_tree(FILE *file, const struct profile *profile)
{
	return html_data(file, "tree-data", profile, put_tree_json);
}

static const struct {
	const char *name;
	int (*put)(FILE *file, const struct profile *profile);
} parts[] = {
	{ "@POLICY@", put_policy },        { "@TITLE@", html_title },
	{ "@STYLE@", put_style },          { "@COMMAND@", html_command },
	{ "@LINES@", html_lines },         { "@VERDICT@", html_verdict },
	{ "@THREADS@", html_threads },     { "@QUALITY@", html_quality },
	{ "@REPORT@", html_put_report },   { "@TREE@", put_tree },
	{ "@SCRIPT@", put_script },        { "@INTERPRETER@", html_interpreter },
	{ "@PROCESSES@", html_processes }, { "@PROCESSES_LINK@", html_processes_link },
	{ "@WAITING@", html_waiting },     { "@WAITING_LINK@", html_waiting_link },
};

/* What stands at an '@' of the page: a part, whose name's length is returned, or 0. */
static size_t put_part(FILE *file, const struct profile *profile, const char *text, size_t size,
		       int *ret_result)
{
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		size_t length = strlen(parts[i].name);

		if (length > size || memcmp(text, parts[i].name, length) != 0)
			continue;
		*ret_result = parts[i].put(file, profile);
		return length;
	}
	return 0;
}

static int html_write(const struct profile *profile, const struct writer_options *options,
		      FILE *file)
{
	const struct html_file page = html_page();
	int result = 0;

	(void)options;
	for (size_t at = 0; at < page.size && result == 0;) {
		size_t length = 0;

		if (page.text[at] == '@')
			length = put_part(file, profile, page.text + at, page.size - at, &result);
		if (length == 0)
			putc(page.text[at], file);
		at += length ? length : 1;
	}
	if (result == 0 && ferror(file))
		result = -EIO;
	return result;
}

const struct writer writer_html = { .name = "html", .extension = ".html", .write = html_write };
