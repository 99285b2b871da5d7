/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/report/diff/diff.h"

#include "common/array.h"
#include "daemon/report/model/avoidable_sum.h"
#include "daemon/report/model/verdict.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What one side has of a line, function or pair, before the two are joined. */
struct item {
	struct diff_place place, second; /* a pair has two */
	enum pair_kind kind;
	uint64_t self_ns, total_ns, avoidable_ns, avoidable_low_ns, avoidable_high_ns;
	uint64_t sampled, redundant;
};

struct items {
	struct item *items;
	size_t count;
};

/* How a side's figures are scaled. */
struct scale {
	uint64_t time_ns;
	uint64_t samples;
	double seconds;
	const struct spread *spread; /* NULL: of one recording */
};

static struct scale scale_of(const struct profile *profile, const struct spread *spread)
{
	struct scale scale = {
		.time_ns = time_sum(profile->time_ns),
		.seconds =
			spread ? spread_seconds(spread) : (double)profile->facts.duration_ns / 1e9,
		.spread = spread,
	};

	for (size_t i = 0; i < profile->tree.node_count; i++)
		scale.samples += time_sum(profile->tree.nodes[i].samples);
	return scale;
}

static double per_second(double ns, const struct scale *scale)
{
	return scale->seconds > 0 ? ns / 1e6 / scale->seconds : 0;
}

/* How many samples a time came from: they stand for the same time each, nearly. */
static uint64_t samples_of(uint64_t ns, const struct scale *scale)
{
	if (!scale->time_ns)
		return 0;
	return (uint64_t)llround(fmin((double)ns / (double)scale->time_ns, 1) *
				 (double)scale->samples);
}

static bool is_noise(struct interval change)
{
	return change.low <= 0 && change.high >= 0;
}

/* Student's, for 95%: by its expansion in 1/freedom, within a tenth from three on. */
static double quantile_of(double freedom)
{
	const double z = 1.96, cube = z * z * z;

	return z + (cube + z) / (4 * freedom) +
	       (5 * cube * z * z + 16 * cube + 3 * z) / (96 * freedom * freedom);
}

static void widen(struct interval *interval, const double values[DIFF_SIDES], double margin)
{
	double change = values[DIFF_NOW] - values[DIFF_BASE];

	interval->low = fmin(interval->low, change - margin);
	interval->high = fmax(interval->high, change + margin);
}

/* By how much recordings differ, where that is more than samples would. */
static void widen_by_spread(struct diff_figure *figure,
			    const struct spread_error errors[DIFF_SIDES],
			    const struct scale scales[DIFF_SIDES])
{
	double freedom = 0, quantile;

	for (size_t s = 0; s < DIFF_SIDES; s++)
		if (scales[s].spread)
			freedom += (double)spread_recordings(scales[s].spread) - 1;
	if (freedom < 1)
		return;
	quantile = quantile_of(freedom);
	widen(&figure->share_change, figure->share,
	      quantile * hypot(errors[DIFF_BASE].share, errors[DIFF_NOW].share));
	widen(&figure->rate_change, figure->rate,
	      quantile * hypot(errors[DIFF_BASE].rate, errors[DIFF_NOW].rate));
	figure->noise = is_noise(figure->share_change) || is_noise(figure->rate_change);
}

static struct diff_figure compare_time(const uint64_t ns[DIFF_SIDES],
				       const struct scale scales[DIFF_SIDES])
{
	struct diff_figure figure = { .noise = true };
	double sample_rate[DIFF_SIDES]; /* what one sample stands for */

	for (size_t s = 0; s < DIFF_SIDES; s++) {
		const struct scale *scale = &scales[s];

		figure.samples[s] = samples_of(ns[s], scale);
		figure.share[s] = scale->time_ns ? (double)ns[s] / (double)scale->time_ns : 0;
		figure.rate[s] = per_second((double)ns[s], scale);
		sample_rate[s] =
			scale->samples
				? per_second((double)scale->time_ns / (double)scale->samples, scale)
				: 0;
	}
	figure.share_change =
		interval_difference(figure.samples[DIFF_BASE], scales[DIFF_BASE].samples,
				    figure.samples[DIFF_NOW], scales[DIFF_NOW].samples);
	figure.rate_change =
		interval_rate_difference(figure.samples[DIFF_BASE], sample_rate[DIFF_BASE],
					 figure.samples[DIFF_NOW], sample_rate[DIFF_NOW]);
	figure.noise = is_noise(figure.share_change) || is_noise(figure.rate_change);
	return figure;
}

static struct diff_figure compare_accesses(const uint64_t redundant[DIFF_SIDES],
					   const uint64_t sampled[DIFF_SIDES])
{
	struct diff_figure figure = { .noise = true };

	for (size_t s = 0; s < DIFF_SIDES; s++) {
		figure.samples[s] = redundant[s];
		figure.share[s] = sampled[s] ? (double)redundant[s] / (double)sampled[s] : 0;
	}
	figure.share_change = interval_difference(redundant[DIFF_BASE], sampled[DIFF_BASE],
						  redundant[DIFF_NOW], sampled[DIFF_NOW]);
	figure.noise = is_noise(figure.share_change);
	return figure;
}

static int diff_compare_words(const char *a, const char *b)
{
	return strcmp(a ? a : "", b ? b : "");
}

/* The same line, wherever edits above have moved it. */
static int compare_places(const struct diff_place *a, const struct diff_place *b)
{
	int order = diff_compare_words(a->file, b->file);

	if (!order)
		order = diff_compare_words(a->function, b->function);
	if (!order)
		order = diff_compare_words(a->source, b->source);
	if (!order && !a->source)
		order = a->line < b->line ? -1 : a->line > b->line;
	return order;
}

static int compare_items(const struct item *a, const struct item *b)
{
	int order = a->kind < b->kind ? -1 : a->kind > b->kind;

	if (!order)
		order = compare_places(&a->place, &b->place);
	return order ? order : compare_places(&a->second, &b->second);
}

/* Of several with one text, those that come first belong together. */
static int sort_order(const void *left, const void *right)
{
	const struct item *a = left, *b = right;
	int order = compare_items(a, b);

	return order ? order : a->place.line < b->place.line ? -1 : a->place.line > b->place.line;
}

static int diff_lines_of(const struct profile *profile, struct items *ret_items)
{
	struct item *items = calloc(profile->line_count + 1, sizeof(*items));

	if (!items)
		return -1;
	for (size_t i = 0; i < profile->line_count; i++) {
		const struct profile_line *line = &profile->lines[i];

		items[i] = (struct item){
			.place = { line->file, line->function, line->source, line->line },
			.self_ns = time_sum(line->self_ns),
			.total_ns = line->total_ns,
			.avoidable_ns = line->avoidable_ns,
			.avoidable_low_ns = line->avoidable_low_ns,
			.avoidable_high_ns = line->avoidable_high_ns,
		};
	}
	*ret_items = (struct items){ items, profile->line_count };
	return 0;
}

static int functions_of(const struct profile *profile, struct items *ret_items)
{
	struct item *items = calloc(profile->function_count + 1, sizeof(*items));

	if (!items)
		return -1;
	for (size_t i = 0; i < profile->function_count; i++) {
		const struct profile_function *function = &profile->functions[i];

		items[i] = (struct item){
			/* A text of none: its line is no part of what it is. */
			.place = { function->file, function->function, "", function->line },
			.self_ns = time_sum(function->self_ns),
			.total_ns = function->total_ns,
			.avoidable_ns = function->avoidable_ns,
			/* Of a function it is not known. */
			.avoidable_high_ns = UINT64_MAX,
		};
	}
	*ret_items = (struct items){ items, profile->function_count };
	return 0;
}

/* The innermost Python frame; else the innermost one. */
static struct diff_place diff_place_of(const struct profile_frame *frames, size_t count)
{
	const struct profile_frame *frame = count ? &frames[count - 1] : NULL;

	for (size_t i = count; i-- > 0;)
		if (frames[i].kind == FRAME_PYTHON) {
			frame = &frames[i];
			break;
		}
	if (!frame)
		return (struct diff_place){ "?", "?", NULL, 0 };
	return (struct diff_place){ frame->file, frame->function, frame->source,
				    frame->kind == FRAME_PYTHON ? frame->line : 0 };
}

/* Pairs of the same two lines are one. */
static int pairs_of(const struct profile *profile, struct items *ret_items)
{
	struct item *items = calloc(profile->pair_count + 1, sizeof(*items));
	size_t used = 0;

	if (!items)
		return -1;
	for (size_t i = 0; i < profile->pair_count; i++) {
		const struct profile_pair *pair = &profile->pairs[i];

		items[i] = (struct item){
			.place = diff_place_of(pair->first, pair->first_count),
			.second = diff_place_of(pair->second, pair->second_count),
			.kind = pair->kind,
			.avoidable_ns = pair->avoidable_ns,
			.sampled = pair->sampled,
			.redundant = pair->redundant,
		};
	}
	qsort(items, profile->pair_count, sizeof(*items), sort_order);
	for (size_t i = 0; i < profile->pair_count; i++) {
		if (used && !compare_items(&items[used - 1], &items[i])) {
			items[used - 1].avoidable_ns += items[i].avoidable_ns;
			items[used - 1].sampled += items[i].sampled;
			items[used - 1].redundant += items[i].redundant;
		} else {
			items[used++] = items[i];
		}
	}
	*ret_items = (struct items){ items, used };
	return 0;
}

/* Walks both sides in one order; each is NULL where only the other has the thing. */
struct walk {
	const struct items *sides;
	size_t at[DIFF_SIDES];
};

static bool walk_next(struct walk *walk, const struct item *ret_items[DIFF_SIDES])
{
	const struct item *next[DIFF_SIDES];
	int order = 0;

	for (size_t s = 0; s < DIFF_SIDES; s++)
		next[s] = walk->at[s] < walk->sides[s].count ? &walk->sides[s].items[walk->at[s]]
							     : NULL;
	if (next[DIFF_BASE] && next[DIFF_NOW])
		order = compare_items(next[DIFF_BASE], next[DIFF_NOW]);
	if (order < 0)
		next[DIFF_NOW] = NULL;
	if (order > 0)
		next[DIFF_BASE] = NULL;
	for (size_t s = 0; s < DIFF_SIDES; s++) {
		walk->at[s] += next[s] != NULL;
		ret_items[s] = next[s];
	}
	return next[DIFF_BASE] || next[DIFF_NOW];
}

static struct diff_figure compare_savings(const struct item *const found[DIFF_SIDES],
					  const struct scale scales[DIFF_SIDES])
{
	struct diff_figure figure = { .noise = true };
	double low[DIFF_SIDES], high[DIFF_SIDES];

	for (size_t s = 0; s < DIFF_SIDES; s++) {
		double ns = found[s] ? (double)found[s]->avoidable_ns : 0;

		figure.share[s] = scales[s].time_ns ? ns / (double)scales[s].time_ns : 0;
		figure.rate[s] = per_second(ns, &scales[s]);
		low[s] = found[s] ? per_second((double)found[s]->avoidable_low_ns, &scales[s]) : 0;
		high[s] =
			found[s] ? per_second((double)found[s]->avoidable_high_ns, &scales[s]) : 0;
	}
	figure.rate_change.low = low[DIFF_NOW] - high[DIFF_BASE];
	figure.rate_change.high = high[DIFF_NOW] - low[DIFF_BASE];
	figure.noise = is_noise(figure.rate_change);
	return figure;
}

static void compare_spread(struct diff_entry *entry, const struct diff_place *place,
			   const struct scale scales[DIFF_SIDES])
{
	struct spread_error self[DIFF_SIDES] = { 0 }, total[DIFF_SIDES] = { 0 };

	for (size_t s = 0; s < DIFF_SIDES; s++) {
		const struct spread_key key = { place->file, place->function, place->source,
						entry->line[s] };
		struct spread_errors errors;

		if (!scales[s].spread || !entry->present[s])
			continue;
		errors = spread_errors_of(scales[s].spread, &key);
		self[s] = errors.self;
		total[s] = errors.total;
	}
	widen_by_spread(&entry->time, self, scales);
	widen_by_spread(&entry->total, total, scales);
}

static struct diff_entry *join_entries(const struct items sides[DIFF_SIDES],
				       const struct scale scales[DIFF_SIDES], size_t *ret_count)
{
	size_t room = sides[DIFF_BASE].count + sides[DIFF_NOW].count, count = 0;
	struct diff_entry *entries = calloc(room + 1, sizeof(*entries));
	struct walk walk = { .sides = sides };
	const struct item *found[DIFF_SIDES];

	while (entries && walk_next(&walk, found)) {
		const struct item *item = found[DIFF_NOW] ? found[DIFF_NOW] : found[DIFF_BASE];
		struct diff_entry *entry = &entries[count++];
		uint64_t total_ns[DIFF_SIDES];

		entry->file = item->place.file;
		entry->function = item->place.function;
		entry->source = item->place.source;
		for (size_t s = 0; s < DIFF_SIDES; s++) {
			entry->present[s] = found[s] != NULL;
			entry->line[s] = found[s] ? found[s]->place.line : 0;
			entry->self_ns[s] = found[s] ? found[s]->self_ns : 0;
			entry->avoidable_ns[s] = found[s] ? found[s]->avoidable_ns : 0;
			total_ns[s] = found[s] ? found[s]->total_ns : 0;
		}
		entry->time = compare_time(entry->self_ns, scales);
		entry->total = compare_time(total_ns, scales);
		compare_spread(entry, &item->place, scales);
		entry->avoidable = compare_savings(found, scales);
	}
	*ret_count = count;
	return entries;
}

static struct diff_pair *join_pairs(const struct diff *diff, const struct items sides[DIFF_SIDES],
				    size_t *ret_count)
{
	size_t room = sides[DIFF_BASE].count + sides[DIFF_NOW].count, count = 0;
	struct diff_pair *pairs = calloc(room + 1, sizeof(*pairs));
	struct walk walk = { .sides = sides };
	const struct item *found[DIFF_SIDES];

	while (pairs && walk_next(&walk, found)) {
		const struct item *item = found[DIFF_NOW] ? found[DIFF_NOW] : found[DIFF_BASE];
		struct diff_pair *pair = &pairs[count++];
		uint64_t all[DIFF_SIDES];

		pair->kind = item->kind;
		pair->first = item->place;
		pair->second = item->second;
		for (size_t s = 0; s < DIFF_SIDES; s++) {
			all[s] = diff->profiles[s]->accesses[pair->kind].sampled;
			pair->present[s] = found[s] != NULL;
			pair->sampled[s] = found[s] ? found[s]->sampled : 0;
			pair->redundant[s] = found[s] ? found[s]->redundant : 0;
			pair->avoidable_ns[s] = found[s] ? found[s]->avoidable_ns : 0;
		}
		pair->accesses = compare_accesses(pair->redundant, all);
	}
	*ret_count = count;
	return pairs;
}

static int compare_figures(const struct diff_figure *a, const struct diff_figure *b,
			   double a_change, double b_change)
{
	if (a->noise != b->noise)
		return a->noise ? 1 : -1;
	if (fabs(a_change) != fabs(b_change))
		return fabs(a_change) > fabs(b_change) ? -1 : 1;
	return 0;
}

static double change_of(const double values[DIFF_SIDES])
{
	return values[DIFF_NOW] - values[DIFF_BASE];
}

static int diff_compare_entries(const void *left, const void *right)
{
	const struct diff_entry *a = left, *b = right;
	const struct diff_place first = { a->file, a->function, a->source, a->line[DIFF_NOW] };
	const struct diff_place second = { b->file, b->function, b->source, b->line[DIFF_NOW] };
	int order = compare_figures(&a->time, &b->time, change_of(a->time.rate),
				    change_of(b->time.rate));

	return order ? order : compare_places(&first, &second);
}

static int diff_compare_pairs(const void *left, const void *right)
{
	const struct diff_pair *a = left, *b = right;
	int order = compare_figures(&a->accesses, &b->accesses, change_of(a->accesses.share),
				    change_of(b->accesses.share));

	if (!order)
		order = compare_places(&a->first, &b->first);
	return order ? order : compare_places(&a->second, &b->second);
}

static void compare_avoidable(struct diff *diff, const struct scale scales[DIFF_SIDES])
{
	const struct interval *ranges = diff->avoidable;

	for (size_t s = 0; s < DIFF_SIDES; s++) {
		struct avoidable_sum sum = avoidable_sum_of(diff->profiles[s]);

		diff->avoidable_rate[s] = per_second(sum.ns, &scales[s]);
		diff->avoidable[s].low = per_second(sum.interval.low, &scales[s]);
		diff->avoidable[s].high = per_second(sum.interval.high, &scales[s]);
		diff->cpu_rate[s] = per_second((double)scales[s].time_ns, &scales[s]);
	}
	diff->avoidable_noise = ranges[DIFF_BASE].low <= ranges[DIFF_NOW].high &&
				ranges[DIFF_NOW].low <= ranges[DIFF_BASE].high;
}

/* Both sides' things, sorted; both arrays are to be freed, also on failure. */
static int read_sides(const struct diff *diff,
		      int (*read)(const struct profile *profile, struct items *ret_items),
		      struct items ret_sides[DIFF_SIDES])
{
	for (size_t s = 0; s < DIFF_SIDES; s++) {
		if (read(diff->profiles[s], &ret_sides[s]) < 0)
			return -1;
		qsort(ret_sides[s].items, ret_sides[s].count, sizeof(struct item), sort_order);
	}
	return 0;
}

static void free_sides(struct items sides[DIFF_SIDES])
{
	for (size_t s = 0; s < DIFF_SIDES; s++)
		free(sides[s].items);
}

static int compare_all(struct diff *diff)
{
	const struct scale scales[DIFF_SIDES] = {
		scale_of(diff->profiles[DIFF_BASE], diff->spreads[DIFF_BASE]),
		scale_of(diff->profiles[DIFF_NOW], diff->spreads[DIFF_NOW]),
	};
	struct items lines[DIFF_SIDES] = { 0 }, functions[DIFF_SIDES] = { 0 };
	struct items pairs[DIFF_SIDES] = { 0 };
	bool read = !read_sides(diff, diff_lines_of, lines) &&
		    !read_sides(diff, functions_of, functions) &&
		    !read_sides(diff, pairs_of, pairs);

	if (read) {
		diff->lines = join_entries(lines, scales, &diff->line_count);
		diff->functions = join_entries(functions, scales, &diff->function_count);
		diff->pairs = join_pairs(diff, pairs, &diff->pair_count);
	}
	free_sides(lines);
	free_sides(functions);
	free_sides(pairs);
	if (!diff->lines || !diff->functions || !diff->pairs)
		return -1;
	qsort(diff->lines, diff->line_count, sizeof(*diff->lines), diff_compare_entries);
	qsort(diff->functions, diff->function_count, sizeof(*diff->functions),
	      diff_compare_entries);
	qsort(diff->pairs, diff->pair_count, sizeof(*diff->pairs), diff_compare_pairs);
	compare_avoidable(diff, scales);
	return 0;
}

struct diff *diff_create(const struct profile *base, const struct profile *now)
{
	const struct profile *const profiles[DIFF_SIDES] = { base, now };
	const struct spread *const none[DIFF_SIDES] = { NULL, NULL };

	return diff_create_of_sets(profiles, none);
}

struct diff *diff_create_of_sets(const struct profile *const profiles[DIFF_SIDES],
				 const struct spread *const spreads[DIFF_SIDES])
{
	struct diff *diff = calloc(1, sizeof(*diff));

	if (!diff)
		return NULL;
	for (size_t s = 0; s < DIFF_SIDES; s++) {
		diff->profiles[s] = profiles[s];
		diff->spreads[s] = spreads[s];
	}
	if (compare_all(diff) < 0) {
		diff_destroy(diff);
		return NULL;
	}
	return diff;
}

void diff_destroy(struct diff *diff)
{
	if (!diff)
		return;
	free(diff->lines);
	free(diff->functions);
	free(diff->pairs);
	free(diff);
}

struct figure diff_share(const struct diff *diff, enum diff_side side, double share)
{
	struct figure figure;

	if (diff->profiles[side]->facts.samples >= FIGURE_SAMPLES_MIN)
		return figure_share(share);
	snprintf(figure.text, sizeof(figure.text), "%.0f%%", 100 * share);
	return figure;
}

void diff_headline(const struct diff *diff, char *text, size_t size)
{
	/* What stands out comes first. */
	const struct diff_entry *entry = diff->function_count ? &diff->functions[0] : NULL;

	if (!entry || entry->time.noise)
		snprintf(text, size,
			 "No function's own time changed by more than chance would have it");
	else if (!entry->present[DIFF_BASE])
		snprintf(text, size, "%.400s: new, %.0f%% of the CPU time", entry->function,
			 100 * entry->time.share[DIFF_NOW]);
	else if (!entry->present[DIFF_NOW])
		snprintf(text, size, "%.400s: %.0f%% of the CPU time, now none", entry->function,
			 100 * entry->time.share[DIFF_BASE]);
	else
		snprintf(text, size, "%.400s: %.0f%% to %.0f%% of the CPU time", entry->function,
			 100 * entry->time.share[DIFF_BASE], 100 * entry->time.share[DIFF_NOW]);
}
