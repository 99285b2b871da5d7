/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/trace/trace_region.h"

#include "common/array.h"
#include "daemon/cct/library_path.h"
#include "daemon/report/encode/escape.h"
#include "daemon/trace/mpi_function.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Places of the regions that are no line. */
#define ELSEWHERE 0
#define UNKNOWN   1
#define NAMED     2

struct finding {
	struct trace_regions *regions;
	const struct trace_region_subject *subject;
	uint64_t *weights;    /* by own frame: time of all ranks that leads there */
	uint64_t *visits;     /* by own frame: how often the calls of a rank come to it */
	uint32_t before;      /* own frame of the call before */
	uint32_t *region_of;  /* by own frame */
	uint64_t *rank_times; /* by region: useful time and elapsed time of the rank at hand */
};

/* A stretch of one rank: what it computes, and the call behind it. call is NULL at the end. */
typedef void take_stretch(struct finding *finding, const struct trace_event *call,
			  uint64_t useful_ns, uint64_t mpi_ns);

/* ---- frames of the program itself ---- */

static int find_own(struct trace_regions *regions, const struct call_paths *paths)
{
	regions->own_count = paths ? paths->count : 0;
	regions->own_of = calloc((size_t)regions->own_count + 1, sizeof(regions->own_of[0]));
	if (!regions->own_of)
		return -ENOMEM;
	/* Callers have smaller numbers. */
	for (uint32_t i = 1; i < regions->own_count; i++) {
		const struct call_frame *frame = &paths->frames[i];
		uint32_t caller =
			frame->caller < i ? regions->own_of[frame->caller] : CALL_PATH_NONE;

		regions->own_of[i] = caller;
		if (frame->line && !path_is_library(frame->file))
			regions->own_of[i] = call_paths_add(&regions->own, caller, frame->function,
							    frame->file, frame->line);
	}
	return regions->own.left_out ? -ENOMEM : 0;
}

static uint32_t own_of(const struct trace_regions *regions, const struct trace_event *call)
{
	return call->path < regions->own_count ? regions->own_of[call->path] : CALL_PATH_NONE;
}

/* ---- stretches ---- */

static void go_through(struct finding *finding, const struct trace_region_rank *rank,
		       take_stretch *take)
{
	const struct trace_region_subject *subject = finding->subject;
	const struct trace_file *file = &subject->trace->processes[rank->place]->file;
	uint64_t at_ns = subject->begin_ns;

	for (uint64_t i = 0; i < file->count; i++) {
		const struct trace_event *event = &file->events[i];
		uint64_t begin_ns = event->begin_ns > at_ns ? event->begin_ns : at_ns;
		uint64_t end_ns = event->end_ns < subject->end_ns ? event->end_ns : subject->end_ns;

		if (event->kind != TRACE_CALL || event->thread != rank->thread ||
		    event->function >= mpi_function_count || event->begin_ns >= subject->end_ns ||
		    event->end_ns <= subject->begin_ns)
			continue;
		/* Within a call that was taken already. */
		if (end_ns <= at_ns) {
			take(finding, event, 0, 0);
			continue;
		}
		take(finding, event, begin_ns - at_ns, end_ns - begin_ns);
		at_ns = end_ns;
	}
	if (at_ns < subject->end_ns)
		take(finding, NULL, subject->end_ns - at_ns, 0);
}

/* All frames on the way to this call that were not on the way to the one before. */
static void add_visits(struct finding *finding, uint32_t frame)
{
	const struct call_paths *own = &finding->regions->own;
	uint32_t before = finding->before;

	finding->before = frame;
	while (frame != before) {
		if (frame < before) {
			before = own->frames[before].caller;
			continue;
		}
		finding->visits[frame]++;
		frame = own->frames[frame].caller;
	}
}

static void add_weight(struct finding *finding, const struct trace_event *call, uint64_t useful_ns,
		       uint64_t mpi_ns)
{
	uint32_t frame = call ? own_of(finding->regions, call) : CALL_PATH_NONE;

	if (frame == CALL_PATH_NONE)
		return;
	finding->weights[frame] += useful_ns + mpi_ns;
	add_visits(finding, frame);
}

/* ---- the main loop ---- */

static void sum_weights(struct finding *finding)
{
	const struct call_paths *own = &finding->regions->own;

	for (uint32_t i = own->count; i-- > 1;)
		if (own->frames[i].caller != CALL_PATH_NONE)
			finding->weights[own->frames[i].caller] += finding->weights[i];
}

static bool calls_own(const struct call_paths *own, uint32_t frame)
{
	for (uint32_t i = frame + 1; i < own->count; i++)
		if (own->frames[i].caller == frame)
			return true;
	return false;
}

/* It is the line to look into, rather than one of a loop. */
static bool leads_on(const struct finding *finding, uint32_t frame, uint64_t all_ns)
{
	return (double)finding->weights[frame] >= TRACE_REGION_NEARLY_ALL * (double)all_ns &&
	       finding->visits[frame] < TRACE_REGION_VISITS * finding->subject->rank_count &&
	       calls_own(&finding->regions->own, frame);
}

static void find_loop(struct finding *finding)
{
	const struct call_paths *own = &finding->regions->own;
	uint64_t all_ns = 0;
	uint32_t within = CALL_PATH_NONE;
	bool deeper = true;

	for (uint32_t i = 1; i < own->count; i++)
		if (own->frames[i].caller == CALL_PATH_NONE)
			all_ns += finding->weights[i];
	while (deeper) {
		deeper = false;
		for (uint32_t i = within + 1; i < own->count && !deeper; i++)
			if (own->frames[i].caller == within && leads_on(finding, i, all_ns)) {
				within = i;
				deeper = true;
			}
	}
	finding->regions->within = within;
}

static int add_region(struct trace_regions *regions, uint32_t frame, bool elsewhere)
{
	if (!ARRAY_ROOM(regions->items, regions->count, regions->capacity))
		return -ENOMEM;
	regions->items[regions->count++] =
		(struct trace_region){ .frame = frame, .elsewhere = elsewhere };
	return 0;
}

static int make_regions(struct finding *finding)
{
	struct trace_regions *regions = finding->regions;
	const struct call_paths *own = &regions->own;
	int error = add_region(regions, CALL_PATH_NONE, true);

	if (!error)
		error = add_region(regions, CALL_PATH_NONE, false);
	finding->region_of[CALL_PATH_NONE] = UNKNOWN;
	for (uint32_t i = 1; i < own->count && !error; i++) {
		uint32_t caller = own->frames[i].caller;

		finding->region_of[i] =
			caller == CALL_PATH_NONE ? ELSEWHERE : finding->region_of[caller];
		/* That line itself, where it calls MPI by no function of the program. */
		if (i != regions->within && (caller != regions->within || !finding->weights[i]))
			continue;
		finding->region_of[i] = (uint32_t)regions->count;
		error = add_region(regions, i, false);
	}
	return error;
}

/* ---- figures ---- */

static void add_stretch(struct finding *finding, const struct trace_event *call, uint64_t useful_ns,
			uint64_t mpi_ns)
{
	struct trace_regions *regions = finding->regions;
	uint32_t place = call ? finding->region_of[own_of(regions, call)] : ELSEWHERE;
	struct trace_region *region = &regions->items[place];

	region->calls += call != NULL;
	region->useful_ns += useful_ns;
	region->mpi_ns += mpi_ns;
	finding->rank_times[2 * place] += useful_ns;
	finding->rank_times[2 * place + 1] += useful_ns + mpi_ns;
}

static void take_rank(struct finding *finding, const struct trace_region_rank *rank)
{
	struct trace_regions *regions = finding->regions;

	memset(finding->rank_times, 0, 2 * regions->count * sizeof(finding->rank_times[0]));
	go_through(finding, rank, add_stretch);
	for (size_t i = 0; i < regions->count; i++) {
		struct trace_region *region = &regions->items[i];

		if (finding->rank_times[2 * i] > region->most_useful_ns) {
			region->most_useful_ns = finding->rank_times[2 * i];
			region->busiest = rank->place;
		}
		if (finding->rank_times[2 * i + 1] > region->elapsed_ns)
			region->elapsed_ns = finding->rank_times[2 * i + 1];
	}
}

uint64_t trace_region_lost(const struct trace_region *region, size_t ranks)
{
	return region->elapsed_ns * ranks - region->useful_ns;
}

static void judge(struct trace_region *region, size_t ranks)
{
	if (!region->most_useful_ns || !region->elapsed_ns)
		return;
	region->load_balance =
		(double)region->useful_ns / (double)ranks / (double)region->most_useful_ns;
	region->communication_efficiency =
		(double)region->most_useful_ns / (double)region->elapsed_ns;
	region->parallel_efficiency = region->load_balance * region->communication_efficiency;
}

static int compare_losses(const void *left, const void *right, void *context)
{
	const struct trace_region *a = left, *b = right;
	const size_t *ranks = context;
	uint64_t lost_a = trace_region_lost(a, *ranks), lost_b = trace_region_lost(b, *ranks);

	if (lost_a != lost_b)
		return lost_a > lost_b ? -1 : 1;
	return a->frame < b->frame ? -1 : a->frame > b->frame;
}

static void keep_used(struct trace_regions *regions, size_t ranks)
{
	size_t kept = 0;

	for (size_t i = 0; i < regions->count; i++) {
		if (!regions->items[i].elapsed_ns)
			continue;
		judge(&regions->items[i], ranks);
		regions->items[kept++] = regions->items[i];
	}
	regions->count = kept;
	if (kept)
		qsort_r(regions->items, kept, sizeof(regions->items[0]), compare_losses, &ranks);
}

static int find_all(struct finding *finding)
{
	const struct trace_region_subject *subject = finding->subject;
	struct trace_regions *regions = finding->regions;
	int error;

	for (size_t i = 0; i < subject->rank_count; i++) {
		finding->before = CALL_PATH_NONE;
		go_through(finding, &subject->ranks[i], add_weight);
	}
	sum_weights(finding);
	find_loop(finding);
	error = make_regions(finding);
	if (error)
		return error;
	finding->rank_times = calloc(2 * regions->count, sizeof(finding->rank_times[0]));
	if (!finding->rank_times)
		return -ENOMEM;
	for (size_t i = 0; i < subject->rank_count; i++)
		take_rank(finding, &subject->ranks[i]);
	keep_used(regions, subject->rank_count);
	return 0;
}

int trace_regions_init(struct trace_regions *regions, const struct trace_region_subject *subject)
{
	struct finding finding = { .regions = regions, .subject = subject };
	int error;

	*regions = (struct trace_regions){ .missing = subject->missing };
	if (subject->missing || !subject->rank_count || subject->end_ns <= subject->begin_ns)
		return 0;
	error = find_own(regions, subject->trace->paths);
	if (error)
		return error;
	finding.weights = calloc((size_t)regions->own.count + 1, sizeof(finding.weights[0]));
	finding.visits = calloc((size_t)regions->own.count + 1, sizeof(finding.visits[0]));
	finding.region_of = calloc((size_t)regions->own.count + 1, sizeof(finding.region_of[0]));
	error = finding.weights && finding.visits && finding.region_of ? find_all(&finding)
								       : -ENOMEM;
	free(finding.weights);
	free(finding.visits);
	free(finding.region_of);
	free(finding.rank_times);
	return error;
}

void trace_regions_deinit(struct trace_regions *regions)
{
	call_paths_deinit(&regions->own);
	free(regions->own_of);
	free(regions->items);
	*regions = (struct trace_regions){ 0 };
}

/* The one function that is called there; NULL: several, or none of the program's. */
static const char *callee_of(const struct call_paths *own, uint32_t frame)
{
	const char *name = NULL;

	for (uint32_t i = frame + 1; i < own->count; i++) {
		if (own->frames[i].caller != frame)
			continue;
		/* Names are there once. */
		if (name && name != own->frames[i].function)
			return NULL;
		name = own->frames[i].function;
	}
	return name;
}

void trace_region_name(const struct trace_regions *regions, const struct trace_region *region,
		       char ret_name[static TRACE_REGION_NAME_BYTES])
{
	const struct call_frame *frame = call_paths_frame(&regions->own, region->frame);
	bool loop = frame && region->frame == regions->within;
	const char *callee = frame && !loop ? callee_of(&regions->own, region->frame) : NULL;

	if (!frame)
		snprintf(ret_name, TRACE_REGION_NAME_BYTES, "%s",
			 region->elsewhere ? "elsewhere, and after the last call"
					   : "lines that are not known");
	else
		snprintf(ret_name, TRACE_REGION_NAME_BYTES, "%.160s%s%.120s:%d in %.80s%s",
			 callee ? callee : "", callee ? ", " : "", path_last(frame->file),
			 frame->line, frame->function, loop ? " itself" : "");
}
