/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/top/layout.h"

#include "daemon/report/format/text_layout.h"
#include "daemon/report/model/container_text.h"
#include "daemon/report/model/verdict.h"
#include "daemon/top/columns.h"
#include "daemon/top/holder_rows.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Screens with fewer rows go without. */
#define FIGURES_ROWS_MIN 10
#define DETAILS_ROWS_MIN 18
#define DETAIL_ROWS      6 /* the rule included */
/* From here on there is room for a second row of figures. */
#define FIGURES_ROWS_TWO 32
#define COLUMNS_NARROW   60

static const char *const view_names[TOP_VIEW_COUNT] = {
	[TOP_LINES] = "Lines",
	[TOP_FUNCTIONS] = "Functions",
	[TOP_THREADS] = "Threads",
	[TOP_PAIRS] = "Pairs",
};

/* "1:02:03" or "2:03" */
static void duration_words(uint64_t ns, char *words, size_t size)
{
	uint64_t seconds = ns / 1000000000;

	if (seconds >= 3600)
		snprintf(words, size, "%" PRIu64 ":%02u:%02u", seconds / 3600,
			 (unsigned)(seconds / 60 % 60), (unsigned)(seconds % 60));
	else
		snprintf(words, size, "%u:%02u", (unsigned)(seconds / 60),
			 (unsigned)(seconds % 60));
}

static void put_title(struct screen *screen, unsigned row, const struct profile_facts *facts)
{
	const struct profile_target *target = &facts->target;
	char command[512], python[48] = "Python unknown", elapsed[32], right[96];
	size_t used = 0;
	unsigned columns = screen->columns, right_columns, left;

	for (size_t i = 0; target->command && target->command[i] && used < sizeof(command); i++)
		used += (size_t)snprintf(
			command + used, sizeof(command) - used, "%s%s", i ? " " : "",
			i ? target->command[i] : columns_base_name(target->command[0]));
	if (!used)
		used = (size_t)snprintf(command, sizeof(command), "%.*s", (int)sizeof(target->comm),
					target->comm);
	if (used < sizeof(command))
		snprintf(command + used, sizeof(command) - used, "%s",
			 container_suffix(&target->container).text);
	if (target->python.major && target->python.micro < 0)
		snprintf(python, sizeof(python), "Python %d.%d", target->python.major,
			 target->python.minor);
	else if (target->python.major)
		snprintf(python, sizeof(python), "Python %d.%d.%d%s", target->python.major,
			 target->python.minor, target->python.micro,
			 target->python.free_threaded ? "t" : "");
	duration_words(facts->duration_ns, elapsed, sizeof(elapsed));
	snprintf(right, sizeof(right), "%s%s%s ", columns < COLUMNS_NARROW ? "" : python,
		 columns < COLUMNS_NARROW ? "" : "  ", elapsed);
	right_columns = (unsigned)strlen(right);
	left = 3 + screen_print(screen, row, 1, columns, SCREEN_STRONG, "%s %d",
				columns < COLUMNS_NARROW ? "pid" : "pieprofd  pid",
				(int)target->pid);
	if (left + right_columns + 2 < columns)
		screen_put(screen, row, left, columns - left - right_columns - 2, SCREEN_PLAIN,
			   command);
	if (left + right_columns <= columns)
		screen_put(screen, row, columns - right_columns, right_columns, SCREEN_PLAIN,
			   right);
	screen->lines[row].reversed = true;
}

#define ITEMS_MAX 8

struct item {
	char words[64]; /* ours, ASCII */
	enum screen_style style;
};

struct item_list {
	struct item items[ITEMS_MAX];
	size_t count;
};

__attribute__((format(printf, 3, 4))) static void add_item(struct item_list *list,
							   enum screen_style style,
							   const char *format, ...)
{
	struct item *item = &list->items[list->count];
	va_list arguments;

	if (list->count == ITEMS_MAX)
		return;
	va_start(arguments, format);
	vsnprintf(item->words, sizeof(item->words), format, arguments);
	va_end(arguments);
	item->style = style;
	list->count++;
}

/* What is known of the figures as a whole, most important first. */
static void list_items(const struct top_model *model, struct item_list *list)
{
	const struct profile *profile = model->profile;
	const struct profile_facts *facts = &profile->facts;
	const struct top_totals *totals = &model->totals;

	*list = (struct item_list){ .count = 0 };
	add_item(list, SCREEN_STRONG, "CPU %s",
		 figure_part(totals->cpu_ns, totals->duration_ns).text);
	/* One thread alone has it whenever it runs Python; each process has one of its own. */
	if (facts->gil_known && facts->thread_count > 1 && !profile->process_count)
		add_item(list, SCREEN_PLAIN, "GIL %s",
			 figure_part(totals->gil_ns, totals->duration_ns).text);
	if (totals->samples < FIGURE_SAMPLES_MIN)
		add_item(list, SCREEN_WARNING, "%" PRIu64 " sample%s: rough", totals->samples,
			 figure_plural(totals->samples));
	else
		add_item(list, SCREEN_PLAIN, "%" PRIu64 " samples", totals->samples);
	add_item(list, facts->overhead > facts->overhead_limit ? SCREEN_WARNING : SCREEN_PLAIN,
		 "overhead %s of %s", figure_share(facts->overhead).text,
		 figure_share(facts->overhead_limit).text);
	if (facts->kernel_time_refused)
		add_item(list, SCREEN_WARNING, "no system time");
	if (!profile->accesses[PAIR_LOAD].sampled && !profile->accesses[PAIR_STORE].sampled)
		add_item(list, SCREEN_WARNING, "no accesses watched");
	if (facts->stops.count)
		add_item(list, SCREEN_PLAIN, "stops p50 %s, max %s",
			 figure_ns(facts->stops.p50_ns).text, figure_ns(facts->stops.max_ns).text);
	add_item(list, SCREEN_FAINT, "sampler %s", facts->sampler);
}

/* Side by side, as many as fit into that many rows; the rows used. */
static unsigned put_items(struct screen *screen, unsigned row, unsigned rows,
			  const struct item_list *list)
{
	unsigned used = 0, column = 1;

	for (size_t i = 0; i < list->count; i++) {
		const struct item *item = &list->items[i];
		unsigned columns = (unsigned)strlen(item->words);

		if (column > 1 && column + columns > screen->columns) {
			if (++used == rows)
				return rows;
			column = 1;
		}
		screen_put(screen, row + used, column, columns, item->style, item->words);
		column += columns + 2;
	}
	return used + 1;
}

static void put_process_bar(struct screen *screen, unsigned row, const struct top_model *model)
{
	static const char *const names[TIME_CLASS_COUNT] = { "Python", "native", "system" };
	static const char *const short_names[TIME_CLASS_COUNT] = { "Py", "nat", "sys" };
	bool unknown = model->profile->facts.native_unknown;
	uint64_t time_ns[TIME_CLASS_COUNT];
	uint64_t total_ns = time_sum(model->totals.time_ns);
	bool narrow = screen->columns < COLUMNS_NARROW;
	unsigned legend = 0, column = 1;
	char words[TIME_CLASS_COUNT][32];

	memcpy(time_ns, model->totals.time_ns, sizeof(time_ns));
	if (unknown) {
		time_ns[TIME_PYTHON] = time_user(time_ns);
		time_ns[TIME_NATIVE] = 0;
	}
	/* The bar's own characters make the words its legend. */
	for (size_t i = 0; i < TIME_CLASS_COUNT; i++)
		legend += unknown && i == TIME_NATIVE
				  ? 0
				  : 3 + (unsigned)snprintf(words[i], sizeof(words[i]), " %s %s",
							   unknown && i == TIME_PYTHON ? "user"
							   : narrow ? short_names[i]
								    : names[i],
							   figure_sampled(time_ns[i], total_ns,
									  model->totals.samples)
								   .text);
	if (screen->columns >= legend + 12) {
		column = screen->columns - legend;
		columns_put_bar(screen, row, 1, column - 2, time_ns);
	}
	for (size_t i = 0; i < TIME_CLASS_COUNT; i++) {
		if (unknown && i == TIME_NATIVE)
			continue;
		screen_fill(screen, row, column, 1, SCREEN_PYTHON + (enum screen_style)i,
			    columns_bar_character(screen, i));
		column += 1 + screen_put(screen, row, column + 1, screen->columns - column,
					 SCREEN_PLAIN, words[i]);
		column += 2;
	}
}

static void put_tabs(struct screen *screen, unsigned row, const struct top_model *model)
{
	static const char *const sorts[TOP_SORT_COUNT] = { "self time", "total time",
							   "redundant accesses", "saving",
							   "fresh memory" };
	char window[48] = "since start", words[128];
	bool narrow = screen->columns < 72;
	unsigned column = 1, columns;

	for (enum top_view view = 0; view < TOP_VIEW_COUNT; view++) {
		bool chosen = view == model->view;

		if (narrow && !chosen)
			columns = screen_print(screen, row, column, 3, SCREEN_FAINT, "%d",
					       (int)view + 1);
		else
			columns = screen_print(
				screen, row, column, 16, chosen ? SCREEN_STRONG : SCREEN_FAINT,
				chosen ? "[%d %s]" : "%d %s", (int)view + 1, view_names[view]);
		column += columns + (narrow ? 1 : 2);
	}
	if (!model->whole_run)
		snprintf(window, sizeof(window), "last %.0f s",
			 (double)model->totals.duration_ns / 1e9);
	else if (model->baseline.totals.duration_ns)
		snprintf(window, sizeof(window), "since reset, %.0f s",
			 (double)model->totals.duration_ns / 1e9);
	snprintf(words, sizeof(words), narrow ? "%s%s%s" : "%s%s%s, by %s",
		 model->paused ? "PAUSED  " : "", model->own_only ? "own code  " : "", window,
		 sorts[model->sorts[model->view]]);
	columns = (unsigned)strlen(words);
	if (column + columns + 1 <= screen->columns) /* else what is chosen must do */
		screen_put(screen, row, screen->columns - columns - 1, columns,
			   model->paused ? SCREEN_WARNING : SCREEN_PLAIN, words);
}

static void put_empty(struct screen *screen, unsigned row, const struct top_model *model)
{
	const struct profile *profile = model->profile;
	const char *words = "nothing yet";

	if (model->filter[0] || model->own_only)
		words = "no such rows";
	else if (!model->totals.samples)
		words = "no samples: the process used no CPU time meanwhile";
	else if (model->view == TOP_PAIRS && !profile->accesses[PAIR_LOAD].sampled &&
		 !profile->accesses[PAIR_STORE].sampled)
		words = "no memory accesses have been watched";
	else if (model->view == TOP_PAIRS)
		words = "no redundant accesses seen";
	screen_put(screen, row + 1, 2, screen->columns - 2, SCREEN_FAINT, words);
}

static void put_rows(struct screen *screen, unsigned row, unsigned rows, struct top_model *model)
{
	struct columns columns;

	top_model_scroll(model, rows > 1 ? rows - 1 : 1);
	columns_plan(&columns, model, screen->columns);
	columns_put_heading(&columns, screen, row);
	if (!model->row_count)
		put_empty(screen, row, model);
	for (unsigned i = 0; i + 1 < rows && model->first + i < model->row_count; i++) {
		const struct top_row *shown = &model->rows[model->first + i];

		columns_put_row(&columns, screen, row + 1 + i, model, shown);
		screen->lines[row + 1 + i].reversed = model->first + i == model->selected;
	}
}

/* Our own words, broken between them. */
static void put_wrapped(struct screen *screen, unsigned row, unsigned rows, const char *words)
{
	unsigned width = screen->columns > 2 ? screen->columns - 2 : 1;

	for (unsigned end = row + rows; row < end && *words; row++) {
		size_t length = strlen(words), cut = width;
		char line[SCREEN_COLUMNS_MAX + 1];

		if (length > width && row + 1 < end) {
			while (cut > 0 && words[cut] != ' ')
				cut--;
			length = cut ? cut : width;
		}
		snprintf(line, sizeof(line), "%.*s", (int)length, words);
		screen_put(screen, row, 1, width, SCREEN_PLAIN, line);
		words += length;
		words += strspn(words, " ");
	}
}

/* The finding at that line; NULL: none. */
static const struct finding *finding_at(const struct findings *findings,
					const struct profile_line *line)
{
	for (size_t i = 0; i < findings->count; i++)
		if (findings->items[i].line == line || finding_place(&findings->items[i]) == line)
			return &findings->items[i];
	return NULL;
}

/* What it is and what to do first: there may be no room for all of it. */
static void put_finding(struct screen *screen, unsigned row, const struct finding *finding)
{
	char words[3 * FINDING_BYTES];

	snprintf(words, sizeof(words), "%s%s%s%s%s%s%s", finding->what, finding->what[0] ? " " : "",
		 finding->advice, finding->advice[0] ? " " : "",
		 finding->gain[0] ? finding->gain : finding->evidence,
		 finding->example ? " For example: " : "",
		 finding->example ? finding->example : "");
	put_wrapped(screen, row, DETAIL_ROWS - 3, words);
}

static void put_line_details(struct screen *screen, unsigned row, const struct top_model *model,
			     const struct profile_line *line)
{
	const char *source = top_model_source(model, line->file, line->line, line->source);
	const struct finding *finding;
	struct findings findings;
	char words[1024];

	if (line->line)
		snprintf(words, sizeof(words), "%s:%d in %s", line->file, line->line,
			 line->function);
	else
		snprintf(words, sizeof(words), "%s in %s", line->function, line->file);
	screen_put_end(screen, row, 1, screen->columns - 2, SCREEN_PLAIN, words);
	if (source)
		screen_put(screen, row + 1, 3, screen->columns - 4, SCREEN_STRONG, source);
	/* Without memory, as if there were none. */
	(void)findings_of(model->profile, &findings);
	finding = finding_at(&findings, line);
	if (finding)
		put_finding(screen, row + 2, finding);
	findings_deinit(&findings);
	if (finding || !line->avoidable_ns)
		return;
	snprintf(words, sizeof(words), "%s%sCould save %s%s of its time%s%s%s",
		 line->finding ? line->finding : "", line->finding ? ". " : "",
		 profile_line_is_supported(line) ? "" : "up to ",
		 figure_sampled(profile_line_is_supported(line) ? line->avoidable_ns
								: line->avoidable_high_ns,
				line->charged_ns, model->totals.samples)
			 .text,
		 profile_line_is_supported(line) ? "." : ", or nothing: too few accesses to tell.",
		 line->category == CATEGORY_UNCLEAR ? "" : " ",
		 line->category == CATEGORY_UNCLEAR ? "" : category_advice(line->category));
	put_wrapped(screen, row + 2, 2, words);
}

static const struct profile_frame *innermost(const struct profile_frame *frames, size_t count,
					     enum frame_kind kind)
{
	while (count-- > 0)
		if (frames[count].kind == kind)
			return &frames[count];
	return NULL;
}

/* "conv.py:33  g[f] += ...  in array_subscript of _multiarray_umath.so" */
static void put_path_details(struct screen *screen, unsigned row, const struct top_model *model,
			     const char *label, const struct profile_frame *frames, size_t count)
{
	const struct profile_frame *python = innermost(frames, count, FRAME_PYTHON);
	const struct profile_frame *leaf = count ? &frames[count - 1] : NULL;
	char native[512] = "", words[1024] = "";

	if (leaf && leaf->kind == FRAME_NATIVE && strcmp(leaf->function, "?"))
		snprintf(native, sizeof(native), "  in %s of %s", leaf->function,
			 columns_base_name(leaf->file));
	else if (leaf && leaf->kind == FRAME_NATIVE)
		snprintf(native, sizeof(native), "  in 0x%" PRIx64 " of %s", leaf->address,
			 columns_base_name(leaf->file));
	if (python) {
		const char *source =
			top_model_source(model, python->file, python->line, python->source);

		snprintf(words, sizeof(words), "%s:%d  %s%s", columns_base_name(python->file),
			 python->line, source ? source : python->function, native);
	}
	screen_put(screen, row, 1, 8, SCREEN_FAINT, label);
	if (screen->columns > 10)
		screen_put(screen, row, 9, screen->columns - 10, SCREEN_PLAIN,
			   python || !*native ? words : native + 2);
}

static void put_details(struct screen *screen, unsigned row, const struct top_model *model)
{
	const struct profile *profile = model->profile;
	const struct profile_function *function;
	const struct profile_pair *pair;
	const struct profile_thread *thread;
	const char *mark;
	char words[1024];
	size_t index;

	if (model->selected >= model->row_count)
		return;
	index = model->rows[model->selected].index;
	switch (model->view) {
	case TOP_LINES:
		put_line_details(screen, row, model, &profile->lines[index]);
		break;
	case TOP_FUNCTIONS:
		function = &profile->functions[index];
		screen_put(screen, row, 1, screen->columns - 2, SCREEN_STRONG, function->function);
		snprintf(words, sizeof(words), "%s:%d", function->file, function->line);
		screen_put_end(screen, row + 1, 1, screen->columns - 2, SCREEN_PLAIN,
			       function->line ? words : function->file);
		break;
	case TOP_THREADS:
		thread = &profile->facts.threads[index];
		mark = profile_thread_mark(thread);
		screen_print(screen, row, 1, screen->columns - 2, SCREEN_PLAIN, "thread %d  %s",
			     (int)thread->tid, thread->name);
		if (mark)
			screen_put(screen, row + 1, 1, screen->columns - 2, SCREEN_PLAIN, mark);
		break;
	case TOP_PAIRS:
		pair = &profile->pairs[index];
		put_path_details(screen, row, model, "earlier", pair->first, pair->first_count);
		put_path_details(screen, row + 1, model, "later", pair->second, pair->second_count);
		if (pair->advice)
			put_wrapped(screen, row + 2, 2, pair->advice);
		break;
	case TOP_VIEW_COUNT:
		break;
	}
}

static void put_keys(struct screen *screen, unsigned row, const struct top_model *model)
{
	static const char *const keys[] = {
		"q quit  1-4 view  s sort  / filter  o own  w window  p pause  r reset  ? help",
		"q quit  1-4 view  s sort  / filter  o w p r  ? help",
		"q quit  1-4 view  s sort  ? help",
		"q quit  ? help",
	};
	char words[TOP_FILTER_BYTES + 64];
	size_t at = 0;

	if (model->typing || (model->filter[0] && !model->notice)) {
		snprintf(words, sizeof(words),
			 model->typing ? "/%s_" : "/%s   Esc: all rows, / more", model->filter);
		screen_put(screen, row, 1, screen->columns - 2, SCREEN_STRONG, words);
		return;
	}
	if (model->notice) {
		screen_put(screen, row, 1, screen->columns - 2, SCREEN_WARNING, model->notice);
		return;
	}
	while (at + 1 < sizeof(keys) / sizeof(keys[0]) && strlen(keys[at]) + 1 > screen->columns)
		at++;
	screen_put(screen, row, 1, screen->columns - 1, SCREEN_FAINT, keys[at]);
}

static void put_help(struct screen *screen)
{
	static const char *const lines[] = {
		"q, ^C       leave; the summary of the whole run is printed then",
		"1 2 3 4     lines, functions, threads, pairs; Tab for the next",
		"s           next order: self, total, redundant, saving",
		"/           rows with what is typed in names or source; Esc for all",
		"o           the program's own lines and functions, or all",
		"m           by memory that they make resident (--memory), or by time",
		"w           the last seconds, or all since the start",
		"p           freeze the screen; sampling goes on",
		"r           count from now on",
		"arrows      choose a row; PgUp, PgDn, Home, End",
		"",
		"SELF%       share of the CPU time spent in the line itself, with the",
		"            native code it calls; TOTAL% with all Python it calls, too",
		"P/N/S       of that: Python, native code, the kernel (system)",
		"REDUND      share of watched loads and stores that found the value of the",
		"            one before; as a fraction while there are fewer than ten",
		"FRESH/s     bytes of pages that the row was the first to touch",
		"SAVE%       estimate of what the row could save of the CPU time",
		"CPU%        of a thread, of one processor",
	};
	unsigned row = 0;

	screen_put(screen, row, 1, screen->columns, SCREEN_STRONG,
		   "pieprofd top: any key goes back");
	screen->lines[row].reversed = true;
	row = screen->rows > sizeof(lines) / sizeof(lines[0]) + 2 ? 2 : 1;
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
		screen_put(screen, row++, 1, screen->columns - 1, SCREEN_PLAIN, lines[i]);
}

void layout_draw(struct top_model *model, struct screen *screen)
{
	struct item_list list;
	unsigned row = 0, bottom = screen->rows, details = 0, holders = 0;
	bool two;

	if (!screen->rows || !screen->columns)
		return;
	if (model->help) {
		put_help(screen);
		return;
	}
	if (!model->profile) {
		screen_put(screen, 0, 1, screen->columns, SCREEN_STRONG,
			   "pieprofd top: waiting for the first samples");
		put_keys(screen, screen->rows - 1, model);
		return;
	}
	put_title(screen, row++, &model->profile->facts);
	if (screen->rows >= FIGURES_ROWS_MIN) {
		two = screen->rows >= (screen->columns < 80 ? DETAILS_ROWS_MIN : FIGURES_ROWS_TWO);
		list_items(model, &list);
		row += put_items(screen, row, two ? 2 : 1, &list);
		put_process_bar(screen, row++, model);
	}
	if (screen->rows >= FIGURES_ROWS_MIN / 2)
		put_tabs(screen, row++, model);
	if (bottom > row + 2)
		put_keys(screen, --bottom, model);
	if (screen->rows >= DETAILS_ROWS_MIN)
		details = DETAIL_ROWS;
	if (details && model->growth)
		holders = holder_rows_count(model->growth);
	if (bottom > row)
		put_rows(screen, row, bottom - row - details - holders, model);
	if (!details)
		return;
	if (holders)
		holder_rows_put(model->growth, model->now_ns, screen, bottom - details - holders);
	screen_fill(screen, bottom - details, 0, screen->columns, SCREEN_FAINT,
		    screen->utf8 ? "\u2500" : "-");
	put_details(screen, bottom - details + 1, model);
}
