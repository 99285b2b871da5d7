/* SPDX-License-Identifier: Apache-2.0 */
/* The JSON report, parsed back: names and figures, and the same figures as the text report's. */
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
	char *text = sample_written(&writer_json, profile, &defaults);
	json_error_t error;
	json_t *root = json_loads(text, JSON_REJECT_DUPLICATES, &error);

	if (!root)
		print_error("line %d: %s\nin:\n%s\n", error.line, error.text, text);
	assert_non_null(root);
	/* ASCII, and a line for each line and pair. */
	for (const unsigned char *at = (const unsigned char *)text; *at; at++)
		if (*at != '\n')
			assert_in_range(*at, 0x20, 0x7f);
	free(text);
	return root;
}

/* "lines.1.loads.sampled" */
static json_t *at(json_t *root, const char *path)
{
	char copy[128], *saved = NULL;
	json_t *value = root;

	assert_true(strlen(path) < sizeof(copy));
	strcpy(copy, path);
	for (char *key = strtok_r(copy, ".", &saved); key && value;
	     key = strtok_r(NULL, ".", &saved))
		value = json_is_array(value) ? json_array_get(value, strtoul(key, NULL, 10))
					     : json_object_get(value, key);
	if (!value)
		print_error("missing: %s\n", path);
	assert_non_null(value);
	return value;
}

static void check_number(json_t *root, const char *path, json_int_t expected)
{
	assert_true(json_is_integer(at(root, path)));
	if (json_integer_value(at(root, path)) != expected)
		print_error("%s is %lld\n", path, (long long)json_integer_value(at(root, path)));
	assert_true(json_integer_value(at(root, path)) == expected);
}

static void check_figure(json_t *root, const char *path, double expected)
{
	assert_true(json_is_real(at(root, path)));
	assert_true(fabs(json_real_value(at(root, path)) - expected) < 1e-8);
}

static void check_string(json_t *root, const char *path, const char *expected)
{
	assert_true(json_is_string(at(root, path)));
	assert_string_equal(json_string_value(at(root, path)), expected);
}

static void test_facts(void **state)
{
	struct profile profile = sample_profile();
	json_t *root;

	(void)state;
	sample_add_threads(&profile);
	root = written(&profile);
	check_string(root, "pieprofd", "9.8.7");
	check_number(root, "target.pid", 4321);
	check_string(root, "target.python", "3.11.2");
	check_string(root, "target.comm", "python3");
	assert_int_equal(json_array_size(at(root, "target.command")), 4);
	check_string(root, "target.command.1", "conv_backprop.py");
	check_string(root, "sampler", "clock");
	assert_true(json_is_true(at(root, "native_known")));
	check_number(root, "period_ns", 10101010);
	check_number(root, "cpu_ns", 5900000000);
	check_number(root, "duration_ns", 10020000000);
	check_number(root, "samples", 987);
	assert_int_equal(json_object_size(at(root, "losses")), 2);
	check_number(root, "losses.filter_stack", 1204);
	check_number(root, "losses.no_access", 56);
	check_number(root, "stop_ns.count", 2961);
	check_number(root, "stop_ns.p50", 31400);
	check_number(root, "stop_ns.p99", 87600);
	check_number(root, "stop_ns.max", 245000);
	check_number(root, "stop_ns.sample.count", 987);
	check_number(root, "stop_ns.sample.p50", 41200);
	check_number(root, "stop_ns.breakpoint.p99", 66600);
	check_number(root, "stop_ns.breakpoint.max", 120000);
	check_figure(root, "overhead", 0.0083);
	check_figure(root, "overhead_limit", 0.02);
	assert_true(json_is_false(at(root, "target_exited")));
	check_number(root, "time_ns.python", 3000000000);
	check_number(root, "time_ns.native", 6000000000);
	check_number(root, "time_ns.system", 800000000);
	check_number(root, "loads.sampled", 467);
	check_number(root, "stores.redundant", 20);
	check_number(root, "pairs_omitted", 3);
	check_string(root, "threads.0.name", "MainThread");
	check_number(root, "threads.1.tid", 0);
	check_number(root, "timeline.slice_ns", 50000000);
	check_number(root, "timeline.slices", 4);
	check_number(root, "timeline.left_out_ns", 3);
	assert_int_equal(json_array_size(at(root, "timeline.threads")), 2);
	check_number(root, "timeline.threads.0.tid", 4321);
	assert_int_equal(json_array_size(at(root, "timeline.threads.0.slice")), 2);
	check_number(root, "timeline.threads.0.slice.1", 3);
	check_number(root, "timeline.threads.0.python_ns.0", 10101010);
	check_number(root, "timeline.threads.0.native_ns.0", 20202020);
	check_number(root, "timeline.threads.0.system_ns.1", 7142857);
	assert_int_equal(json_array_size(at(root, "timeline.threads.1.slice")), 1);
	json_decref(root);
}

/* Where no line could save much, the hottest goes first, and may save all that it takes or nothing.
 */
static void test_unexplained_line(void **state)
{
	struct profile profile = sample_profile();
	struct profile_line lines[3] = { sample_lines[0], sample_lines[1], sample_lines[2] };
	json_t *root;

	(void)state;
	for (size_t i = 0; i < 3; i++)
		lines[i].avoidable_ns = lines[i].avoidable_low_ns = lines[i].avoidable_high_ns = 0;
	lines[0].avoidable_ns = 100000000;
	lines[0].avoidable_high_ns = 200000000;
	profile.lines = lines;
	root = written(&profile);
	check_number(root, "lines.0.avoidable_ns", 100000000);
	check_number(root, "lines.0.avoidable_high_ns", 200000000);
	/* A fiftieth of what it takes, and 1.15 times that. */
	check_number(root, "lines.1.avoidable_ns", 158459994);
	check_number(root, "lines.1.avoidable_low_ns", 0);
	check_number(root, "lines.1.avoidable_high_ns", 9111449655);
	json_decref(root);
}

static void test_lines(void **state)
{
	struct profile profile = sample_profile();
	json_t *root = written(&profile);

	(void)state;
	assert_int_equal(json_array_size(at(root, "lines")), 3);
	check_string(root, "lines.1.file", SAMPLE_FILE);
	check_number(root, "lines.1.line", 33);
	check_string(root, "lines.1.function", "Convolution.backprop");
	check_string(root, "lines.1.source", "g[f] += d[i, j, f] * r");
	check_number(root, "lines.1.python_ns", 2000000000);
	check_number(root, "lines.1.native_ns", 5500000000);
	check_number(root, "lines.1.system_ns", 123000000);
	check_number(root, "lines.1.total_ns", 7623000000);
	check_number(root, "lines.1.loads.sampled", 450);
	check_number(root, "lines.1.loads.reaccessed", 430);
	check_number(root, "lines.1.loads.redundant", 412);
	check_number(root, "lines.1.loads.approximate", 3);
	check_number(root, "lines.1.stores.sampled", 40);
	check_number(root, "lines.1.avoidable_ns", 3100000000);
	check_number(root, "lines.1.avoidable_low_ns", 2600000000);
	check_number(root, "lines.1.avoidable_high_ns", 3700000000);
	check_number(root, "lines.1.charged_ns", 7700000000);
	check_number(root, "lines.1.evidence.heap", 300);
	check_number(root, "lines.1.evidence.object", 100);
	check_number(root, "lines.1.evidence.static", 35);
	check_number(root, "lines.1.evidence.other", 1);
	check_number(root, "lines.1.evidence.repeated", 400);
	check_number(root, "lines.1.evidence.call_samples", 321);
	check_number(root, "lines.1.evidence.site_loads", 210);
	check_number(root, "lines.1.evidence.site_loads_redundant", 200);
	check_number(root, "lines.1.evidence.site_stores", 12);
	check_number(root, "lines.1.evidence.site_stores_redundant", 11);
	check_number(root, "lines.1.evidence.again", 8);
	check_number(root, "lines.1.evidence.again_redundant", 7);
	check_number(root, "lines.1.call_ns", 1234);
	check_string(root, "lines.1.category", "slice-underutilisation");
	check_string(root, "lines.1.reasons.1", "the same element of the loop");
	assert_true(json_is_null(at(root, "lines.2.source")));
	check_string(root, "lines.2.category", "unclear");
	assert_int_equal(json_array_size(at(root, "lines.2.reasons")), 0);
	json_decref(root);
}

/* What the arguments of a line's calls say; sample_profile() has none that say anything. */
/* The words of the text report, and where they point. */
static void test_verdict(void **state)
{
	struct profile profile = sample_profile();
	json_t *root = written(&profile);

	(void)state;
	check_string(root, "verdict.kind", "finding");
	check_string(root, "verdict.headline", "one line repeats memory accesses needlessly");
	check_string(root, "verdict.line.file", SAMPLE_FILE);
	check_number(root, "verdict.line.line", 33);
	assert_true(json_is_null(at(root, "verdict.own_line")));
	assert_true(json_is_false(at(root, "verdict.few_samples")));
	assert_non_null(
		strstr(json_string_value(at(root, "verdict.sentences.3")), "412 of 450 loads"));
	assert_true(json_is_null(at(root, "findings.0.pattern")));
	json_decref(root);

	profile.facts.samples = 0;
	root = written(&profile);
	check_string(root, "verdict.kind", "no-samples");
	assert_true(json_is_null(at(root, "verdict.line")));
	assert_true(json_is_true(at(root, "verdict.few_samples")));
	json_decref(root);
}

static void test_arguments(void **state)
{
	static const char *const verdicts[ARGUMENT_VERDICT_COUNT] = {
		"unknown",  "needed",  "invariant", "repeated", "few",    "growing",
		"elements", "scalars", "searched",  "cut",      "slow",   "sorted",
		"end",      "in_turn", "few_held",  "scanned",  "common",
	};
	struct profile profile = sample_profile();
	struct profile_line line = profile.lines[1];
	char path[64];
	json_t *root = written(&profile);

	(void)state;
	assert_true(json_is_null(at(root, "lines.1.finding")));
	assert_true(json_is_null(at(root, "lines.1.expression")));
	check_number(root, "lines.1.evidence.arguments.few", 0);
	json_decref(root);
	for (unsigned v = 0; v < ARGUMENT_VERDICT_COUNT; v++)
		line.evidence.arguments.samples[v] = 10 + v;
	line.category = CATEGORY_MEMOIZABLE;
	line.finding = "f(m) is called with 3 sets";
	line.expression = "f(m)";
	line.column = 4;
	line.end_column = 2;
	line.end_line = line.line + 1;
	profile.lines = &line;
	profile.line_count = 1;
	profile.pair_count = 0;
	root = written(&profile);
	for (unsigned v = 0; v < ARGUMENT_VERDICT_COUNT; v++) {
		snprintf(path, sizeof(path), "lines.0.evidence.arguments.%s", verdicts[v]);
		check_number(root, path, 10 + v);
	}
	check_string(root, "lines.0.category", "memoizable");
	check_string(root, "lines.0.finding", "f(m) is called with 3 sets");
	check_string(root, "lines.0.expression.text", "f(m)");
	check_number(root, "lines.0.expression.line", 33);
	check_number(root, "lines.0.expression.end_line", 34);
	check_number(root, "lines.0.expression.column", 4);
	check_number(root, "lines.0.expression.end_column", 2);
	json_decref(root);
	/* Before Python 3.11. */
	line.column = line.end_column = -1;
	line.end_line = 0;
	root = written(&profile);
	check_string(root, "lines.0.expression.text", "f(m)");
	assert_true(json_is_null(at(root, "lines.0.expression.end_line")));
	assert_true(json_is_null(at(root, "lines.0.expression.column")));
	assert_true(json_is_null(at(root, "lines.0.expression.end_column")));
	json_decref(root);
}

static void test_pairs(void **state)
{
	struct profile profile = sample_profile();
	json_t *root = written(&profile);

	(void)state;
	assert_int_equal(json_array_size(at(root, "pairs")), 2);
	check_string(root, "pairs.0.kind", "load");
	check_string(root, "pairs.1.kind", "store");
	check_number(root, "pairs.0.sampled", 437);
	check_number(root, "pairs.0.redundant", 409);
	check_number(root, "pairs.0.approximate", 2);
	check_figure(root, "pairs.0.share", 409.0 / 437);
	check_figure(root, "pairs.0.share_low", 0.909);
	check_figure(root, "pairs.0.share_high", 0.955);
	check_number(root, "pairs.0.avoidable_ns", 2900000000);
	check_string(root, "pairs.0.category", "slice-underutilisation");
	check_string(root, "pairs.0.advice", SAMPLE_ADVICE);
	/* Outermost first, none left out. */
	assert_int_equal(json_array_size(at(root, "pairs.0.first")), 9);
	assert_int_equal(json_array_size(at(root, "pairs.0.second")), 8);
	check_string(root, "pairs.0.first.0.kind", "native");
	check_string(root, "pairs.0.first.0.function", "_start");
	check_string(root, "pairs.0.first.6.kind", "python");
	check_string(root, "pairs.0.first.6.function", "Convolution.backprop");
	check_string(root, "pairs.0.first.6.file", SAMPLE_FILE);
	check_number(root, "pairs.0.first.6.line", 33);
	check_string(root, "pairs.0.first.6.opcode", "BINARY_SUBSCR");
	check_string(root, "pairs.0.first.6.source", "g[f] += d[i, j, f] * r");
	check_string(root, "pairs.0.first.7.function", "array_subscript");
	check_string(root, "pairs.0.first.7.library", SAMPLE_LIBRARY);
	check_string(root, "pairs.0.first.7.address", "0x2b72");
	assert_true(json_is_true(at(root, "pairs.0.first.8.guessed")));
	assert_null(json_object_get(at(root, "pairs.0.first.7"), "guessed"));
	check_string(root, "pairs.0.second.6.opcode", "STORE_SUBSCR");
	json_decref(root);
}

static void test_empty(void **state)
{
	struct profile profile = { .facts = { .version = "1", .sampler = "clock" } };
	json_t *root = written(&profile);

	(void)state;
	assert_int_equal(json_array_size(at(root, "lines")), 0);
	assert_int_equal(json_array_size(at(root, "pairs")), 0);
	assert_int_equal(json_object_size(at(root, "losses")), 0);
	assert_int_equal(json_array_size(at(root, "target.command")), 0);
	json_decref(root);
}

static void test_hostile(void **state)
{
	static const char *const command[] = { "\x1b[2J", "quote\"back\\slash\n", "caf\xc3\xa9",
					       "\xff\xc3(\xed\xa0\x80"
					       "end",
					       NULL };
	struct profile profile = sample_profile();
	struct profile_pair pair = sample_pairs[0];
	json_t *root;

	(void)state;
	pair.share = NAN;
	pair.share_low = -INFINITY;
	pair.share_high = INFINITY;
	pair.advice = NULL;
	pair.sampled = UINT64_MAX;
	profile.pairs = &pair;
	profile.pair_count = 1;
	profile.facts.target.command = command;
	memset(profile.facts.target.comm, 'x', sizeof(profile.facts.target.comm));
	root = written(&profile);
	check_string(root, "target.command.0", "\x1b[2J");
	check_string(root, "target.command.1", "quote\"back\\slash\n");
	check_string(root, "target.command.2", "caf\xc3\xa9");
	/* Each byte that is not UTF-8 is a U+FFFD. */
	check_string(root, "target.command.3",
		     "\xef\xbf\xbd\xef\xbf\xbd(\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"
		     "end");
	check_string(root, "target.comm", "xxxxxxxxxxxxxxxx");
	check_figure(root, "pairs.0.share", 0);
	check_figure(root, "pairs.0.share_high", 0);
	check_number(root, "pairs.0.sampled", INT64_MAX);
	assert_true(json_is_null(at(root, "pairs.0.advice")));
	json_decref(root);
}

/* Words of the text report, made of the JSON report's figures. */
static void check_text(const char *text, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
static void check_text(const char *text, const char *format, ...)
{
	char words[256];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(words, sizeof(words), format, arguments);
	va_end(arguments);
	if (!strstr(text, words))
		print_error("missing: %s\nin:\n%s\n", words, text);
	assert_non_null(strstr(text, words));
}

static long long number(json_t *root, const char *path)
{
	return (long long)json_integer_value(at(root, path));
}

static void test_same_figures_as_text(void **state)
{
	struct profile profile = sample_profile();
	const struct writer_options wide = { .columns = 240 };
	char *text = sample_written(&writer_text, &profile, &wide);
	json_t *root = written(&profile);
	double total = (double)(number(root, "time_ns.python") + number(root, "time_ns.native") +
				number(root, "time_ns.system"));
	const char *loss;
	json_t *value;
	size_t i;

	(void)state;
	check_text(text, "pid %lld", number(root, "target.pid"));
	check_text(text, "%lld samples", number(root, "samples"));
	check_text(text, "%.1f%% Python, %.1f%% native, %.1f%% system",
		   (double)number(root, "time_ns.python") / total * 100,
		   (double)number(root, "time_ns.native") / total * 100,
		   (double)number(root, "time_ns.system") / total * 100);
	check_text(text, "over %lld stops", number(root, "stop_ns.count"));
	check_text(text, "p50 %.1f us, p99 %.1f us, max %.0f us",
		   (double)number(root, "stop_ns.p50") / 1e3,
		   (double)number(root, "stop_ns.p99") / 1e3,
		   (double)number(root, "stop_ns.max") / 1e3);
	json_object_foreach(at(root, "losses"), loss, value)
		check_text(text, " %lld  ", (long long)json_integer_value(value));
	json_array_foreach(at(root, "lines"), i, value)
	{
		double python = (double)number(value, "python_ns"),
		       native = (double)number(value, "native_ns"),
		       system_time = (double)number(value, "system_ns");

		check_text(text, "%5.1f%% %5.1f%% %5.1f%% %5.1f%% %5.1f%%  %s:%lld ",
			   (python + native + system_time) / total * 100, python / total * 100,
			   native / total * 100, system_time / total * 100,
			   (double)number(value, "total_ns") / total * 100,
			   json_string_value(at(value, "file")), number(value, "line"));
		if (number(value, "loads.redundant"))
			check_text(text, "%lld of %lld  %.1f%%", number(value, "loads.redundant"),
				   number(value, "loads.sampled"),
				   100.0 * (double)number(value, "loads.redundant") /
					   (double)number(value, "loads.sampled"));
	}
	json_array_foreach(at(root, "pairs"), i, value) check_text(
		text,
		"%lld of %lld watched %ss found the same value: %.1f%% (95%% interval %.1f%% to "
		"%.1f%%).",
		number(value, "redundant"), number(value, "sampled"),
		json_string_value(at(value, "kind")), json_real_value(at(value, "share")) * 100,
		json_real_value(at(value, "share_low")) * 100,
		json_real_value(at(value, "share_high")) * 100);
	json_decref(root);
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_facts),
		cmocka_unit_test(test_lines),
		cmocka_unit_test(test_unexplained_line),
		cmocka_unit_test(test_verdict),
		cmocka_unit_test(test_arguments),
		cmocka_unit_test(test_pairs),
		cmocka_unit_test(test_empty),
		cmocka_unit_test(test_hostile),
		cmocka_unit_test(test_same_figures_as_text),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
