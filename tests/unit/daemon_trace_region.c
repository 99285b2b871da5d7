/* SPDX-License-Identifier: Apache-2.0 */
/* Efficiencies by region: which lines are regions, and what is counted to which. */
#include "daemon/trace/trace_region.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#include "tests/unit/trace_sample.h"

static struct trace_sample sample;
static struct trace_analysis analysis;
static struct call_paths paths;

static void begin(size_t ranks)
{
	paths = (struct call_paths){ 0 };
	sample_begin(&sample, ranks);
	sample.trace.paths = &paths;
	for (size_t i = 0; i < ranks; i++)
		sample_plain(&sample, "MPI_Init", i, 900, 1000);
}

static void finish(void)
{
	sample_free(&sample, &analysis);
	call_paths_deinit(&paths);
}

static void barrier(size_t rank, uint64_t begin_ns, uint64_t end_ns, uint32_t path)
{
	struct mpi_record record = sample_record(rank, "MPI_Barrier", begin_ns, end_ns);

	record.words[0] = SAMPLE_WORLD;
	record.path = path;
	sample_call(&sample, &record);
}

static const struct trace_region *region_at(int line)
{
	const struct trace_regions *regions = &analysis.regions;

	for (size_t i = 0; i < regions->count; i++) {
		const struct call_frame *frame =
			call_paths_frame(&regions->own, regions->items[i].frame);

		if (frame ? frame->line == line : !line)
			return &regions->items[i];
	}
	fail_msg("no region at line %d", line);
	return NULL;
}

static void check_share(double value, double expected)
{
	if (value < expected - 1e-9 || value > expected + 1e-9)
		fail_msg("%g, not %g", value, expected);
}

static void check_name(int line, const char *expected)
{
	char name[TRACE_REGION_NAME_BYTES];

	trace_region_name(&analysis.regions, region_at(line), name);
	assert_string_equal(name, expected);
}

/* Two lines of main() below one of <module>; a library's frame between is not there. */
static void test_main_loop(void **state)
{
	uint32_t module, main_5, main_7, wrapper, exchange, residual;

	(void)state;
	begin(2);
	module = call_paths_add(&paths, CALL_PATH_NONE, "<module>", "/app/solve.py", 40);
	main_5 = call_paths_add(&paths, module, "main", "/app/solve.py", 5);
	main_7 = call_paths_add(&paths, module, "main", "/app/solve.py", 7);
	wrapper = call_paths_add(&paths, main_5, "wrap", "/usr/lib/python3/dist-packages/w.py", 3);
	exchange = call_paths_add(&paths, wrapper, "exchange", "/app/grid.py", 12);
	residual = call_paths_add(&paths, main_7, "residual", "/app/solve.py", 9);
	/* Rank 0 computes 100 and waits 300; rank 1 computes 300 and is in it for 100. */
	barrier(0, 1100, 1400, exchange);
	barrier(1, 1300, 1400, exchange);
	/* Both compute 400, and the second has 100 more of MPI. */
	barrier(0, 1800, 1900, residual);
	barrier(1, 1800, 2000, residual);
	/* Rank 0 computes until then. */
	sample_plain(&sample, "MPI_Finalize", 0, 2000, 2100);
	sample_plain(&sample, "MPI_Finalize", 1, 2000, 2100);
	sample_end(&sample, 2100, &analysis);
	assert_int_equal(analysis.regions.count, 3);
	check_name(5, "exchange, solve.py:5 in main");
	check_name(7, "residual, solve.py:7 in main");
	check_name(0, "elsewhere, and after the last call");
	assert_int_equal(region_at(5)->elapsed_ns, 400);
	assert_int_equal(region_at(5)->useful_ns, 400);
	assert_int_equal(region_at(5)->mpi_ns, 400);
	assert_int_equal(region_at(5)->busiest, 1);
	check_share(region_at(5)->load_balance, 200.0 / 300);
	check_share(region_at(5)->communication_efficiency, 300.0 / 400);
	check_share(region_at(5)->parallel_efficiency, 0.5);
	assert_int_equal(trace_region_lost(region_at(5), 2), 400);
	assert_int_equal(region_at(7)->elapsed_ns, 600);
	check_share(region_at(7)->load_balance, 1);
	check_share(region_at(7)->communication_efficiency, 400.0 / 600);
	assert_int_equal(region_at(0)->useful_ns, 100);
	/* What loses most comes first. */
	assert_int_equal(analysis.regions.items[0].frame, region_at(5)->frame);
	finish();
}

/* Startup of less than a twentieth is no reason to stop at <module>; at one line it is all one. */
static void test_startup(void **state)
{
	uint32_t startup, module, loop, unknown = CALL_PATH_NONE;
	uint64_t useful_ns = 0, mpi_ns = 0;

	(void)state;
	begin(1);
	startup = call_paths_add(&paths, CALL_PATH_NONE, "<module>", "/app/solve.py", 2);
	module = call_paths_add(&paths, CALL_PATH_NONE, "<module>", "/app/solve.py", 40);
	loop = call_paths_add(&paths, module, "run", "/app/solve.py", 30);
	barrier(0, 1010, 1020, startup);
	barrier(0, 1500, 2000, call_paths_add(&paths, loop, "step", "/app/solve.py", 11));
	barrier(0, 2100, 2400, call_paths_add(&paths, loop, "step", "/app/solve.py", 12));
	barrier(0, 2400, 2410, unknown);
	/* A call within a call is no time of its own. */
	barrier(0, 2500, 2900, loop);
	barrier(0, 2600, 2700, loop);
	sample_end(&sample, 3000, &analysis);
	assert_int_equal(analysis.regions.count, 5);
	check_name(11, "solve.py:11 in step");
	check_name(30, "solve.py:30 in run itself");
	assert_int_equal(region_at(12)->useful_ns, 100);
	for (size_t i = 0; i < analysis.regions.count; i++) {
		useful_ns += analysis.regions.items[i].useful_ns;
		mpi_ns += analysis.regions.items[i].mpi_ns;
	}
	assert_int_equal(useful_ns + mpi_ns, analysis.end_ns - analysis.begin_ns);
	finish();
}

/* A line with nearly all time that is left and come back to is one of the main loop. */
static void test_turns(void **state)
{
	uint32_t line, step, other;

	(void)state;
	begin(1);
	line = call_paths_add(&paths, CALL_PATH_NONE, "main", "/app/solve.py", 5);
	other = call_paths_add(&paths, CALL_PATH_NONE, "main", "/app/solve.py", 6);
	step = call_paths_add(&paths, line, "step", "/app/solve.py", 11);
	for (uint64_t i = 0; i < 3; i++) {
		barrier(0, 1000 + 1000 * i, 1800 + 1000 * i, step);
		barrier(0, 1800 + 1000 * i, 1990 + 1000 * i,
			call_paths_add(&paths, line, "step", "/app/solve.py", 12));
		barrier(0, 1990 + 1000 * i, 2000 + 1000 * i, other);
	}
	sample_end(&sample, 4000, &analysis);
	assert_int_equal(analysis.regions.within, CALL_PATH_NONE);
	assert_int_equal(analysis.regions.count, 2);
	assert_int_equal(region_at(5)->elapsed_ns, 2970);
	assert_int_equal(region_at(6)->elapsed_ns, 30);
	finish();
}

/* Where calls are missing, what was computed is not known; nor without a time that all ran. */
static void test_missing(void **state)
{
	(void)state;
	begin(1);
	barrier(0, 1100, 1200, call_paths_add(&paths, CALL_PATH_NONE, "f", "/app/a.py", 2));
	sample.processes[0].file.left_out = 3;
	sample_end(&sample, 2000, &analysis);
	assert_int_equal(analysis.regions.count, 0);
	assert_int_equal(analysis.regions.missing, 3);
	finish();
	sample_begin(&sample, 1);
	sample_end(&sample, 2000, &analysis);
	assert_int_equal(analysis.regions.count, 0);
	sample_free(&sample, &analysis);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_main_loop),
		cmocka_unit_test(test_startup),
		cmocka_unit_test(test_turns),
		cmocka_unit_test(test_missing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
