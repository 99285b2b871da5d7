/* SPDX-License-Identifier: Apache-2.0 */
/* What `top` shows of a profile, at any size of the screen. */
#include "common/clock.h"
#include "daemon/top/holder_rows.h"

#include "top_fixture.h"

static void check_screen(const char *actual, const char *expected)
{
	if (strcmp(actual, expected))
		print_error("---- is\n%s---- should be\n%s----\n", actual, expected);
	assert_string_equal(actual, expected);
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
		" SELF% TOTAL% P/N/S  REDUND  SAVE%  LINE                 SOURCE\n"
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
		"--------------------------------------------------------------------------------\n"
		" /home/user/project/conv_backprop.py:33 in Convolution.backprop\n"
		"   g[f] += d[i, j, f] * r\n"
		" Index once instead of once per element: take a slice, or one operation over\n"
		" the whole array, out of the loop. Could save about 3.10 s (31.6%), between\n"
		" 2.60 s and 3.70 s as far as sampling can tell. For example: row += a[i, j] ...\n"
		" q quit  1-4 view  s sort  / filter  o own  w window  p pause  r reset  ? help\n");
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
	check_has(text, " Could save up to 48% of its time, or nothing: too few accesses to tell.");
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
						   " q quit  1-4 view  s sort  ? help\n");
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

static void test_before_the_first_snapshot(void **state)
{
	struct fixture *fixture = *state;

	for (enum top_key key = TOP_KEY_SORT; key <= TOP_KEY_REDRAW; key++)
		press(fixture, key);
	fixture->model.help = false;
	press(fixture, TOP_KEY_ESCAPE);
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

/* Containers that grow stand above the details; before there are enough looks, what is missing. */
static void test_holders(void **state)
{
	struct fixture *fixture = *state;
	struct top_growth growth = { 0 };
	const char *text;

	fixture->model.growth = &growth;
	fixture->model.now_ns = 100 * NS_PER_SECOND;
	show(fixture);
	check_has(drawn(fixture, 24, 80, false), "\n HEAP  the first look is under way\n---");
	growth = (struct top_growth){ .looks = 3,
				      .end_ns = 88 * NS_PER_SECOND,
				      .took_ns = NS_PER_SECOND / 2 };
	check_has(drawn(fixture, 24, 80, false),
		  "\n HEAP  4 looks tell what grows; look 3, 12 s old, took 0.5 s\n---");
	growth.looks = 4;
	check_has(drawn(fixture, 24, 80, false),
		  "\n HEAP  no container grows; look 4, 12 s old, took 0.5 s\n---");
	growth.count = 2;
	growth.items[0] = (struct top_holder){ "app.cache  (dict)", 5100, 153201 };
	growth.items[1] = (struct top_holder){ "app.\033[2Jlog\n  (list)", 1.5, 40 };
	text = drawn(fixture, 24, 80, false);
	check_has(text, "\n ENTRIES/s   ENTRIES  GROWS; look 4, 12 s old, took 0.5 s\n"
			"     +5100    153201  app.cache  (dict)\n"
			"      +1.5        40  app.");
	assert_null(strchr(text, '\033'));
	/* The rows of the table stay. */
	check_has(text, "conv_backprop.py:33");
	snprintf(growth.refusal, sizeof(growth.refusal), "process 4321 has ended");
	check_has(drawn(fixture, 24, 80, false),
		  "\n HEAP  no more looks: process 4321 has ended\n");
	/* A small screen goes without, a narrow one cuts. */
	assert_null(strstr(drawn(fixture, 12, 80, false), "HEAP"));
	for (unsigned columns = 1; columns < 60; columns++)
		for (unsigned rows = 1; rows < 30; rows++)
			(void)drawn(fixture, rows, columns, true);
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
		cmocka_unit_test_setup_teardown(test_before_the_first_snapshot, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_holders, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_time_alone, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_hostile_strings_at_all_sizes, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(test_wide_and_combining_characters, set_up,
						tear_down),
	};

	return cmocka_run_group_tests_name("daemon_top", tests, NULL, NULL);
}
