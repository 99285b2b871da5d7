/* SPDX-License-Identifier: Apache-2.0 */
/* Time by thread and node together, and over time; no more of them than there is room for. */
#include "daemon/report/model/profile_stacks.h"
#include "daemon/sample/thread_stacks.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void test_charges(void **state)
{
	struct thread_stacks stacks;
	struct profile_timeline view;
	uint64_t sum_ns = 0;

	(void)state;
	assert_int_equal(thread_stacks_init(&stacks, 256), 0);
	timeline_begin(&stacks.timeline, 1000);
	thread_stacks_charge(&stacks, 1, 7, 2000, TIME_NATIVE, 1, 500);
	thread_stacks_charge(&stacks, 1, 7, 3000, TIME_PYTHON, 2, 600);
	thread_stacks_charge(&stacks, 2, 7, 3000, TIME_PYTHON, 1, 700);
	thread_stacks_charge_span(&stacks, 2, 7, 1000, 1000 + 3ull * TIMELINE_SLICE_NS, TIME_SYSTEM,
				  4, 4000);
	thread_stacks_wait(&stacks, 2, 9, WAIT_LOCK, 123);
	assert_int_equal(stacks.count, 3);
	assert_int_equal(stacks.items[0].samples[TIME_PYTHON], 2);
	assert_int_equal(stacks.items[0].time_ns[TIME_NATIVE], 500);
	assert_int_equal(stacks.items[1].thread, 2);
	assert_int_equal(stacks.items[1].samples[TIME_SYSTEM], 4);
	assert_int_equal(stacks.items[2].waiting_ns[WAIT_LOCK], 123);
	view = timeline_view(&stacks.timeline);
	assert_int_equal(view.slice_count, 4);
	for (size_t i = 0; i < view.cell_count; i++)
		sum_ns += time_sum(view.cells[i].time_ns);
	assert_int_equal(sum_ns, 500 + 600 + 700 + 4000);
	thread_stacks_deinit(&stacks);
}

/* What has no room is not there; what was there before goes on. */
static void test_limit(void **state)
{
	struct thread_stacks stacks;

	(void)state;
	assert_int_equal(thread_stacks_init(&stacks, 256), 0);
	for (uint32_t i = 0; i < THREAD_STACKS_MAX + 5; i++)
		thread_stacks_charge(&stacks, i % 3, i, i, TIME_PYTHON, 1, 10);
	assert_int_equal(stacks.count, THREAD_STACKS_MAX);
	thread_stacks_charge(&stacks, 2, 2, 0, TIME_PYTHON, 1, 10);
	assert_int_equal(stacks.items[2].time_ns[TIME_PYTHON], 20);
	assert_true(stacks.timeline.count <= 256);
	thread_stacks_deinit(&stacks);
}

/* Nodes that come to be one, a thread that is left out, and the order. */
static void test_renumber(void **state)
{
	static const struct profile_stack items[] = {
		{ .thread = 1, .node = 3, .time_ns = { 1, 0, 0 }, .samples = { 1, 0, 0 } },
		{ .thread = 0, .node = 1, .time_ns = { 2, 0, 0 } },
		{ .thread = 1, .node = 2, .time_ns = { 4, 0, 0 }, .waiting_ns = { 9 } },
		{ .thread = 2, .node = 2, .time_ns = { 8, 0, 0 } },
	};
	static const struct profile_cell cells[] = {
		{ .owner = 3, .slice = 0, .time_ns = { 8, 0, 0 } },
		{ .owner = 2, .slice = 1, .time_ns = { 4, 0, 0 } },
		{ .owner = 0, .slice = 1, .time_ns = { 1, 0, 0 } },
	};
	static const uint32_t threads[] = { 1, 0, PROFILE_NODE_NONE }, nodes[] = { 9, 5, 6, 6 };
	struct profile_facts facts = {
		.stacks = items,
		.stack_count = 4,
		.stack_timeline = { .slice_ns = 1,
				    .slice_count = 2,
				    .cells = cells,
				    .cell_count = 3 },
	};
	const struct profile_positions of_threads = { threads, 3 }, of_nodes = { nodes, 4 };
	struct arena arena;

	(void)state;
	arena_init(&arena, 1 << 20);
	assert_int_equal(profile_stacks_renumber(&arena, &facts, &of_threads, &of_nodes), 0);
	assert_int_equal(facts.stack_count, 2);
	assert_int_equal(facts.stacks[0].thread, 0);
	assert_int_equal(facts.stacks[0].node, 6);
	assert_int_equal(facts.stacks[0].time_ns[0], 5);
	assert_int_equal(facts.stacks[0].samples[0], 1);
	assert_int_equal(facts.stacks[0].waiting_ns[0], 9);
	assert_int_equal(facts.stacks[1].thread, 1);
	assert_int_equal(facts.stacks[1].node, 5);
	assert_int_equal(facts.stack_timeline.cell_count, 1);
	assert_int_equal(facts.stack_timeline.cells[0].owner, 0);
	assert_int_equal(facts.stack_timeline.cells[0].time_ns[0], 5);
	assert_int_equal(facts.stack_timeline.left_out_ns, 8);
	arena_deinit(&arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_charges),
		cmocka_unit_test(test_limit),
		cmocka_unit_test(test_renumber),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
