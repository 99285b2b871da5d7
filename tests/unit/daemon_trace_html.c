/* SPDX-License-Identifier: Apache-2.0 */
/* The page of a trace: its markup, what its timeline is given, and that it is bounded. */
#include "tests/unit/html_page.h"
#include "tests/unit/trace_sample.h"

#include "daemon/trace/trace_html_data.h"
#include "daemon/trace/trace_writer.h"

static struct trace_sample sample;
static struct trace_analysis analysis;

static char *page_of(void)
{
	char *text;
	size_t size;
	FILE *file = open_memstream(&text, &size);

	must(file);
	assert_int_equal(trace_html_write(&analysis, file), 0);
	fclose(file);
	return text;
}

static json_t *data_of(void)
{
	char *text;
	size_t size;
	FILE *file = open_memstream(&text, &size);
	json_error_t error;
	json_t *data;

	must(file);
	assert_int_equal(trace_html_data_write(&analysis, file), 0);
	fclose(file);
	data = json_loads(text, JSON_REJECT_DUPLICATES, &error);
	if (!data)
		print_error("line %d: %s\n", error.line, error.text);
	assert_non_null(data);
	free(text);
	return data;
}

static json_int_t at(json_t *data, const char *group, const char *column, size_t place)
{
	return json_integer_value(
		json_array_get(json_object_get(json_object_get(data, group), column), place));
}

static size_t rows_of(json_t *data, const char *group, const char *column)
{
	return json_array_size(json_object_get(json_object_get(data, group), column));
}

static json_int_t number(json_t *data, const char *name)
{
	return json_integer_value(json_object_get(data, name));
}

/* Rank 1 waits in a receive for what rank 0 sends late, from a line with a hostile name. */
static void late_message(struct call_paths *paths)
{
	struct mpi_record record = sample_record(1, "MPI_Recv", 1100, 5000);

	record.words[1] = 100;
	record.words[2] = SAMPLE_DOUBLE;
	record.words[4] = 7;
	record.words[5] = SAMPLE_WORLD;
	record.path = call_paths_add(paths, CALL_PATH_NONE, HOSTILE, HOSTILE "solve.py", 12);
	sample_call(&sample, &record);
	sample_message(&sample, "MPI_Send", 0, 4000, 4100, 1, 7, 100);
	sample_plain(&sample, "MPI_Barrier", 0, 5500, 6000);
	sample_plain(&sample, "MPI_Barrier", 1, 5900, 6000);
}

static void test_page(void **state)
{
	struct call_paths paths = { 0 };
	json_t *data;
	char *page;

	(void)state;
	sample_begin(&sample, 2);
	sample.trace.begin_ns = 1000;
	sample.trace.paths = &paths;
	for (size_t i = 0; i < 2; i++)
		snprintf(sample.processes[i].name, sizeof(sample.processes[i].name), HOSTILE);
	sample_plain(&sample, "MPI_Init", 0, 900, 1000);
	sample_plain(&sample, "MPI_Init", 1, 900, 1000);
	late_message(&paths);
	sample_end(&sample, 7000, &analysis);
	page = page_of();
	check_markup(page);
	assert_null(strstr(page, "<img"));
	assert_non_null(strstr(page, "Parallel efficiency"));
	assert_non_null(strstr(page, "By rank 0: others waited"));
	data = block(page, "trace-data");
	assert_int_equal(number(data, "length"), 6000);
	assert_int_equal(json_array_size(json_object_get(data, "rows")), 2);
	assert_int_equal(rows_of(data, "calls", "row"), 6);
	assert_int_equal(rows_of(data, "messages", "from"), 1);
	assert_int_equal(at(data, "messages", "sent", 0), 3000);
	assert_int_equal(at(data, "messages", "received", 0), 4000);
	assert_int_equal(at(data, "messages", "tag", 0), 7);
	assert_int_equal(at(data, "messages", "bytes", 0), 800);
	assert_int_equal(at(data, "messages", "late", 0), 2900);
	assert_int_equal(at(data, "messages", "to", 0), 1);
	/* The receive's line, with the target's name. */
	assert_int_equal(json_array_size(json_object_get(data, "paths")), 2);
	assert_non_null(strstr(json_string_value(json_array_get(json_object_get(data, "paths"), 1)),
			       "<img"));
	assert_int_equal(number(data, "calls_left_out"), 0);
	json_decref(data);
	free(page);
	sample_free(&sample, &analysis);
	call_paths_deinit(&paths);
}

#define SHORT (TRACE_HTML_CALLS_MAX + 5000)

/* The shortest are left out, from everywhere, and their time is in the bins. */
static void test_bounds(void **state)
{
	uint64_t now_ns = 1000, sum = 0, width;
	json_t *data, *bins;

	(void)state;
	sample_begin(&sample, 1);
	sample.trace.begin_ns = 1000;
	for (unsigned i = 0; i < SHORT; i++, now_ns += 100)
		sample_plain(&sample, "MPI_Barrier", 0, now_ns, now_ns + (i % 1000 ? 50 : 99));
	sample_end(&sample, now_ns, &analysis);
	data = data_of();
	assert_int_equal(rows_of(data, "calls", "row"), TRACE_HTML_CALLS_MAX);
	assert_int_equal(number(data, "calls_left_out"), 5000);
	width = (now_ns - 1000) / TRACE_HTML_BINS + 1;
	bins = json_array_get(json_object_get(data, "bins"), 0);
	assert_int_equal(json_array_size(bins), TRACE_HTML_BINS);
	for (size_t i = 0; i < TRACE_HTML_BINS; i++) {
		json_int_t share = json_integer_value(json_array_get(bins, i));

		sum += (uint64_t)share * width / 1000;
		/* 5000 of 65000, of half of the time, and never a whole row of them. */
		assert_in_range(share, 10, 90);
	}
	assert_in_range(sum, 5000 * 50 * 95 / 100, 5000 * 50);
	for (size_t i = 0, longest = 0; i < TRACE_HTML_CALLS_MAX; i++) {
		longest += at(data, "calls", "ns", i) == 99;
		if (i == TRACE_HTML_CALLS_MAX - 1)
			assert_int_equal(longest, SHORT / 1000);
	}
	json_decref(data);
	sample_free(&sample, &analysis);
}

/* Nothing at all, and times that no clock can have. */
static void test_edges(void **state)
{
	json_t *data;
	char *page;

	(void)state;
	sample_begin(&sample, 0);
	sample_end(&sample, 0, &analysis);
	page = page_of();
	check_markup(page);
	free(page);
	sample_free(&sample, &analysis);
	sample_begin(&sample, 1);
	sample_plain(&sample, "MPI_Barrier", 0, 5, UINT64_MAX - 1);
	sample.trace.begin_ns = 10;
	sample_end(&sample, UINT64_MAX, &analysis);
	data = data_of();
	assert_int_equal(rows_of(data, "calls", "row"), 1);
	assert_int_equal(at(data, "calls", "begin", 0), 0);
	json_decref(data);
	sample_free(&sample, &analysis);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_page),
		cmocka_unit_test(test_bounds),
		cmocka_unit_test(test_edges),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
