/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/report/format/json_memory.h"

#include "daemon/report/model/memory_lines.h"

#include <stdlib.h>

static json_t *json_with_copies(json_t *object, const struct side_time *side)
{
	object = json_with(object, "copying_ns", json_count(side->copying_ns));
	object = json_with(object, "copied_low_bytes", json_count(side->copied_low_bytes));
	return json_with(object, "copied_high_bytes", json_count(side->copied_high_bytes));
}

static json_t *json_with_allocations(json_t *object, const struct side_time *side)
{
	object = json_with(object, "allocated_bytes", json_count(side->allocated_bytes));
	object = json_with(object, "allocated_objects", json_count(side->allocated_objects));
	object = json_with(object, "temporary_bytes", json_count(side->released_bytes));
	object = json_with(object, "temporary_objects", json_count(side->released_objects));
	return json_with(object, "allocation_samples", json_count(side->allocation_samples));
}

json_t *json_with_memory(json_t *object, const struct profile_facts *facts,
			 const struct side_time *side)
{
	object = json_with(object, "fresh_python_bytes",
			   json_count(side->fresh_bytes[FRESH_PYTHON]));
	object = json_with(object, "fresh_native_bytes",
			   json_count(side->fresh_bytes[FRESH_NATIVE]));
	object = facts->copies ? json_with_copies(object, side) : object;
	return facts->allocations ? json_with_allocations(object, side) : object;
}

static json_t *json_points(const struct resident_figures *resident)
{
	json_t *array = json_array();

	for (size_t i = 0; i < resident->point_count; i++) {
		json_t *point = json_object();

		point = json_with(point, "time_ns", json_count(resident->points[i].time_ns));
		point = json_with(point, "bytes", json_count(resident->points[i].bytes));
		array = json_appended(array, point);
	}
	return array;
}

static json_t *json_shares(json_t *object, const struct side_time *side)
{
	object = json_with(object, "bytes", json_count(side_time_fresh_bytes(side)));
	object = json_with(object, "samples", json_count(side->fresh_samples));
	object = json_with(object, "python_bytes", json_count(side->fresh_bytes[FRESH_PYTHON]));
	return json_with(object, "native_bytes", json_count(side->fresh_bytes[FRESH_NATIVE]));
}

/* Of lines, which it frees; NULL: there was no memory for them. */
static json_t *json_memory_lines(const struct profile_line **lines, size_t count,
				 json_t *(*with)(json_t *object, const struct side_time *side))
{
	json_t *array = lines ? json_array() : NULL;

	for (size_t i = 0; lines && i < count; i++) {
		json_t *object = json_object();

		object = json_with(object, "file", json_text(lines[i]->file));
		object = json_with(object, "line", json_integer(lines[i]->line));
		object = json_with(object, "function", json_text(lines[i]->function));
		array = json_appended(array, with(object, &lines[i]->side));
	}
	free(lines);
	return array;
}

static json_t *json_copies(const struct profile *profile)
{
	size_t count = 0;
	const struct profile_line **lines = memory_lines_copying(profile, &count);
	json_t *object = json_with_copies(json_object(), &profile->side);

	return json_with(object, "lines", json_memory_lines(lines, count, json_with_copies));
}

static const char *const views[ALLOCATOR_VIEW_COUNT] = {
	[ALLOCATOR_SEEN] = "seen",
	[ALLOCATOR_INLINED] = "inlined",
	[ALLOCATOR_NOT_FOUND] = "not found",
};

static json_t *json_allocations(const struct profile *profile)
{
	const struct profile_facts *facts = &profile->facts;
	const struct allocation_counts_sum *counts = &facts->allocation_counts;
	size_t count = 0;
	const struct profile_line **lines = memory_lines_allocating(profile, &count);
	uint64_t view = facts->small_objects < ALLOCATOR_VIEW_COUNT ? facts->small_objects
								    : ALLOCATOR_NOT_FOUND;
	json_t *object = json_with_allocations(json_object(), &profile->side);

	object = json_with(object, "bytes_per_s", json_count(memory_rate(counts->bytes, counts)));
	object = json_with(object, "objects_per_s",
			   json_count(memory_rate(counts->objects, counts)));
	object = json_with(object, "windows", json_count(counts->windows));
	object = json_with(object, "windows_refused", json_count(counts->refused));
	object = json_with(object, "probed_ns", json_count(counts->probed_ns));
	object = json_with(object, "observed_ns", json_count(counts->observed_ns));
	object = json_with(object, "cost_ns", json_count(counts->cost_ns));
	object = json_with(object, "hits", json_count(counts->hits));
	object = json_with(object, "bytes", json_count(counts->bytes));
	object = json_with(object, "objects", json_count(counts->objects));
	object = json_with(object, "missed_bytes", json_count(counts->missed_bytes));
	object = json_with(object, "small_objects", json_text(views[view]));
	object = json_with(object, "malloc_seen", json_boolean(!facts->malloc_unseen));
	return json_with(object, "lines", json_memory_lines(lines, count, json_with_allocations));
}

static json_t *json_quality(const struct profile *profile)
{
	const struct resident_figures *resident = &profile->facts.resident;
	const struct resident_counts *counts = &resident->counts;
	json_t *object = json_object();

	object = json_with(object, "faults", json_count(counts->faults));
	object = json_with(object, "faults_sampled", json_count(counts->faults_sampled));
	object = json_with(object, "faults_dropped", json_count(counts->faults_dropped));
	object = json_with(object, "kernel_faults_seen", json_boolean(resident->kernel_seen));
	object = json_with(object, "huge_samples", json_count(counts->huge_samples));
	object = json_with(object, "unknown_samples", json_count(counts->unknown_samples));
	return json_with(object, "unexplained_bytes", json_count(memory_unexplained(profile)));
}

json_t *json_memory(const struct profile *profile)
{
	const struct resident_figures *resident = &profile->facts.resident;
	size_t count = 0;
	const struct profile_line **lines = memory_lines_sorted(profile, &count);
	json_t *object = json_object();

	object = json_with(object, "start_bytes", json_count(resident->counts.start_bytes));
	object = json_with(object, "end_bytes", json_count(resident->counts.end_bytes));
	object = json_with(object, "peak_bytes", json_count(resident->peak_bytes));
	object = json_with(object, "peak_exact", json_boolean(resident->peak_exact));
	object = json_shares(object, &profile->side);
	object = json_with(object, "timeline", json_points(resident));
	object = json_with(object, "lines", json_memory_lines(lines, count, json_shares));
	if (profile->facts.copies)
		object = json_with(object, "copies", json_copies(profile));
	if (profile->facts.allocations)
		object = json_with(object, "allocations", json_allocations(profile));
	return json_with(object, "quality", json_quality(profile));
}
