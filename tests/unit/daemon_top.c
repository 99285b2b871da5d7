/* SPDX-License-Identifier: Apache-2.0 */
/* What `top` shows of a profile, as text, and what its keys change. No terminal. */
#include "daemon/top/layout.h"

#include "report_sample.h"
#include "screen_text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define SECOND 1000000000ull

static const struct profile_thread threads[] = {
	{ .tid = 4321,
	  .name = "MainThread",
	  .time_ns = { [TIME_PYTHON] = 2500000000,
		       [TIME_NATIVE] = 6000000000,
		       [TIME_SYSTEM] = 300000000 } },
	{ .tid = 4330,
	  .name = "writer",
	  .time_ns = { [TIME_PYTHON] = 500000000, [TIME_SYSTEM] = 500000000 } },
};

struct fixture {
	struct top_model model;
	struct screen screen;
	struct profile profile, later;
	struct profile_line lines[8];
};

static int set_up(void **state)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));

	assert_non_null(fixture);
	top_model_init(&fixture->model);
	fixture->profile = sample_profile();
	fixture->profile.facts.threads = threads;
	fixture->profile.facts.thread_count = 2;
	fixture->profile.facts.cpu_ns = 9800000000;
	*state = fixture;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *fixture = *state;

	top_model_deinit(&fixture->model);
	free(fixture);
	return 0;
}

/* The whole screen, a line each. */
static char *drawn(struct fixture *fixture, unsigned rows, unsigned columns, bool utf8)
{
	static char text[SCREEN_ROWS_MAX * (SCREEN_TEXT_BYTES + 1)];
	char line[SCREEN_TEXT_BYTES];
	char *at = text;

	screen_clear(&fixture->screen, rows, columns, utf8);
	layout_draw(&fixture->model, &fixture->screen);
	for (unsigned row = 0; row < fixture->screen.rows; row++) {
		screen_text(&fixture->screen, row, line);
		at += sprintf(at, "%s\n", line);
	}
	return text;
}

static void check_screen(const char *actual, const char *expected)
{
	if (strcmp(actual, expected))
		print_error("---- is\n%s---- should be\n%s----\n", actual, expected);
	assert_string_equal(actual, expected);
}

static void check_has(const char *text, const char *words)
{
	if (!strstr(text, words))
		print_error("missing: %s\nin:\n%s\n", words, text);
	assert_non_null(strstr(text, words));
}

static void check_has_not(const char *text, const char *words)
{
	if (strstr(text, words))
		print_error("there is: %s\nin:\n%s\n", words, text);
	assert_null(strstr(text, words));
}

static void show(struct fixture *fixture)
{
	assert_int_equal(top_model_update(&fixture->model, &fixture->profile), 0);
}

static void press(struct fixture *fixture, enum top_key key)
{
	assert_true(top_model_key(&fixture->model, key));
}

static void test_lines_at_80_columns(void **state)
{
	struct fixture *fixture = *state;

	show(fixture);
	check_screen(
		drawn(fixture, 24, 80, false),
		" pieprofd  pid 4321  python3 conv_backprop.py --seconds 60  Python 3.11.2  0:10\n"
		" CPU 97.8%  987 samples  overhead 0.8% of 2.0%  stops p50 31.4 us, max 245 us\n"
		" PPPPPPPPPnnnnnnnnnnnnnnnnnnnsss P Python 30.6%  n native 61.2%  s system 8.2%\n"
		" [1 Lines]  2 Functions  3 Threads  4 Pairs             last 10 s, by self time\n"
		" SELF% TOTAL% P/N/S  REDUND AVOID%  LINE                 SOURCE\n"
		"  77.8   77.8 PPnnnn    88%   31.6  conv_backprop.py:33  g[f] += d[i, j, f] * r\n"
		"  11.7   11.7 PPPPPn     6%    0.4  json/encoder.py:200  encode\n"
		"   0.1  100.0 PPPPPP      -      -  conv_backprop.py:90  main()\n"
		"\n"
		"\n"
		"\n"
		"\n"
		"\n"
		"\n"
		"\n"
		"\n"
		"\n"
		"\n"
		"--------------------------------------------------------------------------------\n"
		" /home/user/project/conv_backprop.py:33 in Convolution.backprop\n"
		"   g[f] += d[i, j, f] * r\n"
		" About 40.3% of its time could be saved. Index once instead of once per\n"
		" element: take a slice, or one operation over the whole array, out of the loop.\n"
		" q quit  1-4 view  s sort  w window  p pause  r reset  arrows move  ? help\n");
}

/* As the report's verdict does, where little is known. */
static void test_little_evidence(void **state)
{
	struct fixture *fixture = *state;
	const char *text;

	memcpy(fixture->lines, sample_lines, sizeof(sample_lines));
	fixture->lines[1].accesses[PAIR_LOAD] = (struct access_counts){ 2, 2, 2, 0 };
	fixture->lines[1].accesses[PAIR_STORE] = (struct access_counts){ 0 };
	fixture->lines[1].evidence = (struct line_evidence){ 0 };
	fixture->profile.lines = fixture->lines;
	fixture->profile.facts.samples = 99;
	show(fixture);
	text = drawn(fixture, 24, 80, false);
	check_has(text, " CPU 97.8%  99 samples: rough  ");
	check_has(text, "Python 31%  n native 61%  s system 8%\n");
	check_has(text, "\n    78     78 PPnnnn    2/2     32  conv_backprop.py:33 ");
	check_has(text,
		  " Too few accesses to tell: up to 48% of its time could be saved, or nothing.");
}

static void test_lines_at_40_columns(void **state)
{
	struct fixture *fixture = *state;

	show(fixture);
	check_screen(drawn(fixture, 16, 40, true), " pid 4321  python3 conv_backpr...  0:10\n"
						   " CPU 97.8%  987 samples\n"
						   " █ Py 30.6%  ▒ nat 61.2%  ░ sys 8.2%\n"
						   " [1 Lines] 2 3 4              last 10 s\n"
						   " SELF% REDUND  LINE\n"
						   "  77.8    88%  conv_backprop.py:33\n"
						   "  11.7     6%  json/encoder.py:200\n"
						   "   0.1      -  conv_backprop.py:90\n"
						   "\n"
						   "\n"
						   "\n"
						   "\n"
						   "\n"
						   "\n"
						   "\n"
						   " q quit  1-4 view  s sort  w p r  ? help\n");
}

static void test_lines_at_200_columns(void **state)
{
	struct fixture *fixture = *state;
	const char *text;

	show(fixture);
	text = drawn(fixture, 50, 200, true);
	check_has(text, "88% of   490");
	check_has(text, "/home/user/project/conv_backprop.py:33");
	check_has(text, "sampler clock");
	check_has(text, "\u2588 Python 30.6%");
}

static void test_functions(void **state)
{
	static const struct profile_function functions[] = {
		{ .file = SAMPLE_FILE,
		  .function = "Convolution.backprop",
		  .line = 31,
		  .self_ns = { 2000000000, 5500000000, 123000000 },
		  .total_ns = 7623000000,
		  .accesses = { { 450, 430, 412, 3 }, { 40, 31, 20, 1 } },
		  .avoidable_ns = 3100000000 },
	};
	struct fixture *fixture = *state;
	const char *text;

	fixture->profile.functions = functions;
	fixture->profile.function_count = 1;
	show(fixture);
	press(fixture, TOP_KEY_FUNCTIONS);
	text = drawn(fixture, 24, 80, false);
	check_has(text, "[2 Functions]");
	check_has(
		text,
		"  77.8   77.8 PPnnnn    88%   31.6  Convolution.backprop  conv_backprop.py:31\n");
	check_has(text, " /home/user/project/conv_backprop.py:31\n");
}

static void test_threads(void **state)
{
	struct fixture *fixture = *state;
	const char *text;

	show(fixture);
	press(fixture, TOP_KEY_THREADS);
	text = drawn(fixture, 24, 80, false);
	check_has(text, " SELF%   CPU% P/N/S   ID            NAME\n"
			"  89.8   87.8 PPnnnn  4321          MainThread\n"
			"  10.2   10.0 PPPsss  4330          writer\n");
}

static void test_pairs(void **state)
{
	struct fixture *fixture = *state;
	const char *text;

	show(fixture);
	press(fixture, TOP_KEY_PAIRS);
	text = drawn(fixture, 24, 90, false);
	check_has(
		text,
		"    94%   29.6 load   conv_backprop.py:33 prepare_index > array_assign_subscript\n"
		"    65%    0.8 store  conv_backprop.py:33 array_assign_subscript > again\n");
	check_has(text,
		  " earlier conv_backprop.py:33  g[f] += d[i, j, f] * r  in prepare_index of ");
	check_has(text, SAMPLE_ADVICE);
}

static void test_sort(void **state)
{
	struct fixture *fixture = *state;
	const char *text;

	show(fixture);
	text = drawn(fixture, 24, 80, false);
	assert_true(strstr(text, "conv_backprop.py:33") < strstr(text, "conv_backprop.py:90"));
	press(fixture, TOP_KEY_SORT);
	text = drawn(fixture, 24, 80, false);
	check_has(text, "by total time");
	assert_true(strstr(text, "conv_backprop.py:90") < strstr(text, "conv_backprop.py:33"));
	press(fixture, TOP_KEY_SORT);
	check_has(drawn(fixture, 24, 80, false), "by redundant accesses");
	press(fixture, TOP_KEY_SORT);
	check_has(drawn(fixture, 24, 80, false), "by avoidable time");
	press(fixture, TOP_KEY_SORT);
	check_has(drawn(fixture, 24, 80, false), "by self time");
	/* Threads have one order, pairs two of their own. */
	press(fixture, TOP_KEY_THREADS);
	press(fixture, TOP_KEY_SORT);
	check_has(drawn(fixture, 24, 80, false), "by self time");
	press(fixture, TOP_KEY_PAIRS);
	check_has(drawn(fixture, 24, 80, false), "by avoidable time");
	press(fixture, TOP_KEY_SORT);
	check_has(drawn(fixture, 24, 80, false), "by redundant accesses");
}

/* What is on a line of the screen, in order, for a row of the table. */
static const struct top_row *row_of(const struct fixture *fixture, int line)
{
	for (size_t i = 0; i < fixture->model.row_count; i++) {
		const struct top_row *row = &fixture->model.rows[i];

		if (fixture->model.profile->lines[row->index].line == line)
			return row;
	}
	return NULL;
}

/* A later snapshot, in which line 200 alone went on: for seconds, all in Python. */
static void run_on(struct fixture *fixture, uint64_t seconds)
{
	memcpy(fixture->lines, sample_lines, sizeof(sample_lines));
	fixture->lines[0].total_ns += seconds * SECOND;
	fixture->lines[2].self_ns[TIME_PYTHON] += seconds * SECOND;
	fixture->lines[2].total_ns += seconds * SECOND;
	fixture->lines[2].charged_ns += seconds * SECOND;
	fixture->lines[2].avoidable_ns = fixture->lines[2].charged_ns / 10;
	fixture->lines[2].accesses[PAIR_STORE].sampled += 40;
	fixture->lines[2].accesses[PAIR_STORE].redundant += 30;
	fixture->later = fixture->profile;
	fixture->later.lines = fixture->lines;
	fixture->later.time_ns[TIME_PYTHON] += seconds * SECOND;
	fixture->later.facts.duration_ns += seconds * SECOND;
	fixture->later.facts.cpu_ns += seconds * SECOND / 2;
	fixture->later.facts.samples += 99 * seconds;
	fixture->later.gil_ns += seconds * SECOND / 4;
	assert_int_equal(top_model_update(&fixture->model, &fixture->later), 0);
}

static void test_recent_window(void **state)
{
	struct fixture *fixture = *state;
	const struct top_row *row;
	const char *text;

	show(fixture);
	run_on(fixture, 10);
	assert_int_equal(fixture->model.totals.duration_ns, 10 * SECOND);
	assert_int_equal(fixture->model.totals.samples, 990);
	row = row_of(fixture, 200);
	assert_non_null(row);
	assert_int_equal(row->figures.self_ns[TIME_PYTHON], 10 * SECOND);
	assert_int_equal(row->figures.self_ns[TIME_NATIVE], 0);
	assert_int_equal(row->figures.watched[PAIR_STORE], 40);
	assert_int_equal(row->figures.redundant[PAIR_STORE], 30);
	assert_int_equal(row->figures.watched[PAIR_LOAD], 0);
	/* A tenth of its time is avoidable: of the window's time, too. */
	assert_in_range(row->avoidable_ns, SECOND - 10, SECOND + 10);
	/* The others stood still. */
	assert_null(row_of(fixture, 33));
	text = drawn(fixture, 24, 80, false);
	check_has(text, "last 10 s, by self time");
	check_has(text, " CPU 50.0%  990 samples");
	fixture->later.facts.gil_known = true;
	assert_true(fixture->later.facts.thread_count > 1);
	check_has(drawn(fixture, 24, 80, false), " CPU 50.0%  GIL 25.0%  990 samples");
	check_has(text, " 100.0  100.0 PPPPPP    75%   10.0  json/encoder.py:200");

	press(fixture, TOP_KEY_WINDOW);
	text = drawn(fixture, 24, 80, false);
	check_has(text, "since start, by self time");
	assert_non_null(row_of(fixture, 33));
	assert_int_equal(row_of(fixture, 200)->figures.total_ns, 11150000000);
}

static void test_reset(void **state)
{
	struct fixture *fixture = *state;

	show(fixture);
	press(fixture, TOP_KEY_RESET);
	assert_int_equal(fixture->model.row_count, 0);
	check_has(drawn(fixture, 24, 80, false), "no samples: the process used no CPU time");
	run_on(fixture, 3);
	assert_int_equal(fixture->model.row_count, 2);
	assert_int_equal(row_of(fixture, 200)->figures.total_ns, 3 * SECOND);
	check_has(drawn(fixture, 24, 80, false), "last 3 s");
	press(fixture, TOP_KEY_WINDOW);
	check_has(drawn(fixture, 24, 80, false), "since reset, 3 s");
}

/* However long it runs, the ring keeps what the window needs and no more. */
/* As in docs/SECURITY.md. */
#define PASTS 16
#define ROWS  4096

/* Of a profile with more lines, the first ones are known. */
static void test_rows_are_bounded(void **state)
{
	struct profile_line *lines = calloc(ROWS + 5, sizeof(*lines));
	struct profile profile = { .lines = lines, .line_count = ROWS + 5 };
	struct top_past past = { 0 };

	(void)state;
	assert_non_null(lines);
	for (int i = 0; i < ROWS + 5; i++)
		lines[i] = (struct profile_line){ .file = "/a.py", .function = "f", .line = 1 + i };
	assert_int_equal(top_past_take(&past, &profile), 0);
	assert_int_equal(past.counts[TOP_LINES], ROWS);
	for (size_t i = 0; i < ROWS + 5; i++) {
		uint64_t key = top_view_entry(&profile, TOP_LINES, i).key;

		assert_int_equal(top_past_find(&past, TOP_LINES, key) != NULL, i < ROWS);
	}
	top_past_deinit(&past);
	free(lines);
}

static void test_history_is_bounded(void **state)
{
	struct fixture *fixture = *state;

	for (unsigned i = 1; i <= 3 * PASTS; i++) {
		run_on(fixture, i);
		if (i > 10)
			assert_int_equal(fixture->model.totals.duration_ns, 10 * SECOND);
	}
	assert_int_equal(fixture->model.history.count, PASTS);
	assert_int_equal(row_of(fixture, 200)->figures.total_ns, 10 * SECOND);
}

/* A figure that has become smaller is not negative. */
static void test_figures_never_wrap(void **state)
{
	struct fixture *fixture = *state;

	show(fixture);
	run_on(fixture, 10);
	fixture->profile.facts.duration_ns += 20 * SECOND;
	show(fixture);
	assert_int_equal(fixture->model.totals.time_ns[TIME_PYTHON], 0);
	for (size_t i = 0; i < fixture->model.row_count; i++)
		assert_in_range(fixture->model.rows[i].figures.total_ns, 0, 10 * SECOND);
}

static void test_selection(void **state)
{
	struct fixture *fixture = *state;

	show(fixture);
	press(fixture, TOP_KEY_UP);
	assert_int_equal(fixture->model.selected, 0);
	press(fixture, TOP_KEY_DOWN);
	assert_int_equal(fixture->model.selected, 1);
	check_has(drawn(fixture, 24, 80, false),
		  " /usr/lib/python3.11/json/encoder.py:200 in encode\n");
	/* It moves to the first place, and the selection goes with it. */
	run_on(fixture, 100);
	assert_int_equal(fixture->model.profile->lines[fixture->model.rows[0].index].line, 200);
	assert_int_equal(fixture->model.selected, 0);
	press(fixture, TOP_KEY_WINDOW);
	press(fixture, TOP_KEY_END);
	assert_int_equal(fixture->model.selected, 2);
	press(fixture, TOP_KEY_PAGE_DOWN);
	assert_int_equal(fixture->model.selected, 2);
	press(fixture, TOP_KEY_HOME);
	assert_int_equal(fixture->model.selected, 0);
	/* Small screens scroll. */
	press(fixture, TOP_KEY_END);
	check_has(drawn(fixture, 5, 40, false), "conv_backprop.py:90");
	check_has_not(drawn(fixture, 5, 40, false), "conv_backprop.py:33");
}

static void test_pause_help_quit(void **state)
{
	struct fixture *fixture = *state;

	show(fixture);
	press(fixture, TOP_KEY_PAUSE);
	assert_true(fixture->model.paused);
	check_has(drawn(fixture, 24, 80, false), "PAUSED  last 10 s");
	press(fixture, TOP_KEY_PAUSE);
	check_has_not(drawn(fixture, 24, 80, false), "PAUSED");
	press(fixture, TOP_KEY_HELP);
	check_has(drawn(fixture, 24, 80, false), "any key goes back");
	press(fixture, TOP_KEY_PAIRS);
	check_has(drawn(fixture, 24, 80, false), "[1 Lines]");
	press(fixture, TOP_KEY_NEXT_VIEW);
	check_has(drawn(fixture, 24, 80, false), "[2 Functions]");
	assert_false(top_model_key(&fixture->model, TOP_KEY_QUIT));
}

static void test_before_the_first_snapshot(void **state)
{
	struct fixture *fixture = *state;

	for (enum top_key key = TOP_KEY_SORT; key <= TOP_KEY_REDRAW; key++)
		press(fixture, key);
	fixture->model.help = false;
	check_has(drawn(fixture, 24, 80, false), "waiting for the first samples");
	fixture->model.notice = "this profile shows time alone";
	check_has(drawn(fixture, 24, 80, false), "this profile shows time alone");
}

static void test_time_alone(void **state)
{
	struct fixture *fixture = *state;

	memset(fixture->profile.accesses, 0, sizeof(fixture->profile.accesses));
	fixture->profile.pair_count = 0;
	fixture->profile.facts.kernel_time_refused = true;
	show(fixture);
	press(fixture, TOP_KEY_PAIRS);
	check_has(drawn(fixture, 24, 80, false), "no memory accesses have been watched");
	check_has(drawn(fixture, 24, 100, false), "no system time  no accesses watched");
	check_has(drawn(fixture, 24, 100, false), " native ");
	fixture->profile.facts.native_unknown = true;
	show(fixture);
	check_has(drawn(fixture, 24, 100, false), " user ");
	check_has_not(drawn(fixture, 24, 100, false), " native ");
}

static void check_lines_fit(const struct screen *screen)
{
	char line[SCREEN_TEXT_BYTES];

	for (unsigned row = 0; row < screen->rows; row++) {
		unsigned end = 0;

		for (unsigned i = 0; i < screen->lines[row].span_count; i++) {
			const struct screen_span *span = &screen->lines[row].spans[i];

			assert_true(span->column >= end);
			end = span->column + span->columns;
			assert_true(end <= screen->columns);
		}
		screen_text(screen, row, line);
		for (const unsigned char *at = (const unsigned char *)line; *at; at++) {
			assert_true(*at >= 0x20 && *at != 0x7f);
			assert_true(screen->utf8 || *at < 0x80);
		}
		/* C1 controls, which some terminals obey. */
		assert_null(strstr(line, "\xc2\x9b"));
	}
}

#define HOSTILE                                                                                    \
	"\x1b]0;owned\x07\x1b[2J\xc2\x9b"                                                          \
	"31m\r\n\t\xff\xfe\xe2\x80\xae"                                                            \
	"e\xcc\x81\xcc\x81\xe5\xad\x97\xe5\xad\x97\xf0\x9f\x98\x80"

/* Every view, at every size: nothing of the target's reaches the terminal raw, no line overflows.
 */
static void test_hostile_strings_at_all_sizes(void **state)
{
	static const char *const command[] = { HOSTILE, HOSTILE, NULL };
	static const struct profile_frame path[] = {
		{ .kind = FRAME_PYTHON,
		  .function = HOSTILE,
		  .file = HOSTILE,
		  .line = 3,
		  .source = HOSTILE },
		{ .kind = FRAME_NATIVE, .function = HOSTILE, .file = HOSTILE },
	};
	static const struct profile_line lines[] = {
		{ .file = "/a/" HOSTILE,
		  .function = HOSTILE,
		  .line = 7,
		  .source = HOSTILE HOSTILE,
		  .self_ns = { 1, 2, 3 },
		  .total_ns = 6,
		  .charged_ns = 6,
		  .avoidable_ns = 3 },
		{ .file = HOSTILE, .function = HOSTILE, .self_ns = { 1, 2, 3 }, .total_ns = 6 },
		{ .file = "",
		  .function = "",
		  .line = 1,
		  .source = "",
		  .self_ns = { 1 },
		  .total_ns = 1 },
	};
	static const struct profile_function functions[] = {
		{ .file = HOSTILE,
		  .function = HOSTILE,
		  .line = 7,
		  .self_ns = { 1 },
		  .total_ns = 6 },
	};
	static const struct profile_pair pairs[] = {
		{ .sampled = 1,
		  .redundant = 1,
		  .first = path,
		  .first_count = 2,
		  .second = path,
		  .second_count = 1,
		  .line = &lines[0],
		  .advice = "" },
		{ .sampled = 1,
		  .redundant = 1,
		  .first = path,
		  .first_count = 0,
		  .second = path,
		  .second_count = 0 },
	};
	static const struct profile_thread hostile_threads[] = {
		{ .tid = 1, .name = HOSTILE, .time_ns = { 1 } }
	};
	struct fixture *fixture = *state;
	struct profile *profile = &fixture->profile;

	memcpy(profile->facts.target.comm, HOSTILE, sizeof(profile->facts.target.comm));
	profile->facts.target.command = command;
	profile->facts.threads = hostile_threads;
	profile->facts.thread_count = 1;
	profile->lines = lines;
	profile->line_count = 3;
	profile->functions = functions;
	profile->function_count = 1;
	profile->pairs = pairs;
	profile->pair_count = 2;
	show(fixture);
	for (enum top_key view = TOP_KEY_LINES; view <= TOP_KEY_PAIRS; view++) {
		press(fixture, view);
		for (unsigned columns = 0; columns <= 260; columns += columns < 130 ? 1 : 37)
			for (unsigned rows = 0; rows <= 130; rows += rows < 36 ? 1 : 31) {
				bool utf8 = (rows + columns) % 2;

				press(fixture, TOP_KEY_DOWN);
				screen_clear(&fixture->screen, rows, columns, utf8);
				layout_draw(&fixture->model, &fixture->screen);
				check_lines_fit(&fixture->screen);
			}
	}
}

/* A character that takes two columns is not cut in half, one that takes none not counted. */
static void test_wide_and_combining_characters(void **state)
{
	struct fixture *fixture = *state;
	struct screen *screen = &fixture->screen;
	char line[SCREEN_TEXT_BYTES];

	screen_clear(screen, 2, 10, true);
	assert_int_equal(screen_put(screen, 0, 0, 5, SCREEN_PLAIN, "\u5b57\u5b57\u5b57"), 4);
	assert_int_equal(screen_put(screen, 0, 6, 4, SCREEN_PLAIN, "e\u0301e\u0301"), 2);
	screen_text(screen, 0, line);
	assert_string_equal(line, "\u5b57\u5b57  e\u0301e\u0301");
	screen_clear(screen, 2, 10, false);
	assert_int_equal(screen_put(screen, 0, 0, 5, SCREEN_PLAIN, "a\u5b57b"), 3);
	screen_text(screen, 0, line);
	assert_string_equal(line, "a?b");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_lines_at_80_columns, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_little_evidence, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_lines_at_40_columns, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_lines_at_200_columns, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_functions, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_threads, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_pairs, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_sort, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_recent_window, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_reset, set_up, tear_down),
		cmocka_unit_test(test_rows_are_bounded),
		cmocka_unit_test_setup_teardown(test_history_is_bounded, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_figures_never_wrap, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_selection, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_pause_help_quit, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_before_the_first_snapshot, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_time_alone, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_hostile_strings_at_all_sizes, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(test_wide_and_combining_characters, set_up,
						tear_down),
	};

	return cmocka_run_group_tests_name("daemon_top", tests, NULL, NULL);
}
