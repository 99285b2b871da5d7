/* SPDX-License-Identifier: Apache-2.0 */
/*
 * More threads, lines and paths than are merged. Where a profile of so many
 * would take long, the merge is told that it has that many but one.
 */
#include "daemon/report/merge/profile_merge.h"
#include "daemon/report/merge/profile_merge_parts.h"
#include "report_sample.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

/* As in docs/SECURITY.md. */
#define THREADS      16384
#define LINES        1048576
#define PATHS        2097152
#define STACK_FRAMES 33554432

static void test_threads(void **state)
{
	struct profile_thread *threads = calloc(THREADS + 3, sizeof(*threads));

	(void)state;
	assert_non_null(threads);
	for (int i = 0; i < THREADS + 3; i++)
		threads[i] = (struct profile_thread){ .tid = 1 + i, .time_ns = { 10 } };
	for (size_t count = THREADS; count <= THREADS + 3; count += 3) {
		struct profile_merge *merge = profile_merge_create();
		struct profile sample = sample_profile(), *profile;
		size_t others = 0;
		uint64_t sum_ns = 0;

		assert_non_null(merge);
		sample.facts.threads = threads;
		sample.facts.thread_count = count;
		assert_int_equal(profile_merge_add(merge, &sample), 0);
		profile = profile_merge_build(merge, false);
		assert_non_null(profile);
		assert_int_equal(profile->facts.thread_count, THREADS);
		for (size_t i = 0; i < THREADS; i++) {
			others += !profile->facts.threads[i].tid;
			sum_ns += profile->facts.threads[i].time_ns[0];
		}
		assert_int_equal(others, count > THREADS);
		assert_int_equal(sum_ns, 10 * count);
		profile_destroy(profile);
		profile_merge_destroy(merge);
	}
	free(threads);
}

static void test_lines(void **state)
{
	struct profile_merge *merge = profile_merge_create();
	const uint64_t *lost;

	(void)state;
	assert_non_null(merge);
	lost = &merge->facts.losses.counts[LOSS_TREE_FULL];
	merge->lines = calloc(LINES + 8, sizeof(merge->lines[0]));
	merge->functions = calloc(LINES + 8, sizeof(merge->functions[0]));
	assert_true(merge->lines && merge->functions);
	merge->line_capacity = merge->function_capacity = LINES + 8;
	merge->line_count = merge->function_count = LINES - 1;
	for (int i = 0; i < 3; i++) {
		const struct profile_line line = { .file = "/a.py", .function = "f", .line = i };

		assert_int_equal(merge_line_add(merge, &line), 0);
		assert_int_equal(merge->line_count, LINES);
		assert_int_equal(*lost, i);
	}
	for (int i = 0; i < 3; i++) {
		const struct profile_function function = { .file = "/a.py",
							   .function = i == 0   ? "f"
								       : i == 1 ? "g"
										: "h" };

		assert_int_equal(merge_function_add(merge, &function), 0);
		assert_int_equal(merge->function_count, LINES);
		assert_int_equal(*lost, 2 + i);
	}
	merge->line_count = merge->function_count = 0;
	profile_merge_destroy(merge);
}

static void test_paths(void **state)
{
	struct profile_merge *merge = profile_merge_create();
	uint32_t path;

	(void)state;
	assert_non_null(merge);
	/* The empty path is one. */
	for (uint32_t i = 1; i < PATHS; i++)
		assert_int_equal(merge_path_find(&merge->pair_paths, i / 2, i, &path), 0);
	assert_int_equal(merge->pair_paths.count, PATHS);
	assert_int_equal(merge_path_find(&merge->pair_paths, 0, PATHS, &path), -ENOSPC);
	/* One that is known is found. */
	assert_int_equal(merge_path_find(&merge->pair_paths, PATHS / 2 - 1, PATHS - 1, &path), 0);
	profile_merge_destroy(merge);
}

/* The sample's tree with so many frames of stacks before it: how many of its nodes are folded. */
static size_t folded(uint64_t frames_before, size_t *ret_frames, size_t *ret_nodes)
{
	struct profile_merge *merge = profile_merge_create();
	struct profile sample = sample_profile();
	size_t count;

	assert_non_null(merge);
	merge->stack_frames = frames_before;
	assert_int_equal(profile_merge_add(merge, &sample), 0);
	count = merge->nodes_folded - sample.tree.nodes_folded;
	*ret_frames = merge->stack_frames - frames_before;
	*ret_nodes = sample.tree.node_count;
	profile_merge_destroy(merge);
	return count;
}

static void test_stack_frames(void **state)
{
	size_t frames, fewer, nodes;

	(void)state;
	assert_int_equal(folded(0, &frames, &nodes), 0);
	assert_true(frames > 0 && nodes > 0);
	assert_int_equal(folded(STACK_FRAMES - frames, &fewer, &nodes), 0);
	assert_int_equal(fewer, frames);
	assert_true(folded(STACK_FRAMES - frames + 1, &fewer, &nodes) > 0);
	assert_true(fewer < frames);
	assert_int_equal(folded(STACK_FRAMES, &fewer, &nodes), nodes);
	assert_int_equal(fewer, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_threads),
		cmocka_unit_test(test_lines),
		cmocka_unit_test(test_paths),
		cmocka_unit_test(test_stack_frames),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
