/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/top/model.h"

#include "common/clock.h"
#include "daemon/report/model/verdict.h"
#include "daemon/top/filter.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void top_model_init(struct top_model *model)
{
	*model = (struct top_model){ .page = 1 };
	model->sorts[TOP_PAIRS] = TOP_BY_AVOIDABLE;
}

void top_model_deinit(struct top_model *model)
{
	free(model->rows);
	top_history_deinit(&model->history);
	top_past_deinit(&model->baseline);
	*model = (struct top_model){ 0 };
}

/* Whether the view can be sorted so. */
static bool has_sort(const struct top_model *model, enum top_view view, enum top_sort sort)
{
	if (sort == TOP_BY_FRESH && !(model->profile && model->profile->facts.memory))
		return false;
	switch (view) {
	case TOP_THREADS:
		return sort == TOP_BY_SELF;
	case TOP_PAIRS:
		return sort == TOP_BY_AVOIDABLE || sort == TOP_BY_REDUNDANT;
	case TOP_LINES:
	case TOP_FUNCTIONS:
	case TOP_VIEW_COUNT:
		break;
	}
	return true;
}

const char *top_model_source(const struct top_model *model, const char *file, int line,
			     const char *known)
{
	if (known || !model->source || line <= 0)
		return known;
	return model->source(model->source_context, file, line);
}

static uint64_t sort_value(const struct top_row *row, enum top_sort sort)
{
	switch (sort) {
	case TOP_BY_SELF:
		return time_sum(row->figures.self_ns);
	case TOP_BY_TOTAL:
		return row->figures.total_ns;
	case TOP_BY_REDUNDANT:
		return row->figures.redundant[PAIR_LOAD] + row->figures.redundant[PAIR_STORE];
	case TOP_BY_FRESH:
		return row->figures.fresh_bytes;
	case TOP_BY_AVOIDABLE:
	case TOP_SORT_COUNT:
		break;
	}
	return row->avoidable_ns;
}

/* Ties keep the profile's own order. */
static int compare_rows(const void *left, const void *right, void *context)
{
	const struct top_row *a = left, *b = right;
	const enum top_sort *sort = context;
	uint64_t value_a = sort_value(a, *sort), value_b = sort_value(b, *sort);

	if (value_a != value_b)
		return value_a > value_b ? -1 : 1;
	return a->index < b->index ? -1 : a->index > b->index;
}

/* What the shown figures are compared with; NULL: with nothing, they are of the whole run. */
static const struct top_past *base_of(const struct top_model *model)
{
	uint64_t now_ns = model->profile->facts.duration_ns;
	const struct top_past *base = NULL;

	if (!model->whole_run && now_ns >= TOP_WINDOW_NS)
		base = top_history_at(&model->history, now_ns - TOP_WINDOW_NS + NS_PER_SECOND / 2);
	return base ? base : &model->baseline;
}

static uint64_t scaled(uint64_t value, uint64_t part, uint64_t whole)
{
	if (part >= whole)
		return value;
	return (uint64_t)((double)value * (double)part / (double)whole);
}

/* A pair's time is that of its line. */
static uint64_t pair_avoidable(const struct top_past *base, const struct profile_pair *pair)
{
	struct top_figures whole, window;

	if (!pair->line)
		return pair->avoidable_ns;
	whole = (struct top_figures){ .charged_ns = pair->line->charged_ns };
	window =
		top_figures_since(&whole, top_past_find(base, TOP_LINES, top_line_key(pair->line)));
	return scaled(pair->avoidable_ns, window.charged_ns, whole.charged_ns);
}

/*
 * How much of a line's time could be saved is told from all that was seen of
 * it; of how much time, from the window.
 */
static uint64_t avoidable(const struct top_model *model, const struct top_past *base, size_t index,
			  const struct top_figures *whole, const struct top_figures *window)
{
	const struct profile *profile = model->profile;

	switch (model->view) {
	case TOP_LINES:
		return scaled(profile->lines[index].avoidable_ns, window->charged_ns,
			      whole->charged_ns);
	case TOP_FUNCTIONS:
		return scaled(profile->functions[index].avoidable_ns, window->charged_ns,
			      whole->charged_ns);
	case TOP_PAIRS:
		return pair_avoidable(base, &profile->pairs[index]);
	case TOP_THREADS:
	case TOP_VIEW_COUNT:
		break;
	}
	return 0;
}

static bool says_something(const struct top_figures *figures)
{
	return figures->total_ns || time_sum(figures->self_ns) || figures->fresh_bytes ||
	       figures->watched[PAIR_LOAD] || figures->watched[PAIR_STORE];
}

static void keep_selection(struct top_model *model)
{
	size_t last = model->row_count ? model->row_count - 1 : 0;

	if (model->selected > 0)
		for (size_t i = 0; i < model->row_count; i++)
			if (model->rows[i].key == model->selected_key)
				model->selected = i;
	if (model->selected > last)
		model->selected = last;
}

static int build_rows(struct top_model *model)
{
	size_t count = model->profile ? top_view_count(model->profile, model->view) : 0;
	const struct filter filter = { model->view, model->own_only, model->filter, model->source,
				       model->source_context };
	struct top_totals totals;
	const struct top_past *base;

	model->row_count = 0;
	if (!model->profile)
		return 0;
	if (count > model->row_capacity) {
		struct top_row *rows = reallocarray(model->rows, count, sizeof(*rows));

		if (!rows)
			return -ENOMEM;
		model->rows = rows;
		model->row_capacity = count;
	}
	base = base_of(model);
	totals = top_totals_of(model->profile);
	model->totals = top_totals_since(&totals, &base->totals);
	for (size_t i = 0; i < count; i++) {
		struct top_entry entry = top_view_entry(model->profile, model->view, i);
		struct top_row *row = &model->rows[model->row_count];

		if (!filter_wants(&filter, model->profile, i))
			continue;
		*row = (struct top_row){ .key = entry.key, .index = i };
		row->figures = top_figures_since(&entry.figures,
						 top_past_find(base, model->view, entry.key));
		row->avoidable_ns = avoidable(model, base, i, &entry.figures, &row->figures);
		if (says_something(&row->figures))
			model->row_count++;
	}
	qsort_r(model->rows, model->row_count, sizeof(model->rows[0]), compare_rows,
		&model->sorts[model->view]);
	keep_selection(model);
	return 0;
}

/* The program's own line, where the verdict is about a library's. */
static uint64_t find_verdict(const struct profile *profile)
{
	struct verdict verdict;

	/* Without memory no line is selected. */
	if (verdict_find(profile, &verdict))
		return 0;
	if (verdict.own_line)
		return top_line_key(verdict.own_line);
	return verdict.line ? top_line_key(verdict.line) : 0;
}

int top_model_update(struct top_model *model, const struct profile *profile)
{
	int error = top_history_add(&model->history, profile);

	model->profile = profile;
	if (!model->touched)
		model->verdict_key = find_verdict(profile);
	return error ? error : build_rows(model);
}

static void choose_view(struct top_model *model, enum top_view view)
{
	if (view == model->view)
		return;
	model->view = view;
	model->selected = model->first = 0;
}

static void choose_next_sort(struct top_model *model)
{
	enum top_sort *sort = &model->sorts[model->view];

	do
		*sort = (*sort + 1) % TOP_SORT_COUNT;
	while (!has_sort(model, model->view, *sort));
	model->selected = model->first = 0;
}

/* Lines or functions by what they add to memory, and back to their time. */
static void choose_memory(struct top_model *model)
{
	if (!has_sort(model, TOP_LINES, TOP_BY_FRESH)) {
		model->notice = "memory is not sampled: begin with --memory";
		return;
	}
	if (model->view > TOP_FUNCTIONS)
		choose_view(model, TOP_LINES);
	model->sorts[model->view] =
		model->sorts[model->view] == TOP_BY_FRESH ? TOP_BY_SELF : TOP_BY_FRESH;
	model->selected = model->first = 0;
}

static void choose_own(struct top_model *model)
{
	model->own_only = !model->own_only;
	model->selected = model->first = 0;
}

/* From now on, figures are of what comes after it. */
static void reset(struct top_model *model)
{
	/* Without memory for it, the run's start stays what is compared with. */
	if (model->profile && !top_past_take(&model->baseline, model->profile))
		top_history_clear(&model->history);
}

static void move_selection(struct top_model *model, enum top_key key)
{
	size_t last = model->row_count ? model->row_count - 1 : 0, at = model->selected;
	size_t page = model->page ? model->page : 1;

	switch (key) {
	case TOP_KEY_UP:
		at = at ? at - 1 : 0;
		break;
	case TOP_KEY_DOWN:
		at++;
		break;
	case TOP_KEY_PAGE_UP:
		at = at > page ? at - page : 0;
		break;
	case TOP_KEY_PAGE_DOWN:
		at += page;
		break;
	case TOP_KEY_HOME:
		at = 0;
		break;
	case TOP_KEY_END:
		at = last;
		break;
	default:
		return;
	}
	model->selected = at < last ? at : last;
	if (model->row_count)
		model->selected_key = model->rows[model->selected].key;
}

static void type_filter(struct top_model *model, enum top_key key, char character)
{
	size_t length = strlen(model->filter);

	if (key == TOP_KEY_CHARACTER && length + 1 < sizeof(model->filter)) {
		model->filter[length] = character;
		model->filter[length + 1] = '\0';
	} else if (key == TOP_KEY_BACKSPACE && length) {
		/* All bytes of a character. */
		while (--length && (model->filter[length] & 0xc0) == 0x80)
			;
		model->filter[length] = '\0';
	} else if (key == TOP_KEY_ESCAPE) {
		model->filter[0] = '\0';
	}
	if (key == TOP_KEY_ENTER || key == TOP_KEY_ESCAPE)
		model->typing = false;
	model->selected = model->first = 0;
}

/* Those that choose what the first row is, or a row. */
static bool touches(enum top_key key)
{
	return key != TOP_KEY_PAUSE && key != TOP_KEY_HELP && key != TOP_KEY_WINDOW;
}

bool top_model_key(struct top_model *model, enum top_key key, char character)
{
	if (key == TOP_KEY_QUIT)
		return false;
	if (key == TOP_KEY_NONE || key == TOP_KEY_REDRAW)
		return true;
	model->notice = NULL;
	/* Any key leaves the help, and does no more. */
	if (model->help || key == TOP_KEY_HELP) {
		model->help = !model->help;
		return true;
	}
	model->touched |= touches(key);
	if (model->typing && key >= TOP_KEY_CHARACTER)
		type_filter(model, key, character);
	else if (key == TOP_KEY_FILTER)
		model->typing = true;
	else if (key == TOP_KEY_ESCAPE)
		model->filter[0] = '\0';
	else if (key == TOP_KEY_OWN)
		choose_own(model);
	else if (key == TOP_KEY_MEMORY)
		choose_memory(model);
	else if (key >= TOP_KEY_LINES && key <= TOP_KEY_PAIRS)
		choose_view(model, (enum top_view)(key - TOP_KEY_LINES));
	else if (key == TOP_KEY_NEXT_VIEW)
		choose_view(model, (model->view + 1) % TOP_VIEW_COUNT);
	else if (key == TOP_KEY_SORT)
		choose_next_sort(model);
	else if (key == TOP_KEY_PAUSE)
		model->paused = !model->paused;
	else if (key == TOP_KEY_WINDOW)
		model->whole_run = !model->whole_run;
	else if (key == TOP_KEY_RESET)
		reset(model);
	else
		move_selection(model, key);
	/* Without memory the rows are gone until the next snapshot finds some. */
	(void)build_rows(model);
	return true;
}

/* As far as it is on the first page, which stays in sight. */
static void select_verdict(struct top_model *model)
{
	if (model->view != TOP_LINES || !model->verdict_key)
		return;
	for (size_t i = 0; i < model->row_count && i < model->page; i++)
		if (model->rows[i].key == model->verdict_key) {
			model->selected = i;
			model->selected_key = model->verdict_key;
			return;
		}
}

void top_model_scroll(struct top_model *model, size_t page)
{
	model->page = page ? page : 1;
	if (!model->touched)
		select_verdict(model);
	if (model->selected < model->first)
		model->first = model->selected;
	if (model->selected >= model->first + model->page)
		model->first = model->selected - model->page + 1;
	/* No empty rows below while there are some above. */
	if (model->first + model->page > model->row_count)
		model->first = model->row_count > model->page ? model->row_count - model->page : 0;
}
