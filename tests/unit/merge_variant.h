/* SPDX-License-Identifier: Apache-2.0 */
/* Profiles to merge: the sample as other processes would have it. */
#ifndef PIEPROFD_TESTS_UNIT_MERGE_VARIANT_H
#define PIEPROFD_TESTS_UNIT_MERGE_VARIANT_H

#include "daemon/report/merge/profile_merge.h"
#include "daemon/sample/timeline.h"
#include "report_sample.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

/* As in docs/SECURITY.md. */
#define PROCESSES 1024

#define VARIANT_CELLS 160

struct variant {
	struct profile profile;
	struct profile_line lines[3];
	struct profile_pair pairs[2];
	struct profile_function functions[2];
	struct profile_thread threads[2];
	struct profile_cell thread_cells[VARIANT_CELLS], node_cells[VARIANT_CELLS];
	struct profile_cell stack_cells[VARIANT_CELLS];
	struct profile_stack stacks[2];
	struct stop_histograms stops;
};

/* Of its first thread and its innermost node: slices of other lengths in other processes. */
static inline void make_timelines(struct variant *variant, unsigned number)
{
	struct profile *profile = &variant->profile;
	struct profile_timeline *threads = &profile->facts.thread_timeline;
	struct profile_timeline *nodes = &profile->facts.node_timeline;

	for (uint32_t i = 0; i < VARIANT_CELLS; i++) {
		variant->thread_cells[i] =
			(struct profile_cell){ .slice = 2 * i, .time_ns = { number, i, 0 } };
		variant->node_cells[i] = (struct profile_cell){
			.owner = (uint32_t)profile->tree.node_count - 1,
			.slice = i,
			.time_ns = { 0, number, i },
		};
		variant->stack_cells[i] = variant->node_cells[i];
		variant->stack_cells[i].owner = 1;
	}
	variant->stacks[0] = (struct profile_stack){ .node = 1,
						     .samples = { 1, 0, 0 },
						     .time_ns = { 1000 * number, 0, 0 } };
	variant->stacks[1] = (struct profile_stack){ .node = (uint32_t)profile->tree.node_count - 1,
						     .samples = { 0, number, 0 },
						     .time_ns = { 0, 2000 * number, 0 },
						     .waiting_ns = { number } };
	profile->facts.stacks = variant->stacks;
	profile->facts.stack_count = 2;
	*threads = (struct profile_timeline){
		.slice_ns = TIMELINE_SLICE_NS << number % 2,
		.slice_count = 2 * VARIANT_CELLS - 1,
		.cells = variant->thread_cells,
		.cell_count = VARIANT_CELLS,
		.left_out_ns = number,
	};
	*nodes = *threads;
	nodes->slice_ns <<= number % 3;
	nodes->slice_count = VARIANT_CELLS;
	nodes->cells = variant->node_cells;
	profile->facts.stack_timeline = *nodes;
	profile->facts.stack_timeline.cells = variant->stack_cells;
}

/* The sample with other counts, of another process. */
static inline struct variant *make(unsigned number)
{
	struct variant *variant = calloc(1, sizeof(*variant));
	struct profile *profile = &variant->profile;

	assert_non_null(variant);
	*profile = sample_profile();
	assert_true(profile->line_count <= 3 && profile->pair_count <= 2);
	memcpy(variant->lines, profile->lines, profile->line_count * sizeof(variant->lines[0]));
	memcpy(variant->pairs, profile->pairs, profile->pair_count * sizeof(variant->pairs[0]));
	profile->facts.target.pid = 100 + (pid_t)number;
	profile->facts.target.parent = 100;
	profile->facts.target.start_time = 1000 + number;
	profile->facts.target.end = PROCESS_EXITED;
	profile->facts.target.end_status = (int)number;
	profile->facts.started_unix_ns += number * 1000000000ull + number * number * 17000000;
	profile->facts.samples = 100 * number;
	profile->facts.lost_ns = number * 1000;
	profile->facts.cpu_ns = 100000;
	for (size_t i = 0; i < profile->line_count; i++) {
		struct profile_line *line = &variant->lines[i];

		line->self_ns[TIME_PYTHON] *= number;
		line->total_ns += number;
		memcpy(line->evidence.charged_ns, line->self_ns, sizeof(line->self_ns));
		line->evidence.call_samples = number;
		line->evidence.call_log_sum = number * (14000000ull + number);
		line->evidence.support[CATEGORY_SLICE_UNDERUTILISATION] = number;
	}
	for (size_t i = 0; i < profile->pair_count; i++) {
		variant->pairs[i].sampled += number;
		variant->pairs[i].watched = variant->pairs[i].sampled + 7;
		variant->pairs[i].support[CATEGORY_API_MISUSE] = number;
		variant->pairs[i].line = &variant->lines[1];
	}
	/* Never redundant in this process. */
	if (number == 2)
		variant->pairs[0].redundant = variant->pairs[0].approximate = 0;
	variant->functions[0] = (struct profile_function){
		.file = SAMPLE_FILE,
		.function = "Convolution.backprop",
		.line = 30 + (int)number,
		.self_ns = { number, 2, 3 },
		.total_ns = 10 * number,
	};
	variant->threads[0] = (struct profile_thread){ .tid = 100 + (pid_t)number,
						       .name = "MainThread",
						       .time_ns = { number, 0, 0 } };
	for (unsigned i = 0; i < 10 * number; i++)
		stop_histogram_add(&variant->stops.all, 1000 * number + i);
	profile->facts.stop_histograms = &variant->stops;
	profile->facts.threads = variant->threads;
	profile->facts.thread_count = 1;
	make_timelines(variant, number);
	profile->functions = variant->functions;
	profile->function_count = 1;
	profile->lines = variant->lines;
	profile->pairs = variant->pairs;
	return variant;
}

static inline void add(struct profile_merge *merge, const struct profile *profile)
{
	assert_int_equal(profile_merge_add(merge, profile), 0);
}

static inline struct profile *build(const struct profile_merge *merge, bool all_pairs)
{
	struct profile *profile = profile_merge_build(merge, all_pairs);

	assert_non_null(profile);
	return profile;
}

/* JSON has threads' alone. */
static inline char *written_nodes(const struct profile_timeline *timeline)
{
	char *text;
	size_t size;
	FILE *file = open_memstream(&text, &size);

	assert_non_null(file);
	fprintf(file, "%llu %zu %llu", (unsigned long long)timeline->slice_ns,
		timeline->slice_count, (unsigned long long)timeline->left_out_ns);
	for (size_t i = 0; i < timeline->cell_count; i++) {
		const struct profile_cell *cell = &timeline->cells[i];

		fprintf(file, " %u@%u", cell->owner, cell->slice);
		for (size_t c = 0; c < TIME_CLASS_COUNT; c++)
			fprintf(file, ",%llu", (unsigned long long)cell->time_ns[c]);
	}
	fclose(file);
	return text;
}

#endif
