/* SPDX-License-Identifier: Apache-2.0 */
/* What changed by label: two sets of recordings, of which one service changed, one did not, one
 * came and one went. */
#include "daemon/cli/fleet_diff.h"

#include "daemon/cli/fleet_label.h"
#include "merge_variant.h"
#include "recorded_files.h"

#include <jansson.h>

#define RECORDINGS 4

static char places[2 * 3 * RECORDINGS][128];
static const char *names[2 * 3 * RECORDINGS];
static size_t name_count;

/* Lines' times are those of the sample, the first's times so much, and somewhat other ones in each.
 */
static void record(const char *service, unsigned number, unsigned times)
{
	struct variant *variant = make(1);
	struct profile *profile = &variant->profile;
	char name[64];

	profile->facts.target.pid = 100 + (pid_t)name_count;
	snprintf(profile->facts.target.labels.service, sizeof(profile->facts.target.labels.service),
		 "%s", service);
	for (size_t i = 0; i < profile->line_count; i++)
		variant->lines[i].self_ns[TIME_PYTHON] += number * 1000;
	for (unsigned k = 0; k < TIME_CLASS_COUNT; k++) {
		uint64_t more = variant->lines[2].self_ns[k] * (times - 1);

		variant->lines[2].self_ns[k] += more;
		profile->time_ns[k] += more;
	}
	snprintf(name, sizeof(name), "%zu.pieprof", name_count);
	snprintf(places[name_count], sizeof(places[0]), "%s", path_of(name));
	names[name_count] = places[name_count];
	assert_int_equal(
		writer_write_file(&writer_recording, profile, &defaults, names[name_count]), 0);
	name_count++;
	free(variant);
}

static void record_set(const char *service, unsigned times)
{
	for (unsigned i = 0; i < RECORDINGS; i++)
		record(service, i, times);
}

/* The caller releases. */
static json_t *report(const struct recording_list *now, const struct recording_list *base,
		      const char *threshold, enum exit_code wanted)
{
	struct options options = {
		.by = fleet_label_by_name("service"),
		.output_count = 1,
		.outputs = { { .path = path_of("table.json"), .writer = &writer_json } },
	};
	char path[128];
	json_t *table;

	if (threshold) {
		assert_true(threshold_parse(threshold, &options.thresholds[0].threshold));
		options.thresholds[0].text = threshold;
		options.threshold_count = 1;
	}
	snprintf(path, sizeof(path), "%s", options.outputs[0].path);
	options.outputs[0].path = path;
	assert_int_equal(fleet_diff_report(&options, &defaults, now, base), wanted);
	table = json_load_file(path, 0, NULL);
	assert_non_null(table);
	return table;
}

static const char *word(json_t *table, size_t row, const char *key)
{
	return json_string_value(json_object_get(json_array_get(table, row), key));
}

static double number_at(json_t *pair, size_t index)
{
	return json_number_value(json_array_get(pair, index));
}

static void test_table(void **state)
{
	struct recording_list base = { .paths = names }, now = { 0 };
	json_t *table, *row, *most, *change;

	(void)state;
	record_set("shop", 1);
	record_set("mail", 1);
	record("gone", 0, 1);
	base.count = name_count;
	now.paths = names + name_count;
	record_set("mail", 1);
	record_set("shop", 3);
	record("new", 0, 1);
	now.count = name_count - base.count;

	table = report(&now, &base, NULL, EXIT_OK);
	assert_int_equal(json_array_size(table), 4);
	/* What changed comes first, what only one set has comes last. */
	assert_string_equal(word(table, 0, "service"), "shop");
	assert_string_equal(word(table, 1, "service"), "mail");
	assert_string_equal(word(table, 2, "service"), "new");
	assert_string_equal(word(table, 2, "presence"), "new");
	assert_string_equal(word(table, 3, "service"), "gone");
	assert_string_equal(word(table, 3, "presence"), "gone");

	row = json_array_get(table, 0);
	most = json_object_get(row, "most_changed");
	change = json_object_get(most, "ms_per_s_change_interval");
	assert_string_equal(word(table, 0, "presence"), "both");
	assert_int_equal(number_at(json_object_get(row, "recordings"), 0), RECORDINGS);
	assert_int_equal(number_at(json_object_get(row, "recordings"), 1), RECORDINGS);
	assert_true(json_integer_value(json_object_get(row, "lines_changed")) >= 1);
	assert_true(number_at(json_object_get(most, "ms_per_s"), 1) >
		    2 * number_at(json_object_get(most, "ms_per_s"), 0));
	assert_true(number_at(change, 0) > 0 && number_at(change, 1) > number_at(change, 0));

	row = json_array_get(table, 1);
	assert_int_equal(json_integer_value(json_object_get(row, "lines_changed")), 0);
	assert_true(json_is_null(json_object_get(row, "most_changed")));
	assert_true(json_is_true(json_object_get(row, "avoidable_noise")));

	row = json_array_get(table, 2);
	assert_true(json_is_null(json_array_get(json_object_get(row, "cpu_ms_per_s"), 0)));
	assert_int_equal(number_at(json_object_get(row, "recordings"), 0), 0);
	assert_null(json_object_get(row, "lines_changed"));
	json_decref(table);

	json_decref(report(&now, &base, "own+50%", EXIT_CHANGED));
	json_decref(report(&now, &base, "own+900%", EXIT_OK));
	json_decref(report(&base, &base, "own+1%", EXIT_OK));
}

static void test_text(void **state)
{
	struct recording_list base = { .paths = names, .count = 2 * RECORDINGS + 1 };
	struct recording_list now = { .paths = names + base.count, .count = base.count };
	struct options options = { .by = fleet_label_by_name("service"), .output_count = 1 };
	char path[128], text[4096];
	ssize_t size;
	int fd;

	(void)state;
	snprintf(path, sizeof(path), "%s", path_of("table.txt"));
	options.outputs[0].path = path;
	options.outputs[0].writer = &writer_text;
	assert_int_equal(fleet_diff_report(&options, &defaults, &now, &base), EXIT_OK);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	size = read(fd, text, sizeof(text) - 1);
	close(fd);
	assert_true(size > 0);
	text[size] = '\0';
	assert_non_null(strstr(text, "\nshop  "));
	assert_non_null(strstr(text, " gone\n"));
	for (const char *line = text; *line; line = strchr(line, '\n') + 1)
		assert_true(strcspn(line, "\n") <= 100);
	if (getenv("SHOW"))
		print_message("%s", text);
}

static void test_failures(void **state)
{
	const char *missing[] = { "/nonexistent/a.pieprof" };
	const struct recording_list none = { .paths = missing, .count = 1 };
	const struct recording_list one = { .paths = names, .count = 1 };
	const struct options options = { .by = fleet_label_by_name("service") };

	(void)state;
	assert_int_not_equal(fleet_diff_report(&options, &defaults, &one, &none), EXIT_OK);
	assert_int_not_equal(fleet_diff_report(&options, &defaults, &none, &one), EXIT_OK);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_table),
		cmocka_unit_test(test_text),
		cmocka_unit_test(test_failures),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
