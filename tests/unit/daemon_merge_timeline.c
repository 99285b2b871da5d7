/* SPDX-License-Identifier: Apache-2.0 */
/* Timelines of several processes made one: where slices come to lie, and the limits. */
#include "daemon/report/merge/merge_timeline.h"
#include "merge_variant.h"

/* As in docs/SECURITY.md. */
#define CELLS 65536

static uint64_t timeline_sum(const struct profile_timeline *timeline)
{
	uint64_t sum_ns = timeline->left_out_ns;

	for (size_t i = 0; i < timeline->cell_count; i++)
		for (size_t c = 0; c < TIME_CLASS_COUNT; c++)
			sum_ns += timeline->cells[i].time_ns[c];
	return sum_ns;
}

/* When the time of an owner begins, in slices; how much of it there is. */
static uint64_t first_slice(const struct profile_timeline *timeline, uint32_t owner)
{
	for (size_t i = 0; i < timeline->cell_count; i++)
		if (timeline->cells[i].owner == owner)
			return timeline->cells[i].slice;
	fail_msg("owner %u has no time", owner);
	return 0;
}

/* Slices are the coarser ones, and lie where the processes had them. */
static void test_timelines(void **state)
{
	struct variant *one = make(1), *two = make(2);
	struct profile_merge *merge = profile_merge_create();
	const struct profile_timeline *threads, *nodes;
	struct profile *profile;
	uint32_t first, second;

	(void)state;
	/* Not so long that slices would have to become longer. */
	one->profile.facts.thread_timeline.cell_count = 20;
	one->profile.facts.node_timeline.cell_count = 20;
	two->profile.facts.thread_timeline.cell_count = 20;
	two->profile.facts.node_timeline.cell_count = 20;
	/* They begin 1.051 s apart; the later is merged first. */
	add(merge, &two->profile);
	add(merge, &one->profile);
	profile = build(merge, false);
	threads = &profile->facts.thread_timeline;
	nodes = &profile->facts.node_timeline;
	assert_int_equal(threads->slice_ns, 2 * TIMELINE_SLICE_NS);
	assert_int_equal(nodes->slice_ns, 4 * TIMELINE_SLICE_NS);
	assert_int_equal(timeline_sum(threads),
			 timeline_sum(&one->profile.facts.thread_timeline) +
				 timeline_sum(&two->profile.facts.thread_timeline));
	assert_int_equal(timeline_sum(nodes),
			 timeline_sum(&one->profile.facts.node_timeline) +
				 timeline_sum(&two->profile.facts.node_timeline));
	assert_int_equal(threads->left_out_ns, 3);
	first = profile->facts.threads[0].pid == 101 ? 0 : 1;
	assert_in_range(first_slice(threads, first), 0, 1);
	assert_in_range(first_slice(threads, 1 - first), 9, 12);
	/* Those of nodes are of their own processes' stacks. */
	first = nodes->cells[0].owner;
	second = nodes->cells[nodes->cell_count - 1].owner;
	for (size_t i = 0; i < nodes->cell_count; i++)
		assert_true(nodes->cells[i].owner == first || nodes->cells[i].owner == second);
	while (profile->tree.nodes[first].parent != PROFILE_NODE_NONE)
		first = profile->tree.nodes[first].parent;
	while (profile->tree.nodes[second].parent != PROFILE_NODE_NONE)
		second = profile->tree.nodes[second].parent;
	assert_true(first != second);
	profile_destroy(profile);
	profile_merge_destroy(merge);

	/* Nobody knows when it was. */
	two->profile.facts.started_unix_ns = 0;
	merge = profile_merge_create();
	add(merge, &one->profile);
	add(merge, &two->profile);
	profile = build(merge, false);
	threads = &profile->facts.thread_timeline;
	assert_int_equal(threads->left_out_ns,
			 1 + timeline_sum(&two->profile.facts.thread_timeline));
	profile_destroy(profile);
	profile_merge_destroy(merge);
	free(one);
	free(two);
}

/* However far apart, and however many cells: within the limits, and nothing is lost. */
static void test_timeline_limits(void **state)
{
	struct variant *variant = make(1);
	struct profile *profile = &variant->profile;
	const uint64_t begun_ns = profile->facts.started_unix_ns;
	const unsigned processes = 1000;
	char *expected = NULL;

	(void)state;
	assert_true(processes < PROCESSES);
	assert_true(processes * VARIANT_CELLS > 2 * CELLS);
	/* In order of time, and the other way round. */
	for (unsigned round = 0; round < 2; round++) {
		struct profile_merge *merge = profile_merge_create();
		const struct profile_timeline *timeline;
		struct profile *merged;
		char *text;

		for (unsigned i = 0; i < processes; i++) {
			unsigned at = round ? processes - 1 - i : i;

			profile->facts.started_unix_ns = begun_ns + at * 1000000000ull;
			profile->facts.target.pid = 1000 + (pid_t)at;
			add(merge, profile);
		}
		merged = build(merge, false);
		timeline = &merged->facts.thread_timeline;
		assert_true(timeline->slice_count <= TIMELINE_THREAD_SLICES_MAX);
		assert_true(timeline->cell_count <= CELLS);
		assert_int_equal(timeline_sum(timeline),
				 processes * timeline_sum(&profile->facts.thread_timeline));
		timeline = &merged->facts.node_timeline;
		assert_true(timeline->slice_count > TIMELINE_NODE_SLICES_MAX / 4);
		assert_true(timeline->slice_count <= TIMELINE_NODE_SLICES_MAX);
		assert_int_equal(timeline_sum(timeline),
				 processes * timeline_sum(&profile->facts.node_timeline));
		text = written_nodes(timeline);
		if (expected)
			assert_string_equal(text, expected);
		else
			expected = strdup(text);
		free(text);
		profile_destroy(merged);
		profile_merge_destroy(merge);
	}
	free(expected);
	/* What no session would have written. */
	profile->facts.started_unix_ns = UINT64_MAX;
	variant->thread_cells[VARIANT_CELLS - 1].slice = UINT32_MAX;
	for (unsigned doublings = 0; doublings < 64; doublings++) {
		struct profile_merge *merge = profile_merge_create();
		struct profile *merged;

		profile->facts.thread_timeline.slice_ns = (uint64_t)TIMELINE_SLICE_NS << doublings;
		add(merge, profile);
		merged = build(merge, false);
		assert_true(merged->facts.thread_timeline.slice_count <=
			    TIMELINE_THREAD_SLICES_MAX);
		profile_destroy(merged);
		profile_merge_destroy(merge);
	}
	free(variant);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_timelines),
		cmocka_unit_test(test_timeline_limits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
