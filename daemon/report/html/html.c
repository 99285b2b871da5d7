/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/report/html/html.h"

#include "daemon/report/encode/escape.h"
#include "daemon/report/html/html_data.h"
#include "daemon/report/html/html_fill.h"
#include "daemon/report/html/html_sections.h"
#include "daemon/report/html/html_tree.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

/* What is written out; further ones are counted. Lines are by time, pairs by rank. */
#define LINES_MAX     5000
#define FUNCTIONS_MAX 5000
#define PAIRS_MAX     200

/* What a page is made of. */
struct page {
	const struct profile *profile;
	const struct writer_options *options;
	const struct html_base *base; /* NULL: of one profile */
};

static int put_style(FILE *file, const struct page *page)
{
	(void)page;
	html_put_file(file, html_style());
	return 0;
}

static int put_script(FILE *file, const struct page *page)
{
	(void)page;
	html_put_file(file, html_script());
	return 0;
}

static int put_policy(FILE *file, const struct page *page)
{
	(void)page;
	html_put_policy(file, html_style(), html_script());
	return 0;
}

static int put_report_json(FILE *file, const void *context)
{
	const struct writer_options options = { 0 };
	const struct page *page = context;
	struct profile part = *page->profile;

	if (part.line_count > LINES_MAX)
		part.line_count = LINES_MAX;
	if (part.function_count > FUNCTIONS_MAX)
		part.function_count = FUNCTIONS_MAX;
	if (part.pair_count > PAIRS_MAX) {
		part.pairs_omitted += part.pair_count - PAIRS_MAX;
		part.pair_count = PAIRS_MAX;
	}
	return writer_json.write(&part, &options, file);
}

static void html_put_string(FILE *file, const char *name, const char *text)
{
	fprintf(file, "\"%s\":", name);
	if (text)
		escape_json(file, text);
	else
		fputs("null", file);
}

/* The tree's members, and behind them what is of the page alone. */
static int put_tree_json(FILE *file, const void *context)
{
	const struct page *page = context;
	const struct writer_options *options = page->options;
	size_t functions = page->profile->function_count;

	fprintf(file, "{\"functions_omitted\":%zu,\n\"links\":{",
		functions > FUNCTIONS_MAX ? functions - FUNCTIONS_MAX : 0);
	html_put_string(file, "editor", options->editor_url);
	fputc(',', file);
	html_put_string(file, "repository", options->source_url);
	fputc(',', file);
	html_put_string(file, "root", options->link_root ? options->link_root : "");
	fputs("},\n", file);
	return html_tree(file, page->profile, LINES_MAX);
}

static int put_base_json(FILE *file, const void *context)
{
	const struct html_base *base = context;
	int result;

	fputs("{\"tree\":{", file);
	result = html_tree(file, base->profile, 0);
	fputs(",\n\"diff\":", file);
	if (!result)
		result = base->put_diff(base->diff, file);
	fputs("}\n", file);
	return result;
}

static int html_put_report(FILE *file, const struct page *page)
{
	return html_data(file, "report-data", page, put_report_json);
}

static int put_tree(FILE *file, const struct page *page)
{
	return html_data(file, "tree-data", page, put_tree_json);
}

static int put_base(FILE *file, const struct page *page)
{
	return page->base ? html_data(file, "base-data", page->base, put_base_json) : 0;
}

static int put_changes(FILE *file, const struct page *page)
{
	if (!page->base)
		return 0;
	fputs("<section id=\"changes\" aria-labelledby=\"changes-heading\">\n"
	      "<h2 id=\"changes-heading\">What changed</h2>\n<p class=\"headline\">",
	      file);
	if (html_text(file, page->base->headline) < 0)
		return -ENOMEM;
	fputs("</p>\n<p class=\"hint\">Since ", file);
	if (html_title(file, page->base->profile) < 0)
		return -ENOMEM;
	fputs(". The <a class=\"script\" hidden href=\"#flame\">flame graph</a> compares both; all "
	      "else is "
	      "of the later profile.</p>\n"
	      "<div class=\"wide\" id=\"change-table\" tabindex=\"0\" role=\"region\" "
	      "aria-label=\"Table of changes\"></div>\n</section>\n",
	      file);
	return 0;
}

static const struct {
	const char *name;
	int (*put)(FILE *file, const struct profile *profile);
	int (*put_part)(FILE *file, const struct page *page); /* in place of that */
} parts[] = {
	{ "@POLICY@", .put_part = put_policy },   { "@TITLE@", .put = html_title },
	{ "@STYLE@", .put_part = put_style },     { "@COMMAND@", .put = html_command },
	{ "@CHANGES@", .put_part = put_changes }, { "@LINES@", .put = html_lines },
	{ "@VERDICT@", .put = html_verdict },     { "@THREADS@", .put = html_threads },
	{ "@QUALITY@", .put = html_quality },     { "@REPORT@", .put_part = html_put_report },
	{ "@TREE@", .put_part = put_tree },       { "@BASE@", .put_part = put_base },
	{ "@SCRIPT@", .put_part = put_script },   { "@INTERPRETER@", .put = html_interpreter },
	{ "@PROCESSES@", .put = html_processes }, { "@MEMORY@", .put = html_memory },
	{ "@WAITING@", .put = html_waiting },     { "@WAITING_LINK@", .put = html_waiting_link },
};

static size_t put_part(FILE *file, const void *context, const char *text, size_t size,
		       int *ret_result)
{
	const struct page *page = context;

	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		size_t length = html_part_at(parts[i].name, text, size);

		if (!length)
			continue;
		*ret_result = parts[i].put ? parts[i].put(file, page->profile)
					   : parts[i].put_part(file, page);
		return length;
	}
	return 0;
}

static int write_page(const struct page *page, FILE *file)
{
	return html_fill(file, html_page(), put_part, page);
}

static int html_write(const struct profile *profile, const struct writer_options *options,
		      FILE *file)
{
	const struct page page = { .profile = profile, .options = options };

	return write_page(&page, file);
}

int html_write_compared(const struct profile *profile, const struct html_base *base,
			const struct writer_options *options, FILE *file)
{
	const struct page page = { .profile = profile, .options = options, .base = base };

	return write_page(&page, file);
}

const struct writer writer_html = { .name = "html", .extension = ".html", .write = html_write };
