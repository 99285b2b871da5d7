/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/heap/heap_verdict.h"

#include <math.h>

/* What is less, of bytes and of RSS, is no growth to speak of. */
#define GAIN_MIN   65536
#define GAIN_SHARE 0.001
/* So many times what goes down in a step, on average. */
#define GAIN_FALLS 3
/* A container decides where so much of what grew hangs on it. */
#define GROWER_SHARE 0.3
/* A pace that is slower than so much of that at first is no even one ... */
#define SLOWER 0.7
/* ... where it was on its way there between. */
#define MIDDLE_SLACK 1.05
/* So many of all steps without a change at the end. */
#define STILL_PART  4
#define STILL_STEPS 3
/* Of RSS, and in bytes: garbage that is there now and then, free memory that is there always. */
#define GARBAGE_SHARE 0.2
#define GARBAGE_MIN   (4u << 20)
#define FREE_SHARE    0.4
#define FREE_LEAST    0.1
#define FREE_MIN      (16u << 20)

const char *heap_verdict_name(enum heap_verdict_kind kind)
{
	static const char *const names[] = {
		[HEAP_VERDICT_TOO_FEW_LOOKS] = "too_few_looks",
		[HEAP_VERDICT_LEAK] = "leak",
		[HEAP_VERDICT_WARMING] = "cache_warming",
		[HEAP_VERDICT_GARBAGE] = "garbage",
		[HEAP_VERDICT_NATIVE] = "native",
		[HEAP_VERDICT_FRAGMENTATION] = "fragmentation",
		[HEAP_VERDICT_STEADY] = "steady",
	};

	return names[kind];
}

static bool slows_down(const struct heap_trend *trend)
{
	return trend->early > 0 && trend->late < SLOWER * trend->early &&
	       trend->middle <= MIDDLE_SLACK * trend->early && trend->late <= trend->middle;
}

static bool stands_still(const struct heap_trend *trend)
{
	return trend->still >= STILL_STEPS && trend->still * STILL_PART >= trend->steps;
}

/* Bytes gained; 0: no growth to speak of. */
static double gained(const struct heap_trend *trend, double rss)
{
	double gain = (double)trend->gain;

	return gain >= GAIN_MIN && gain >= GAIN_SHARE * rss && gain > GAIN_FALLS * trend->fall
		       ? gain
		       : 0;
}

/* By all that is live: a look in which some of it seems to be held by nobody tells as much. */
static double held_gain(const struct heap_growth *growth, const struct heap_trend *garbage,
			double rss)
{
	uint64_t live[HEAP_GROWTH_LOOKS_MAX];
	struct heap_trend trend;

	for (size_t i = 0; i < growth->looks; i++)
		live[i] = growth->figures[HEAP_FIGURE_HELD][i] +
			  growth->figures[HEAP_FIGURE_GARBAGE][i];
	trend = heap_growth_trend(growth, live);
	if (garbage->gain > 0)
		trend.gain -= garbage->gain;
	return gained(&trend, rss);
}

static uint64_t least(const struct heap_growth *growth, enum heap_figure figure)
{
	uint64_t value = growth->figures[figure][0];

	for (size_t i = 1; i < growth->looks; i++)
		if (growth->figures[figure][i] < value)
			value = growth->figures[figure][i];
	return value;
}

static uint64_t most(const struct heap_growth *growth, enum heap_figure figure)
{
	uint64_t value = 0;

	for (size_t i = 0; i < growth->looks; i++)
		if (growth->figures[figure][i] > value)
			value = growth->figures[figure][i];
	return value;
}

/* The most that was live at a time, over the least. */
static double live_swing(const struct heap_growth *growth)
{
	uint64_t low = UINT64_MAX, high = 0;

	for (size_t i = 0; i < growth->looks; i++) {
		uint64_t live = growth->figures[HEAP_FIGURE_HELD][i] +
				growth->figures[HEAP_FIGURE_GARBAGE][i];

		low = live < low ? live : low;
		high = live > high ? live : high;
	}
	return (double)high - (double)low;
}

/* Of the path that grew most: by objects where these grew, else by bytes. */
static struct heap_trend path_trend(const struct heap_growth *growth, uint32_t path)
{
	const struct heap_row *row = heap_growth_path(growth, path);
	struct heap_trend trend = { 0 };

	if (row)
		trend = heap_growth_trend(growth, row->counts);
	if (row && trend.rises < HEAP_GROWER_RISES_MIN)
		trend = heap_growth_trend(growth, row->bytes);
	return trend;
}

static void judge_held(const struct heap_growth *growth, const struct heap_grower *growers,
		       size_t grower_count, const struct heap_growing_path *paths,
		       size_t path_count, double gain, struct heap_verdict *verdict)
{
	struct heap_trend trend = heap_growth_trend(growth, growth->figures[HEAP_FIGURE_HELD]);

	verdict->bytes_per_s = trend.per_s;
	verdict->path = path_count ? paths[0].path : 0;
	if (grower_count && growers[0].bytes >= GROWER_SHARE * gain) {
		const struct heap_row *row = heap_growth_path(growth, growers[0].path);

		verdict->grower_decided = true;
		verdict->path = growers[0].path;
		trend = growers[0].trend;
		if (row)
			verdict->bytes_per_s = heap_growth_trend(growth, row->bytes).per_s;
	} else if (verdict->path) {
		trend = path_trend(growth, verdict->path);
		verdict->bytes_per_s = paths[0].bytes_per_s;
	}
	verdict->stood_still = stands_still(&trend);
	verdict->kind = verdict->stood_still || slows_down(&trend) ? HEAP_VERDICT_WARMING
								   : HEAP_VERDICT_LEAK;
}

/* Nothing grew: what it has may still be more than it needs. */
static enum heap_verdict_kind judge_steady(const struct heap_growth *growth, double rss)
{
	double garbage = (double)most(growth, HEAP_FIGURE_GARBAGE);
	double free = (double)least(growth, HEAP_FIGURE_FREE);

	/* It comes and goes: what is live does, too. */
	if (garbage >= GARBAGE_MIN && garbage >= GARBAGE_SHARE * rss &&
	    live_swing(growth) >= garbage / 2)
		return HEAP_VERDICT_GARBAGE;
	if (free >= FREE_MIN && free >= FREE_SHARE * rss)
		return HEAP_VERDICT_FRAGMENTATION;
	return HEAP_VERDICT_STEADY;
}

struct heap_verdict heap_verdict_find(const struct heap_growth *growth,
				      const struct heap_grower *growers, size_t grower_count,
				      const struct heap_growing_path *paths, size_t path_count)
{
	struct heap_verdict verdict = { .kind = HEAP_VERDICT_TOO_FEW_LOOKS };
	struct heap_trend trends[HEAP_FIGURES];
	double gains[HEAP_FIGURES], rss, rss_gain;
	enum heap_figure first = HEAP_FIGURE_HELD;

	if (!growth->looks)
		return verdict;
	for (enum heap_figure i = 0; i < HEAP_FIGURES; i++)
		trends[i] = heap_growth_trend(growth, growth->figures[i]);
	rss = (double)most(growth, HEAP_FIGURE_RSS);
	rss_gain = (double)trends[HEAP_FIGURE_RSS].last - (double)trends[HEAP_FIGURE_RSS].first;
	verdict.rss_per_s = trends[HEAP_FIGURE_RSS].per_s;
	verdict.garbage_peak = most(growth, HEAP_FIGURE_GARBAGE);
	if (growth->taken < HEAP_VERDICT_LOOKS_MIN)
		return verdict;
	for (enum heap_figure i = 0; i < HEAP_FIGURES; i++)
		gains[i] = gained(&trends[i], rss);
	gains[HEAP_FIGURE_HELD] = held_gain(growth, &trends[HEAP_FIGURE_GARBAGE], rss);
	/* Free memory that came out of what was used before is no growth, nor is a little more of
	 * little. */
	if (gains[HEAP_FIGURE_RSS] <= 0 ||
	    (double)most(growth, HEAP_FIGURE_FREE) < FREE_LEAST * rss)
		gains[HEAP_FIGURE_FREE] = 0;
	for (enum heap_figure i = HEAP_FIGURE_HELD; i < HEAP_FIGURES; i++)
		if (gains[i] > gains[first])
			first = i;
	verdict.bytes_per_s = trends[first].per_s;
	if (gains[first] <= 0) {
		verdict.kind = judge_steady(growth, rss);
		verdict.bytes_per_s = 0;
		return verdict;
	}
	switch (first) {
	case HEAP_FIGURE_GARBAGE:
		verdict.kind = HEAP_VERDICT_GARBAGE;
		break;
	case HEAP_FIGURE_NATIVE:
		verdict.kind = HEAP_VERDICT_NATIVE;
		break;
	case HEAP_FIGURE_FREE:
		verdict.kind = HEAP_VERDICT_FRAGMENTATION;
		break;
	case HEAP_FIGURE_HELD:
	case HEAP_FIGURE_RSS:
	case HEAP_FIGURES:
		judge_held(growth, growers, grower_count, paths, path_count, gains[first],
			   &verdict);
		break;
	}
	if (rss_gain > 0)
		verdict.share_of_growth = fmin(1, fmax(0, verdict.bytes_per_s / verdict.rss_per_s));
	return verdict;
}
