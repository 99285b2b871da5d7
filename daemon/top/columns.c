/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/top/columns.h"

#include "daemon/report/encode/figure.h"
#include "daemon/report/model/verdict.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define PLACE_COLUMNS_MIN  12
#define SOURCE_COLUMNS_MIN 12
#define GAP                2 /* before a column of text */
/* Fewer watched accesses are shown as a fraction: a percentage of three is none. */
#define PERCENT_WATCHED_MIN 10

/* From this width of the screen on, which is how a narrow one loses columns. */
struct column_rule {
	const char *heading;
	unsigned from[TOP_VIEW_COUNT]; /* UINT_MAX: never */
	unsigned width;
};

#define NEVER UINT32_MAX

static const struct column_rule rules[COLUMN_PLACE] = {
	[COLUMN_SELF] = { "SELF%", { 20, 20, 20, NEVER }, 6 },
	[COLUMN_TOTAL] = { "TOTAL%", { 56, 40, NEVER, NEVER }, 7 },
	[COLUMN_CPU] = { "CPU%", { NEVER, NEVER, 36, NEVER }, 7 },
	[COLUMN_BAR] = { "P/N/S", { 64, 64, 30, NEVER }, 7 },
	[COLUMN_REDUNDANT] = { "REDUND", { 36, 56, NEVER, 36 }, 7 },
	[COLUMN_AVOIDABLE] = { "SAVE%", { 48, 72, NEVER, 20 }, 7 },
	[COLUMN_FRESH] = { "FRESH/s", { 36, 36, NEVER, NEVER }, 10 },
	[COLUMN_KIND] = { "KIND", { NEVER, NEVER, NEVER, 48 }, 6 },
};

static const char *const bar_utf8[TIME_CLASS_COUNT] = { "\u2588", "\u2592", "\u2591" };
static const char *const bar_ascii[TIME_CLASS_COUNT] = { "P", "n", "s" };

_Static_assert(SCREEN_SYSTEM - SCREEN_PYTHON + 1 == TIME_CLASS_COUNT,
	       "each class of time has a style and a character");

const char *columns_bar_character(const struct screen *screen, size_t time_class)
{
	return screen->utf8 ? bar_utf8[time_class] : bar_ascii[time_class];
}

void columns_put_bar(struct screen *screen, unsigned row, unsigned column, unsigned width,
		     const uint64_t time_ns[TIME_CLASS_COUNT])
{
	uint64_t total_ns = time_sum(time_ns), sum_ns = 0;
	unsigned at = 0;

	if (!total_ns)
		return;
	for (size_t i = 0; i < TIME_CLASS_COUNT; i++) {
		unsigned end;

		sum_ns += time_ns[i];
		/* The ends are rounded, not the lengths: the bar is always full. */
		end = (unsigned)((double)sum_ns / (double)total_ns * width + 0.5);
		if (end > at)
			screen_fill(screen, row, column + at, end - at,
				    SCREEN_PYTHON + (enum screen_style)i,
				    columns_bar_character(screen, i));
		at = end > at ? end : at;
	}
}

const char *columns_base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

/* "FILE:LINE" with as many folders as fit; native functions have a name instead. */
static void place_words(const char *file, int line, const char *function, unsigned width,
			char *words, size_t size)
{
	char suffix[16] = "";
	size_t room;

	if (line <= 0) {
		snprintf(words, size, "%s",
			 strcmp(function, "?") ? function : columns_base_name(file));
		return;
	}
	snprintf(suffix, sizeof(suffix), ":%d", line);
	room = width > strlen(suffix) ? width - strlen(suffix) : 0;
	/* Bytes, not columns: at worst a folder more than needed is left out. */
	if (strlen(file) > room) {
		const char *shown = columns_base_name(file);

		for (const char *at = file; (at = strchr(at, '/')); at++)
			if (at[1] && strlen(at + 1) <= room) {
				shown = at + 1;
				break;
			}
		file = shown;
	}
	snprintf(words, size, "%s%s", file, suffix);
}

/* Without folders: what is wanted at least. */
static size_t place_length(const struct top_model *model, const struct top_row *row)
{
	const struct profile *profile = model->profile;
	char words[512] = "";

	switch (model->view) {
	case TOP_LINES:
		place_words(profile->lines[row->index].file, profile->lines[row->index].line,
			    profile->lines[row->index].function, 0, words, sizeof(words));
		break;
	case TOP_FUNCTIONS:
		return strlen(profile->functions[row->index].function);
	case TOP_THREADS:
		return 8;
	case TOP_PAIRS:
		return 24;
	case TOP_VIEW_COUNT:
		break;
	}
	return strlen(words);
}

/* As wide as the rows in sight want, but half is left for what comes behind. */
static void plan_text(struct columns *columns, const struct top_model *model, unsigned at,
		      unsigned width)
{
	unsigned room = width > at + 1 ? width - at - 1 : 0, most = room * 11 / 20;
	size_t wanted = PLACE_COLUMNS_MIN;

	columns->columns[COLUMN_PLACE].at = at;
	columns->columns[COLUMN_PLACE].width = room;
	if (model->view == TOP_PAIRS || room < PLACE_COLUMNS_MIN + GAP + SOURCE_COLUMNS_MIN)
		return;
	for (size_t i = 0; i < model->page && model->first + i < model->row_count; i++) {
		size_t length = place_length(model, &model->rows[model->first + i]);

		/* One that is too long has its start cut off, and does not widen the others. */
		if (length > wanted && length <= most)
			wanted = length;
	}
	/* A wide screen shows folders. */
	if (model->view == TOP_LINES && room > 100 && wanted < room / 3)
		wanted = room / 3;
	columns->columns[COLUMN_PLACE].width = (unsigned)wanted;
	columns->columns[COLUMN_SOURCE].at = at + (unsigned)wanted + GAP;
	columns->columns[COLUMN_SOURCE].width = room - (unsigned)wanted - GAP;
}

static bool is_wanted(enum column column, enum top_sort sort)
{
	if (column == COLUMN_FRESH)
		return sort == TOP_BY_FRESH;
	return sort != TOP_BY_FRESH || (column != COLUMN_REDUNDANT && column != COLUMN_AVOIDABLE);
}

void columns_plan(struct columns *columns, const struct top_model *model, unsigned width)
{
	unsigned at = 0;

	*columns = (struct columns){ .view = model->view, .sort = model->sorts[model->view] };
	for (enum column column = 0; column < COLUMN_PLACE; column++) {
		const struct column_rule *rule = &rules[column];
		unsigned wide = rule->width;

		if (width < rule->from[model->view] || !is_wanted(column, columns->sort))
			continue;
		if (column == COLUMN_BAR)
			wide = width < 100 ? 7 : width < 120 ? 9 : width < 160 ? 17 : 25;
		if (column == COLUMN_REDUNDANT && width >= 100)
			wide = 14;
		columns->columns[column].at = at + 1;
		columns->columns[column].width = wide - 1;
		at += wide;
	}
	plan_text(columns, model, at + (at ? GAP : 1), width);
}

static enum column sorted_column(enum top_sort sort)
{
	switch (sort) {
	case TOP_BY_SELF:
		return COLUMN_SELF;
	case TOP_BY_TOTAL:
		return COLUMN_TOTAL;
	case TOP_BY_REDUNDANT:
		return COLUMN_REDUNDANT;
	case TOP_BY_FRESH:
		return COLUMN_FRESH;
	case TOP_BY_AVOIDABLE:
	case TOP_SORT_COUNT:
		break;
	}
	return COLUMN_AVOIDABLE;
}

void columns_put_heading(const struct columns *columns, struct screen *screen, unsigned row)
{
	static const char *const places[TOP_VIEW_COUNT] = { "LINE", "FUNCTION", "ID",
							    "EARLIER ACCESS > LATER ACCESS" };
	static const char *const ends[TOP_VIEW_COUNT] = { "SOURCE", "WHERE", "NAME", "" };

	for (enum column column = 0; column < COLUMN_COUNT; column++) {
		unsigned at = columns->columns[column].at, width = columns->columns[column].width;
		const char *heading = column == COLUMN_PLACE    ? places[columns->view]
				      : column == COLUMN_SOURCE ? ends[columns->view]
								: rules[column].heading;
		unsigned length = (unsigned)strlen(heading);
		bool figures =
			column < COLUMN_PLACE && column != COLUMN_BAR && column != COLUMN_KIND;

		if (!width)
			continue;
		screen_put(screen, row, figures && length < width ? at + width - length : at, width,
			   column == sorted_column(columns->sort) ? SCREEN_WARNING : SCREEN_STRONG,
			   heading);
	}
}

static void put_right(const struct columns *columns, struct screen *screen, unsigned row,
		      enum column column, enum screen_style style, const char *words)
{
	unsigned at = columns->columns[column].at, width = columns->columns[column].width;
	unsigned length = (unsigned)strlen(words);

	if (width)
		screen_put(screen, row, length < width ? at + width - length : at, width, style,
			   words);
}

/* digits: behind the point */
static void put_percent(const struct columns *columns, struct screen *screen, unsigned row,
			enum column column, enum screen_style style, uint64_t part, uint64_t whole,
			int digits)
{
	char words[16] = "-";

	/* Not "0.0": what is not there shall not look like a figure. */
	if (whole && part)
		snprintf(words, sizeof(words), "%.*f", digits, 100 * (double)part / (double)whole);
	put_right(columns, screen, row, column, style, words);
}

static void count_words(uint64_t count, char *words, size_t size)
{
	if (count < 10000)
		snprintf(words, size, "%" PRIu64, count);
	else if (count < 10000000)
		snprintf(words, size, "%" PRIu64 "k", count / 1000);
	else
		snprintf(words, size, "%" PRIu64 "M", count / 1000000);
}

static void put_redundancy(const struct columns *columns, struct screen *screen, unsigned row,
			   const struct top_figures *figures)
{
	uint64_t watched = figures->watched[PAIR_LOAD] + figures->watched[PAIR_STORE];
	uint64_t redundant = figures->redundant[PAIR_LOAD] + figures->redundant[PAIR_STORE];
	char words[48] = "-", count[24];

	if (watched >= PERCENT_WATCHED_MIN) {
		snprintf(words, sizeof(words), "%.0f%%", 100 * (double)redundant / (double)watched);
		if (columns->columns[COLUMN_REDUNDANT].width > 12) {
			count_words(watched, count, sizeof(count));
			snprintf(words, sizeof(words), "%.0f%% of %5s",
				 100 * (double)redundant / (double)watched, count);
		}
	} else if (watched) {
		snprintf(words, sizeof(words), "%u/%u", (unsigned)redundant, (unsigned)watched);
	}
	put_right(columns, screen, row, COLUMN_REDUNDANT, SCREEN_PLAIN, words);
}

/* Bytes a second of the window. */
static void put_fresh(const struct columns *columns, struct screen *screen, unsigned row,
		      uint64_t bytes, uint64_t duration_ns)
{
	double per_s = duration_ns ? (double)bytes / ((double)duration_ns / 1e9) : 0;

	put_right(columns, screen, row, COLUMN_FRESH, SCREEN_STRONG,
		  bytes ? figure_bytes((uint64_t)per_s).text : "-");
}

static void columns_put_text(const struct columns *columns, struct screen *screen, unsigned row,
			     enum column column, const char *text)
{
	screen_put(screen, row, columns->columns[column].at, columns->columns[column].width,
		   SCREEN_PLAIN, text);
}

static void columns_put_line(const struct columns *columns, struct screen *screen, unsigned row,
			     const struct top_model *model, const struct profile_line *line)
{
	unsigned width = columns->columns[COLUMN_PLACE].width;
	const char *source;
	char words[512];

	place_words(line->file, line->line, line->function, width, words, sizeof(words));
	screen_put_end(screen, row, columns->columns[COLUMN_PLACE].at, width, SCREEN_PLAIN, words);
	if (!columns->columns[COLUMN_SOURCE].width)
		return;
	source = top_model_source(model, line->file, line->line, line->source);
	if (!source || !*source)
		source = line->line ? line->function : columns_base_name(line->file);
	columns_put_text(columns, screen, row, COLUMN_SOURCE, source);
}

static void put_function(const struct columns *columns, struct screen *screen, unsigned row,
			 const struct profile_function *function)
{
	char words[512];

	columns_put_text(columns, screen, row, COLUMN_PLACE, function->function);
	place_words(function->file, function->line, columns_base_name(function->file),
		    columns->columns[COLUMN_SOURCE].width, words, sizeof(words));
	columns_put_text(columns, screen, row, COLUMN_SOURCE, words);
}

static const struct profile_frame *innermost_python(const struct profile_frame *frames,
						    size_t count)
{
	while (count-- > 0)
		if (frames[count].kind == FRAME_PYTHON)
			return &frames[count];
	return NULL;
}

static size_t end_words(const struct profile_frame *frames, size_t count, bool same_line,
			char *words, size_t size)
{
	const struct profile_frame *python = innermost_python(frames, count);
	const struct profile_frame *leaf = count ? &frames[count - 1] : NULL;
	int used = 0;

	if (python && !same_line)
		used = snprintf(words, size, "%s:%d", columns_base_name(python->file),
				python->line);
	if (leaf && leaf != python && (size_t)used < size) {
		char address[32];

		/* Without a name, the address tells functions apart. */
		snprintf(address, sizeof(address), "0x%" PRIx64, leaf->address);
		used += snprintf(words + used, size - (size_t)used, "%s%s", used ? " " : "",
				 strcmp(leaf->function, "?") ? leaf->function : address);
	}
	return (size_t)used < size ? (size_t)used : size - 1;
}

static void columns_put_pair(const struct columns *columns, struct screen *screen, unsigned row,
			     const struct profile_pair *pair)
{
	static const char *const kinds[PAIR_KIND_COUNT] = { "load", "store" };
	const struct profile_frame *first = innermost_python(pair->first, pair->first_count);
	const struct profile_frame *second = innermost_python(pair->second, pair->second_count);
	bool same_line = first && second && first->line == second->line &&
			 !strcmp(first->file, second->file);
	const struct profile_frame *leaf =
		pair->second_count ? &pair->second[pair->second_count - 1] : NULL;
	char words[1024] = "?";
	size_t used = end_words(pair->first, pair->first_count, false, words, sizeof(words));

	if (pair->first_count && leaf && same_line &&
	    !strcmp(leaf->function, pair->first[pair->first_count - 1].function) &&
	    leaf->address == pair->first[pair->first_count - 1].address)
		snprintf(words + used, sizeof(words) - used, " > again");
	else if (used + 3 < sizeof(words)) {
		memcpy(words + used, " > ", 4);
		end_words(pair->second, pair->second_count, same_line, words + used + 3,
			  sizeof(words) - used - 3);
	}
	if (columns->columns[COLUMN_KIND].width)
		columns_put_text(columns, screen, row, COLUMN_KIND, kinds[pair->kind]);
	columns_put_text(columns, screen, row, COLUMN_PLACE, words);
}

static void columns_put_thread(const struct columns *columns, struct screen *screen, unsigned row,
			       const struct profile_thread *thread)
{
	char words[32];

	snprintf(words, sizeof(words), "%d", (int)thread->tid);
	columns_put_text(columns, screen, row, COLUMN_PLACE, thread->tid ? words : "others");
	columns_put_text(columns, screen, row, COLUMN_SOURCE, thread->name);
}

void columns_put_row(const struct columns *columns, struct screen *screen, unsigned screen_row,
		     const struct top_model *model, const struct top_row *row)
{
	const struct profile *profile = model->profile;
	const struct top_figures *figures = &row->figures;
	uint64_t total_ns = time_sum(model->totals.time_ns);
	int digits = model->totals.samples < FIGURE_SAMPLES_MIN ? 0 : 1;

	put_percent(columns, screen, screen_row, COLUMN_SELF, SCREEN_STRONG,
		    time_sum(figures->self_ns), total_ns, digits);
	put_percent(columns, screen, screen_row, COLUMN_TOTAL, SCREEN_PLAIN, figures->total_ns,
		    total_ns, digits);
	put_percent(columns, screen, screen_row, COLUMN_CPU, SCREEN_PLAIN, figures->total_ns,
		    model->totals.duration_ns, digits);
	if (columns->columns[COLUMN_BAR].width)
		columns_put_bar(screen, screen_row, columns->columns[COLUMN_BAR].at,
				columns->columns[COLUMN_BAR].width, figures->self_ns);
	put_redundancy(columns, screen, screen_row, figures);
	put_percent(columns, screen, screen_row, COLUMN_AVOIDABLE, SCREEN_PLAIN, row->avoidable_ns,
		    total_ns, digits);
	put_fresh(columns, screen, screen_row, figures->fresh_bytes, model->totals.duration_ns);
	switch (model->view) {
	case TOP_LINES:
		columns_put_line(columns, screen, screen_row, model, &profile->lines[row->index]);
		break;
	case TOP_FUNCTIONS:
		put_function(columns, screen, screen_row, &profile->functions[row->index]);
		break;
	case TOP_THREADS:
		columns_put_thread(columns, screen, screen_row,
				   &profile->facts.threads[row->index]);
		break;
	case TOP_PAIRS:
		columns_put_pair(columns, screen, screen_row, &profile->pairs[row->index]);
		break;
	case TOP_VIEW_COUNT:
		break;
	}
}
