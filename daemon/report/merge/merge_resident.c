/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/report/merge/merge_resident.h"

#include <string.h>

/* What of a run is there at a time of the merged one, to be asked with ascending times. */
struct walk {
	const struct resident_figures *figures;
	uint64_t shift_ns; /* from the run's time to the merged one's */
	size_t next;       /* the first point that is later */
};

static uint64_t time_of(const struct walk *walk, size_t point)
{
	return walk->figures->points[point].time_ns + walk->shift_ns;
}

static bool has_next(const struct walk *walk)
{
	return walk->next < walk->figures->point_count;
}

static uint64_t bytes_at(struct walk *walk, uint64_t time_ns)
{
	while (has_next(walk) && time_of(walk, walk->next) <= time_ns)
		walk->next++;
	/* Before the first, and behind the last. */
	if (!walk->next || (!has_next(walk) && time_of(walk, walk->next - 1) < time_ns))
		return 0;
	return walk->figures->points[walk->next - 1].bytes;
}

static uint64_t next_time(const struct walk *a, const struct walk *b)
{
	if (!has_next(a))
		return time_of(b, b->next);
	if (!has_next(b))
		return time_of(a, a->next);
	return time_of(a, a->next) < time_of(b, b->next) ? time_of(a, a->next)
							 : time_of(b, b->next);
}

/* Of two that follow each other the higher one stays, so that peaks do. */
static size_t halve(struct resident_point *points, size_t count)
{
	size_t kept = 0;

	for (size_t i = 0; i < count; i += 2)
		points[kept++] = i + 1 < count && points[i + 1].bytes > points[i].bytes
					 ? points[i + 1]
					 : points[i];
	return kept;
}

static size_t add_points(struct walk *a, struct walk *b, struct resident_point *points)
{
	struct resident_point all[2 * RESIDENT_POINTS_MAX] = { 0 };
	size_t count = 0;

	/* Each round passes a point at least. */
	while ((has_next(a) || has_next(b)) && count < 2 * RESIDENT_POINTS_MAX) {
		uint64_t time_ns = next_time(a, b);

		all[count].time_ns = time_ns;
		all[count++].bytes = bytes_at(a, time_ns) + bytes_at(b, time_ns);
	}
	if (count > RESIDENT_POINTS_MAX)
		count = halve(all, count);
	memcpy(points, all, count * sizeof(points[0]));
	return count;
}

static struct resident_counts add_counts(const struct resident_counts *a,
					 const struct resident_counts *b)
{
	return (struct resident_counts){
		.start_bytes = a->start_bytes + b->start_bytes,
		.end_bytes = a->end_bytes + b->end_bytes,
		.faults = a->faults + b->faults,
		.faults_sampled = a->faults_sampled + b->faults_sampled,
		.faults_dropped = a->faults_dropped + b->faults_dropped,
		.samples = a->samples + b->samples,
		.huge_samples = a->huge_samples + b->huge_samples,
		.unknown_samples = a->unknown_samples + b->unknown_samples,
	};
}

static uint64_t highest(const struct resident_point *points, size_t count)
{
	uint64_t bytes = 0;

	for (size_t i = 0; i < count; i++)
		if (points[i].bytes > bytes)
			bytes = points[i].bytes;
	return bytes;
}

struct resident_figures merge_resident(const struct resident_run *a, const struct resident_run *b,
				       bool one_process,
				       struct resident_point points[RESIDENT_POINTS_MAX])
{
	const struct resident_figures *first = a->figures, *second = b->figures;
	bool known = a->started_unix_ns && b->started_unix_ns;
	bool b_first = known && b->started_unix_ns < a->started_unix_ns;
	uint64_t start_ns = b_first ? b->started_unix_ns : a->started_unix_ns;
	struct walk walk_a = { first, known ? a->started_unix_ns - start_ns : 0, 0 };
	struct walk walk_b = { second, known ? b->started_unix_ns - start_ns : 0, 0 };
	uint64_t peak =
		first->peak_bytes > second->peak_bytes ? first->peak_bytes : second->peak_bytes;
	struct resident_figures merged = {
		.counts = add_counts(&first->counts, &second->counts),
		.peak_exact = one_process && first->peak_exact && second->peak_exact,
		.kernel_seen = first->kernel_seen && second->kernel_seen,
		.points = points,
	};

	if (one_process) {
		merged.counts.start_bytes = (b_first ? second : first)->counts.start_bytes;
		merged.counts.end_bytes = (b_first ? first : second)->counts.end_bytes;
	}
	merged.point_count = add_points(&walk_a, &walk_b, points);
	merged.peak_bytes = highest(points, merged.point_count);
	if (peak > merged.peak_bytes)
		merged.peak_bytes = peak;
	return merged;
}
