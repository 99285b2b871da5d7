/* SPDX-License-Identifier: Apache-2.0 */
/* The text report of lines with a finding: its words, and the carets under its expression. */
#include "daemon/report/merge/profile_merge.h"
#include "daemon/report/model/line_mark.h"
#include "daemon/top/layout.h"
#include "report_sample.h"
#include "report_text.h"
#include "screen_text.h"

#include <limits.h>

#define FINDING "np.linalg.inv(m) gets the same m (float64[40,40]) in 51 of 51 samples of it"

/* A line that no access was watched of, with samples that speak for its finding. */
static struct profile_line line_with_finding(enum argument_verdict verdict, uint64_t votes)
{
	struct profile_line line = {
		.file = "/model.py",
		.line = 7,
		.function = "score",
		.source = "x @ np.linalg.inv(m) @ x",
		.indent = 8,
		.self_ns = { 0, 1000000, 0 },
		.total_ns = 8000000000,
		.charged_ns = 8000000000,
		.avoidable_ns = 6500000000,
		.avoidable_low_ns = 4704000000,
		.avoidable_high_ns = 7448000000,
		.category = CATEGORY_REPEATED_CALL,
		.reasons = { FINDING, "its native calls last about 35 us" },
		.reason_count = 2,
		.finding = FINDING,
		.expression = "np.linalg.inv(m)",
		.example = "kept = np.linalg.inv(m), before the loop; in it kept",
		.column = 12,
		.end_column = 28,
		.end_line = 7,
	};

	line.evidence.arguments.samples[verdict] = votes;
	line.evidence.arguments.time_ns[verdict] = 6000000000;
	return line;
}

static char *text_of_line(const struct profile_line *line, unsigned columns)
{
	const struct writer_options options = { .columns = columns };
	struct profile profile = sample_profile();

	profile.lines = line;
	profile.line_count = 1;
	profile.pair_count = profile.pairs_omitted = 0;
	return sample_written(&writer_text, &profile, &options);
}

static void test_finding(void **state)
{
	static const char *const order[] = {
		"VERDICT  one expression does the same work again\n",
		"    /model.py:7 in score\n",
		"      x @ np.linalg.inv(m) @ x\n",
		"          ^^^^^^^^^^^^^^^^\n",
		"  " FINDING ".\n",
		"  Could save 48 to 76% of the CPU time.\n",
		"  It takes 81.6% of the CPU time.\n",
		"\nTIME",
		"\nCOULD SAVE  ",
		"     6.50 s  -                     -                     -        /model.py:7\n",
		"             x @ np.linalg.inv(m) @ x\n",
		"                 ^^^^^^^^^^^^^^^^\n",
		"             " FINDING "; ",
		"could save 4.70 s to 7.45 s; repeated-call; its native calls",
	};
	struct profile_line line = line_with_finding(ARGUMENT_REPEATED, 51);
	char *text = text_of_line(&line, 160), *again;

	(void)state;
	check_order(text, order, sizeof(order) / sizeof(order[0]));
	check_has_not(text, "Likely: ");
	again = strstr(text, "COULD SAVE");
	assert_null(strstr(strstr(again, FINDING) + 1, FINDING));
	free(text);

	/* Accesses are further evidence. */
	line.accesses[PAIR_LOAD] = (struct access_counts){ 67, 61, 60, 0 };
	text = text_of_line(&line, 100);
	check_has(text, "It takes 81.6% of the CPU time; 60 of 67 loads watched there were read "
			"again with the same value.\n");
	check_has_not(text, "interval");
	free(text);
}

static void test_headlines_of_findings(void **state)
{
	static const struct {
		enum argument_verdict verdict;
		uint64_t votes;
		uint64_t low_ns;
		const char *headline;
	} cases[] = {
		{ ARGUMENT_INVARIANT, 51, 4704000000, "one expression does the same work again" },
		{ ARGUMENT_FEW, 10, 100000000, "one expression probably does the same work again" },
		{ ARGUMENT_REPEATED, 9, 4704000000,
		  "one expression may do the same work again, on little evidence" },
		{ ARGUMENT_ELEMENTS, 51, 4704000000, "an array is taken element by element" },
		{ ARGUMENT_SCALARS, 51, 0, "an array is probably taken element by element" },
		{ ARGUMENT_GROWING, 51, 4704000000,
		  "one expression works on a sequence that grows" },
		/* Too few samples to go by them, and no accesses; nothing of what is shown is
		   denied. */
		{ ARGUMENT_REPEATED, 4, 4704000000,
		  "too little was seen to tell whether this line repeats work" },
		{ ARGUMENT_NEEDED, 51, 4704000000,
		  "too little was seen to tell whether this line repeats work" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct profile_line line = line_with_finding(cases[i].verdict, cases[i].votes);
		char headline[128], *text;

		line.avoidable_low_ns = cases[i].low_ns;
		snprintf(headline, sizeof(headline), "VERDICT  %s\n", cases[i].headline);
		text = text_of_line(&line, 100);
		check_has(text, headline);
		if (cases[i].votes == 9)
			check_has(text, "That rests on 9 samples: profile longer to be sure.");
		if (!cases[i].low_ns)
			check_has(text, "Could save up to 76% of the CPU time.");
		free(text);
	}
}

/* The carets are under the characters of the expression as a terminal shows them. */
static void test_carets(void **state)
{
	static const struct {
		const char *source;
		int indent, column, end_column, end_line;
		const char *below;
	} cases[] = {
		{ "f(x)", 0, 0, 4, 7, "      f(x)\n      ^^^^\n" },
		/* Two bytes a character; three bytes and two columns. */
		{ "\xc3\xa9 = f(x)", 1, 6, 10, 7, "      \xc3\xa9 = f(x)\n          ^^^^\n" },
		{ "\"\xe6\x97\xa5\"; f(x)", 0, 7, 11, 7,
		  "      \"\xe6\x97\xa5\"; f(x)\n            ^^^^\n" },
		{ "f('\xe6\x97\xa5')", 0, 0, 8, 7, "      f('\xe6\x97\xa5')\n      ^^^^^^^\n" },
		/* What is escaped is wider. */
		{ "'\x1b'; f(x)", 0, 5, 9, 7, "      '\\u001b'; f(x)\n                ^^^^\n" },
		/* It goes on in further lines, or an end that is not known. */
		{ "y = f(", 4, 8, 1, 9, "      y = f(\n          ^^\n" },
		{ "y = f(", 4, 8, 99, 7, "      y = f(\n          ^^\n" },
		/* No column, columns of another text, through a character, in the white space. */
		{ "f(x)", 0, -1, -1, 7, "      f(x)\n  np" },
		{ "f(x)", -1, 0, 4, 7, "      f(x)\n  np" },
		{ "f(x)", 0, 4, 8, 7, "      f(x)\n  np" },
		{ "f(x)", 0, 3, 2, 7, "      f(x)\n  np" },
		{ "f(x)", 4, 3, 8, 7, "      f(x)\n  np" },
		{ "\xc3\xa9(x)", 0, 1, 3, 7, "      \xc3\xa9(x)\n  np" },
		{ "f(\xc3\xa9)", 0, 0, 3, 7, "      f(\xc3\xa9)\n  np" },
		{ "f(x)", 0, INT_MAX, INT_MIN, INT_MAX, "      f(x)\n  np" },
		{ "f(x)", INT_MIN, 0, INT_MAX, 0, "      f(x)\n  np" },
		{ "f(x)", INT_MAX, 0, 4, 0, "      f(x)\n  np" },
	};
	char wide[201], *text;
	struct profile_line line;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		line = line_with_finding(ARGUMENT_REPEATED, 51);
		line.source = cases[i].source;
		line.indent = cases[i].indent;
		line.column = cases[i].column;
		line.end_column = cases[i].end_column;
		line.end_line = cases[i].end_line;
		text = text_of_line(&line, 100);
		check_has(text, cases[i].below);
		free(text);
	}

	/* Cut at the width of the report: 74 columns, of which the last three are dots. */
	memset(wide, 'x', sizeof(wide) - 1);
	wide[sizeof(wide) - 1] = '\0';
	line = line_with_finding(ARGUMENT_REPEATED, 51);
	line.source = wide;
	line.indent = 0;
	line.column = 66;
	line.end_column = 100;
	text = text_of_line(&line, 80);
	check_has(text, "xxx...\n"
			"                                                                        "
			"^^^^^\n  np");
	free(text);
	line.column = 72;
	text = text_of_line(&line, 80);
	check_has_not(text, "^");
	free(text);
}

/* The first line that is one, not the first one alone; what could save nothing is not shown. */
static void test_first_finding(void **state)
{
	struct profile profile = sample_profile();
	struct profile_line lines[] = {
		sample_lines[1],
		line_with_finding(ARGUMENT_REPEATED, 51),
		sample_lines[2],
	};
	char *text;

	(void)state;
	/* Most time to save, on too little evidence. */
	lines[0].avoidable_ns = 7000000000;
	memset(lines[0].accesses, 0, sizeof(lines[0].accesses));
	lines[0].evidence.again = lines[0].evidence.again_redundant = 1;
	/* None, though a load was redundant. */
	lines[2].avoidable_ns = lines[2].avoidable_low_ns = 0;
	profile.lines = lines;
	profile.line_count = 3;
	profile.pair_count = profile.pairs_omitted = 0;
	text = sample_written(&writer_text, &profile, &defaults);
	check_has(text, "VERDICT  one expression does the same work again\n    /model.py:7 ");
	check_has(strstr(text, "COULD SAVE"), "conv_backprop.py:33\n");
	check_has_not(strstr(text, "COULD SAVE"), "encoder.py");
	free(text);

	profile.lines = lines + 2;
	profile.line_count = 1;
	text = sample_written(&writer_text, &profile, &defaults);
	check_has(strstr(text, "COULD SAVE"), "encoder.py:200\n");
	free(text);
}

/* Of several processes: the source of one, and how far in it began, go together. */
static void test_merged(void **state)
{
	struct profile_line line = line_with_finding(ARGUMENT_REPEATED, 51);
	struct profile first = sample_profile(), second = sample_profile(), *merged;
	const struct profile_line bare = {
		.file = line.file,
		.line = line.line,
		.function = line.function,
		.total_ns = 1000,
		.indent = -1,
		.column = -1,
		.end_column = -1,
	};
	struct profile_merge *merge = profile_merge_create();
	size_t from = 0, to = 0;

	(void)state;
	assert_non_null(merge);
	line.evidence.charged_ns[TIME_NATIVE] = 8000000000;
	line.evidence.arguments.saved_ns = 6000000000;
	first.pair_count = second.pair_count = 0;
	first.line_count = second.line_count = 1;
	first.lines = &bare;
	second.lines = &line;
	assert_int_equal(profile_merge_add(merge, &first), 0);
	assert_int_equal(profile_merge_add(merge, &second), 0);
	merged = profile_merge_build(merge, false);
	assert_non_null(merged);
	assert_int_equal(merged->line_count, 1);
	assert_string_equal(merged->lines[0].finding, FINDING);
	assert_int_equal(merged->lines[0].indent, 8);
	assert_true(line_mark(&merged->lines[0], &from, &to));
	assert_int_equal(from, 4);
	assert_int_equal(to, 20);
	profile_destroy(merged);
	profile_merge_destroy(merge);
}

/* In `top`, below the tables. */
static void test_top(void **state)
{
	static const char *const order[] = {
		" /model.py:7 in score\n",
		"   x @ np.linalg.inv(m) @ x\n",
		" np.linalg.inv(m) gets the same m ",
		"Could save 48 to 76% of the CPU time.",
		"For example: kept = np.linalg.inv(m)",
	};
	struct profile_line line = line_with_finding(ARGUMENT_REPEATED, 51);
	struct profile profile = sample_profile();
	struct screen *screen = calloc(1, sizeof(*screen));
	char text[24 * (SCREEN_TEXT_BYTES + 1)], *at = text;
	struct top_model model;

	(void)state;
	assert_non_null(screen);
	profile.lines = &line;
	profile.line_count = 1;
	top_model_init(&model);
	assert_int_equal(top_model_update(&model, &profile), 0);
	screen_clear(screen, 24, 160, false);
	layout_draw(&model, screen);
	for (unsigned row = 0; row < screen->rows; row++) {
		screen_text(screen, row, at);
		at = stpcpy(at + strlen(at), "\n");
	}
	check_order(text, order, sizeof(order) / sizeof(order[0]));
	top_model_deinit(&model);
	free(screen);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_finding), cmocka_unit_test(test_headlines_of_findings),
		cmocka_unit_test(test_carets),  cmocka_unit_test(test_first_finding),
		cmocka_unit_test(test_merged),  cmocka_unit_test(test_top),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
