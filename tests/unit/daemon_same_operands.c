/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Work that is the same in every round by its names counts as repeated, unless what it stores
 * speaks against it. The Python code is compiled by a real interpreter.
 */
#include "compiled_python.h"
#include "daemon/report/model/profile_build.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#define MS 1000000ull

static const char program[] =
	/* 1 */ "def turn(marks, angle):\n"
		/* 2 */ "    for mark in marks:\n"
		/* 3 */ "        rotate(mark, angle)\n"
		/* 4 */ "def rotate(mark, angle):\n"
		/* 5 */ "    a = cos(angle)\n"
		/* 6 */ "    b = sin(mark)\n"
		/* 7 */ "    return a\n"
		/* 8 */ "def hoist(marks, angle):\n"
		/* 9 */ "    for mark in marks:\n"
		/* 10 */ "        a = cos(angle)\n"
		/* 11 */ "        b = sin(mark)\n";

struct fixture {
	struct compiled_python compiled;
	struct symbolizer *symbolizer;
	struct cct *cct;
	struct pair_table *pairs;
	struct profile *profile;
};

static int no_source(void *context, const char *path)
{
	(void)context;
	(void)path;
	return -ENOENT;
}

static const struct profile_facts facts = { .version = "1",
					    .sampler = "clock",
					    .open_source = no_source };

static int set_up(void **state)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));

	if (!fixture || !live_pythons()->count)
		return -1;
	fixture->compiled = compiled_python(&live_pythons()->items[0], program);
	fixture->symbolizer = symbolizer_create();
	fixture->cct = cct_create(1000);
	fixture->pairs = pair_table_create(1000);
	*state = fixture;
	return fixture->symbolizer && fixture->cct && fixture->pairs ? 0 : -1;
}

static int tear_down(void **state)
{
	struct fixture *fixture = *state;

	profile_destroy(fixture->profile);
	pair_table_destroy(fixture->pairs);
	cct_destroy(fixture->cct);
	symbolizer_destroy(fixture->symbolizer);
	compiled_python_free(&fixture->compiled);
	free(fixture);
	return 0;
}

static struct frame call(const struct fixture *fixture, const char *function, int line)
{
	const struct compiled_code *code = compiled_function(&fixture->compiled, function);
	struct frame frame = { .kind = FRAME_PYTHON, .python = { .code = &code->code } };

	frame.python.instruction_offset = compiled_offset(code, line, "CALL", 0);
	assert_true(frame.python.instruction_offset >= 0);
	return frame;
}

static struct cct_node *in_rotate(struct fixture *fixture, int line)
{
	const struct frame frames[] = { call(fixture, "turn", 3), call(fixture, "rotate", line) };
	struct cct_node *node = cct_insert(fixture->cct, frames, 2);

	assert_non_null(node);
	return node;
}

static struct cct_node *in_hoist(struct fixture *fixture, int line)
{
	const struct frame frame = call(fixture, "hoist", line);
	struct cct_node *node = cct_insert(fixture->cct, &frame, 1);

	assert_non_null(node);
	return node;
}

static void add(struct fixture *fixture, enum pair_kind kind, const struct cct_node *first,
		const struct cct_node *second, enum access_verdict verdict, int count)
{
	/* Far apart: nothing else says that these go round and round. */
	struct pair_evidence evidence = {
		.call_ns = 500, .distance_ns = 1000 * MS, .memory = MEMORY_HEAP, .bytes = 8
	};

	while (count-- > 0)
		assert_int_equal(
			pair_table_add(fixture->pairs, kind, first, second, verdict, &evidence), 0);
}

static uint64_t repeated(struct fixture *fixture, int line)
{
	profile_destroy(fixture->profile);
	fixture->profile = profile_build(fixture->cct, fixture->pairs, fixture->symbolizer, &facts);
	assert_non_null(fixture->profile);
	for (size_t i = 0; i < fixture->profile->line_count; i++)
		if (fixture->profile->lines[i].line == line)
			return fixture->profile->lines[i].evidence.repeated;
	fail();
	return 0;
}

/* rotate() gets the same angle each time, and another mark. */
static void test_in_a_called_function(void **state)
{
	struct fixture *fixture = *state;
	struct cct_node *same = in_rotate(fixture, 5), *other = in_rotate(fixture, 6);

	add(fixture, PAIR_LOAD, same, other, VERDICT_REDUNDANT, 8);
	add(fixture, PAIR_LOAD, other, same, VERDICT_REDUNDANT, 8);
	assert_int_equal(repeated(fixture, 5), 8);
	assert_int_equal(repeated(fixture, 6), 0);
	/* Counted once, where both ends are there and a loop is in sight anyway. */
	add(fixture, PAIR_LOAD, same, same, VERDICT_REDUNDANT, 4);
	assert_int_equal(repeated(fixture, 5), 12);
}

/* Other results each time: the name stood for something that changes. */
static void test_new_results_refute(void **state)
{
	struct fixture *fixture = *state;
	struct cct_node *same = in_rotate(fixture, 5), *other = in_rotate(fixture, 6);

	add(fixture, PAIR_LOAD, same, other, VERDICT_REDUNDANT, 8);
	add(fixture, PAIR_STORE, same, same, VERDICT_NEW, 2);
	assert_int_equal(repeated(fixture, 5), 8);
	add(fixture, PAIR_STORE, same, same, VERDICT_NEW, 1);
	assert_int_equal(repeated(fixture, 5), 0);
}

static void test_in_a_loop(void **state)
{
	struct fixture *fixture = *state;
	struct cct_node *same = in_hoist(fixture, 10), *other = in_hoist(fixture, 11);

	add(fixture, PAIR_LOAD, same, other, VERDICT_REDUNDANT, 8);
	add(fixture, PAIR_LOAD, other, same, VERDICT_REDUNDANT, 8);
	assert_int_equal(repeated(fixture, 10), 8);
	assert_int_equal(repeated(fixture, 11), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_in_a_called_function, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_new_results_refute, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_in_a_loop, set_up, tear_down),
	};

	if (!live_pythons()->count) {
		print_message("skipped: no CPython 3.6 to 3.15 found\n");
		return 0;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
