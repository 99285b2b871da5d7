/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/heap/heap_growth_text.h"

#include "daemon/heap/heap_words.h"
#include "daemon/report/encode/figure.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define FIGURE_WIDTH 10
#define COUNT_WIDTH  11
#define PATH_BYTES   1024
/* Less than this part of the first row is not. */
#define WORTH_A_ROW 200

void heap_text_verdict(const struct text_layout *layout, const struct heap_look *look)
{
	struct heap_words *words = calloc(1, sizeof(*words));

	if (!words)
		return;
	heap_words_say(look, words);
	fputc('\n', layout->file);
	text_wrapped(layout, "VERDICT  ", words->headline);
	for (size_t i = 0; i < words->sentence_count; i++)
		text_wrapped(layout, "  ", words->sentences[i]);
	free(words);
}

struct figure heap_text_signed(double bytes)
{
	struct figure size = figure_bytes((uint64_t)fabs(bytes)), figure;

	snprintf(figure.text, sizeof(figure.text), "%s%.20s", bytes < 0 ? "-" : "+", size.text);
	return figure;
}

static void put_row(const struct text_layout *layout, double bytes, double count, const char *words)
{
	fprintf(layout->file, "%*s %+*.*f  ", FIGURE_WIDTH, heap_text_signed(bytes).text,
		COUNT_WIDTH, fabs(count) < 10 && fabs(count) > 0 ? 1 : 0, count);
	text_last_cell(layout, words, layout->columns - FIGURE_WIDTH - COUNT_WIDTH - 3);
}

static void put_growers(const struct text_layout *layout, const struct heap_look *look, size_t rows)
{
	const struct heap_course *course = look->course;

	if (!course->grower_count)
		return;
	text_heading(layout, "GROWING",
		     "containers with more and more in them: entries a second, "
		     "how many there are");
	for (size_t i = 0; i < course->grower_count && i < rows; i++) {
		const struct heap_grower *grower = &course->growers[i];
		char words[PATH_BYTES];

		heap_words_path(look, grower->path, words, sizeof(words));
		fprintf(layout->file, "%+*.*f %*" PRIu64 "  ", FIGURE_WIDTH,
			grower->trend.per_s < 10 ? 1 : 0, grower->trend.per_s, COUNT_WIDTH,
			grower->trend.last);
		text_last_cell(layout, words, layout->columns - FIGURE_WIDTH - COUNT_WIDTH - 3);
	}
}

static void put_paths(const struct text_layout *layout, const struct heap_look *look, size_t rows)
{
	const struct heap_course *course = look->course;

	if (!course->path_count)
		return;
	text_heading(layout, "GROWTH BY HOLDER", "a second: bytes below, objects there");
	for (size_t i = 0; i < course->path_count && i < rows; i++) {
		char words[PATH_BYTES];

		if (course->paths[i].bytes < course->paths[0].bytes / WORTH_A_ROW)
			break;
		heap_words_path(look, course->paths[i].path, words, sizeof(words));
		put_row(layout, course->paths[i].bytes_per_s, course->paths[i].count_per_s, words);
	}
}

struct type_row {
	const char *name;
	int64_t gain;
	double bytes, count;
};

static int compare_rows(const void *left, const void *right)
{
	const struct type_row *a = left, *b = right;

	return a->gain < b->gain ? 1 : a->gain > b->gain ? -1 : 0;
}

static int put_types(const struct text_layout *layout, const struct heap_look *look, size_t rows)
{
	const struct heap_snapshot *snapshot = &look->snapshot;
	const struct heap_growth *growth = &look->course->growth;
	struct type_row *types = calloc(snapshot->type_count + 1, sizeof(*types));
	size_t count = 0;

	if (!types)
		return -ENOMEM;
	for (size_t i = 0; i < snapshot->type_count; i++) {
		const struct heap_row *row = heap_growth_type(growth, &snapshot->types[i]);
		struct heap_trend trend;

		if (!row)
			continue;
		trend = heap_growth_trend(growth, row->bytes);
		if (trend.gain > 0)
			types[count++] =
				(struct type_row){ snapshot->types[i].name, trend.gain, trend.per_s,
						   heap_growth_trend(growth, row->counts).per_s };
	}
	if (count) {
		qsort(types, count, sizeof(*types), compare_rows);
		text_heading(layout, "GROWTH BY TYPE", "a second: bytes with storage, objects");
	}
	for (size_t i = 0; i < count && i < rows && types[i].gain >= types[0].gain / WORTH_A_ROW;
	     i++)
		put_row(layout, types[i].bytes, types[i].count, types[i].name);
	free(types);
	return 0;
}

int heap_text_growth(const struct text_layout *layout, const struct heap_look *look, size_t rows)
{
	put_growers(layout, look, rows);
	put_paths(layout, look, rows);
	return put_types(layout, look, rows);
}

void heap_text_looks(const struct text_layout *layout, const struct heap_look *look)
{
	const struct heap_course *course = look->course;
	const struct heap_growth *growth = &course->growth;
	char words[1024], stops[160] = "nobody was stopped", probes[200] = "";

	if (course->watch)
		snprintf(stops, sizeof(stops),
			 "threads were stopped %" PRIu64 " times, for %s in all",
			 heap_watch_stops(course->watch),
			 figure_ns(heap_watch_stopped_ns(course->watch)).text);
	if (course->probes) {
		struct allocation_counts_sum counts = heap_probes_figures(course->probes).counts;

		snprintf(probes, sizeof(probes),
			 "; there were probes at malloc() %" PRIu64
			 " times, for %s in all, hit %" PRIu64 " times, which cost %s",
			 counts.windows, figure_ns(counts.probed_ns).text, counts.hits,
			 figure_ns(counts.cost_ns).text);
	}
	snprintf(words, sizeof(words),
		 "%" PRIu64
		 " looks, %s of CPU time each, of which %s to copy; %s%s. Not followed, as "
		 "they are many and small: %" PRIu64 " types, %" PRIu64 " paths, %" PRIu64
		 " containers. Left out, as memory moved while it was copied: %" PRIu64 " looks.",
		 growth->taken, figure_ns(growth->cpu_ns / growth->taken).text,
		 figure_ns(growth->copy_cpu_ns / growth->taken).text, stops, probes,
		 growth->types.left_out, growth->paths.left_out, growth->containers.left_out,
		 growth->torn);
	text_wrapped(layout, "  ", words);
}
