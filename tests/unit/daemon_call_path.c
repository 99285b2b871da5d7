/* SPDX-License-Identifier: Apache-2.0 */
/* Paths of calls: the same frames are one path, and which of them is named in a line. */
#include "daemon/trace/call_path.h"

#include "daemon/trace/sum_table.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define MANY 5000

static void check_words(const struct call_paths *paths, uint32_t path, const char *expected)
{
	char words[200];

	call_paths_words(paths, path, words, sizeof(words));
	assert_string_equal(words, expected);
}

static void test_same_frames(void **state)
{
	struct call_paths paths = { 0 };
	char function[8] = "step";
	uint32_t main_path, step, other;

	(void)state;
	assert_null(call_paths_frame(&paths, CALL_PATH_NONE));
	main_path = call_paths_add(&paths, CALL_PATH_NONE, "main", "/x/solve.py", 40);
	step = call_paths_add(&paths, main_path, function, "/x/solve.py", 31);
	assert_int_not_equal(step, CALL_PATH_NONE);
	/* Names are copies. */
	strcpy(function, "spoilt");
	assert_int_equal(call_paths_add(&paths, main_path, "step", "/x/solve.py", 31), step);
	other = call_paths_add(&paths, main_path, "step", "/x/solve.py", 32);
	assert_int_not_equal(other, step);
	assert_int_not_equal(call_paths_add(&paths, step, "step", "/x/solve.py", 31), step);
	assert_int_not_equal(call_paths_add(&paths, main_path, "step", "/y/solve.py", 31), step);
	assert_int_equal(call_paths_frame(&paths, step)->caller, main_path);
	check_words(&paths, step, "solve.py:31 in step, from solve.py:40 in main");
	check_words(&paths, main_path, "solve.py:40 in main");
	check_words(&paths, CALL_PATH_NONE, "");
	check_words(&paths, 1000, "");
	call_paths_deinit(&paths);
}

/* A library's line tells nobody what to change; where there is no other, it is named. */
static void test_own_frame(void **state)
{
	static const char library[] = "/usr/lib/python3/dist-packages/gpaw/mpi.py";
	struct call_paths paths = { 0 };
	uint32_t path;

	(void)state;
	path = call_paths_add(&paths, CALL_PATH_NONE, "<module>", "/x/solve.py", 5);
	path = call_paths_add(&paths, path, "solve", library, 10);
	path = call_paths_add(&paths, path, "sum", library, 20);
	check_words(&paths, path, "solve.py:5 in <module>");
	path = call_paths_add(&paths, CALL_PATH_NONE, "solve", library, 10);
	path = call_paths_add(&paths, path, "sum", library, 20);
	check_words(&paths, path, "mpi.py:20 in sum");
	call_paths_deinit(&paths);
}

static void test_many(void **state)
{
	struct call_paths paths = { 0 };
	uint32_t numbers[MANY];
	char name[32];

	(void)state;
	for (int round = 0; round < 2; round++)
		for (uint32_t i = 0; i < MANY; i++) {
			uint32_t number;

			snprintf(name, sizeof(name), "f%u", (unsigned)i);
			number = call_paths_add(&paths, i ? numbers[i / 2] : CALL_PATH_NONE, name,
						"m.py", 1);
			if (!round)
				numbers[i] = number;
			assert_int_equal(number, numbers[i]);
		}
	assert_int_equal(paths.count, MANY + 1);
	call_paths_deinit(&paths);
}

/* What is beyond the limit is no path, and is counted; what is there already is found. */
static void test_limit(void **state)
{
	struct call_paths paths = { 0 };
	uint32_t first = call_paths_add(&paths, CALL_PATH_NONE, "f", "m.py", 0);

	(void)state;
	for (int line = 1; paths.count < CALL_PATHS_MAX; line++)
		assert_int_not_equal(call_paths_add(&paths, first, "f", "m.py", line),
				     CALL_PATH_NONE);
	assert_int_equal(paths.left_out, 0);
	assert_int_equal(call_paths_add(&paths, first, "g", "m.py", 1), CALL_PATH_NONE);
	assert_int_equal(paths.left_out, 1);
	assert_int_equal(call_paths_add(&paths, CALL_PATH_NONE, "f", "m.py", 0), first);
	call_paths_deinit(&paths);
}

static void test_sums(void **state)
{
	struct sum_table table = { 0 };
	size_t place;

	(void)state;
	for (int round = 0; round < 2; round++)
		for (uint32_t i = 0; i < MANY; i++) {
			const struct sum_key key = { { i % 7, i, 0, 0, i / 3 } };

			assert_int_equal(sum_table_find(&table, &key, &place), 0);
			assert_int_equal(place, i);
		}
	sum_table_deinit(&table);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_same_frames), cmocka_unit_test(test_own_frame),
		cmocka_unit_test(test_many),        cmocka_unit_test(test_limit),
		cmocka_unit_test(test_sums),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
