/* SPDX-License-Identifier: Apache-2.0 */
/* Time by owner and slice: against a plain array of every charge, and its limits. */
#include "daemon/report/model/profile_timeline.h"
#include "daemon/sample/timeline.h"
#include "unit_random.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define BEGAN   123456789ull
#define OWNERS  7
#define CHARGES 20000

struct charge {
	size_t owner;
	uint64_t at_ns;
	enum time_class time_class;
	uint64_t time_ns;
};

static uint64_t cell_sum(const struct profile_timeline *view)
{
	uint64_t sum = view->left_out_ns;

	for (size_t i = 0; i < view->cell_count; i++)
		for (size_t c = 0; c < TIME_CLASS_COUNT; c++)
			sum += view->cells[i].time_ns[c];
	return sum;
}

static uint64_t time_in(const struct profile_timeline *view, uint32_t owner, uint32_t slice,
			enum time_class time_class)
{
	uint64_t sum = 0;
	size_t found = 0;

	for (size_t i = 0; i < view->cell_count; i++) {
		if (view->cells[i].owner != owner || view->cells[i].slice != slice)
			continue;
		sum += view->cells[i].time_ns[time_class];
		found++;
	}
	assert_true(found <= 1);
	return sum;
}

/* However often slices were merged, each charge is in the slice of its moment. */
static void test_random_charges(void **state)
{
	struct charge *charges = calloc(CHARGES, sizeof(*charges));
	struct timeline timeline;
	struct profile_timeline view;
	struct unit_random random = { 11 };
	uint64_t now_ns = BEGAN, sum = 0;

	(void)state;
	assert_non_null(charges);
	assert_int_equal(timeline_init(&timeline, 16, 256), 0);
	timeline_begin(&timeline, BEGAN);
	for (size_t i = 0; i < CHARGES; i++) {
		now_ns += unit_random_below(&random, 10000000);
		charges[i] = (struct charge){
			.owner = unit_random_below(&random, OWNERS),
			.at_ns = now_ns - unit_random_below(&random, 1000),
			.time_class =
				(enum time_class)(unit_random_below(&random, TIME_CLASS_COUNT)),
			.time_ns = unit_random_below(&random, 1000),
		};
		sum += charges[i].time_ns;
		timeline_charge(&timeline, charges[i].owner, charges[i].at_ns,
				charges[i].time_class, charges[i].time_ns);
	}
	view = timeline_view(&timeline);
	assert_in_range(view.slice_count, 9, 16);
	assert_true(view.slice_ns % TIMELINE_SLICE_NS == 0);
	assert_true(view.slice_ns > TIMELINE_SLICE_NS);
	assert_true(cell_sum(&view) == sum);
	assert_true(view.left_out_ns == 0);
	for (uint32_t owner = 0; owner < OWNERS; owner++)
		for (uint32_t slice = 0; slice < view.slice_count; slice++) {
			uint64_t expected[TIME_CLASS_COUNT] = { 0 };

			for (size_t i = 0; i < CHARGES; i++)
				if (charges[i].owner == owner &&
				    (charges[i].at_ns < BEGAN ? 0 : charges[i].at_ns - BEGAN) /
						    view.slice_ns ==
					    slice)
					expected[charges[i].time_class] += charges[i].time_ns;
			for (size_t c = 0; c < TIME_CLASS_COUNT; c++)
				assert_true(time_in(&view, owner, slice, (enum time_class)c) ==
					    expected[c]);
		}
	timeline_deinit(&timeline);
	free(charges);
}

/* More cells than there is room for: fewer slices, and nothing lost. */
static void test_many_owners(void **state)
{
	struct timeline timeline;
	struct profile_timeline view;

	(void)state;
	assert_int_equal(timeline_init(&timeline, 512, 256), 0);
	timeline_begin(&timeline, BEGAN);
	for (uint64_t slice = 0; slice < 100; slice++)
		for (size_t owner = 0; owner < 60; owner++)
			timeline_charge(&timeline, owner, BEGAN + slice * TIMELINE_SLICE_NS,
					TIME_NATIVE, 3);
	view = timeline_view(&timeline);
	assert_true(view.cell_count <= 256);
	assert_in_range(view.slice_count, 2, 4);
	assert_true(view.left_out_ns == 0);
	assert_true(cell_sum(&view) == 100ull * 60 * 3);
	/* And with more owners than cells it says how much is missing. */
	for (size_t owner = 0; owner < 1000; owner++)
		timeline_charge(&timeline, owner, BEGAN, TIME_PYTHON, 1);
	view = timeline_view(&timeline);
	assert_int_equal(view.slice_count, 1);
	assert_int_equal(view.cell_count, 256);
	assert_true(view.left_out_ns == 1000 - 256);
	assert_true(cell_sum(&view) == 100ull * 60 * 3 + 1000);
	timeline_deinit(&timeline);
}

static void test_span(void **state)
{
	struct timeline timeline;
	struct profile_timeline view;

	(void)state;
	assert_int_equal(timeline_init(&timeline, 64, 256), 0);
	timeline_begin(&timeline, BEGAN);
	timeline_charge_span(&timeline, 1, BEGAN, BEGAN + 3 * TIMELINE_SLICE_NS, TIME_SYSTEM, 103);
	view = timeline_view(&timeline);
	assert_int_equal(view.cell_count, 4);
	assert_true(cell_sum(&view) == 103);
	for (uint32_t slice = 0; slice < 4; slice++)
		assert_in_range(time_in(&view, 1, slice, TIME_SYSTEM), 25, 26);
	/* One moment; too little to spread; before the beginning; the far future. */
	timeline_charge_span(&timeline, 2, BEGAN, BEGAN, TIME_SYSTEM, 5);
	timeline_charge_span(&timeline, 2, BEGAN, BEGAN + 20 * TIMELINE_SLICE_NS, TIME_SYSTEM, 2);
	timeline_charge_span(&timeline, 2, 0, BEGAN, TIME_SYSTEM, 7);
	timeline_charge(&timeline, 2, 1, TIME_PYTHON, 11);
	timeline_charge_span(&timeline, 2, 0, UINT64_MAX, TIME_SYSTEM, 13);
	view = timeline_view(&timeline);
	assert_true(cell_sum(&view) == 103 + 5 + 2 + 7 + 11 + 13);
	assert_true(view.slice_count <= 64);
	timeline_deinit(&timeline);
	timeline_deinit(&timeline);
}

static void check_cell(const struct profile_timeline *timeline, size_t index, uint32_t owner,
		       uint32_t slice, uint64_t python_ns)
{
	assert_true(index < timeline->cell_count);
	assert_int_equal(timeline->cells[index].owner, owner);
	assert_int_equal(timeline->cells[index].slice, slice);
	assert_true(timeline->cells[index].time_ns[TIME_PYTHON] == python_ns);
}

static void test_renumber(void **state)
{
	const struct profile_cell cells[] = {
		{ .owner = 2, .slice = 5, .time_ns = { 1 } },
		{ .owner = 0, .slice = 5, .time_ns = { 2 } },
		{ .owner = 1, .slice = 0, .time_ns = { 4 } },
		{ .owner = 3, .slice = 1, .time_ns = { 8 } },
		{ .owner = 9, .slice = 1, .time_ns = { 16 } },
		{ .owner = 2, .slice = 4, .time_ns = { 32 } },
	};
	/* 0 and 2 are one to a reader; 3 is not there, 9 is beyond. */
	const uint32_t positions[] = { 1, 0, 1, PROFILE_NODE_NONE };
	struct profile_timeline timeline = {
		.slice_ns = 1, .slice_count = 6, .cells = cells, .cell_count = 6, .left_out_ns = 64
	};
	struct arena arena;

	(void)state;
	arena_init(&arena, 1u << 20);
	assert_int_equal(profile_timeline_renumber(&arena, &timeline, positions, 4, &timeline), 0);
	assert_int_equal(timeline.cell_count, 3);
	check_cell(&timeline, 0, 0, 0, 4);
	check_cell(&timeline, 1, 1, 4, 32);
	check_cell(&timeline, 2, 1, 5, 3);
	assert_true(timeline.left_out_ns == 64 + 8 + 16);
	arena_deinit(&arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random_charges),
		cmocka_unit_test(test_many_owners),
		cmocka_unit_test(test_span),
		cmocka_unit_test(test_renumber),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
