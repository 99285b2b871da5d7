/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/report/model/profile_facts.h"

#include "daemon/report/encode/figure.h"
#include "daemon/report/model/profile_stacks.h"
#include "daemon/report/model/profile_timeline.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define COMMAND_WORDS_MAX 4096

/* Of the rate that was asked for, and of the overhead allowed: a clock that runs behind for other
 * reasons is not told of. */
#define SLOWED_RATE_MAX     0.8
#define SLOWED_OVERHEAD_MIN 0.5
#define SLOWED_SAMPLES_MIN  20

int profile_thread_compare(const void *left, const void *right)
{
	const struct profile_thread *a = left, *b = right;
	uint64_t time_a = time_sum(a->time_ns), time_b = time_sum(b->time_ns);

	if (time_a != time_b)
		return time_a > time_b ? -1 : 1;
	time_a = side_time_waiting_ns(&a->side);
	time_b = side_time_waiting_ns(&b->side);
	if (time_a != time_b)
		return time_a > time_b ? -1 : 1;
	if (a->pid != b->pid)
		return a->pid < b->pid ? -1 : 1;
	return a->tid < b->tid ? -1 : a->tid > b->tid;
}

/* By time, with where each was in the facts. */
struct sorted_thread {
	struct profile_thread thread; /* first: what is compared */
	size_t index;
};

static int copy_sorted_threads(struct owned_profile *owned, const struct profile_facts *facts,
			       struct sorted_thread *sorted, uint32_t *positions)
{
	struct profile_thread *threads =
		arena_array(&owned->arena, facts->thread_count, sizeof(*threads));
	size_t count = 0;

	if (!threads || owned->arena.failed)
		return -ENOMEM;
	for (size_t i = 0; i < facts->thread_count; i++) {
		const uint64_t *time_ns = facts->threads[i].time_ns;

		owned->profile.gil_ns += facts->threads[i].gil_ns;
		positions[i] = PROFILE_NODE_NONE;
		if (time_ns[TIME_PYTHON] || time_ns[TIME_NATIVE] || time_ns[TIME_SYSTEM] ||
		    side_time_any(&facts->threads[i].side))
			sorted[count++] = (struct sorted_thread){ facts->threads[i], i };
	}
	qsort(sorted, count, sizeof(*sorted), profile_thread_compare);
	for (size_t i = 0; i < count; i++) {
		threads[i] = sorted[i].thread;
		positions[sorted[i].index] = (uint32_t)i;
	}
	owned->profile.facts.threads = threads;
	owned->profile.facts.thread_count = count;
	if (profile_timeline_renumber(&owned->arena, &facts->thread_timeline, positions,
				      facts->thread_count, &owned->profile.facts.thread_timeline))
		return -ENOMEM;
	return profile_stacks_renumber(
		&owned->arena, &owned->profile.facts,
		&(struct profile_positions){ positions, facts->thread_count }, NULL);
}

static int copy_threads(struct owned_profile *owned, const struct profile_facts *facts)
{
	struct sorted_thread *sorted = calloc(facts->thread_count + 1, sizeof(*sorted));
	uint32_t *positions = calloc(facts->thread_count + 1, sizeof(*positions));
	int result = -ENOMEM;

	if (sorted && positions)
		result = copy_sorted_threads(owned, facts, sorted, positions);
	free(positions);
	free(sorted);
	return result;
}

const struct resident_point *profile_facts_copy_points(struct owned_profile *owned,
						       const struct resident_figures *resident)
{
	struct resident_point *points =
		arena_array(&owned->arena, resident->point_count + 1, sizeof(*points));

	if (points && resident->point_count)
		memcpy(points, resident->points, resident->point_count * sizeof(*points));
	return points;
}

int profile_facts_copy(struct owned_profile *owned, const struct profile_facts *facts)
{
	struct profile_facts *copy = &owned->profile.facts;
	const char **words;
	size_t count = 0;

	*copy = *facts;
	copy->version = arena_copy_string(&owned->arena, facts->version);
	copy->sampler = arena_copy_string(&owned->arena, facts->sampler);
	if (facts->sampler_limits)
		copy->sampler_limits = arena_copy_string(&owned->arena, facts->sampler_limits);
	if (facts->deadlock)
		copy->deadlock = arena_copy_string(&owned->arena, facts->deadlock);
	if (facts->target.command) {
		while (count < COMMAND_WORDS_MAX && facts->target.command[count])
			count++;
		words = arena_array(&owned->arena, count + 1, sizeof(*words));
		for (size_t i = 0; words && i < count; i++)
			words[i] = arena_copy_string(&owned->arena, facts->target.command[i]);
		copy->target.command = words;
	}
	copy->resident.points = profile_facts_copy_points(owned, &facts->resident);
	if (facts->stop_histograms) {
		struct stop_histograms *histograms =
			arena_array(&owned->arena, 1, sizeof(*histograms));

		if (histograms)
			*histograms = *facts->stop_histograms;
		copy->stop_histograms = histograms;
	}
	return copy_threads(owned, facts);
}

double profile_slowed_hz(const struct profile *profile)
{
	const struct profile_facts *facts = &profile->facts;
	uint64_t sampled_ns = time_sum(profile->time_ns);
	double rate_hz;

	if (facts->samples < SLOWED_SAMPLES_MIN || !facts->stops.count ||
	    !facts->wanted_period_ns || !sampled_ns ||
	    facts->overhead < SLOWED_OVERHEAD_MIN * facts->overhead_limit)
		return 0;
	rate_hz = 1e9 * (double)facts->samples / (double)sampled_ns;
	return rate_hz < SLOWED_RATE_MAX * 1e9 / (double)facts->wanted_period_ns ? rate_hz : 0;
}

const char *profile_roughness(const struct profile_facts *facts)
{
	return facts->samples && facts->samples < FIGURE_SAMPLES_MIN
		       ? " (fewer than 100: shares are rough)"
		       : "";
}
