/* SPDX-License-Identifier: Apache-2.0 */
/* Stopped samples share the time of their line, as the tree has it. */
#include "daemon/detect/argument_weight.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#define MS 1000000ull

/* 3.10's table: ten bytes of code a line, from the first one on. */
static const uint8_t three_lines[] = { 10, 0, 10, 1, 10, 1 };

static const struct python_code own = {
	.function = "work",
	.file = "/srv/app.py",
	.first_line = 1,
	.id = 0,
	.line_table = three_lines,
	.line_table_size = sizeof(three_lines),
	.bytecode_size = 30,
	.minor = 10,
};

static const struct python_code library = {
	.function = "norm",
	.file = "/usr/lib/python3/dist-packages/numpy/linalg/linalg.py",
	.first_line = 1,
	.id = 1,
	.line_table = three_lines,
	.line_table_size = sizeof(three_lines),
	.bytecode_size = 30,
	.minor = 10,
};

static const struct module numpy = { .name = "numpy.so" };

static struct frame python(const struct python_code *code, int offset)
{
	return (struct frame){ .kind = FRAME_PYTHON,
			       .python = { .code = code, .instruction_offset = offset } };
}

struct weighed {
	struct cct *cct;
	struct argument_log log;
};

static int setup(void **state)
{
	struct weighed *weighed = calloc(1, sizeof(*weighed));

	assert_non_null(weighed);
	weighed->cct = cct_create(100);
	assert_non_null(weighed->cct);
	argument_log_init(&weighed->log);
	*state = weighed;
	return 0;
}

static int teardown(void **state)
{
	struct weighed *weighed = *state;

	argument_log_deinit(&weighed->log);
	cct_destroy(weighed->cct);
	free(weighed);
	return 0;
}

static uint32_t node_of(struct weighed *weighed, const struct frame *frames, size_t count,
			uint64_t time_ns)
{
	struct cct_node *node = cct_insert(weighed->cct, frames, count);

	assert_non_null(node);
	cct_node_charge(node, TIME_NATIVE, 1, time_ns);
	return node->id;
}

static void add(struct weighed *weighed, uint32_t node, uint64_t time_ns)
{
	struct argument_sample sample = { .node = node, .time_ns = time_ns };

	assert_int_equal(argument_log_add(&weighed->log, &sample), 0);
}

static uint64_t weight(const struct weighed *weighed, size_t i)
{
	return weighed->log.samples[i].time_ns;
}

/* Whatever was called on the line, and at whichever of its instructions. */
static void test_lines_share_their_time(void **state)
{
	struct weighed *weighed = *state;
	const struct frame first[] = { python(&own, 0) };
	const struct frame called[] = { python(&own, 4), python(&library, 12) };
	const struct frame native[] = {
		python(&own, 8),
		{ .kind = FRAME_NATIVE, .native = { .module = &numpy, .pc = 1 } },
	};
	const struct frame second[] = { python(&own, 10) };
	uint32_t a = node_of(weighed, first, 1, 100 * MS);
	uint32_t b = node_of(weighed, called, 2, 300 * MS);
	uint32_t d = node_of(weighed, second, 1, 50 * MS);

	(void)node_of(weighed, native, 2, 200 * MS);
	add(weighed, a, 10 * MS);
	add(weighed, b, 20 * MS);
	add(weighed, d, 10 * MS);
	assert_int_equal(argument_log_weigh(&weighed->log, weighed->cct), 0);
	assert_in_range(weight(weighed, 0), 200 * MS - 100, 200 * MS + 100);
	assert_in_range(weight(weighed, 1), 400 * MS - 100, 400 * MS + 100);
	assert_in_range(weight(weighed, 2), 50 * MS - 100, 50 * MS);
}

/* When the tree has grown, they share what there is then. */
static void test_again(void **state)
{
	struct weighed *weighed = *state;
	const struct frame first[] = { python(&own, 0) };
	uint32_t a = node_of(weighed, first, 1, 100 * MS);

	add(weighed, a, 10 * MS);
	add(weighed, a, 30 * MS);
	assert_int_equal(argument_log_weigh(&weighed->log, weighed->cct), 0);
	(void)node_of(weighed, first, 1, 300 * MS);
	assert_int_equal(argument_log_weigh(&weighed->log, weighed->cct), 0);
	assert_in_range(weight(weighed, 0), 100 * MS - 100, 100 * MS + 100);
	assert_in_range(weight(weighed, 1), 300 * MS - 100, 300 * MS + 100);
}

/* A line that the kernel's samples missed has no time; one without Python is by itself. */
static void test_ends(void **state)
{
	struct weighed *weighed = *state;
	const struct frame first[] = { python(&own, 0) }, second[] = { python(&own, 10) };
	const struct frame native[] = { { .kind = FRAME_NATIVE, .native = { .pc = 1 } } };
	const struct frame wrapped[] = { python(&library, 0) };
	uint32_t missed = node_of(weighed, second, 1, 0);
	uint32_t nowhere = node_of(weighed, native, 1, 7 * MS);
	uint32_t alone = node_of(weighed, wrapped, 1, 5 * MS);

	(void)node_of(weighed, first, 1, 100 * MS);
	add(weighed, missed, 10 * MS);
	add(weighed, nowhere, 10 * MS);
	add(weighed, alone, 0);
	assert_int_equal(argument_log_weigh(&weighed->log, weighed->cct), 0);
	assert_int_equal(weight(weighed, 0), 0);
	assert_in_range(weight(weighed, 1), 7 * MS - 100, 7 * MS);
	assert_in_range(weight(weighed, 2), 5 * MS - 100, 5 * MS);
}

static void test_nothing(void **state)
{
	struct weighed *weighed = *state;

	assert_int_equal(argument_log_weigh(&weighed->log, weighed->cct), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_lines_share_their_time, setup, teardown),
		cmocka_unit_test_setup_teardown(test_again, setup, teardown),
		cmocka_unit_test_setup_teardown(test_ends, setup, teardown),
		cmocka_unit_test_setup_teardown(test_nothing, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
