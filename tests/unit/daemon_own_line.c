/* SPDX-License-Identifier: Apache-2.0 */
/* Which of the program's own lines the time of libraries belongs to. */
#include "daemon/report/model/own_line.h"

#include "daemon/report/model/unexplained.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define LIBRARY "/opt/venv/lib/python3.12/site-packages/pandas/core/frame.py"
#define PROGRAM "/opt/app/etl.py"
#define FRAMES  (sizeof(frames) / sizeof(frames[0]))

enum {
	STARTER,
	MAIN,
	ITERATE,
	APPLY,
	KLASS,
	INIT,
	NATIVE
};

static const struct profile_frame frames[] = {
	[STARTER] = { .kind = FRAME_PYTHON,
		      .function = "<module>",
		      .file = "/opt/venv/bin/etl",
		      .line = 8 },
	[MAIN] = { .kind = FRAME_PYTHON, .function = "main", .file = PROGRAM, .line = 30 },
	[ITERATE] = { .kind = FRAME_PYTHON, .function = "totals", .file = PROGRAM, .line = 10 },
	[APPLY] = { .kind = FRAME_PYTHON, .function = "discount", .file = PROGRAM, .line = 15 },
	[KLASS] = { .kind = FRAME_PYTHON, .function = "iterrows", .file = LIBRARY, .line = 1371 },
	/* Of a dataclass: nobody wrote it. */
	[INIT] = { .kind = FRAME_PYTHON, .function = "__init__", .file = "<string>", .line = 4 },
	[NATIVE] = { .kind = FRAME_NATIVE, .function = "work", .file = "/usr/lib/libwork.so" },
};

#define NODE(parent_, frame_, cpu_, lock_)                                                         \
	{                                                                                          \
		.parent = (parent_), .frame = (frame_), .time_ns = { [TIME_PYTHON] = (cpu_) },     \
		.side.waiting_ns = {                                                               \
			[WAIT_LOCK] = (lock_)                                                      \
		}                                                                                  \
	}

static const struct profile_node nodes[] = {
	NODE(PROFILE_NODE_NONE, STARTER, 5, 0), /* 0 */
	NODE(0, MAIN, 0, 1),                    /* 1 */
	NODE(1, ITERATE, 10, 0),                /* 2 */
	NODE(2, KLASS, 20, 0),                  /* 3 */
	NODE(3, INIT, 5, 0),                    /* 4 */
	NODE(1, APPLY, 40, 0),                  /* 5 */
	NODE(5, KLASS, 10, 90),                 /* 6 */
	NODE(PROFILE_NODE_NONE, NATIVE, 10, 9), /* 7 */
};

static struct profile_line lines[] = {
	{ .file = LIBRARY, .line = 1371, .function = "iterrows" },
	{ .file = PROGRAM, .line = 15, .function = "discount" },
	{ .file = PROGRAM, .line = 10, .function = "totals" },
	{ .file = PROGRAM, .line = 30, .function = "main" },
	{ .file = "<string>", .line = 4, .function = "__init__" },
	{ .file = "/opt/venv/bin/etl", .line = 8, .function = "<module>" },
	{ .file = "/usr/lib/libwork.so", .function = "work" },
};

static struct profile sample(void)
{
	return (struct profile){
		.lines = lines,
		.line_count = sizeof(lines) / sizeof(lines[0]),
		.tree = { .frames = frames,
			  .frame_count = FRAMES,
			  .nodes = nodes,
			  .node_count = sizeof(nodes) / sizeof(nodes[0]) },
	};
}

static void check_own(const struct profile_line *through, int line, uint64_t time_ns,
		      uint64_t of_ns)
{
	struct profile profile = sample();
	struct own_line own = { 0 };

	assert_true(own_line_find(&profile, through, &own));
	assert_int_equal(own.line->line, line);
	assert_int_equal(own.time_ns, time_ns);
	assert_int_equal(own.of_ns, of_ns);
}

static void test_most_time(void **state)
{
	(void)state;
	check_own(NULL, 15, 50, 100);
}

static void test_through_a_line(void **state)
{
	(void)state;
	/* Of the library's line, more is line 10's. */
	check_own(&lines[0], 10, 25, 35);
}

static void test_none(void **state)
{
	struct profile profile = sample();
	struct own_line own = { 0 };

	(void)state;
	/* What a program is started by is not its own, and threads of a library have no line. */
	profile.tree.node_count = 1;
	assert_false(own_line_find(&profile, NULL, &own));
	profile.tree.node_count = 0;
	assert_false(own_line_find(&profile, NULL, &own));
	/* 1 of 100 is nothing to show. */
	profile = sample();
	profile.line_count = 1;
	assert_false(own_line_find(&profile, NULL, &own));
}

static void test_foreign(void **state)
{
	static const char *const libraries[] = {
		LIBRARY,
		"/usr/lib/python3/dist-packages/yaml/scanner.py",
		"/usr/lib/python3.11/json/decoder.py",
		"/usr/lib64/python3.9/json/decoder.py",
		"<frozen runpy>",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(libraries) / sizeof(libraries[0]); i++) {
		struct profile_line line = { .file = libraries[i], .line = 1 };

		assert_true(own_line_is_foreign(&line));
	}
	assert_false(own_line_is_foreign(&lines[1]));
	assert_true(own_line_is_foreign(&lines[6]));
}

/* Where nothing was found, the line to go to is the one with most time; nobody says what it could
 * save. */
static void test_unexplained(void **state)
{
	struct profile profile = sample();
	struct unexplained unexplained;

	(void)state;
	profile.time_ns[TIME_PYTHON] = 100;
	/* Nobody looked for waste, as with --mode time. */
	assert_null(unexplained_find(&profile).line);
	lines[3].evidence.arguments.samples[ARGUMENT_NEEDED] = 1;
	unexplained = unexplained_find(&profile);
	assert_ptr_equal(unexplained.line, &lines[1]);
	assert_int_equal(unexplained.time_ns, 50);
	assert_int_equal(unexplained.most_ns, 57);
	assert_int_equal(unexplained.weight_ns, 1);
	/* No more than all. */
	profile.time_ns[TIME_PYTHON] = 52;
	assert_int_equal(unexplained_find(&profile).most_ns, 52);
	profile.time_ns[TIME_PYTHON] = 100;
	lines[3].evidence.arguments.samples[ARGUMENT_NEEDED] = 0;
	lines[2].accesses[PAIR_LOAD].sampled = 1;
	assert_ptr_equal(unexplained_find(&profile).line, &lines[1]);
	/* Too little for a finding, and enough. */
	lines[2].avoidable_ns = 4;
	assert_ptr_equal(unexplained_find(&profile).line, &lines[1]);
	lines[2].avoidable_ns = 5;
	assert_null(unexplained_find(&profile).line);
	lines[2].avoidable_ns = 0;
	/* No line takes a tenth. */
	profile.tree.node_count = 1;
	assert_null(unexplained_find(&profile).line);
	lines[2].accesses[PAIR_LOAD].sampled = 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_most_time),   cmocka_unit_test(test_through_a_line),
		cmocka_unit_test(test_none),        cmocka_unit_test(test_foreign),
		cmocka_unit_test(test_unexplained),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
