/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The page of a look at a heap (daemon/report/html/page/heap.html): the memory in parts, the
 * largest holders and types as HTML, and all of these with the tree for the page's script.
 *
 *   {"rss":54000000, "frames":["app.cache (dict)", ...],
 *    "depth":[...], "frame":[...], "bytes":[...], "count":[...], "folded":0,
 *    "types":[["dict", count, bytes, storage], ...], "types_omitted":0,
 *    "holders":[["app.cache{*}", type, held bytes, count, own bytes, held count], ...]}
 *
 * The tables of the tree are by column. Not stable: heap.js reads it. Every string of the target
 * goes through html_text() or escape_json().
 */
#include "daemon/heap/heap_html.h"

#include "daemon/heap/heap_holder.h"
#include "daemon/heap/heap_writer.h"
#include "daemon/report/encode/escape.h"
#include "daemon/report/encode/figure.h"
#include "daemon/report/html/html_data.h"
#include "daemon/report/html/html_fill.h"
#include "daemon/report/html/html_sections.h"
#include "daemon/report/model/container_text.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <time.h>

#define TYPES_MAX   5000
#define HOLDERS_MAX 500
#define ROWS        20 /* without JavaScript */
#define PATH_BYTES  1024
/* Of the bar: a part that is narrower has no number below it. */
#define NUMBERED_SHARE 0.025

struct page {
	const struct heap_look *look;
	struct heap_holder *holders; /* NULL: not known */
	size_t holder_count;
};

/* ---- head */

static int put_title(FILE *file, const struct page *page)
{
	const struct heap_look *look = page->look;
	const char *program = html_program((const char *const *)look->command);
	struct timespec now = { 0 };

	(void)clock_gettime(CLOCK_REALTIME, &now);
	if (!program)
		fprintf(file, "Process %d", (int)look->pid);
	else if (html_text(file, program) < 0)
		return -ENOMEM;
	if (html_text(file, container_suffix(&look->container).text) < 0)
		return -ENOMEM;
	fputs(", memory", file);
	html_moment(file, (uint64_t)now.tv_sec * 1000000000);
	return 0;
}

static int put_command(FILE *file, const struct page *page)
{
	const struct heap_look *look = page->look;

	fputs("<p class=\"command\"><code>", file);
	for (size_t i = 0; look->command && look->command[i]; i++) {
		if (i)
			fputc(' ', file);
		if (html_text(file, look->command[i]) < 0)
			return -ENOMEM;
	}
	fprintf(file, "</code></p>\n<p>pid %d &middot; ", (int)look->pid);
	if (look->container.id[0]) {
		fputs("In container ", file);
		if (html_text(file, container_words(&look->container).text) < 0)
			return -ENOMEM;
		fputs(" &middot; ", file);
	}
	fprintf(file,
		"Python %d.%d.%d &middot; one look of %s, %s copied; nothing was stopped &middot; "
		"pieprofd %s</p>\n",
		look->python.major, look->python.minor, look->python.micro,
		figure_ns(look->snapshot.quality.total_ns).text,
		figure_bytes(look->snapshot.quality.copied_bytes).text, PIEPROFD_VERSION);
	return 0;
}

/* ---- regions */

void heap_html_regions(const struct heap_regions *regions,
		       struct heap_html_region ret_regions[HEAP_HTML_REGIONS])
{
	const struct heap_html_region list[HEAP_HTML_REGIONS] = {
		{ "Python objects", "and what of the allocator's pools these use beside",
		  regions->objects_bytes },
		{ "Free in used pools", "each pool is for blocks of one size",
		  regions->pool_free_bytes },
		{ "malloc: held by objects", "lists' items, arrays' data, long strings",
		  regions->malloc_held_bytes },
		{ "malloc: held by nobody known", "libraries' own memory, and leaks of it",
		  regions->malloc_unheld_bytes },
		{ "malloc: free", "not given back to the system", regions->free_bytes },
		{ "Libraries and files", "programs, libraries and other files, with their data",
		  regions->libraries_bytes },
		{ "Stacks", "of threads", regions->stacks_bytes },
		{ "Other",
		  "anonymous or shared: of no kind that is known, or of an allocator that is not "
		  "read",
		  regions->other_bytes },
	};

	for (size_t i = 0; i < HEAP_HTML_REGIONS; i++)
		ret_regions[i] = list[i];
}

static double share_of(uint64_t part, uint64_t whole)
{
	return whole ? (double)part / (double)whole : 0;
}

static void put_bar(FILE *file, const struct heap_html_region *regions, uint64_t whole)
{
	double left = 0;

	fprintf(file,
		"<svg class=\"regions\" role=\"img\" aria-label=\"%s in RAM, by what it is; the "
		"table below has the figures\">\n",
		figure_bytes(whole).text);
	for (size_t i = 0; i < HEAP_HTML_REGIONS; i++) {
		double share = share_of(regions[i].bytes, whole);

		fprintf(file,
			"<rect class=\"region-%zu\" x=\"%.3f%%\" y=\"0\" width=\"%.3f%%\" "
			"height=\"2.5rem\"><title>%s: %s</title></rect>\n",
			i, left * 100, share * 100, regions[i].name,
			figure_bytes(regions[i].bytes).text);
		if (share >= NUMBERED_SHARE)
			fprintf(file, "<text x=\"%.3f%%\" y=\"3.6rem\">%zu</text>\n",
				(left + share / 2) * 100, i + 1);
		left += share;
	}
	fputs("</svg>\n", file);
}

static int put_regions(FILE *file, const struct page *page)
{
	const struct heap_regions *regions = &page->look->snapshot.regions;
	struct heap_html_region list[HEAP_HTML_REGIONS];

	heap_html_regions(regions, list);
	fprintf(file, "<p class=\"headline\">%s in RAM</p>\n",
		figure_bytes(regions->rss_bytes).text);
	put_bar(file, list, regions->rss_bytes);
	fputs("<div class=\"wide\" id=\"region-table\" tabindex=\"0\" role=\"region\" "
	      "aria-label=\"Table of memory\">\n<table class=\"stacked unsorted\">\n<thead><tr>"
	      "<th scope=\"col\">Part</th><th scope=\"col\" class=\"number\">Bytes</th>"
	      "<th scope=\"col\" class=\"number\">Share</th></tr></thead>\n<tbody>\n",
	      file);
	for (size_t i = 0; i < HEAP_HTML_REGIONS; i++) {
		fprintf(file,
			"<tr><th scope=\"row\"><span class=\"swatch region-%zu\" "
			"aria-hidden=\"true\"></span>%zu %s <span class=\"hint\">%s</span></th>"
			"<td class=\"number\">%s</td>",
			i, i + 1, list[i].name, list[i].words,
			list[i].bytes ? figure_bytes(list[i].bytes).text : "-");
		html_share(file, list[i].bytes, regions->rss_bytes);
		fputs("</tr>\n", file);
	}
	fputs("</tbody></table></div>\n", file);
	return 0;
}

/* ---- holders and types */

static void put_bytes(FILE *file, uint64_t bytes)
{
	fprintf(file, "<td class=\"number\">%s</td>", bytes ? figure_bytes(bytes).text : "-");
}

static int put_holder(FILE *file, const struct heap_snapshot *snapshot,
		      const struct heap_holder *holder)
{
	char words[PATH_BYTES];

	heap_holder_words(snapshot, holder->path, words, sizeof(words));
	fputs("<tr><th scope=\"row\"><code>", file);
	if (html_text(file, words) < 0)
		return -ENOMEM;
	fputs("</code><br><span class=\"where\">", file);
	if (html_text(file, heap_holder_type(snapshot, holder->path)) < 0)
		return -ENOMEM;
	fputs("</span></th>", file);
	put_bytes(file, holder->bytes);
	fprintf(file, "<td class=\"number\">%" PRIu64 "</td>", holder->count);
	put_bytes(file, snapshot->paths.items[holder->path].bytes);
	fprintf(file, "<td class=\"number\">%" PRIu64 "</td></tr>\n",
		snapshot->held_counts[holder->path]);
	return 0;
}

static int put_holders(FILE *file, const struct page *page)
{
	const struct heap_look *look = page->look;
	int result = 0;

	if (look->snapshot.holders == HEAP_HOLDERS_UNWANTED) {
		fputs("<p>Holders were not looked for.</p>\n", file);
		return 0;
	}
	if (look->snapshot.holders != HEAP_HOLDERS_KNOWN) {
		fprintf(file,
			"<p>Holders were not looked for: that takes about as much memory as the "
			"process has, and %s may be used (--max-memory).</p>\n",
			figure_bytes(look->memory_bytes).text);
		return 0;
	}
	fputs("<p class=\"hint\">From which variable most of it is reached first: {*} are the "
	      "values of a dict, {key} its keys, [*] the items of a list or tuple, &lt;*&gt; the "
	      "members of a set, -&gt; a reference without a name. A holder is not always the only "
	      "one.</p>\n"
	      "<div class=\"wide\" id=\"holder-table\" tabindex=\"0\" role=\"region\" "
	      "aria-label=\"Table of holders\">\n<table>\n<thead><tr><th scope=\"col\">Holder</th>"
	      "<th scope=\"col\" class=\"number\">Holds</th>"
	      "<th scope=\"col\" class=\"number\">Objects there</th>"
	      "<th scope=\"col\" class=\"number\">Their bytes</th>"
	      "<th scope=\"col\" class=\"number\">Objects held</th></tr></thead>\n<tbody>\n",
	      file);
	for (size_t i = 0; i < page->holder_count && i < ROWS && result == 0; i++)
		result = put_holder(file, &look->snapshot, &page->holders[i]);
	fputs("</tbody></table></div>\n", file);
	return result;
}

static int put_types(FILE *file, const struct page *page)
{
	const struct heap_snapshot *snapshot = &page->look->snapshot;

	fputs("<table>\n<thead><tr><th scope=\"col\">Type</th>"
	      "<th scope=\"col\" class=\"number\">Bytes</th>"
	      "<th scope=\"col\" class=\"number\">Objects</th>"
	      "<th scope=\"col\" class=\"number\">Storage</th></tr></thead>\n<tbody>\n",
	      file);
	for (size_t i = 0; i < snapshot->type_count && i < ROWS; i++) {
		const struct heap_type_count *type = &snapshot->types[i];

		fputs("<tr><th scope=\"row\"><code>", file);
		if (html_text(file, type->name) < 0)
			return -ENOMEM;
		fputs("</code></th>", file);
		put_bytes(file, type->bytes + type->storage_bytes);
		fprintf(file, "<td class=\"number\">%" PRIu64 "</td>", type->count);
		put_bytes(file, type->storage_bytes);
		fputs("</tr>\n", file);
	}
	fputs("</tbody></table>\n", file);
	return 0;
}

static int put_arrays(FILE *file, const struct page *page)
{
	const struct heap_snapshot *snapshot = &page->look->snapshot;

	if (!snapshot->array_count)
		return 0;
	fputs("<section id=\"arrays\" aria-labelledby=\"arrays-heading\">\n"
	      "<h2 id=\"arrays-heading\">Arrays of numpy</h2>\n"
	      "<div class=\"wide\" tabindex=\"0\" role=\"region\" aria-label=\"Table of arrays\">\n"
	      "<table>\n<thead><tr><th scope=\"col\">Elements</th>"
	      "<th scope=\"col\" class=\"number\">Data</th>"
	      "<th scope=\"col\" class=\"number\">Arrays</th></tr></thead>\n<tbody>\n",
	      file);
	for (size_t i = 0; i < snapshot->array_count; i++) {
		fprintf(file, "<tr><th scope=\"row\">%s</th>", snapshot->arrays[i].name);
		put_bytes(file, snapshot->arrays[i].bytes);
		fprintf(file, "<td class=\"number\">%" PRIu64 "</td></tr>\n",
			snapshot->arrays[i].count);
	}
	fputs("</tbody></table></div>\n</section>\n", file);
	return 0;
}

/* ---- quality */

static int put_quality(FILE *file, const struct page *page)
{
	const struct heap_quality *quality = &page->look->snapshot.quality;

	fprintf(file,
		"<ul class=\"facts\">\n<li>The process went on meanwhile: what it made and dropped "
		"may be counted or not.</li>\n<li>%" PRIu64 " pools, %" PRIu64
		" read again as they had changed meanwhile, %" PRIu64
		" torn all the same</li>\n<li>%" PRIu64
		" objects (%s) with no known holder</li>\n<li>%s swapped out and %s of address "
		"space "
		"not looked at</li>\n<li>%" PRIu64 " heap%s of malloc not whole</li>\n",
		quality->pools, quality->reread_pools, quality->torn_pools, quality->unheld_objects,
		figure_bytes(quality->unheld_bytes).text, figure_bytes(quality->swapped_bytes).text,
		figure_bytes(quality->skipped_bytes).text, quality->broken_heaps,
		figure_plural(quality->broken_heaps));
	if (quality->skipped_bytes || quality->cut_types || quality->cut_paths ||
	    quality->cut_blocks)
		fputs("<li>There is more than is looked at: not all of it is counted.</li>\n",
		      file);
	fputs("</ul>\n", file);
	return 0;
}

/* ---- for the script */

/* One member of all nodes, as a JSON array. */
#define PUT_COLUMN(file, name, tree, member)                                                       \
	do {                                                                                       \
		fprintf(file, ",\n\"%s\":[", name);                                                \
		for (size_t i = 0; i < (tree)->node_count; i++)                                    \
			fprintf(file, "%s%" PRIu64, i ? "," : "",                                  \
				(uint64_t)(tree)->nodes[i].member);                                \
		fputc(']', file);                                                                  \
	} while (0)

void heap_html_tree(FILE *file, const struct heap_tree *tree)
{
	fputs("\n\"frames\":[", file);
	for (size_t i = 0; i < tree->frame_count; i++) {
		char words[HEAP_FRAME_BYTES];

		heap_frame_words(&tree->frames[i], words);
		fputs(i ? ",\n" : "\n", file);
		escape_json(file, words);
	}
	fputc(']', file);
	PUT_COLUMN(file, "depth", tree, depth);
	PUT_COLUMN(file, "frame", tree, frame);
	PUT_COLUMN(file, "bytes", tree, bytes);
	PUT_COLUMN(file, "count", tree, count);
	fprintf(file, ",\n\"folded\":%zu", tree->folded);
}

static void put_type_rows(FILE *file, const struct heap_snapshot *snapshot)
{
	size_t count = snapshot->type_count < TYPES_MAX ? snapshot->type_count : TYPES_MAX;

	fputs(",\n\"types\":[", file);
	for (size_t i = 0; i < count; i++) {
		const struct heap_type_count *type = &snapshot->types[i];

		fputs(i ? ",\n[" : "\n[", file);
		escape_json(file, type->name);
		fprintf(file, ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 "]", type->count,
			type->bytes + type->storage_bytes, type->storage_bytes);
	}
	fprintf(file, "],\n\"types_omitted\":%zu", snapshot->type_count - count);
}

static void put_holder_rows(FILE *file, const struct page *page)
{
	const struct heap_snapshot *snapshot = &page->look->snapshot;

	if (!page->holders) {
		fputs(",\n\"holders\":null", file);
		return;
	}
	fputs(",\n\"holders\":[", file);
	for (size_t i = 0; i < page->holder_count; i++) {
		const struct heap_holder *holder = &page->holders[i];
		char words[PATH_BYTES];

		heap_holder_words(snapshot, holder->path, words, sizeof(words));
		fputs(i ? ",\n[" : "\n[", file);
		escape_json(file, words);
		fputc(',', file);
		escape_json(file, heap_holder_type(snapshot, holder->path));
		fprintf(file, ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 "]", holder->bytes,
			holder->count, snapshot->paths.items[holder->path].bytes,
			snapshot->held_counts[holder->path]);
	}
	fputc(']', file);
}

static int put_data_json(FILE *file, const void *context)
{
	const struct page *page = context;
	const struct heap_snapshot *snapshot = &page->look->snapshot;
	struct heap_tree tree;

	if (heap_tree_init(&tree, snapshot, HEAP_HTML_NODES_MAX))
		return -ENOMEM;
	fprintf(file, "{\"rss\":%" PRIu64 ",", snapshot->regions.rss_bytes);
	heap_html_tree(file, &tree);
	heap_tree_deinit(&tree);
	put_type_rows(file, snapshot);
	put_holder_rows(file, page);
	fputs("}\n", file);
	return ferror(file) ? -EIO : 0;
}

static int put_data(FILE *file, const struct page *page)
{
	return html_data(file, "heap-data", page, put_data_json);
}

/* ---- the page */

static size_t put_part(FILE *file, const void *context, const char *text, size_t size,
		       int *ret_result)
{
	static const struct {
		const char *name;
		int (*put)(FILE *file, const struct page *page);
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

int heap_write_html(const struct heap_look *look, const struct writer_options *options, FILE *file)
{
	struct page page = { .look = look };
	int error = 0;

	(void)options;
	if (look->snapshot.holders == HEAP_HOLDERS_KNOWN)
		error = heap_holders_choose(&look->snapshot, HOLDERS_MAX, &page.holders,
					    &page.holder_count);
	if (!error)
		error = html_fill(file, html_heap_page(), put_part, &page);
	free(page.holders);
	return error;
}
