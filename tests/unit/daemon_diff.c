/* SPDX-License-Identifier: Apache-2.0 */
/* What changed between two profiles, and what is no more than chance. */
#include "daemon/report/diff/diff.h"
#include "report_sample.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define LINES 4

struct subject {
	struct profile_line lines[LINES];
	struct profile_node node;
	struct profile profile;
};

/* Lines of a file with so many milliseconds each, in samples of 10 ms, within ten seconds. */
static void fill(struct subject *subject, const uint64_t ms[LINES], int first_line)
{
	static const char *const sources[LINES] = { "a()", "b()", "c()", NULL };
	uint64_t total_ns = 0;

	*subject = (struct subject){ 0 };
	for (int i = 0; i < LINES; i++) {
		subject->lines[i] = (struct profile_line){
			.file = "/x.py",
			.function = "f",
			.line = sources[i] ? first_line + i : 99,
			.source = sources[i],
			.self_ns = { ms[i] * 1000000, 0, 0 },
		};
		total_ns += ms[i] * 1000000;
	}
	subject->node.samples[TIME_NATIVE] = total_ns / 10000000;
	subject->profile = (struct profile){
		.lines = subject->lines,
		.line_count = LINES,
		.time_ns = { total_ns, 0, 0 },
		.tree = { .nodes = &subject->node, .node_count = 1 },
		.facts = { .duration_ns = 10000000000, .version = "1" },
	};
}

static const struct diff_entry *entry_of(const struct diff *diff, const char *source)
{
	for (size_t i = 0; i < diff->line_count; i++)
		if (source ? diff->lines[i].source && !strcmp(diff->lines[i].source, source)
			   : !diff->lines[i].source)
			return &diff->lines[i];
	return NULL;
}

static void test_lines_that_moved_are_the_same(void **state)
{
	static const uint64_t before_ms[] = { 3000, 2000, 500, 500 },
			      now_ms[] = { 3000, 100, 520, 480 };
	struct subject before, now;
	struct diff *diff;

	(void)state;
	fill(&before, before_ms, 10);
	fill(&now, now_ms, 30);
	diff = diff_create(&before.profile, &now.profile);
	assert_non_null(diff);
	assert_int_equal(diff->line_count, LINES);
	for (size_t i = 0; i < LINES; i++)
		assert_true(diff->lines[i].present[DIFF_BASE] && diff->lines[i].present[DIFF_NOW]);
	/* What stands out is first: 200 samples against 10. */
	assert_string_equal(diff->lines[0].source, "b()");
	assert_false(diff->lines[0].time.noise);
	assert_int_equal(diff->lines[0].line[DIFF_BASE], 11);
	assert_int_equal(diff->lines[0].line[DIFF_NOW], 31);
	assert_int_equal(diff->lines[0].time.samples[DIFF_BASE], 200);
	assert_int_equal(diff->lines[0].time.samples[DIFF_NOW], 10);
	assert_true(fabs(diff->lines[0].time.rate[DIFF_BASE] - 200) < 1e-9);
	assert_true(diff->lines[0].time.share_change.high < -0.2);
	/* 50 samples against 52: chance. */
	assert_true(entry_of(diff, "c()")->time.noise);
	assert_true(entry_of(diff, NULL)->time.noise);
	/* The same time of less: a larger share, of no more time. */
	assert_true(entry_of(diff, "a()")->time.noise);
	assert_true(entry_of(diff, "a()")->time.share_change.low > 0);
	assert_true(entry_of(diff, "a()")->time.rate_change.low < 0);
	diff_destroy(diff);
}

static void test_new_and_gone(void **state)
{
	static const uint64_t ms[] = { 3000, 2000, 500, 500 };
	struct subject before, now;
	struct diff *diff;

	(void)state;
	fill(&before, ms, 10);
	fill(&now, ms, 10);
	now.lines[0].source = "quick()";
	/* Without text it is the number that tells. */
	now.lines[3].line = 100;
	diff = diff_create(&before.profile, &now.profile);
	assert_int_equal(diff->line_count, LINES + 2);
	assert_false(entry_of(diff, "a()")->present[DIFF_NOW]);
	assert_false(entry_of(diff, "a()")->time.noise);
	assert_false(entry_of(diff, "quick()")->present[DIFF_BASE]);
	assert_true(entry_of(diff, "b()")->time.noise);
	diff_destroy(diff);
}

static void test_pairs(void **state)
{
	struct profile before = sample_profile(), now = sample_profile();
	struct diff *diff;

	(void)state;
	now.pair_count = 1; /* the stores are gone */
	now.accesses[PAIR_STORE].redundant = 0;
	diff = diff_create(&before, &now);
	assert_int_equal(diff->pair_count, 2);
	assert_int_equal(diff->pairs[0].kind, PAIR_STORE);
	assert_false(diff->pairs[0].present[DIFF_NOW]);
	assert_false(diff->pairs[0].accesses.noise);
	assert_int_equal(diff->pairs[0].redundant[DIFF_BASE], 20);
	assert_int_equal(diff->pairs[0].first.line, 33);
	assert_true(diff->pairs[1].accesses.noise);
	assert_int_equal(diff->pairs[1].redundant[DIFF_NOW], 409);
	assert_true(diff->avoidable_noise);
	diff_destroy(diff);
}

static void test_headline(void **state)
{
	static const uint64_t ms[] = { 3000, 2000, 500, 500 };
	struct profile_function functions[2][2] = {
		{ { .file = "/x.py", .function = "normalise", .self_ns = { 2820000000, 0, 0 } },
		  { .file = "/x.py", .function = "read", .self_ns = { 3180000000, 0, 0 } } },
		{ { .file = "/x.py", .function = "normalise", .self_ns = { 1180000000, 0, 0 } },
		  { .file = "/x.py", .function = "read", .self_ns = { 3180000000, 0, 0 } } },
	};
	struct subject sides[2];
	struct diff *diff;
	char text[64];

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		fill(&sides[i], ms, 10);
		sides[i].profile.functions = functions[i];
		sides[i].profile.function_count = 2;
	}
	sides[1].profile.time_ns[TIME_PYTHON] = 4360000000;
	diff = diff_create(&sides[0].profile, &sides[1].profile);
	diff_headline(diff, text, sizeof(text));
	assert_string_equal(text, "normalise: 47% to 27% of the CPU time");
	diff_destroy(diff);
	sides[1].profile.function_count = 1;
	functions[1][0].function = "quick";
	diff = diff_create(&sides[0].profile, &sides[1].profile);
	diff_headline(diff, text, sizeof(text));
	assert_string_equal(text, "read: 53% of the CPU time, now none");
	diff_destroy(diff);
	diff = diff_create(&sides[0].profile, &sides[0].profile);
	diff_headline(diff, text, 8);
	assert_string_equal(text, "No func");
	diff_destroy(diff);
}

static void test_nothing(void **state)
{
	struct profile nothing = { 0 }, sample = sample_profile();
	struct diff *diff = diff_create(&nothing, &sample);

	(void)state;
	assert_non_null(diff);
	for (size_t i = 0; i < diff->line_count; i++)
		assert_true(isfinite(diff->lines[i].time.rate_change.low));
	diff_destroy(diff);
	diff = diff_create(&nothing, &nothing);
	assert_non_null(diff);
	assert_int_equal(diff->line_count + diff->function_count + diff->pair_count, 0);
	diff_destroy(diff);
}

/* Newcombe 1998, table II: 56 of 70 less 48 of 80, method 10: 0.0524 to 0.3339. */
static void test_interval_of_a_difference(void **state)
{
	struct interval interval = interval_difference(48, 80, 56, 70);

	(void)state;
	assert_true(fabs(interval.low - 0.0524) < 5e-4);
	assert_true(fabs(interval.high - 0.3339) < 5e-4);
	interval = interval_difference(0, 0, 5, 10);
	assert_true(interval.low <= -1 && interval.high >= 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lines_that_moved_are_the_same),
		cmocka_unit_test(test_new_and_gone),
		cmocka_unit_test(test_pairs),
		cmocka_unit_test(test_headline),
		cmocka_unit_test(test_nothing),
		cmocka_unit_test(test_interval_of_a_difference),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
