/* SPDX-License-Identifier: Apache-2.0 */
/* Resident memory: the texts it is read from, and that of two processes made one. */
#include "attach/resident_memory.h"
#include "daemon/report/merge/merge_resident.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static void test_texts(void **state)
{
	uint64_t value = 7;

	(void)state;
	assert_int_equal(resident_memory_parse("1000 25 3 1 0 9 0\n", &value), 0);
	assert_int_equal(value, 25 * 4096);
	assert_int_equal(resident_memory_parse("1000", &value), -EPROTO);
	assert_int_equal(resident_memory_parse("1000 18446744073709551615", &value), -EPROTO);
	assert_int_equal(value, 25 * 4096);
	/* A name may have parentheses and numbers in it. */
	assert_int_equal(resident_memory_parse_faults(
				 "12 (a) R 1 2 3) S 1 12 12 0 -1 4194304 300 99 4 8 1 2", &value),
			 0);
	assert_int_equal(value, 304);
	assert_int_equal(resident_memory_parse_faults("12 (a) S 1", &value), -EPROTO);
	assert_int_equal(resident_memory_parse_faults("12", &value), -EPROTO);
}

static void test_own(void **state)
{
	uint64_t now, peak, before, after;
	volatile char *page;
	int page_map = page_map_open(getpid()), error;

	(void)state;
	assert_int_equal(resident_memory_read(getpid(), &now), 0);
	assert_int_equal(resident_memory_read_peak(getpid(), &peak), 0);
	assert_true(now > 0 && peak >= now / 2);
	assert_int_equal(resident_memory_read_faults(getpid(), &before), 0);
	page = sbrk(64 * 4096);
	for (size_t i = 0; i < 64; i++)
		page[i * 4096] = 1;
	assert_int_equal(resident_memory_read_faults(getpid(), &after), 0);
	assert_true(after > before);
	assert_true(page_map >= 0);
	/* Not a huge one, or not to be told. */
	error = page_map_size(page_map, (uintptr_t)page, &now);
	assert_true(error == -EPERM || (!error && now == 4096));
	close(page_map);
}

static struct resident_figures figures(const struct resident_point *points, size_t count)
{
	return (struct resident_figures){
		.counts = { .start_bytes = points[0].bytes,
			    .end_bytes = points[count - 1].bytes,
			    .faults = 10 },
		.peak_bytes = 50,
		.peak_exact = true,
		.points = points,
		.point_count = count,
	};
}

static void test_two_processes(void **state)
{
	static const struct resident_point one[] = { { 0, 10 }, { 100, 50 }, { 200, 40 } };
	static const struct resident_point two[] = { { 0, 5 }, { 100, 7 } };
	static const struct resident_point expected[] = {
		{ 0, 10 }, { 100, 50 }, { 150, 55 }, { 200, 45 }, { 250, 7 },
	};
	const struct resident_figures a = figures(one, 3), b = figures(two, 2);
	const struct resident_run run_a = { &a, 1000 }, run_b = { &b, 1150 };
	struct resident_point points[RESIDENT_POINTS_MAX];
	struct resident_figures both;

	(void)state;
	/* In either order. */
	for (int turned = 0; turned < 2; turned++) {
		both = merge_resident(turned ? &run_b : &run_a, turned ? &run_a : &run_b, false,
				      points);
		assert_int_equal(both.point_count, 5);
		assert_memory_equal(points, expected, sizeof(expected));
		assert_int_equal(both.peak_bytes, 55);
		assert_false(both.peak_exact);
		assert_int_equal(both.counts.start_bytes, 15);
		assert_int_equal(both.counts.end_bytes, 47);
		assert_int_equal(both.counts.faults, 20);
		both = merge_resident(turned ? &run_b : &run_a, turned ? &run_a : &run_b, true,
				      points);
		assert_int_equal(both.counts.start_bytes, 10);
		assert_int_equal(both.counts.end_bytes, 7);
	}
}

static void test_many_points(void **state)
{
	static struct resident_point one[RESIDENT_POINTS_MAX], two[RESIDENT_POINTS_MAX];
	struct resident_point points[RESIDENT_POINTS_MAX];
	struct resident_figures a, b, both;

	(void)state;
	for (size_t i = 0; i < RESIDENT_POINTS_MAX; i++) {
		one[i] = (struct resident_point){ 2 * i, 100 };
		two[i] = (struct resident_point){ 2 * i + 1, i == 77 ? 900 : 1 };
	}
	a = figures(one, RESIDENT_POINTS_MAX);
	b = figures(two, RESIDENT_POINTS_MAX);
	both = merge_resident(&(struct resident_run){ &a, 0 }, &(struct resident_run){ &b, 0 },
			      false, points);
	assert_true(both.point_count <= RESIDENT_POINTS_MAX);
	assert_int_equal(both.peak_bytes, 1000);
	for (size_t i = 1; i < both.point_count; i++)
		assert_true(points[i].time_ns > points[i - 1].time_ns);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_texts),
		cmocka_unit_test(test_own),
		cmocka_unit_test(test_two_processes),
		cmocka_unit_test(test_many_points),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
