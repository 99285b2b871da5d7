/* SPDX-License-Identifier: Apache-2.0 */
/* Python functions of a trace: which are asked for, their times and depth, the interpreter's table
 * of handlers, and what every format makes of them. */
#include "daemon/trace/function_analysis.h"

#include "daemon/trace/function_depth.h"
#include "daemon/trace/function_site.h"
#include "daemon/trace/trace_writer.h"
#include "pyintrospect/opcode.h"

#include <errno.h>
#include <jansson.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "tests/unit/trace_sample.h"

static struct trace_sample sample;
static struct trace_analysis analysis;
static struct span_list list;
static struct call_paths paths;
static uint32_t step, solve;

static void test_choice(void **state)
{
	struct span_list asked = { .count = 0 };

	(void)state;
	assert_int_equal(span_list_add_pattern(&asked, "Solver.*"), 0);
	assert_int_equal(span_list_add_pattern(&asked, "grid.py"), 0);
	assert_int_equal(asked.count, 1);
	assert_int_equal(span_list_find(&asked, SPAN_PYTHON), 0);
	assert_true(function_choice_fits(&asked.functions, "Solver.step", "/opt/solve.py"));
	assert_true(function_choice_fits(&asked.functions, "f", "/opt/grid.py"));
	assert_false(function_choice_fits(&asked.functions, "f", "/opt/grid.pyx"));
	assert_false(function_choice_fits(&asked.functions, "step", "/opt/solve.py"));
	for (unsigned i = asked.functions.pattern_count; i < FUNCTION_PATTERNS_MAX; i++)
		assert_int_equal(span_list_add_pattern(&asked, "*"), 0);
	assert_int_equal(span_list_add_pattern(&asked, "*"), -E2BIG);
}

static void call(uint32_t thread, uint32_t path, uint64_t begin_ns, uint64_t end_ns, uint64_t depth,
		 uint32_t flags)
{
	const struct trace_event event = { .kind = TRACE_SPAN,
					   .thread = thread,
					   .begin_ns = begin_ns,
					   .end_ns = end_ns,
					   .order = depth,
					   .flags = flags,
					   .peer = -1,
					   .tag = (int32_t)path,
					   .path = path };

	trace_file_add(&sample.processes[0].file, &event);
}

/* As they are reported: inner ones first. */
static void begin(void)
{
	list = (struct span_list){ .count = 0 };
	paths = (struct call_paths){ 0 };
	assert_int_equal(span_list_add_pattern(&list, "*"), 0);
	step = call_paths_add(&paths, CALL_PATH_NONE, "Solver.step", "/opt/solve.py", 12);
	solve = call_paths_add(&paths, CALL_PATH_NONE, "solve", "/opt/solve.py", 40);
	sample_begin(&sample, 1);
	sample.trace.spans = &list;
	sample.trace.paths = &paths;
	sample.processes[0].library = NULL;
	call(100, step, 2000, 3000, 1, 0);
	call(100, step, 3500, 3800, 2, TRACE_RAISED);
	call(100, step, 3400, 4000, 1, 0);
	call(101, step, 2500, 9000, 0, 0);
	call(100, solve, 1000, 6000, 0, TRACE_BEFORE);
	call(100, solve, 7000, 8000, 0, TRACE_OPEN);
	sample.processes[0].functions = (struct function_watch){
		.met_ns = 1000,
		.ended_ns = 11000,
		.observed_ns = 5000,
		.pauses = 1,
		.spent_ns = 4000,
		.counts = { .begun = 6, .passed_over = 70, .short_ones = 2, .short_ns = 50 },
	};
}

static void test_sums(void **state)
{
	const struct function_analysis *functions = &analysis.python;

	(void)state;
	begin();
	sample_end(&sample, 11000, &analysis);
	assert_int_equal(functions->count, 2);
	assert_int_equal(functions->rows[0].path, step);
	assert_int_equal(functions->rows[0].calls, 4);
	assert_int_equal(functions->rows[0].raised, 1);
	assert_int_equal(functions->rows[0].partly, 0);
	/* The one in itself is in the outer one's time. */
	assert_int_equal(functions->rows[0].ns, 1000 + 600 + 6500);
	assert_int_equal(functions->rows[0].self_ns, 1000 + 600 + 6500);
	assert_int_equal(functions->rows[0].longest_ns, 6500);
	assert_int_equal(functions->rows[1].calls, 1);
	assert_int_equal(functions->rows[1].partly, 2);
	assert_int_equal(functions->rows[1].ns, 6000);
	assert_int_equal(functions->rows[1].self_ns, 6000 - 1600);
	assert_int_equal(functions->rows[1].longest_ns, 0);
	assert_int_equal(functions->crossed, 0);
	sample_free(&sample, &analysis);
	call_paths_deinit(&paths);
}

static void test_crossed(void **state)
{
	(void)state;
	begin();
	call(101, solve, 8000, 9500, 1, 0);
	sample_end(&sample, 11000, &analysis);
	assert_int_equal(analysis.python.crossed, 1);
	sample_free(&sample, &analysis);
	call_paths_deinit(&paths);
}

static void test_depth(void **state)
{
	struct trace_file *file = &sample.processes[0].file;
	uint64_t left_out;

	(void)state;
	begin();
	assert_int_equal(trace_file_map(file), 0);
	assert_int_equal(function_depth_limit(file, 0, 2, &left_out), 0);
	assert_int_equal(left_out, 1);
	assert_int_equal(function_depth_limit(file, 1, 1, &left_out), 0);
	assert_int_equal(left_out, 0);
	assert_int_equal(function_depth_limit(file, 0, 1, &left_out), 0);
	assert_int_equal(left_out, 2);
	sample_end(&sample, 11000, &analysis);
	assert_int_equal(analysis.python.count, 2);
	assert_int_equal(analysis.python.rows[0].calls, 1);
	assert_int_equal(analysis.python.rows[1].self_ns, 6000);
	sample_free(&sample, &analysis);
	call_paths_deinit(&paths);
}

static char *written(int (*write)(const struct trace_analysis *, FILE *))
{
	char *text = NULL;
	size_t size;
	FILE *file = open_memstream(&text, &size);

	assert_non_null(file);
	assert_int_equal(write(&analysis, file), 0);
	fclose(file);
	return text;
}

static int write_text(const struct trace_analysis *said, FILE *file)
{
	const struct writer_options options = { .columns = 140 };

	return trace_text_write(said, &options, file);
}

static void check_written(int (*write)(const struct trace_analysis *, FILE *), const char *words)
{
	char *text = written(write);

	if (!strstr(text, words))
		fail_msg("\"%s\" is not in: %s", words, text);
	free(text);
}

static void test_formats(void **state)
{
	(void)state;
	begin();
	sample_end(&sample, 11000, &analysis);
	check_written(write_text, "PYTHON FUNCTIONS  5 calls of 2 functions");
	check_written(write_text, "Solver.step (solve.py:12)");
	check_written(write_text, "and 70 calls of functions that were not asked for");
	check_written(write_text, "seen for 50.0% of the time, in 2 pieces");
	check_written(write_text, "about 32.0% of that time");
	check_written(trace_json_write, "\"function\": \"Solver.step\"");
	check_written(trace_chrome_write, "\"cat\":\"python\",\"name\":\"Solver.step\"");
	check_written(trace_chrome_write, "\"raised\":true");
	check_written(trace_chrome_write, "\"began_before\":true");
	check_written(trace_perfetto_write, "Solver.step");
	check_written(trace_prv_write, ":60000100:");
	check_written(trace_pcf_write, "solve.py:12 in Solver.step");
	sample_free(&sample, &analysis);
	call_paths_deinit(&paths);
}

/* ---- the interpreter's table ---- */

#define UNKNOWN 0x1000

static void test_table(void **state)
{
	uint64_t table[DISPATCH_OPCODES];

	(void)state;
	for (int minor = FUNCTION_MINOR_HANDLERS; minor <= FUNCTION_MINOR_MAX; minor++) {
		const struct opcode_info *opcodes = opcode_table(minor);
		unsigned known = 0, free_one = 0;

		for (unsigned i = 0; i < DISPATCH_OPCODES; i++) {
			table[i] = opcodes[i].name ? 0x2000 + 16 * i : UNKNOWN;
			known += opcodes[i].name != NULL;
			if (!opcodes[i].name && i < DISPATCH_OPCODES - 1)
				free_one = i;
		}
		assert_in_range(known, 150, 254);
		assert_true(dispatch_table_fits(minor, table));
		table[free_one] = 0x3000;
		assert_false(dispatch_table_fits(minor, table));
		table[free_one] = UNKNOWN;
		table[opcode_number(minor, "RETURN_VALUE")] = UNKNOWN;
		assert_false(dispatch_table_fits(minor, table));
		/* The one by which a JIT looks on. */
		for (unsigned i = 0; i < DISPATCH_OPCODES; i++)
			table[i] = opcodes[i].name ? 0x2000 : UNKNOWN;
		assert_false(dispatch_table_fits(minor, table));
	}
	memset(table, 0, sizeof(table));
	assert_false(dispatch_table_fits(FUNCTION_MINOR_HANDLERS, table));
	assert_false(dispatch_table_fits(2, table));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_choice),  cmocka_unit_test(test_sums),
		cmocka_unit_test(test_crossed), cmocka_unit_test(test_depth),
		cmocka_unit_test(test_formats), cmocka_unit_test(test_table),
	};

	return cmocka_run_group_tests_name("daemon_function", tests, NULL, NULL);
}
