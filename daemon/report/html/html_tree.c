/* SPDX-License-Identifier: Apache-2.0 */
/*
 *   "lines_omitted":0, "advice":{category: text}, "marks":{index of a line: [from, to]},
 *    "foreign":[1 for a line of a library, else 0, ...], "processors":2,
 *    "texts":[{"file":..., "own":1, "line":[...], "text":[...]}, ...],
 *    "frames":[[kind, function, file, line, 1 for the program's own], ...],
 *    "depth":[...], "frame":[...], "python":[...], "native":[...], "system":[...],
 *    "slice_ns":100000000, "slice_count":100,
 *    "stacks":{"thread":[...], "node":[...], "python":[...], ...},
 *    "slices":{"node":[...], "slice":[...], "python":[...], ...}}
 *
 * kind: 0 Python, 1 native, 2 a process.
 *
 * Tables are written by column: a third of the size of objects. Not stable;
 * flame.js and page.js are its readers.
 */
#include "daemon/report/html/html_tree.h"

#include "daemon/cct/library_path.h"
#include "daemon/report/encode/escape.h"
#include "daemon/report/model/frame_function.h"
#include "daemon/report/model/line_mark.h"
#include "daemon/report/model/own_line.h"

#include <errno.h>
#include <inttypes.h>

static void html_tree_put_frame(FILE *file, const struct profile_frame *frame)
{
	char buffer[FRAME_FUNCTION_BYTES];

	fprintf(file, "[%d,",
		frame->kind == FRAME_PYTHON      ? 0
		: frame->kind == FRAME_PROCESS   ? 2
		: profile_frame_is_kernel(frame) ? 3
						 : 1);
	escape_json(file, frame_function(frame, true, buffer, sizeof(buffer)));
	fputc(',', file);
	escape_json(file, frame->file);
	fprintf(file, ",%d,%d]", frame->kind == FRAME_PYTHON ? frame->line : 0,
		own_line_is_own(frame));
}

/* One member of all items, as a JSON array. */
#define PUT_COLUMN(file, before, name, items, count, member)                                       \
	do {                                                                                       \
		fprintf(file, "%s\"%s\":[", before, name);                                         \
		for (size_t i = 0; i < (count); i++)                                               \
			fprintf(file, "%s%" PRIu64, i ? "," : "", (uint64_t)(items)[i].member);    \
		fputc(']', file);                                                                  \
	} while (0)

static void put_nodes(FILE *file, const struct profile_tree *tree)
{
	PUT_COLUMN(file, ",\n", "depth", tree->nodes, tree->node_count, depth);
	PUT_COLUMN(file, ",\n", "frame", tree->nodes, tree->node_count, frame);
	PUT_COLUMN(file, ",\n", "python", tree->nodes, tree->node_count, time_ns[TIME_PYTHON]);
	PUT_COLUMN(file, ",\n", "native", tree->nodes, tree->node_count, time_ns[TIME_NATIVE]);
	PUT_COLUMN(file, ",\n", "system", tree->nodes, tree->node_count, time_ns[TIME_SYSTEM]);
}

/* "waiting":{"lock":[...],"gil":[...],...}, columns like the others. */
static void html_tree_put_waiting(FILE *file, const struct profile_tree *tree)
{
	fputs(",\n\"waiting\":{", file);
	for (unsigned kind = 0; kind < WAIT_KIND_COUNT; kind++)
		PUT_COLUMN(file, kind ? ",\n" : "", wait_kind_name((enum wait_kind)kind),
			   tree->nodes, tree->node_count, side.waiting_ns[kind]);
	fputc('}', file);
}

static void put_slices(FILE *file, const struct profile_timeline *timeline)
{
	const struct profile_cell *cells = timeline->cells;

	fprintf(file, ",\n\"slice_ns\":%" PRIu64 ",\n\"slice_count\":%zu,\n\"slices\":{",
		timeline->slice_ns, timeline->slice_count);
	PUT_COLUMN(file, "\n", "node", cells, timeline->cell_count, owner);
	PUT_COLUMN(file, ",\n", "slice", cells, timeline->cell_count, slice);
	PUT_COLUMN(file, ",\n", "python", cells, timeline->cell_count, time_ns[TIME_PYTHON]);
	PUT_COLUMN(file, ",\n", "native", cells, timeline->cell_count, time_ns[TIME_NATIVE]);
	PUT_COLUMN(file, ",\n", "system", cells, timeline->cell_count, time_ns[TIME_SYSTEM]);
	fputc('}', file);
}

/* What each thread did where, of the whole run. */
static void html_tree_put_stacks(FILE *file, const struct profile_facts *facts)
{
	const struct profile_stack *stacks = facts->stacks;
	size_t count = facts->stack_count;

	if (!count)
		return;
	PUT_COLUMN(file, ",\n\"stacks\":{", "thread", stacks, count, thread);
	PUT_COLUMN(file, ",\n", "node", stacks, count, node);
	PUT_COLUMN(file, ",\n", "python", stacks, count, time_ns[TIME_PYTHON]);
	PUT_COLUMN(file, ",\n", "native", stacks, count, time_ns[TIME_NATIVE]);
	PUT_COLUMN(file, ",\n", "system", stacks, count, time_ns[TIME_SYSTEM]);
	fputc('}', file);
}

static size_t characters(const char *text, size_t bytes)
{
	size_t count = 0;

	for (size_t i = 0; i < bytes; i++)
		count += ((unsigned char)text[i] & 0xc0) != 0x80;
	return count;
}

/* By index of the line: where in its source the expression of its finding is, in characters. */
static void put_marks(FILE *file, const struct profile *profile, size_t lines_max)
{
	bool first = true;

	fputs("},\n\"marks\":{", file);
	for (size_t i = 0; i < profile->line_count && i < lines_max; i++) {
		const char *source = profile->lines[i].source;
		size_t from, to;

		if (!line_mark(&profile->lines[i], &from, &to))
			continue;
		fprintf(file, "%s\"%zu\":[%zu,%zu]", first ? "" : ",", i, characters(source, from),
			characters(source, to));
		first = false;
	}
}

/* The functions that the lines are in, as they were when they were sampled. */
static void html_tree_put_texts(FILE *file, const struct profile *profile)
{
	bool first = true;

	fputs("],\n\"texts\":[", file);
	for (size_t at = 0; at < profile->source_count; at++) {
		const struct profile_source *source = &profile->sources[at];

		if (!source->text_count)
			continue;
		fprintf(file, "%s{\"file\":", first ? "\n" : ",\n");
		escape_json(file, source->file);
		fprintf(file, ",\"own\":%d", !path_is_library(source->file));
		PUT_COLUMN(file, ",", "line", source->texts, source->text_count, line);
		fputs(",\"text\":[", file);
		for (size_t k = 0; k < source->text_count; k++) {
			fputs(k ? "," : "", file);
			escape_json(file, source->texts[k].text);
		}
		fputs("]}", file);
		first = false;
	}
}

int html_tree(FILE *file, const struct profile *profile, size_t lines_max)
{
	const struct profile_tree *tree = &profile->tree;

	fprintf(file, "\"lines_omitted\":%zu,\n\"advice\":{",
		profile->line_count > lines_max ? profile->line_count - lines_max : 0);
	for (unsigned i = 0; i < CATEGORY_COUNT; i++) {
		const char *advice = category_advice((enum category)i);

		fputs(i ? "," : "", file);
		escape_json(file, category_name((enum category)i));
		fputc(':', file);
		escape_json(file, advice ? advice : "");
	}
	put_marks(file, profile, lines_max);
	fprintf(file, "},\n\"processors\":%" PRIu32 ",\n\"foreign\":[",
		profile->facts.target.processors);
	for (size_t i = 0; i < profile->line_count && i < lines_max; i++)
		fprintf(file, "%s%d", i ? "," : "", own_line_is_foreign(&profile->lines[i]));
	html_tree_put_texts(file, profile);
	fputs("],\n\"frames\":[", file);
	for (size_t i = 0; i < tree->frame_count; i++) {
		fputs(i ? ",\n" : "\n", file);
		html_tree_put_frame(file, &tree->frames[i]);
	}
	fputc(']', file);
	put_nodes(file, tree);
	if (profile->facts.waits)
		html_tree_put_waiting(file, tree);
	html_tree_put_stacks(file, &profile->facts);
	put_slices(file, &profile->facts.node_timeline);
	fputs("}\n", file);
	return ferror(file) ? -EIO : 0;
}
