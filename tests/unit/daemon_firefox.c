/* SPDX-License-Identifier: Apache-2.0 */
/* The Firefox Profiler's format, parsed back: its invariants, and the sample's figures. */
#include "report_sample.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <jansson.h>

static const struct writer_options defaults;

static json_t *written(const struct profile *profile)
{
	char *text = sample_written(&writer_firefox, profile, &defaults);
	json_error_t error;
	json_t *root = json_loads(text, JSON_REJECT_DUPLICATES, &error);

	if (!root)
		print_error("line %d: %s\nin:\n%s\n", error.line, error.text, text);
	assert_non_null(root);
	free(text);
	return root;
}

static json_t *table_of(json_t *root, const char *name)
{
	json_t *table = json_object_get(json_object_get(root, "shared"), name);

	assert_non_null(table);
	return table;
}

static json_t *samples_of(json_t *root)
{
	return json_object_get(json_array_get(json_object_get(root, "threads"), 0), "samples");
}

static json_int_t cell(json_t *table, const char *column, size_t row)
{
	json_t *value = json_array_get(json_object_get(table, column), row);

	assert_true(json_is_integer(value));
	return json_integer_value(value);
}

static size_t rows_of(json_t *table)
{
	return (size_t)json_integer_value(json_object_get(table, "length"));
}

/* Every column has as many rows as the table says. */
static void check_table(json_t *table)
{
	const char *key;
	json_t *value;

	assert_true(json_is_integer(json_object_get(table, "length")));
	json_object_foreach(table, key, value) if (json_is_array(value))
		assert_int_equal(json_array_size(value), rows_of(table));
}

/* A column of row numbers, or of null or -1 where that is allowed. */
static void check_rows(json_t *table, const char *column, size_t limit, bool optional)
{
	size_t row;
	json_t *value;

	assert_true(json_is_array(json_object_get(table, column)));
	json_array_foreach(json_object_get(table, column), row, value)
	{
		bool none = json_is_null(value) || json_integer_value(value) == -1;

		assert_true(none ? optional
				 : json_is_integer(value) && json_integer_value(value) >= 0 &&
					    json_integer_value(value) < (json_int_t)limit);
	}
}

static void check_invariants(json_t *root)
{
	static const char *const tables[] = { "stackTable",         "frameTable", "funcTable",
					      "resourceTable",      "sources",    "nativeSymbols",
					      "sourceLocationTable" };
	json_t *stacks = table_of(root, "stackTable"), *frames = table_of(root, "frameTable");
	json_t *functions = table_of(root, "funcTable"), *sources = table_of(root, "sources");
	json_t *resources = table_of(root, "resourceTable");
	json_t *categories = json_object_get(json_object_get(root, "meta"), "categories");
	size_t strings = json_array_size(table_of(root, "stringArray"));

	for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++)
		check_table(table_of(root, tables[i]));
	check_table(samples_of(root));
	check_table(
		json_object_get(json_array_get(json_object_get(root, "threads"), 0), "markers"));
	check_rows(samples_of(root), "stack", rows_of(stacks), true);
	check_rows(stacks, "frame", rows_of(frames), false);
	for (size_t i = 0; i < rows_of(stacks); i++)
		assert_in_range(cell(stacks, "prefixOffset", i), 0, i);
	check_rows(frames, "func", rows_of(functions), false);
	check_rows(frames, "category", json_array_size(categories), false);
	check_rows(functions, "name", strings, false);
	check_rows(functions, "source", rows_of(sources), true);
	check_rows(functions, "resource", rows_of(resources), true);
	check_rows(sources, "filename", strings, false);
	check_rows(resources, "name", strings, false);
	check_rows(resources, "lib", json_array_size(json_object_get(root, "libs")), false);
	assert_string_equal(
		json_string_value(json_object_get(json_array_get(categories, 0), "color")), "grey");
	/* Times only go on, and each sample lasts until the next. */
	for (size_t i = 0; i + 1 < rows_of(samples_of(root)); i++) {
		double time = json_real_value(
			json_array_get(json_object_get(samples_of(root), "time"), i));
		double next = json_real_value(
			json_array_get(json_object_get(samples_of(root), "time"), i + 1));
		double weight = json_real_value(
			json_array_get(json_object_get(samples_of(root), "weight"), i));

		assert_true(fabs(time + weight - next) < 1e-6);
	}
}

static const char *function_name(json_t *root, size_t stack)
{
	json_int_t frame = cell(table_of(root, "stackTable"), "frame", stack);
	json_int_t function = cell(table_of(root, "frameTable"), "func", (size_t)frame);
	json_int_t name = cell(table_of(root, "funcTable"), "name", (size_t)function);

	return json_string_value(json_array_get(table_of(root, "stringArray"), (size_t)name));
}

/* Milliseconds of the samples of one category, and of one function when it is not NULL. */
static double time_of(json_t *root, json_int_t category, const char *function)
{
	json_t *samples = samples_of(root);
	double sum = 0;

	/* The last one ends the one before. */
	for (size_t i = 0; i + 1 < rows_of(samples); i++) {
		size_t stack = (size_t)cell(samples, "stack", i);
		json_int_t frame = cell(table_of(root, "stackTable"), "frame", stack);

		if (cell(table_of(root, "frameTable"), "category", (size_t)frame) == category &&
		    (!function || strcmp(function_name(root, stack), function) == 0))
			sum += json_real_value(
				json_array_get(json_object_get(samples, "weight"), i));
	}
	return sum;
}

static void check_time(double actual, double expected)
{
	if (fabs(actual - expected) > 1e-4)
		print_error("%f, expected %f\n", actual, expected);
	assert_true(fabs(actual - expected) <= 1e-4);
}

static void test_sample(void **state)
{
	struct profile profile = sample_profile();
	json_t *root = written(&profile), *meta = json_object_get(root, "meta"), *lib;

	(void)state;
	check_invariants(root);
	assert_int_equal(json_integer_value(json_object_get(meta, "preprocessedProfileVersion")),
			 66);
	assert_true(fabs(json_real_value(json_object_get(meta, "startTime")) - 1700000000123.4568) <
		    1e-3);
	/* One row for each context and class, and the end. */
	assert_int_equal(rows_of(samples_of(root)), 8 + 1);
	check_time(time_of(root, 0, NULL), 0);
	check_time(time_of(root, 1, NULL), 3000);
	check_time(time_of(root, 2, NULL), 6000);
	check_time(time_of(root, 3, NULL), 800);
	check_time(time_of(root, 1, "Convolution.backprop"), 1999.9997);
	check_time(time_of(root, 3, "Convolution.backprop"), 123);
	check_time(time_of(root, 2, "array_subscript"), 5500);
	check_time(time_of(root, 2, "0x9abc"), 300);
	check_time(time_of(root, 1, "encode"), 989.9999);
	check_time(time_of(root, 2, "encode"), 200);
	check_time(time_of(root, 3, "encode"), 677);
	/* One function, whatever the categories of its frames. */
	assert_int_equal(rows_of(table_of(root, "funcTable")), 6);
	assert_int_equal(json_array_size(json_object_get(root, "libs")), 3);
	lib = json_array_get(json_object_get(root, "libs"), 0);
	assert_string_equal(json_string_value(json_object_get(lib, "path")), "/usr/bin/python3.11");
	assert_string_equal(json_string_value(json_object_get(lib, "codeId")), SAMPLE_BUILD_ID);
	json_decref(root);
}

/* From the last sample's stack outwards. */
static void test_path(void **state)
{
	static const char *const path[] = { "encode", "<module>", "_start" };
	struct profile profile = sample_profile();
	json_t *root = written(&profile), *stacks = table_of(root, "stackTable");
	size_t stack = (size_t)cell(samples_of(root), "stack", 7);

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		json_int_t offset = cell(stacks, "prefixOffset", stack);

		assert_string_equal(function_name(root, stack), path[i]);
		assert_int_equal(offset == 0, i == 2);
		stack -= (size_t)offset;
	}
	json_decref(root);
}

static void test_empty(void **state)
{
	struct profile profile = { .facts = { .version = "1", .sampler = "clock" } };
	json_t *root = written(&profile);

	(void)state;
	check_invariants(root);
	assert_int_equal(rows_of(samples_of(root)), 0);
	json_decref(root);
}

static void test_hostile(void **state)
{
	struct profile profile = sample_profile();
	struct profile_frame frames[sizeof(sample_tree_frames) / sizeof(sample_tree_frames[0])];
	json_t *root;

	(void)state;
	memcpy(frames, sample_tree_frames, sizeof(frames));
	frames[1].function = "\"</script>\\\xff";
	frames[1].line = -5;
	frames[3].file = "?";
	frames[4].address = UINT64_MAX;
	frames[4].function = "\xf0\x9f\x90\x8d";
	frames[5].file = "?";
	profile.tree.frames = frames;
	memset(profile.facts.target.comm, '\\', sizeof(profile.facts.target.comm));
	root = written(&profile);
	check_invariants(root);
	check_time(time_of(root, 1, "\"</script>\\\xef\xbf\xbd"), 10.0004);
	check_time(time_of(root, 2, "\xf0\x9f\x90\x8d"), 5500);
	json_decref(root);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sample),
		cmocka_unit_test(test_path),
		cmocka_unit_test(test_empty),
		cmocka_unit_test(test_hostile),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
