/* SPDX-License-Identifier: Apache-2.0 */
/* The text report on one screen. */
#include "report_sample.h"
#include "report_text.h"

#include "daemon/report/format/text_layout.h"

static const struct writer_options brief = { .columns = 80, .brief = true };

static unsigned rows(const char *text)
{
	unsigned count = 0;

	for (; *text; text++)
		count += *text == '\n';
	return count;
}

static void test_verdict_first(void **state)
{
	static const char *const order[] = {
		"pieprofd 9.8.7, pid 4321, Python 3.11.2: python3 conv_backprop.py --seconds 60\n",
		"  10.0 s, 987 samples, overhead 0.8%",
		"\nVERDICT  ",
		"conv_backprop.py:33 in Convolution.backprop\n",
		"g[f] += d[i, j, f] * r\n",
		"\nTIME  9.80 s of CPU: 30.6% Python, 61.2% native, 8.2% system\n",
		"\n 77.8%  20.4%  56.1%   1.3%  77.8%  ",
		"\n 11.7% ",
		"--details shows",
	};
	struct profile profile = sample_profile();
	char *text = sample_written(&writer_text, &profile, &brief);

	(void)state;
	check_order(text, order, sizeof(order) / sizeof(order[0]));
	assert_in_range(rows(text), 1, TEXT_BRIEF_LINES);
	check_has_not(text, "PAIR 1");
	check_has_not(text, "DATA QUALITY");
	check_has_not(text, "Wrote");
	/* Next to no time. */
	check_has_not(text, "main()");
	free(text);
}

static void test_verdict_last(void **state)
{
	static const char *const order[] = {
		"pieprofd 9.8.7",           "\nTIME  ", "\nWrote x.html (104 KB)\n", "\nVERDICT  ",
		"g[f] += d[i, j, f] * r\n",
	};
	struct writer_options options = brief;
	struct profile profile = sample_profile();
	char *text;

	(void)state;
	options.verdict_last = true;
	options.notes = "Wrote x.html (104 KB)";
	text = sample_written(&writer_text, &profile, &options);
	check_order(text, order, sizeof(order) / sizeof(order[0]));
	assert_in_range(rows(text), 1, TEXT_BRIEF_LINES);
	free(text);
	/* All of it, in the same order. */
	options.brief = false;
	text = sample_written(&writer_text, &profile, &options);
	check_order(text, order, sizeof(order) / sizeof(order[0]));
	check_has(text, "DATA QUALITY");
	free(text);
}

/* However much there is. */
static void test_fits_a_terminal(void **state)
{
	struct profile_thread threads[12] = { 0 };
	struct profile_line lines[40];
	struct profile profile = sample_profile();
	char *text;

	(void)state;
	for (size_t i = 0; i < 40; i++) {
		lines[i] = sample_lines[i % 3];
		lines[i].line = (int)i + 1;
	}
	for (size_t i = 0; i < 12; i++) {
		threads[i].tid = (pid_t)i + 1;
		snprintf(threads[i].name, sizeof(threads[i].name), "worker\033%zu", i);
		threads[i].time_ns[TIME_PYTHON] = (12 - i) * 100000000;
	}
	lines[0].finding =
		"d[i, j, f] * r takes one element at a time, another one each time: use a "
		"slice or one operation over the whole array, in place of the loop";
	profile.lines = lines;
	profile.line_count = 40;
	profile.facts.threads = threads;
	profile.facts.thread_count = 12;
	profile.facts.waits = true;
	text = sample_written(&writer_text, &profile, &brief);
	assert_in_range(rows(text), 10, TEXT_BRIEF_LINES);
	check_has(text, "\nTHREADS  12: worker\\u001b0 12.2%, worker\\u001b1 11.2%, ");
	free(text);
	/* Asked for, lines are shown. */
	text = sample_written(
		&writer_text, &profile,
		&(struct writer_options){ .columns = 80, .brief = true, .lines_max = 30 });
	assert_in_range(rows(text), 31, 60);
	free(text);
}

/* Names as long as they are kept, of more threads than are shown: nothing is written beyond its
 * room. */
static void test_longest_names(void **state)
{
	struct profile_thread threads[5] = { 0 };
	struct profile profile = sample_profile();
	char *text;

	(void)state;
	for (size_t i = 0; i < 5; i++) {
		memset(threads[i].name, 'n', sizeof(threads[i].name) - 1);
		threads[i].time_ns[TIME_PYTHON] = 1960000000;
	}
	profile.facts.threads = threads;
	profile.facts.thread_count = 5;
	text = sample_written(&writer_text, &profile, &brief);
	check_has(text, "\nTHREADS  5: nnnn");
	assert_in_range(rows(text), 1, TEXT_BRIEF_LINES);
	free(text);
}

static void test_slowed(void **state)
{
	struct profile profile = sample_profile();
	char *text = sample_written(&writer_text, &profile, &brief);

	(void)state;
	check_has_not(text, "slowed");
	free(text);
	profile.facts.wanted_period_ns = 10101010;
	profile.facts.overhead = 0.019;
	profile.facts.overhead_limit = 0.02;
	profile.facts.samples = 327;
	text = sample_written(&writer_text, &profile, &brief);
	check_has(text, "\n  slowed to 33 Hz to stay under 2%\n");
	free(text);
	/* For another reason. */
	profile.facts.overhead = 0.005;
	text = sample_written(&writer_text, &profile, &brief);
	check_has_not(text, "slowed");
	free(text);
}

static void test_few_samples(void **state)
{
	struct profile profile = sample_profile();
	char *text;

	(void)state;
	profile.facts.samples = 50;
	text = sample_written(&writer_text, &profile, &brief);
	check_has(text, "50 samples (fewer than 100: shares are rough)");
	check_has(text, "31% Python, 61% native, 8% system");
	check_has(text, "\n   78% ");
	free(text);
	profile.facts.samples = 0;
	text = sample_written(&writer_text, &profile, &brief);
	check_has(text, "nothing was sampled");
	free(text);
}

static void test_pairs_of_few_accesses(void **state)
{
	static const struct writer_options all = { .columns = 80, .pairs_max = 10 };
	struct profile_pair pairs[3];
	struct profile profile = sample_profile();
	char *text;

	(void)state;
	for (size_t i = 0; i < 3; i++)
		pairs[i] = sample_pairs[0];
	pairs[0].sampled = 4;
	pairs[2].sampled = 1;
	profile.pairs = pairs;
	profile.pair_count = 3;
	profile.pairs_omitted = 0;
	text = sample_written(&writer_text, &profile, &all);
	check_has(text, "PAIR 1 of 1  ");
	check_has(text, "  (2 pairs of fewer than 5 accesses are not shown)\n");
	free(text);
	profile.pair_count = 1;
	text = sample_written(&writer_text, &profile, &all);
	check_has_not(text, "PAIR 1");
	check_has(text, "  (1 pair of fewer than 5 accesses is not shown)\n");
	free(text);
}

/* What there is no room for is left out from the front; a folder says more than dots do. */
static void test_paths(void **state)
{
	static const struct {
		const char *path, *shown;
	} cases[] = {
		{ "/app/model.py", "/app/model.py:166" },
		{ "/usr/lib/python3.11/re/__init__.py", "re/__init__.py:166" },
		{ "/srv/app/of_a_long_name/a/b.py", ".../a/b.py:166" },
		{ "/srv/app/of_a_long_name/model.py", ".../model.py:166" },
		{ "/srv/app/model_of_a_long_n.py", "...of_a_long_n.py:166" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char *text = NULL;
		size_t size = 0;
		struct text_layout layout = { open_memstream(&text, &size), 80, false };

		assert_non_null(layout.file);
		text_path_cell(&layout, cases[i].path, ":166", 21, false);
		fclose(layout.file);
		assert_string_equal(text, cases[i].shown);
		free(text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_verdict_first),
		cmocka_unit_test(test_verdict_last),
		cmocka_unit_test(test_fits_a_terminal),
		cmocka_unit_test(test_longest_names),
		cmocka_unit_test(test_slowed),
		cmocka_unit_test(test_few_samples),
		cmocka_unit_test(test_pairs_of_few_accesses),
		cmocka_unit_test(test_paths),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
