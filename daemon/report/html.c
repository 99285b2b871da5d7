/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The report as one HTML file that asks for nothing: daemon/report/html/ with
 * @NAMES@ replaced. The policy in its head allows the one script and the one
 * style by their hashes, and no request at all.
 *
 * What needs no JavaScript is HTML (html_sections.h). The rest is made by the
 * script from two JSON blocks, the JSON report and the call tree, in which no
 * byte is written that could end a block.
 */
#include "daemon/report/escape.h"
#include "daemon/report/html_files.h"
#include "daemon/report/html_sections.h"
#include "daemon/report/sha256.h"
#include "daemon/report/writer.h"

#include <errno.h>
#include <inttypes.h>
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

/*
 * JSON as a script element may hold it. These bytes are in strings alone,
 * where \u003c means the same; ASCII as it is, it has no U+2028 either.
 */
static ssize_t write_embedded(void *context, const char *bytes, size_t size)
{
	FILE *file = context;

	for (size_t i = 0; i < size; i++) {
		if (bytes[i] == '<' || bytes[i] == '>' || bytes[i] == '&')
			fprintf(file, "\\u%04x", (unsigned)bytes[i]);
		else
			putc(bytes[i], file);
	}
	return ferror(file) ? 0 : (ssize_t)size;
}

static int put_embedded(FILE *file, const struct profile *profile,
			int (*put)(FILE *file, const struct profile *profile))
{
	const cookie_io_functions_t functions = { .write = write_embedded };
	FILE *embedded = fopencookie(file, "w", functions);
	int result;

	if (!embedded)
		return -ENOMEM;
	result = put(embedded, profile);
	if (fclose(embedded) != 0 && result == 0)
		result = -EIO;
	return result;
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

static void put_frame(FILE *file, const struct profile_frame *frame)
{
	char buffer[FRAME_FUNCTION_BYTES];

	fprintf(file, "[%d,", frame->kind == FRAME_PYTHON ? 0 : 1);
	escape_json(file, frame_function(frame, true, buffer, sizeof(buffer)));
	fputc(',', file);
	escape_json(file, frame->file);
	fprintf(file, ",%d]", frame->kind == FRAME_PYTHON ? frame->line : 0);
}

/* A column of the tree; a table of columns is a third of the size of one of objects. */
static void put_column(FILE *file, const struct profile_tree *tree, const char *name,
		       uint64_t (*value)(const struct profile_node *node))
{
	fprintf(file, ",\n\"%s\":[", name);
	for (size_t i = 0; i < tree->node_count; i++)
		fprintf(file, "%s%" PRIu64, i ? "," : "", value(&tree->nodes[i]));
	fputc(']', file);
}

static uint64_t node_depth(const struct profile_node *node)
{
	return node->depth;
}

static uint64_t node_frame(const struct profile_node *node)
{
	return node->frame;
}

static uint64_t node_python(const struct profile_node *node)
{
	return node->time_ns[TIME_PYTHON];
}

static uint64_t node_native(const struct profile_node *node)
{
	return node->time_ns[TIME_NATIVE];
}

static uint64_t node_system(const struct profile_node *node)
{
	return node->time_ns[TIME_SYSTEM];
}

static int put_tree_json(FILE *file, const struct profile *profile)
{
	const struct profile_tree *tree = &profile->tree;

	fprintf(file, "{\"lines_omitted\":%zu,\n\"advice\":{",
		profile->line_count > LINES_MAX ? profile->line_count - LINES_MAX : 0);
	for (unsigned i = 0; i < CATEGORY_COUNT; i++) {
		const char *advice = category_advice((enum category)i);

		fputs(i ? "," : "", file);
		escape_json(file, category_name((enum category)i));
		fputc(':', file);
		escape_json(file, advice ? advice : "");
	}
	fputs("},\n\"frames\":[", file);
	for (size_t i = 0; i < tree->frame_count; i++) {
		fputs(i ? ",\n" : "\n", file);
		put_frame(file, &tree->frames[i]);
	}
	fputc(']', file);
	put_column(file, tree, "depth", node_depth);
	put_column(file, tree, "frame", node_frame);
	put_column(file, tree, "python", node_python);
	put_column(file, tree, "native", node_native);
	put_column(file, tree, "system", node_system);
	fputs("}\n", file);
	return ferror(file) ? -EIO : 0;
}

static int put_report(FILE *file, const struct profile *profile)
{
	return put_embedded(file, profile, put_report_json);
}

static int put_tree(FILE *file, const struct profile *profile)
{
	return put_embedded(file, profile, put_tree_json);
}

static const struct {
	const char *name;
	int (*put)(FILE *file, const struct profile *profile);
} parts[] = {
	{ "@POLICY@", put_policy },    { "@TITLE@", html_title },  { "@STYLE@", put_style },
	{ "@COMMAND@", html_command }, { "@LINES@", html_lines },  { "@VERDICT@", html_verdict },
	{ "@QUALITY@", html_quality }, { "@REPORT@", put_report }, { "@TREE@", put_tree },
	{ "@SCRIPT@", put_script },
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
