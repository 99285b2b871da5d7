/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/heap/heap_growth_text.h"
#include "daemon/heap/heap_holder.h"
#include "daemon/heap/heap_writer.h"
#include "daemon/report/encode/figure.h"
#include "daemon/report/format/text_layout.h"
#include "daemon/report/model/container_text.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Of each table: both, and all around them, fit a terminal of 24 rows. */
#define ROWS_BRIEF   6
#define ROWS_DETAILS 40
#define ROWS_GROWTH  3
#define ARRAY_ROWS   8
#define PATH_BYTES   1024
#define FIGURE_WIDTH 10
#define COUNT_WIDTH  11

static void put_process(const struct text_layout *layout, const struct heap_look *look)
{
	struct container_text container = container_words(&look->container);
	char words[1024];
	size_t used = (size_t)snprintf(
		words, sizeof(words), "pieprofd %s, pid %d, Python %d.%d.%d:", PIEPROFD_VERSION,
		(int)look->pid, look->python.major, look->python.minor, look->python.micro);

	for (size_t i = 0; look->command && look->command[i] && used < sizeof(words); i++) {
		const char *slash = i ? NULL : strrchr(look->command[i], '/');

		used += (size_t)snprintf(words + used, sizeof(words) - used, " %s",
					 slash ? slash + 1 : look->command[i]);
	}
	text_last_cell(layout, words, layout->columns);
	if (container.text[0]) {
		fputs("  in ", layout->file);
		text_last_cell(layout, container.text, layout->columns - 5);
	}
	if (look->course) {
		heap_text_looks(layout, look);
		return;
	}
	snprintf(words, sizeof(words), "one look of %s, %s copied; nothing was stopped",
		 figure_ns(look->snapshot.quality.total_ns).text,
		 figure_bytes(look->snapshot.quality.copied_bytes).text);
	fputs("  ", layout->file);
	text_last_cell(layout, words, layout->columns - 2);
}

static void put_regions(const struct text_layout *layout, const struct heap_snapshot *snapshot)
{
	const struct heap_regions *regions = &snapshot->regions;
	const char *allocator = snapshot->allocator;
	char words[1024];

	snprintf(words, sizeof(words),
		 "%s in RAM = Python objects %s + free in used pools %s + malloc: held by objects "
		 "%s, by nobody known %s, free %s + libraries and files %s + stacks %s + "
		 "other%s%s%s %s",
		 figure_bytes(regions->rss_bytes).text, figure_bytes(regions->objects_bytes).text,
		 figure_bytes(regions->pool_free_bytes).text,
		 figure_bytes(regions->malloc_held_bytes).text,
		 figure_bytes(regions->malloc_unheld_bytes).text,
		 figure_bytes(regions->free_bytes).text,
		 figure_bytes(regions->libraries_bytes).text,
		 figure_bytes(regions->stacks_bytes).text, allocator ? " (" : "",
		 allocator ? allocator : "", allocator ? ")" : "",
		 figure_bytes(regions->other_bytes).text);
	fputc('\n', layout->file);
	text_wrapped(layout, "MEMORY  ", words);
}

static void put_holder(const struct text_layout *layout, const struct heap_snapshot *snapshot,
		       const struct heap_holder *holder)
{
	char path[PATH_BYTES], words[PATH_BYTES + HEAP_NAME_BYTES + 8];
	const char *type = heap_holder_type(snapshot, holder->path);

	heap_holder_words(snapshot, holder->path, path, sizeof(path));
	snprintf(words, sizeof(words), "%s%s%s%s", path, *type ? "  (" : "", type,
		 *type ? ")" : "");
	fprintf(layout->file, "%*s %*" PRIu64 "  ", FIGURE_WIDTH, figure_bytes(holder->bytes).text,
		COUNT_WIDTH, holder->count);
	text_last_cell(layout, words, layout->columns - FIGURE_WIDTH - COUNT_WIDTH - 3);
}

static void put_no_holders(const struct text_layout *layout, const struct heap_look *look)
{
	char words[256];

	if (look->snapshot.holders == HEAP_HOLDERS_UNWANTED)
		return;
	snprintf(
		words, sizeof(words),
		"not looked for: that takes about as much memory as the process has, and %s may be "
		"used here (--max-memory).",
		figure_bytes(look->memory_bytes).text);
	fputc('\n', layout->file);
	text_wrapped(layout, "HOLDERS  ", words);
}

static int put_holders(const struct text_layout *layout, const struct heap_look *look, size_t rows)
{
	struct heap_holder *holders;
	size_t count;
	int error;

	if (look->snapshot.holders != HEAP_HOLDERS_KNOWN) {
		put_no_holders(layout, look);
		return 0;
	}
	error = heap_holders_choose(&look->snapshot, rows, &holders, &count);
	if (error)
		return error;
	text_heading(layout, "HOLDERS",
		     "what is reached from where first: bytes below, objects "
		     "there");
	for (size_t i = 0; i < count; i++)
		put_holder(layout, &look->snapshot, &holders[i]);
	free(holders);
	return 0;
}

static void put_types(const struct text_layout *layout, const struct heap_snapshot *snapshot,
		      size_t rows)
{
	text_heading(layout, "TYPES", "bytes with storage, objects, storage alone");
	for (size_t i = 0; i < snapshot->type_count && i < rows; i++) {
		const struct heap_type_count *type = &snapshot->types[i];

		fprintf(layout->file, "%*s %*" PRIu64 " %*s  ", FIGURE_WIDTH,
			figure_bytes(type->bytes + type->storage_bytes).text, COUNT_WIDTH,
			type->count, FIGURE_WIDTH, figure_bytes(type->storage_bytes).text);
		text_last_cell(layout, type->name,
			       layout->columns - 2 * FIGURE_WIDTH - COUNT_WIDTH - 4);
	}
}

static void put_arrays(const struct text_layout *layout, const struct heap_snapshot *snapshot)
{
	if (!snapshot->array_count)
		return;
	text_heading(layout, "ARRAYS", "of numpy, by type of element: bytes of data, arrays");
	for (size_t i = 0; i < snapshot->array_count && i < ARRAY_ROWS; i++)
		fprintf(layout->file, "%*s %*" PRIu64 "  %s\n", FIGURE_WIDTH,
			figure_bytes(snapshot->arrays[i].bytes).text, COUNT_WIDTH,
			snapshot->arrays[i].count, snapshot->arrays[i].name);
}

static void put_quality(const struct text_layout *layout, const struct heap_look *look)
{
	const struct heap_quality *quality = &look->snapshot.quality;
	char words[1024];

	snprintf(
		words, sizeof(words),
		"%" PRIu64 " pools, %" PRIu64 " read again as they had changed meanwhile, %" PRIu64
		" torn all the same; %" PRIu64 " objects (%s) with no known holder; %s swapped out "
		"and %s of address space not looked at; %" PRIu64 " heaps of malloc not whole.",
		quality->pools, quality->reread_pools, quality->torn_pools, quality->unheld_objects,
		figure_bytes(quality->unheld_bytes).text, figure_bytes(quality->swapped_bytes).text,
		figure_bytes(quality->skipped_bytes).text, quality->broken_heaps);
	fputc('\n', layout->file);
	text_wrapped(layout, "QUALITY  ", words);
}

/* What a reader of one screen has to know, too. */
static void put_cuts(const struct text_layout *layout, const struct heap_look *look)
{
	const struct heap_quality *quality = &look->snapshot.quality;

	if (quality->skipped_bytes || quality->cut_types || quality->cut_paths ||
	    quality->cut_blocks)
		text_wrapped(layout, "  ",
			     "There is more than is looked at: not all of it is counted.");
	if (quality->broken_heaps)
		text_wrapped(layout, "  ",
			     "Some of malloc's memory could not be followed: it changed, or is "
			     "damaged.");
}

static void put_allocator(const struct text_layout *layout, const struct heap_snapshot *snapshot)
{
	const struct heap_quality *quality = &snapshot->quality;
	char words[256];

	if (!snapshot->allocator)
		return;
	if (snapshot->holders == HEAP_HOLDERS_KNOWN)
		snprintf(words, sizeof(words),
			 "The process has memory of %s, which is not read: %s in it were found by "
			 "references, garbage there was not.",
			 snapshot->allocator, figure_bytes(quality->found_bytes).text);
	else
		snprintf(words, sizeof(words),
			 "The process has memory of %s, which is not read, and without holders "
			 "nothing in it is counted.",
			 snapshot->allocator);
	text_wrapped(layout, "  ", words);
}

/* Of the look alone: beside what has grown, on one screen, there is no room for it. */
static int put_look(const struct text_layout *layout, const struct heap_look *look, size_t rows,
		    bool brief)
{
	int error;

	if (brief && look->course && look->course->growth.looks > 1)
		return 0;
	error = put_holders(layout, look, rows);
	if (error)
		return error;
	put_types(layout, &look->snapshot, rows);
	if (!brief) {
		put_arrays(layout, &look->snapshot);
		put_quality(layout, look);
	}
	return 0;
}

int heap_write_text(const struct heap_look *look, const struct writer_options *options, FILE *file)
{
	const struct text_layout layout = {
		.file = file,
		.columns = text_columns(options->columns),
		.colour = options->colour,
	};
	size_t rows = options->lines_max ? options->lines_max
		      : options->brief   ? ROWS_BRIEF
					 : ROWS_DETAILS;
	int error = 0;

	put_process(&layout, look);
	if (look->course && !options->verdict_last)
		heap_text_verdict(&layout, look);
	put_regions(&layout, &look->snapshot);
	if (look->course)
		error = heap_text_growth(
			&layout, look, options->brief && !options->lines_max ? ROWS_GROWTH : rows);
	if (!error)
		error = put_look(&layout, look, rows, options->brief);
	if (error)
		return error;
	put_allocator(&layout, &look->snapshot);
	put_cuts(&layout, look);
	if (look->course && options->verdict_last)
		heap_text_verdict(&layout, look);
	return ferror(file) ? -EIO : 0;
}
