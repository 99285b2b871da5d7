/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/cli/recording_fold.h"

#include "daemon/report/model/profile_sources.h"

#include <stdio.h>

/* Of marks on the sources of several recordings. */
#define SOURCES_BYTES_MAX (64u << 20)

struct recording *recording_fold_read(const char *path, enum exit_code *ret_code)
{
	struct error error;
	struct recording *recording = recording_open(path, &error);

	if (recording)
		return recording;
	fprintf(stderr, "pieprofd: %s\n", error.cause);
	if (error.cure[0])
		fprintf(stderr, "  %s\n", error.cure);
	*ret_code = error.exit_code;
	return NULL;
}

static enum exit_code refuse_memory(void)
{
	fprintf(stderr, "pieprofd: out of memory\n");
	return EXIT_INTERNAL;
}

/* What a person is to know of it besides what it says. */
static void say_unfinished(const char *path, const struct profile_facts *facts)
{
	if (facts->unfinished)
		fprintf(stderr,
			"pieprofd: %s was written while sampling went on: it covers the first %.1f "
			"s\n",
			path, (double)facts->duration_ns / 1e9);
}

/* Of the parts, which have lost their histograms: bounds. */
static void bound_stops(struct stop_times *into, const struct stop_times *part)
{
	into->count += part->count;
	into->p50_ns = part->p50_ns > into->p50_ns ? part->p50_ns : into->p50_ns;
	into->p99_ns = part->p99_ns > into->p99_ns ? part->p99_ns : into->p99_ns;
	into->max_ns = part->max_ns > into->max_ns ? part->max_ns : into->max_ns;
}

/* Are all of one process, in parts of its life? As soon as that is known. */
static enum exit_code find_processes(struct recording_fold *fold, const char *const *paths,
				     size_t count)
{
	struct profile_target first = { 0 };

	fold->one_process = true;
	for (size_t i = 0; i < count && fold->one_process; i++) {
		enum exit_code code = EXIT_OK;
		struct recording *recording = recording_fold_read(paths[i], &code);
		const struct profile *profile;

		if (!recording)
			return code;
		profile = &recording->profile;
		if (!i)
			first = profile->facts.target;
		fold->one_process = !profile->process_count &&
				    profile->facts.target.pid == first.pid &&
				    profile->facts.target.start_time == first.start_time;
		recording_close(recording);
	}
	return EXIT_OK;
}

static enum exit_code add_part(struct recording_fold *fold, const char *path, bool apart)
{
	enum exit_code code = EXIT_OK;
	struct recording *recording = recording_fold_read(path, &code);
	const struct profile_facts *facts;
	int failure;

	if (!recording)
		return code;
	facts = &recording->profile.facts;
	if (apart)
		say_unfinished(path, facts);
	fold->duration_ns += facts->duration_ns;
	bound_stops(&fold->facts.stops, &facts->stops);
	bound_stops(&fold->facts.sample_stops, &facts->sample_stops);
	bound_stops(&fold->facts.breakpoint_stops, &facts->breakpoint_stops);
	failure = profile_merge_add(fold->merge, &recording->profile);
	if (!failure && fold->spread)
		failure = spread_add(fold->spread, &recording->profile);
	recording_close(recording);
	return failure ? refuse_memory() : EXIT_OK;
}

static enum exit_code finish_fold(struct recording_fold *fold)
{
	struct profile_facts *facts;

	fold->profile = profile_merge_build(fold->merge, false);
	if (!fold->profile)
		return refuse_memory();
	facts = &fold->profile->facts;
	if (!facts->stops.count) {
		facts->stops = fold->facts.stops;
		facts->sample_stops = fold->facts.sample_stops;
		facts->breakpoint_stops = fold->facts.breakpoint_stops;
	}
	/* The time between two of them was not watched. */
	if (facts->duration_ns > fold->duration_ns)
		facts->duration_ns = fold->duration_ns;
	return EXIT_OK;
}

static enum exit_code fold_parts(struct recording_fold *fold, const char *const *paths,
				 size_t count, bool with_spread, bool quiet)
{
	enum exit_code code = find_processes(fold, paths, count);

	if (code)
		return code;
	arena_init(&fold->arena, SOURCES_BYTES_MAX);
	fold->merge = profile_merge_create();
	if (with_spread)
		fold->spread = spread_create();
	if (!fold->merge || (with_spread && !fold->spread))
		return refuse_memory();
	if (fold->one_process)
		profile_merge_set_one_process(fold->merge);
	else if (count > RECORDING_FOLD_APART)
		profile_merge_set_fleet(fold->merge);
	for (size_t i = 0; i < count; i++) {
		code = add_part(fold, paths[i], !quiet && count <= RECORDING_FOLD_APART);
		if (code)
			return code;
	}
	return finish_fold(fold);
}

enum exit_code recording_fold_open(struct recording_fold *fold, const char *const *paths,
				   size_t count, bool with_spread, bool quiet)
{
	enum exit_code code = EXIT_OK;

	*fold = (struct recording_fold){ 0 };
	if (count > 1)
		return fold_parts(fold, paths, count, with_spread, quiet);
	fold->recording = recording_fold_read(paths[0], &code);
	if (!fold->recording)
		return code;
	fold->profile = &fold->recording->profile;
	if (!quiet)
		say_unfinished(paths[0], &fold->profile->facts);
	return EXIT_OK;
}

void recording_fold_close(struct recording_fold *fold)
{
	if (fold->recording) {
		recording_close(fold->recording);
		return;
	}
	profile_destroy(fold->profile);
	profile_merge_destroy(fold->merge);
	spread_destroy(fold->spread);
	arena_deinit(&fold->arena);
}

int recording_fold_mark_sources(struct recording_fold *fold)
{
	return profile_sources_compare(fold->profile,
				       fold->recording ? &fold->recording->arena : &fold->arena);
}
