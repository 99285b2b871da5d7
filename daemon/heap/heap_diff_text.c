/* SPDX-License-Identifier: Apache-2.0 */
/* The difference of two looks at a heap for people: one screen, unless more is asked for. */
#include "daemon/heap/heap_diff_words.h"
#include "daemon/heap/heap_diff_writers.h"
#include "daemon/heap/heap_growth_text.h"
#include "daemon/report/model/container_text.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Of both tables, where all of it is on one screen. */
#define ROWS_BRIEF_MIN 4
#define HEAD_LINES     3
#define HEADING_LINES  2 /* of a table */
#define ROWS_DETAILS   40
#define FIGURE_WIDTH   10
#define COUNT_WIDTH    11
#define PATH_BYTES     1024
/* Less than this part of the largest change is no row, and no part of memory. */
#define WORTH_A_ROW  200
#define WORTH_A_WORD 100
#define REGIONS      8

/* ---- what is compared */

struct moment {
	char text[32]; /* "24 Nov 2026 04:10:11, "; "": not known */
};

static struct moment moment_of(const struct heap_look *look)
{
	time_t seconds = (time_t)(look->unix_ns / 1000000000);
	struct moment moment = { "" };
	struct tm parts;

	if (look->unix_ns && localtime_r(&seconds, &parts) &&
	    !strftime(moment.text, sizeof(moment.text), "%d %b %Y %H:%M:%S, ", &parts))
		moment.text[0] = '\0';
	return moment;
}

/* "pid 12, Python 3.11.2: python3.11 app.py" */
static void process_words(const struct heap_look *look, char *words, size_t size)
{
	size_t used = (size_t)snprintf(words, size, "pid %d%s, Python %d.%d.%d:", (int)look->pid,
				       container_suffix(&look->container).text, look->python.major,
				       look->python.minor, look->python.micro);

	for (size_t i = 0; look->command && look->command[i] && used < size; i++) {
		const char *slash = i ? NULL : strrchr(look->command[i], '/');

		used += (size_t)snprintf(words + used, size - used, " %s",
					 slash ? slash + 1 : look->command[i]);
	}
}

static void put_sides(const struct text_layout *layout, const struct heap_diff *diff)
{
	static const char *const sameness[] = { [HEAP_SAME_UNKNOWN] = "",
						[HEAP_SAME] = "the same process",
						[HEAP_SAME_NOT] = "another process, " };
	const struct heap_look *base = &diff->files[HEAP_BASE]->look,
			       *now = &diff->files[HEAP_NOW]->look;
	char process[800] = "", words[1024], span[48] = "";
	double seconds;

	process_words(base, process, sizeof(process));
	snprintf(words, sizeof(words), "%s%s", moment_of(base).text, process);
	fputs("  base  ", layout->file);
	text_last_cell(layout, words, layout->columns - 8);
	if (heap_diff_seconds(diff, &seconds))
		snprintf(span, sizeof(span), "%s %s, ", heap_words_time(fabs(seconds)).text,
			 seconds < 0 ? "earlier" : "later");
	process[0] = '\0';
	if (diff->process != HEAP_SAME)
		process_words(now, process, sizeof(process));
	snprintf(words, sizeof(words), "%s%s%s", span, sameness[diff->process], process);
	fputs("  now   ", layout->file);
	text_last_cell(layout, words, layout->columns - 8);
}

/* ---- memory */

struct region_change {
	const char *name;
	int64_t bytes;
};

static int compare_regions(const void *left, const void *right)
{
	const struct region_change *a = left, *b = right;

	return a->bytes < b->bytes ? 1 : a->bytes > b->bytes ? -1 : 0;
}

static void list_regions(const struct heap_diff *diff, struct region_change changes[REGIONS])
{
	const struct heap_regions *base = &diff->files[HEAP_BASE]->look.snapshot.regions,
				  *now = &diff->files[HEAP_NOW]->look.snapshot.regions;
	const struct {
		const char *name;
		uint64_t before, after;
	} regions[REGIONS] = {
		{ "Python objects", base->objects_bytes, now->objects_bytes },
		{ "free in used pools", base->pool_free_bytes, now->pool_free_bytes },
		{ "malloc held by objects", base->malloc_held_bytes, now->malloc_held_bytes },
		{ "malloc held by nobody known", base->malloc_unheld_bytes,
		  now->malloc_unheld_bytes },
		{ "malloc free", base->free_bytes, now->free_bytes },
		{ "libraries and files", base->libraries_bytes, now->libraries_bytes },
		{ "stacks", base->stacks_bytes, now->stacks_bytes },
		{ "other", base->other_bytes, now->other_bytes },
	};

	for (size_t i = 0; i < REGIONS; i++)
		changes[i] = (struct region_change){
			regions[i].name, (int64_t)regions[i].after - (int64_t)regions[i].before
		};
	qsort(changes, REGIONS, sizeof(*changes), compare_regions);
}

static void put_memory(const struct text_layout *layout, const struct heap_diff *diff, bool brief)
{
	struct region_change changes[REGIONS];
	const uint64_t *rss = diff->parts[HEAP_DIFF_SAME];
	const char *separator = ":";
	uint64_t largest = 0;
	char words[512];
	size_t used;

	list_regions(diff, changes);
	for (size_t i = 0; i < REGIONS; i++)
		if ((uint64_t)llabs(changes[i].bytes) > largest)
			largest = (uint64_t)llabs(changes[i].bytes);
	used = (size_t)snprintf(words, sizeof(words), "%s in RAM, %s now (%s)",
				figure_bytes(rss[HEAP_BASE]).text, figure_bytes(rss[HEAP_NOW]).text,
				heap_text_signed((double)heap_diff_change(rss)).text);
	for (size_t i = 0; i < REGIONS && used < sizeof(words); i++) {
		uint64_t size = (uint64_t)llabs(changes[i].bytes);

		if (!size || (brief && size < largest / WORTH_A_WORD))
			continue;
		used += (size_t)snprintf(words + used, sizeof(words) - used, "%s %s %s", separator,
					 changes[i].name,
					 heap_text_signed((double)changes[i].bytes).text);
		separator = ",";
	}
	fputc('\n', layout->file);
	text_wrapped(layout, "MEMORY  ", words);
}

/* ---- tables */

struct row {
	int64_t bytes, count;
	bool present[HEAP_SIDES];
};

/* The words of a row's last cell. */
typedef void row_words(const struct heap_diff *diff, size_t row, char words[PATH_BYTES]);
typedef struct row row_figures(const struct heap_diff *diff, size_t row);

/* Rows sorted by their bytes, with those in the middle left out that are small, or too many. */
struct table {
	const char *heading, *columns;
	size_t count;
	row_figures *figures;
	row_words *words;
};

/* What there was not, or is not any more, is marked in front of its name, which may be cut. */
static void put_row(const struct text_layout *layout, const struct heap_diff *diff,
		    const struct table *table, size_t index)
{
	struct row row = table->figures(diff, index);
	char name[PATH_BYTES], words[PATH_BYTES + 8];

	table->words(diff, index, name);
	snprintf(words, sizeof(words), "%s%s",
		 !row.present[HEAP_BASE]  ? "new: "
		 : !row.present[HEAP_NOW] ? "gone: "
					  : "",
		 name);
	fprintf(layout->file, "%*s %+*" PRId64 "  ", FIGURE_WIDTH,
		heap_text_signed((double)row.bytes).text, COUNT_WIDTH, row.count);
	text_last_cell(layout, words, layout->columns - FIGURE_WIDTH - COUNT_WIDTH - 3);
}

static void put_table(const struct text_layout *layout, const struct heap_diff *diff,
		      const struct table *table, size_t grown_max, size_t shrunk_max)
{
	int64_t first = table->count ? table->figures(diff, 0).bytes : 0;
	int64_t last = table->count ? table->figures(diff, table->count - 1).bytes : 0;
	int64_t least = (first > -last ? first : -last) / WORTH_A_ROW;
	size_t grown = 0, shrunk = 0;

	while (grown < table->count && grown < grown_max &&
	       table->figures(diff, grown).bytes > least)
		grown++;
	while (shrunk < table->count && shrunk < shrunk_max &&
	       table->figures(diff, table->count - 1 - shrunk).bytes < -least)
		shrunk++;
	if (!grown && !shrunk)
		return;
	text_heading(layout, table->heading, "%s", table->columns);
	for (size_t i = 0; i < grown; i++)
		put_row(layout, diff, table, i);
	for (size_t i = table->count - shrunk; i < table->count; i++)
		put_row(layout, diff, table, i);
}

static struct row path_figures(const struct heap_diff *diff, size_t row)
{
	const struct heap_path_change *path = &diff->paths[diff->rows[row]];

	return (struct row){ heap_diff_change(path->bytes),
			     heap_diff_change(path->entries),
			     { path->present[HEAP_BASE], path->present[HEAP_NOW] } };
}

static void path_words(const struct heap_diff *diff, size_t row, char words[PATH_BYTES])
{
	heap_diff_path_words(diff, diff->rows[row], words, PATH_BYTES);
}

static struct row type_figures(const struct heap_diff *diff, size_t row)
{
	const struct heap_type_change *type = &diff->types[row];

	return (struct row){ heap_diff_change(type->bytes),
			     heap_diff_change(type->count),
			     { type->present[HEAP_BASE], type->present[HEAP_NOW] } };
}

static void type_words(const struct heap_diff *diff, size_t row, char words[PATH_BYTES])
{
	snprintf(words, PATH_BYTES, "%s", diff->types[row].name);
}

static struct row array_figures(const struct heap_diff *diff, size_t row)
{
	const struct heap_type_change *array = &diff->arrays[row];

	return (struct row){ heap_diff_change(array->bytes),
			     heap_diff_change(array->count),
			     { array->present[HEAP_BASE], array->present[HEAP_NOW] } };
}

static void array_words(const struct heap_diff *diff, size_t row, char words[PATH_BYTES])
{
	snprintf(words, PATH_BYTES, "%s", diff->arrays[row].name);
}

/* brief_rows: of holders and types together; 0: as many as are asked for. */
static void put_tables(const struct text_layout *layout, const struct heap_diff *diff,
		       const struct writer_options *options, size_t brief_rows)
{
	const struct table holders = { "CHANGE BY HOLDER",
				       "bytes below, objects there or one step on", diff->row_count,
				       path_figures, path_words };
	const struct table types = { "CHANGE BY TYPE", "bytes with storage, objects",
				     diff->type_count, type_figures, type_words };
	const struct table arrays = { "CHANGE OF ARRAYS",
				      "of numpy, by type of element: bytes of data, arrays",
				      diff->array_count, array_figures, array_words };
	size_t rows = options->lines_max ? options->lines_max : ROWS_DETAILS;
	size_t half = brief_rows / 2;

	if (brief_rows) {
		/* One of each for what shrank, or is gone. */
		put_table(layout, diff, &holders, brief_rows - half - 1, 1);
		put_table(layout, diff, &types, half - 1, 1);
		return;
	}
	put_table(layout, diff, &holders, rows, rows);
	put_table(layout, diff, &types, rows, rows);
	if (!options->brief)
		put_table(layout, diff, &arrays, rows, rows);
}

/* Of small holders a file knows nothing. */
static void put_quality(const struct text_layout *layout, const struct heap_diff *diff)
{
	char words[256];

	if (!diff->holders)
		return;
	snprintf(
		words, sizeof(words),
		"a holder that is in one look alone may have had up to %s in the base, and %s now: "
		"smaller ones are not in a file.",
		figure_bytes(diff->files[HEAP_BASE]->unlisted_bytes).text,
		figure_bytes(diff->files[HEAP_NOW]->unlisted_bytes).text);
	fputc('\n', layout->file);
	text_wrapped(layout, "QUALITY  ", words);
}

static int put_verdict(const struct text_layout *layout, const struct heap_diff *diff)
{
	struct heap_words *words = calloc(1, sizeof(*words));

	if (!words)
		return -ENOMEM;
	heap_diff_words_say(diff, words);
	fputc('\n', layout->file);
	text_wrapped(layout, "VERDICT  ", words->headline);
	for (size_t i = 0; i < words->sentence_count; i++)
		text_wrapped(layout, "  ", words->sentences[i]);
	free(words);
	return 0;
}

/* What a part writes, and how many lines that is. */
struct part {
	char *text;
	size_t size, lines;
};

static int make_part(const struct text_layout *layout, const struct heap_diff *diff, bool verdict,
		     bool brief, struct part *ret_part)
{
	struct text_layout own = *layout;
	int error = 0;

	*ret_part = (struct part){ 0 };
	own.file = open_memstream(&ret_part->text, &ret_part->size);
	if (!own.file)
		return -ENOMEM;
	if (verdict)
		error = put_verdict(&own, diff);
	else
		put_memory(&own, diff, brief);
	if (fclose(own.file) && !error)
		error = -ENOMEM;
	for (size_t i = 0; !error && i < ret_part->size; i++)
		ret_part->lines += ret_part->text[i] == '\n';
	return error;
}

static size_t rows_that_fit(const struct part *memory, const struct part *verdict)
{
	size_t others = HEAD_LINES + memory->lines + verdict->lines + 2 * HEADING_LINES;

	return others + ROWS_BRIEF_MIN < TEXT_BRIEF_LINES ? TEXT_BRIEF_LINES - others
							  : ROWS_BRIEF_MIN;
}

int heap_diff_write_text(const struct heap_diff *diff, const struct writer_options *options,
			 FILE *file)
{
	const struct text_layout layout = {
		.file = file,
		.columns = text_columns(options->columns),
		.colour = options->colour,
	};
	bool brief = options->brief && !options->lines_max;
	struct part memory = { 0 }, verdict = { 0 };
	int error = make_part(&layout, diff, false, options->brief, &memory);

	if (!error)
		error = make_part(&layout, diff, true, options->brief, &verdict);
	if (!error) {
		fputs("pieprofd " PIEPROFD_VERSION ", the difference of two looks at a heap\n",
		      file);
		put_sides(&layout, diff);
		if (!options->verdict_last)
			fputs(verdict.text, file);
		fputs(memory.text, file);
		put_tables(&layout, diff, options, brief ? rows_that_fit(&memory, &verdict) : 0);
		if (!options->brief)
			put_quality(&layout, diff);
		if (options->verdict_last)
			fputs(verdict.text, file);
	}
	free(memory.text);
	free(verdict.text);
	return error ? error : ferror(file) ? -EIO : 0;
}
