/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The page of a difference (daemon/report/html/page/heap.html, as of one look): what was in RAM and
 * what is, what changed as HTML, and all of it with the trees of both looks for the page's script,
 * which draws one of them in the colours of what grew and shrank.
 *
 *   {"rss":54000000, "now":{tree as of one look}, "base":{...},
 *    "types":[["app.Order", [base, now bytes], [base, now objects], "new"], ...],
 *    "holders":[["app.cache{*}", type, [...], [...], ""], ...]}
 *
 * Not stable: heap.js reads it. Every string of the target goes through html_text() or
 * escape_json().
 */
#include "daemon/heap/heap_diff_words.h"
#include "daemon/heap/heap_diff_writers.h"
#include "daemon/heap/heap_growth_text.h"
#include "daemon/heap/heap_html.h"
#include "daemon/report/encode/escape.h"
#include "daemon/report/html/html_data.h"
#include "daemon/report/html/html_fill.h"
#include "daemon/report/html/html_sections.h"
#include "daemon/report/model/container_text.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

/* Of each table: without JavaScript, and with it, what grew and what shrank. */
#define ROWS_STATIC 10
#define ROWS_MAX    500
#define PATH_BYTES  1024

static const char *presence(const bool present[HEAP_SIDES])
{
	return !present[HEAP_BASE] ? "new" : !present[HEAP_NOW] ? "gone" : "";
}

/* Of sorted rows those that changed most: the first and the last. */
static bool is_shown(size_t row, size_t count, size_t most)
{
	return row < most || count - row <= most;
}

/* ---- head */

static int put_title(FILE *file, const struct heap_diff *diff)
{
	const struct heap_look *look = &diff->files[HEAP_NOW]->look;
	const char *program = html_program((const char *const *)look->command);

	if (!program)
		fprintf(file, "Process %d", (int)look->pid);
	else if (html_text(file, program) < 0)
		return -ENOMEM;
	if (html_text(file, container_suffix(&look->container).text) < 0)
		return -ENOMEM;
	fputs(", memory compared", file);
	html_moment(file, look->unix_ns);
	return 0;
}

static int put_side(FILE *file, const char *label, const struct heap_look *look)
{
	fprintf(file, "<p class=\"command\">%s: <code>", label);
	for (size_t i = 0; look->command && look->command[i]; i++) {
		if (i)
			fputc(' ', file);
		if (html_text(file, look->command[i]) < 0)
			return -ENOMEM;
	}
	fprintf(file, "</code> &middot; pid %d &middot; Python %d.%d.%d", (int)look->pid,
		look->python.major, look->python.minor, look->python.micro);
	html_moment(file, look->unix_ns);
	fputs("</p>\n", file);
	return 0;
}

static int put_command(FILE *file, const struct heap_diff *diff)
{
	int error = put_side(file, "Base", &diff->files[HEAP_BASE]->look);

	if (!error)
		error = put_side(file, "Now", &diff->files[HEAP_NOW]->look);
	fputs("<p>pieprofd " PIEPROFD_VERSION "</p>\n", file);
	return error;
}

/* ---- cells */

static void put_change(FILE *file, const uint64_t bytes[HEAP_SIDES])
{
	int64_t change = heap_diff_change(bytes);

	fprintf(file, "<td class=\"number\">%s</td>",
		change ? heap_text_signed((double)change).text : "-");
	for (size_t side = 0; side < HEAP_SIDES; side++)
		fprintf(file, "<td class=\"number\">%s</td>",
			bytes[side] ? figure_bytes(bytes[side]).text : "-");
}

static void put_objects(FILE *file, const uint64_t count[HEAP_SIDES],
			const bool present[HEAP_SIDES])
{
	fprintf(file, "<td class=\"number\">%+" PRId64 "</td><td>%s</td></tr>\n",
		heap_diff_change(count), presence(present));
}

#define CHANGE_HEADS                                                                               \
	"<th scope=\"col\" class=\"number\">Change</th><th scope=\"col\" class=\"number\">Before"  \
	"</th><th scope=\"col\" class=\"number\">Now</th>"
#define OBJECT_HEADS "<th scope=\"col\" class=\"number\">Objects</th><th scope=\"col\"></th>"

/* ---- what is in RAM */

static int put_verdict(FILE *file, const struct heap_diff *diff)
{
	struct heap_words *words = calloc(1, sizeof(*words));
	int error = words ? 0 : -ENOMEM;

	if (words)
		heap_diff_words_say(diff, words);
	fputs("<p class=\"headline\">", file);
	if (!error)
		error = html_text(file, words->headline);
	fputs("</p>\n", file);
	for (size_t i = 0; !error && i < words->sentence_count; i++) {
		fputs("<p>", file);
		error = html_text(file, words->sentences[i]);
		fputs("</p>\n", file);
	}
	free(words);
	return error < 0 ? -ENOMEM : 0;
}

static int put_regions(FILE *file, const struct heap_diff *diff)
{
	struct heap_html_region base[HEAP_HTML_REGIONS], now[HEAP_HTML_REGIONS];

	heap_html_regions(&diff->files[HEAP_BASE]->look.snapshot.regions, base);
	heap_html_regions(&diff->files[HEAP_NOW]->look.snapshot.regions, now);
	if (put_verdict(file, diff))
		return -ENOMEM;
	fputs("<div class=\"wide\" id=\"region-table\" tabindex=\"0\" role=\"region\" "
	      "aria-label=\"Table of memory\">\n<table class=\"stacked unsorted\">\n<thead><tr>"
	      "<th scope=\"col\">Part</th>" CHANGE_HEADS "</tr></thead>\n<tbody>\n"
	      "<tr><th scope=\"row\">In RAM</th>",
	      file);
	put_change(file, diff->parts[HEAP_DIFF_SAME]);
	for (size_t i = 0; i < HEAP_HTML_REGIONS; i++) {
		const uint64_t bytes[HEAP_SIDES] = { base[i].bytes, now[i].bytes };

		fprintf(file, "</tr>\n<tr><th scope=\"row\">%s <span class=\"hint\">%s</span></th>",
			now[i].name, now[i].words);
		put_change(file, bytes);
	}
	fputs("</tr>\n</tbody></table></div>\n", file);
	return 0;
}

/* ---- holders, types */

static int put_holder(FILE *file, const struct heap_diff *diff, uint32_t row)
{
	const struct heap_path_change *path = &diff->paths[row];
	char words[PATH_BYTES];

	heap_diff_path_words(diff, row, words, sizeof(words));
	fputs("<tr><th scope=\"row\"><code>", file);
	if (html_text(file, words) < 0)
		return -ENOMEM;
	fputs("</code></th>", file);
	put_change(file, path->bytes);
	put_objects(file, path->entries, path->present);
	return 0;
}

static int put_holders(FILE *file, const struct heap_diff *diff)
{
	int error = 0;

	if (!diff->holders) {
		fputs("<p>One of the looks has no holders.</p>\n", file);
		return 0;
	}
	fputs("<p class=\"hint\">Which variables lead to more, and which to less: bytes of all "
	      "that is reached from there first, objects right there or one step on. {*} are the "
	      "values of a "
	      "dict, {key} its keys, [*] the items of a list or tuple, &lt;*&gt; the members of a "
	      "set, -&gt; a reference without a name.</p>\n"
	      "<div class=\"wide\" id=\"holder-table\" tabindex=\"0\" role=\"region\" "
	      "aria-label=\"Table of holders\">\n<table>\n<thead><tr><th scope=\"col\">Holder"
	      "</th>" CHANGE_HEADS OBJECT_HEADS "</tr></thead>\n<tbody>\n",
	      file);
	for (size_t i = 0; i < diff->row_count && !error; i++)
		if (is_shown(i, diff->row_count, ROWS_STATIC))
			error = put_holder(file, diff, diff->rows[i]);
	fputs("</tbody></table></div>\n", file);
	return error;
}

static int put_type_rows(FILE *file, const char *head, const struct heap_type_change *types,
			 size_t count)
{
	fprintf(file,
		"<table>\n<thead><tr><th scope=\"col\">%s</th>" CHANGE_HEADS OBJECT_HEADS
		"</tr></thead>\n<tbody>\n",
		head);
	for (size_t i = 0; i < count; i++) {
		if (!is_shown(i, count, ROWS_STATIC) || heap_diff_is_unchanged(&types[i]))
			continue;
		fputs("<tr><th scope=\"row\"><code>", file);
		if (html_text(file, types[i].name) < 0)
			return -ENOMEM;
		fputs("</code></th>", file);
		put_change(file, types[i].bytes);
		put_objects(file, types[i].count, types[i].present);
	}
	fputs("</tbody></table>\n", file);
	return 0;
}

static int put_types(FILE *file, const struct heap_diff *diff)
{
	return put_type_rows(file, "Type", diff->types, diff->type_count);
}

static int put_arrays(FILE *file, const struct heap_diff *diff)
{
	int error;

	if (!diff->array_count)
		return 0;
	fputs("<section id=\"arrays\" aria-labelledby=\"arrays-heading\">\n"
	      "<h2 id=\"arrays-heading\">Arrays of numpy</h2>\n"
	      "<div class=\"wide\" tabindex=\"0\" role=\"region\" aria-label=\"Table of "
	      "arrays\">\n",
	      file);
	error = put_type_rows(file, "Elements", diff->arrays, diff->array_count);
	fputs("</div>\n</section>\n", file);
	return error;
}

static int put_quality(FILE *file, const struct heap_diff *diff)
{
	fprintf(file,
		"<ul class=\"facts\">\n<li>The process went on during each look: what it made and "
		"dropped may be counted or not.</li>\n<li>The holder of an object is the one that "
		"is found first: it may be another one in the later look.</li>\n<li>Holders of "
		"less than %s before, and %s now, are not in these looks.</li>\n</ul>\n",
		figure_bytes(diff->files[HEAP_BASE]->unlisted_bytes).text,
		figure_bytes(diff->files[HEAP_NOW]->unlisted_bytes).text);
	return 0;
}

/* ---- for the script */

static int put_tree(FILE *file, const struct heap_diff *diff, enum heap_side side)
{
	/* A copy, that of types where one of both has these alone. */
	struct heap_snapshot snapshot = diff->files[side]->look.snapshot;
	struct heap_tree tree;

	if (!diff->holders)
		snapshot.holders = HEAP_HOLDERS_UNWANTED;
	if (heap_tree_init(&tree, &snapshot, HEAP_HTML_NODES_MAX))
		return -ENOMEM;
	fprintf(file, "\"%s\":{", side == HEAP_BASE ? "base" : "now");
	heap_html_tree(file, &tree);
	fputs("},\n", file);
	heap_tree_deinit(&tree);
	return 0;
}

static void put_figures(FILE *file, const uint64_t bytes[HEAP_SIDES],
			const uint64_t count[HEAP_SIDES], const bool present[HEAP_SIDES])
{
	fprintf(file, ",[%" PRIu64 ",%" PRIu64 "],[%" PRIu64 ",%" PRIu64 "],\"%s\"]",
		bytes[HEAP_BASE], bytes[HEAP_NOW], count[HEAP_BASE], count[HEAP_NOW],
		presence(present));
}

static void put_type_data(FILE *file, const struct heap_diff *diff)
{
	const char *separator = "\n[";

	fputs("\"types\":[", file);
	for (size_t i = 0; i < diff->type_count; i++) {
		const struct heap_type_change *type = &diff->types[i];

		if (!is_shown(i, diff->type_count, ROWS_MAX) || heap_diff_is_unchanged(type))
			continue;
		fputs(separator, file);
		separator = ",\n[";
		escape_json(file, type->name);
		put_figures(file, type->bytes, type->count, type->present);
	}
}

static void put_holder_data(FILE *file, const struct heap_diff *diff)
{
	const char *separator = "\n[";

	fputs("],\n\"holders\":[", file);
	for (size_t i = 0; i < diff->row_count; i++) {
		const struct heap_path_change *path = &diff->paths[diff->rows[i]];
		char words[PATH_BYTES];

		if (!is_shown(i, diff->row_count, ROWS_MAX))
			continue;
		heap_diff_path_words(diff, diff->rows[i], words, sizeof(words));
		fputs(separator, file);
		separator = ",\n[";
		escape_json(file, words);
		put_figures(file, path->bytes, path->entries, path->present);
	}
	fputs("]}\n", file);
}

static int put_data_json(FILE *file, const void *context)
{
	const struct heap_diff *diff = context;
	const uint64_t *rss = diff->parts[HEAP_DIFF_SAME];
	int error;

	fprintf(file, "{\"rss\":%" PRIu64 ",\n",
		rss[HEAP_NOW] > rss[HEAP_BASE] ? rss[HEAP_NOW] : rss[HEAP_BASE]);
	error = put_tree(file, diff, HEAP_NOW);
	if (!error)
		error = put_tree(file, diff, HEAP_BASE);
	put_type_data(file, diff);
	put_holder_data(file, diff);
	return error ? error : ferror(file) ? -EIO : 0;
}

static int put_data(FILE *file, const struct heap_diff *diff)
{
	return html_data(file, "heap-data", diff, put_data_json);
}

/* ---- the page */

static size_t put_part(FILE *file, const void *context, const char *text, size_t size,
		       int *ret_result)
{
	static const struct {
		const char *name;
		int (*put)(FILE *file, const struct heap_diff *diff);
	} parts[] = {
		{ "@TITLE@", put_title },     { "@COMMAND@", put_command },
		{ "@REGIONS@", put_regions }, { "@HOLDERS@", put_holders },
		{ "@TYPES@", put_types },     { "@ARRAYS@", put_arrays },
		{ "@QUALITY@", put_quality }, { "@DATA@", put_data },
	};
	size_t frame = html_put_frame(file, html_style(), html_heap_script(), text, size);

	if (frame)
		return frame;
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		size_t length = html_part_at(parts[i].name, text, size);

		if (!length)
			continue;
		*ret_result = parts[i].put(file, context);
		return length;
	}
	return 0;
}

int heap_diff_write_html(const struct heap_diff *diff, const struct writer_options *options,
			 FILE *file)
{
	(void)options;
	return html_fill(file, html_heap_page(), put_part, diff);
}
