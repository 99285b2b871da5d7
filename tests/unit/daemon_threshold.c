/* SPDX-License-Identifier: Apache-2.0 */
/* --fail-if: what it is made of, and which lines break it. */
#include "daemon/report/diff/threshold.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static void test_text(void **state)
{
	static const char *const wrong[] = {
		"",
		"own",
		"own+",
		"own+%",
		"own+10",
		"own 10%",
		"own+10%%",
		"own+1e3%",
		"own+-10%",
		"own+10%x",
		"self+10%",
		"own-101%",
		"own+1.2.3%",
		"own+.%",
		"could+10%",
		"own+0x10%",
		"own+99999999999999999%",
	};
	struct threshold threshold;

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		assert_false(threshold_parse(wrong[i], &threshold));
	assert_true(threshold_parse("own+10%", &threshold));
	assert_int_equal(threshold.metric, THRESHOLD_OWN);
	assert_false(threshold.falls);
	assert_true(threshold.percent == 10);
	assert_true(threshold_parse("total-2.5%", &threshold));
	assert_int_equal(threshold.metric, THRESHOLD_TOTAL);
	assert_true(threshold.falls && threshold.percent == 2.5);
	assert_true(threshold_parse("could-save+0%", &threshold));
	assert_int_equal(threshold.metric, THRESHOLD_COULD_SAVE);
}

struct subject {
	struct profile_line lines[3];
	struct profile_node node;
	struct profile profile;
};

/* Three lines with so many milliseconds of their own, in samples of 10 ms, within ten seconds. */
static void fill(struct subject *subject, const uint64_t ms[3], uint64_t save_ms)
{
	static const char *const sources[] = { "a()", "b()", "c()" };
	uint64_t total_ns = 0;

	*subject = (struct subject){ 0 };
	for (int i = 0; i < 3; i++) {
		subject->lines[i] = (struct profile_line){
			.file = i == 1 ? "/x\n.py" : "/x.py",
			.function = "f",
			.line = i + 1,
			.source = sources[i],
			.self_ns = { ms[i] * 1000000, 0, 0 },
			.total_ns = 2 * ms[i] * 1000000,
		};
		total_ns += ms[i] * 1000000;
	}
	subject->lines[0].avoidable_ns = save_ms * 1000000;
	subject->lines[0].avoidable_low_ns = save_ms * 900000;
	subject->lines[0].avoidable_high_ns = save_ms * 1100000;
	subject->node.samples[TIME_NATIVE] = total_ns / 10000000;
	subject->profile = (struct profile){
		.lines = subject->lines,
		.line_count = 3,
		.time_ns = { total_ns, 0, 0 },
		.tree = { .nodes = &subject->node, .node_count = 1 },
		.facts = { .duration_ns = 10000000000, .version = "1" },
	};
}

static size_t broken(const char *text, const struct diff *diff, const struct diff_entry **ret_worst)
{
	struct threshold threshold;

	assert_true(threshold_parse(text, &threshold));
	return threshold_broken(&threshold, diff, ret_worst);
}

static void test_lines(void **state)
{
	static const uint64_t before_ms[] = { 3000, 1000, 500 }, now_ms[] = { 3000, 2500, 520 };
	const struct diff_entry *worst = NULL;
	struct subject before, now;
	struct threshold threshold;
	char words[256];
	struct diff *diff;

	(void)state;
	fill(&before, before_ms, 1000);
	fill(&now, now_ms, 2000);
	diff = diff_create(&before.profile, &now.profile);
	assert_non_null(diff);
	assert_int_equal(broken("own+10%", diff, &worst), 1);
	assert_string_equal(worst->source, "b()");
	/* From 100 to 250 ms a second, but from 22 to 42% of the CPU time. */
	assert_int_equal(broken("own+85%", diff, &worst), 1);
	assert_int_equal(broken("own+95%", diff, &worst), 0);
	assert_int_equal(broken("own-10%", diff, &worst), 0);
	assert_int_equal(broken("could-save+10%", diff, &worst), 1);
	assert_string_equal(worst->source, "a()");
	assert_int_equal(broken("could-save+100%", diff, &worst), 0);
	assert_true(threshold_parse("own+10%", &threshold));
	(void)threshold_broken(&threshold, diff, &worst);
	threshold_describe(&threshold, worst, words, sizeof(words));
	assert_string_equal(words, "/x\\n.py:2 in f: own time 22.2% (100.0 ms a second) before, "
				   "41.5% (250.0 ms a second) now");
	diff_destroy(diff);

	/* The same again: nothing changed. And the other way round. */
	diff = diff_create(&now.profile, &now.profile);
	assert_int_equal(broken("own+0%", diff, &worst), 0);
	assert_int_equal(broken("could-save+0%", diff, &worst), 0);
	diff_destroy(diff);
	diff = diff_create(&now.profile, &before.profile);
	assert_int_equal(broken("own-10%", diff, &worst), 1);
	assert_int_equal(broken("total-10%", diff, &worst), 1);
	diff_destroy(diff);
}

/* A line that was not there before; and a change of three samples is none. */
static void test_chance(void **state)
{
	static const uint64_t before_ms[] = { 3000, 0, 10 }, now_ms[] = { 3000, 1000, 40 };
	const struct diff_entry *worst = NULL;
	struct subject before, now;
	struct diff *diff;

	(void)state;
	fill(&before, before_ms, 0);
	fill(&now, now_ms, 0);
	diff = diff_create(&before.profile, &now.profile);
	assert_int_equal(broken("own+200%", diff, &worst), 1);
	assert_string_equal(worst->source, "b()");
	diff_destroy(diff);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_text),
		cmocka_unit_test(test_lines),
		cmocka_unit_test(test_chance),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
