/* SPDX-License-Identifier: Apache-2.0 */
/* The text report: what a person must find in it, and what may never reach their terminal. */
#include "report_sample.h"
#include "report_text.h"

#include <limits.h>

/* Lines up to the words. */
static unsigned line_of(const char *text, const char *words)
{
	const char *end = strstr(text, words);
	unsigned line = 1;

	assert_non_null(end);
	for (; text < end; text++)
		line += *text == '\n';
	return line;
}

static void test_first_screen(void **state)
{
	static const char *const order[] = {
		"pieprofd 9.8.7, pid 4321, Python 3.11.2\n",
		"python3 conv_backprop.py --seconds 60\n",
		"987 samples",
		"VERDICT  one line repeats memory accesses needlessly\n",
		"conv_backprop.py:33 in Convolution.backprop\n",
		"g[f] += d[i, j, f] * r\n",
		"Likely: Index once",
		"between 2.60 s and 3.70 s",
		"77.8% of the CPU time",
		"412 of 450 loads",
		"TIME  9.80 s of CPU: 30.6% Python, 61.2% native, 8.2% system",
	};
	struct profile profile = sample_profile();
	char *text = sample_written(&writer_text, &profile, &defaults);

	(void)state;
	check_order(text, order, sizeof(order) / sizeof(order[0]));
	assert_in_range(line_of(text, "Likely: "), 1, 12);
	assert_in_range(line_of(text, "COULD SAVE"), 1, 24);
	free(text);
}

static void test_time_is_by_self_time(void **state)
{
	static const char *const order[] = {
		"TIME",
		"\n 77.8%  20.4%  56.1%   1.3%  77.8%  ",
		"conv_backprop.py:33 ",
		"\n 11.7%   9.2%   2.0%   0.5%  11.7%  ",
		"json/encoder.py:200 ",
		"encode\n",
		"\n  0.1%   0.1%   0.0%   0.0% 100.0%  ",
		"conv_backprop.py:90 ",
		"main()\n",
		"COULD SAVE",
	};
	struct profile profile = sample_profile();
	char *text = sample_written(&writer_text, &profile, &defaults);
	const struct writer_options two = { .lines_max = 2 };

	(void)state;
	check_order(text, order, sizeof(order) / sizeof(order[0]));
	free(text);
	text = sample_written(&writer_text, &profile, &two);
	check_has(text, "(1 more line;");
	check_has_not(text, "100.0%");
	free(text);
}

static void test_saving_lines(void **state)
{
	static const char *const order[] = {
		"COULD SAVE",
		"3.10 s  412 of 450  91.6%     20 of 40  50.0%       1.23 us  ",
		"conv_backprop.py:33\n",
		"g[f] += d[i, j, f] * r\n",
		"could save 2.60 s to 3.70 s; slice-underutilisation; its native calls are short; ",
		"element of",
		"41.0 ms  1 of 17  5.9%  ",
		"json/encoder.py:200\n",
		"PAIR 1",
	};
	struct profile profile = sample_profile();
	char *text = sample_written(&writer_text, &profile, &defaults);

	(void)state;
	check_order(text, order, sizeof(order) / sizeof(order[0]));
	free(text);
}

static void test_pairs_as_in_the_paper(void **state)
{
	static const char *const order[] = {
		"PAIR 1 of 5  redundant load, could save about 2.90 s\n",
		"409 of 437 watched loads found the same value: 93.6% (95% interval 90.9% to "
		"95.5%)",
		"Another 2",
		"within 1%",
		"Kind: slice-underutilisation\n",
		"Advice: " SAMPLE_ADVICE,
		"\n------------",
		"\nprepare_index  ",
		"_multiarray_umath.so 0x2a10 ?\n",
		"\narray_subscript  ",
		"_multiarray_umath.so 0x2b72\n",
		"\ng[f] += d[i, j, f] * r  ",
		"conv_backprop.py:33\n",
		"\nmain()  ",
		"conv_backprop.py:90\n",
		"(5 native frames of the interpreter's start are not shown)\n",
		"\n**********",
		" read again by ",
		"**********\n",
		"\narray_assign_subscript  ",
		"_multiarray_umath.so 0x3c40\n",
		"\ng[f] += d[i, j, f] * r  ",
		"conv_backprop.py:33\n",
		"(6 outer frames as in the earlier path)\n",
		"\n------------",
		"PAIR 2 of 5  redundant store, could save about 77.0 ms\n",
		"20 of 31 watched stores",
		"\narray_assign_subscript  ",
		" written again by ",
		"\narray_assign_subscript  ",
		"\ng[f] += d[i, j, f] * r  ",
		"(the same path: 6 outer frames as in the earlier path)\n",
	};
	struct profile profile = sample_profile();
	const struct writer_options one = { .pairs_max = 1 };
	char *text = sample_written(&writer_text, &profile, &defaults);

	(void)state;
	check_order(text, order, sizeof(order) / sizeof(order[0]));
	check_has_not(text, "Py_RunMain");
	free(text);
	text = sample_written(&writer_text, &profile, &one);
	check_has_not(text, "PAIR 2");
	check_has(text, "(4 more pairs;");
	free(text);
}

static void test_deep_paths_are_folded(void **state)
{
	struct profile_frame frames[60];
	struct profile_pair pair = sample_pairs[0];
	struct profile profile = sample_profile();
	char names[60][16], *text;

	(void)state;
	for (int i = 0; i < 60; i++) {
		snprintf(names[i], sizeof(names[i]), "level_%d()", i);
		frames[i] = (struct profile_frame){
			.kind = FRAME_PYTHON,
			.function = "f",
			.file = "/f.py",
			.line = i + 1,
			.source = names[i],
		};
	}
	pair.first = pair.second = frames;
	pair.first_count = 60;
	pair.second_count = 1;
	profile.pairs = &pair;
	profile.pair_count = 1;
	text = sample_written(&writer_text, &profile, &defaults);
	check_has(text, "\nlevel_59() ");
	check_has(text, "\nlevel_42() ");
	check_has(text, "    (36 frames in between are not shown)\nlevel_5() ");
	check_has(text, "\nlevel_0() ");
	check_has_not(text, "\nlevel_41() ");
	check_has_not(text, "\nlevel_6() ");
	free(text);

	/* Paths without anything in them, or anything in common, are shown as they are. */
	pair.first_count = pair.second_count = 0;
	text = sample_written(&writer_text, &profile, &defaults);
	check_has(text, " read again by ");
	free(text);
	pair.second = frames + 30;
	pair.first_count = pair.second_count = 5;
	text = sample_written(&writer_text, &profile, &defaults);
	check_has(text, "\nlevel_0() ");
	check_has(text, "\nlevel_30() ");
	check_has_not(text, "outer frames");
	free(text);
}

static void test_functions_without_names_are_folded(void **state)
{
	static const char umath[] = "/p/core/_multiarray_umath.cpython-311-x86_64-linux-gnu.so";
	struct profile_frame frames[40];
	struct profile_pair pair = sample_pairs[0];
	struct profile profile = sample_profile();
	char *text;

	(void)state;
	for (size_t i = 0; i < 40; i++)
		frames[i] = (struct profile_frame){
			.kind = FRAME_NATIVE,
			.function = "?",
			.file = umath,
			.address = 0x1000 + i,
		};
	frames[0] = sample_first[6];
	frames[5].function = "PyNumber_Multiply";
	frames[5].file = "/usr/bin/python3.11";
	pair.first = pair.second = frames;
	pair.first_count = pair.second_count = 9;
	profile.pairs = &pair;
	profile.pair_count = 1;
	text = sample_written(&writer_text, &profile, &defaults);
	check_has(text,
		  " /p/core/_multiarray_umath.so 0x1008\n    (2 more functions without a name)\n"
		  "PyNumber_Multiply ");
	check_has(text, " 0x1004\n    (3 more functions without a name)\ng[f] += ");
	check_has_not(text, "0x1007");
	free(text);
	/* Two are shown. */
	pair.first_count = pair.second_count = 8;
	text = sample_written(&writer_text, &profile, &defaults);
	check_has(text, " 0x1007\n?  ");
	check_has(text, " 0x1006\nPyNumber_Multiply ");
	free(text);
	/* Together with the middle of a deep path. */
	pair.first_count = pair.second_count = 40;
	text = sample_written(&writer_text, &profile, &defaults);
	check_has(text, " 0x1027\n    (17 more functions without a name)\n    (16 frames in "
			"between are not "
			"shown)\nPyNumber_Multiply ");
	check_has(text, " 0x1004\n    (3 more functions without a name)\ng[f] += ");
	free(text);
}

static void test_data_quality(void **state)
{
	static const char *const order[] = {
		"DATA QUALITY",
		"987 in 10.0 s, sampler: clock, one every 10.1 ms",
		"loads      467 watched: 432 accessed again, 413 with the same value, 3 within "
		"1%\n",
		"stores     40 watched: 31 accessed again, 20 with the same value, 1 within 1%\n",
		"p50 31.4 us, p99 87.6 us, max 245 us over 2961 stops",
		"to sample p50 41.2 us, p99 91.3 us over 987;",
		"0.8% of the target's CPU time, limit 2.0%\n",
		" 56  ",
		" 1204  ",
	};
	struct profile profile = sample_profile();
	char *text = sample_written(&writer_text, &profile, &defaults);

	(void)state;
	check_order(text, order, sizeof(order) / sizeof(order[0]));
	check_has(text, loss_words(LOSS_NO_ACCESS));
	check_has(text, loss_words(LOSS_FILTER_STACK));
	check_has_not(text, loss_words(LOSS_TREE_FULL));
	check_has_not(text, "exited");
	free(text);
	memset(&profile.facts.losses, 0, sizeof(profile.facts.losses));
	profile.facts.target_exited = true;
	text = sample_written(&writer_text, &profile, &defaults);
	check_has(text, "nothing was lost");
	check_has(text, "the target exited");
	free(text);
}

static void test_verdicts(void **state)
{
	struct profile profile = sample_profile();
	char *text;

	(void)state;
	/* Only the encoder's 41 of 9800 ms could be saved: no finding. */
	struct profile_line lines[2] = { sample_lines[0], sample_lines[2] };

	profile.lines = lines;
	profile.line_count = 2;
	profile.pair_count = profile.pairs_omitted = 0;
	text = sample_written(&writer_text, &profile, &defaults);
	check_has(text, "none that repeats work stands out");
	check_has(text, "507 memory accesses were watched");
	check_has(text, "The hottest line, with 11.7%");
	check_has(text, "encoder.py:200 in encode\n");
	check_has_not(text, "PAIR");
	free(text);

	memset(profile.accesses, 0, sizeof(profile.accesses));
	memset(lines[1].accesses, 0, sizeof(lines[1].accesses));
	lines[1].avoidable_ns = 0;
	text = sample_written(&writer_text, &profile, &defaults);
	check_has(text, "the hottest line; whether it repeats work was not seen\n");
	check_has_not(text, "COULD SAVE");
	check_has_not(text, "watched:");
	free(text);

	profile.line_count = 0;
	profile.facts.samples = 0;
	memset(profile.time_ns, 0, sizeof(profile.time_ns));
	profile.facts.target.command = NULL;
	text = sample_written(&writer_text, &profile, &defaults);
	check_has(text, "nothing was sampled");
	check_has(text, "\n  python3\n");
	check_has(text, "DATA QUALITY");
	check_has_not(text, "nan");
	free(text);
}

/* The less is known the more careful are the words. */
static void test_how_sure_it_is(void **state)
{
	struct profile profile = sample_profile();
	struct profile_line line = sample_lines[1];
	char *text;

	(void)state;
	profile.lines = &line;
	profile.line_count = 1;
	profile.pair_count = profile.pairs_omitted = 0;
	line.avoidable_low_ns = 100000000; /* 1% of the time: it may be nothing */
	text = sample_written(&writer_text, &profile, &defaults);
	check_has(text, "one line probably repeats memory accesses needlessly\n");
	check_has_not(text, "profile longer");
	free(text);

	line.avoidable_low_ns = 2600000000;
	line.evidence.again = line.evidence.again_redundant = 0;
	line.accesses[PAIR_LOAD] = (struct access_counts){ 4, 4, 4, 0 };
	line.accesses[PAIR_STORE] = (struct access_counts){ 0 };
	text = sample_written(&writer_text, &profile, &defaults);
	check_has(text, "one line may repeat memory accesses needlessly, on little evidence\n");
	check_has(text, "4 redundant accesses: profile longer");
	check_has(text, "Perhaps: Index once");
	free(text);

	/* Nobody can say what to do about them: no reason to go there. */
	line.category = CATEGORY_UNCLEAR;
	text = sample_written(&writer_text, &profile, &defaults);
	check_has(text, "VERDICT  too little was seen to tell whether this line repeats work\n");
	check_has(text, " of the CPU time is under this line.\n");
	check_has(text, "could save up to 3.70 s (37.8% of the CPU time), or nothing: of 4 memory "
			"accesses\n  watched there 4 were redundant.");
	free(text);
	line.category = CATEGORY_SLICE_UNDERUTILISATION;

	line.accesses[PAIR_LOAD] = (struct access_counts){ 2, 2, 2, 0 };
	text = sample_written(&writer_text, &profile, &defaults);
	check_has(text, "VERDICT  too little was seen to tell whether this line repeats work\n"
			"    /home/user/project/conv_backprop.py:33 in Convolution.backprop\n");
	check_has(text, "could save up to 3.70 s (37.8% of the CPU time), or nothing: of 2 memory "
			"accesses\n  watched there 2 were redundant.");
	check_has(strstr(text, "COULD SAVE"), "; too few accesses to tell; ");
	check_has_not(text, "single line could save");
	free(text);

	/* Whole calls that were made again, though their single stores put other values. */
	line.evidence.again = 20;
	line.evidence.again_redundant = 18;
	line.evidence.again_loads = line.evidence.again_loads_redundant = 5;
	text = sample_written(&writer_text, &profile, &defaults);
	check_has(text, "one line repeats memory accesses needlessly\n");
	check_has(text, "left 23 of 25 words");
	check_has_not(text, "profile longer");
	free(text);
}

/* What the verdict says of small savings is what COULD SAVE lists. */
static void test_small_savings(void **state)
{
	struct profile profile = sample_profile();
	struct profile_line lines[3] = { sample_lines[0], sample_lines[2], sample_lines[1] };
	char *text;

	(void)state;
	profile.lines = lines;
	profile.line_count = 3;
	profile.pair_count = profile.pairs_omitted = 0;
	lines[2].avoidable_ns = 480000000; /* 4.9% of 9.8 s */
	lines[2].avoidable_low_ns = 100000000;
	lines[2].avoidable_high_ns = 489000000;
	text = sample_written(&writer_text, &profile, &defaults);
	check_has(text, "no single line could save 5%");
	check_has(text, "could save is not known: nothing, or up to 7.92 s\n  (80.8%");
	/* With the encoder's 41 ms. */
	check_has(text, "COULD SAVE together could save about 521 ms (5.3%)");
	check_has_not(text, "VERDICT  too few");
	free(text);

	lines[2].avoidable_high_ns = 1180000000;
	text = sample_written(&writer_text, &profile, &defaults);
	check_has(text, "not likely that a single line could save 5%");
	check_has(text, "the most is 12.0%.");
	check_has_not(text, "no single line");
	free(text);

	/* None of 72 could be none of many. */
	profile.line_count = 1;
	profile.accesses[PAIR_LOAD] = (struct access_counts){ 72, 0, 0, 0 };
	profile.accesses[PAIR_STORE] = (struct access_counts){ 0 };
	text = sample_written(&writer_text, &profile, &defaults);
	check_has(text, "VERDICT  the hottest line; too little was seen to tell whether it repeats "
			"work\n    ");
	check_has(text, "\n  72 memory accesses were watched.");
	check_has(text, "hottest line");
	free(text);
	profile.accesses[PAIR_LOAD].sampled = 74;
	text = sample_written(&writer_text, &profile, &defaults);
	check_has(text, "VERDICT  the hottest line; none that repeats work stands out\n    ");
	check_has(text, "\n  74 memory accesses");
	free(text);
}

/* Of fewer than a hundred samples no share has a digit behind the point. */
static void test_few_samples(void **state)
{
	struct profile profile = sample_profile();
	char *text;

	(void)state;
	sample_add_threads(&profile);
	profile.pair_count = profile.pairs_omitted = 0;
	profile.facts.samples = 99;
	text = sample_written(&writer_text, &profile, &defaults);
	check_has(text, "99 samples (fewer than 100: shares are rough), overhead 0.8%");
	check_has(text, "It takes 78% of the CPU time; 412 of 450 loads");
	check_has(text, "the same value: 92% (95% interval 89% to 94%)");
	check_has(text, "31% Python, 61% native, 8% system");
	check_has(text, "\n   78%    20%    56%     1%    78%  ");
	check_has(text, "\n    99%    30%    61%     8%     4321 MainThread\n");
	free(text);
	profile.facts.samples = 100;
	text = sample_written(&writer_text, &profile, &defaults);
	check_has(text, "100 samples, overhead 0.8%");
	check_has(text, "It takes 77.8% of the CPU time; 412 of 450 loads");
	free(text);
}

/* One column of both, and no share of either. */
static void test_native_time_unknown(void **state)
{
	struct profile profile = sample_profile();
	char *text;

	(void)state;
	sample_add_threads(&profile);
	profile.facts.samples = 99;
	profile.facts.native_unknown = true;
	text = sample_written(&writer_text, &profile, &defaults);
	check_has(text, "92% user (Python and native are not told apart), 8% system");
	check_has(text, "  self   user system  total  line (self = user + system)\n");
	check_has(text, "\n   78%    77%     1%    78%  ");
	check_has(text,
		  "\n   time   user system  thread\n    99%    91%     8%     4321 MainThread\n");
	check_has_not(text, "% native");
	check_has_not(text, "python native");
	free(text);
}

/* At every width: no row is wider, and none of the words is lost. */
static void test_widths(void **state)
{
	static const unsigned widths[] = { 1, 79, 80, 81, 100, 133, 240, 10000 };
	struct profile profile = sample_profile();

	(void)state;
	for (size_t i = 0; i < sizeof(widths) / sizeof(widths[0]); i++) {
		const struct writer_options options = { .columns = widths[i] };
		char *text = sample_written(&writer_text, &profile, &options);
		size_t limit = widths[i] < 80 ? 80 : widths[i] > 240 ? 240 : widths[i];

		for (const char *line = text; *line; line = strchr(line, '\n') + 1) {
			if (strcspn(line, "\n") > limit)
				print_error("%zu columns: %.*s\n", limit, (int)strcspn(line, "\n"),
					    line);
			assert_true(strcspn(line, "\n") <= limit);
		}
		check_has(text, "conv_backprop.py:33 in ");
		check_has(text, "412 of 450");
		free(text);
	}
}

static void test_hostile_strings(void **state)
{
	static const char evil[] = "a\x1b]0;title\x07\x1b[2J\r\n\x7f\xc2\x9b"
				   "31m\xe2\x80\xae\xff\x80";
	static const char *const command[] = { evil, evil, NULL };
	struct profile_frame frames[2] = {
		{ .kind = FRAME_PYTHON,
		  .function = evil,
		  .file = evil,
		  .line = -3,
		  .source = NULL },
		{ .kind = FRAME_NATIVE, .function = evil, .file = evil, .address = UINT64_MAX },
	};
	struct profile profile = sample_profile();
	struct profile_line line = sample_lines[1];
	struct profile_pair pair = sample_pairs[0];
	char *text;

	(void)state;
	line.file = line.function = line.source = evil;
	line.finding = line.expression = evil;
	line.evidence.arguments.samples[ARGUMENT_FEW] = 20;
	line.evidence.arguments.time_ns[ARGUMENT_FEW] = 1;
	line.column = 1;
	line.end_column = 9;
	pair.first = pair.second = frames;
	pair.first_count = pair.second_count = 2;
	profile.lines = &line;
	profile.pairs = &pair;
	profile.line_count = profile.pair_count = 1;
	profile.facts.target.command = command;
	text = sample_written(&writer_text, &profile, &defaults);
	for (const unsigned char *at = (const unsigned char *)text; *at; at++)
		if (*at != '\n')
			assert_in_range(*at, 0x20, 0x7e);
	check_has(text, "\\u001b");
	check_has(text, "\\xff");
	check_has_not(text, "\n\n\n");
	free(text);

	/* Without end, or empty. */
	static char endless[100000];

	memset(endless, '/', sizeof(endless) - 1);
	line.file = line.function = line.source = line.finding = endless;
	line.end_column = INT_MAX;
	frames[0].file = frames[0].function = frames[1].file = frames[1].function = endless;
	text = sample_written(&writer_text, &profile, &defaults);
	assert_true(strlen(text) < 10000);
	free(text);
	line.file = line.function = line.source = "";
	frames[0].file = frames[0].function = frames[1].file = frames[1].function = "";
	text = sample_written(&writer_text, &profile, &defaults);
	check_has(text, " read again by ");
	free(text);
}

static void test_colour_only_when_asked(void **state)
{
	const struct writer_options colour = { .colour = true };
	struct profile profile = sample_profile();
	char *text = sample_written(&writer_text, &profile, &defaults), *again;

	(void)state;
	check_has_not(text, "\033");
	/* The same every time. */
	again = sample_written(&writer_text, &profile, &defaults);
	assert_string_equal(text, again);
	free(again);
	free(text);
	text = sample_written(&writer_text, &profile, &colour);
	check_has(text, "\033[1mVERDICT\033[0m");
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_first_screen),
		cmocka_unit_test(test_time_is_by_self_time),
		cmocka_unit_test(test_saving_lines),
		cmocka_unit_test(test_pairs_as_in_the_paper),
		cmocka_unit_test(test_deep_paths_are_folded),
		cmocka_unit_test(test_functions_without_names_are_folded),
		cmocka_unit_test(test_data_quality),
		cmocka_unit_test(test_verdicts),
		cmocka_unit_test(test_how_sure_it_is),
		cmocka_unit_test(test_small_savings),
		cmocka_unit_test(test_few_samples),
		cmocka_unit_test(test_native_time_unknown),
		cmocka_unit_test(test_widths),
		cmocka_unit_test(test_hostile_strings),
		cmocka_unit_test(test_colour_only_when_asked),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
