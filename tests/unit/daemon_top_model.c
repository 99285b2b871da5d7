/* SPDX-License-Identifier: Apache-2.0 */
/* What the keys of `top` change, and which snapshots it compares. */
#include "top_fixture.h"

#define SECOND 1000000000ull

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
	check_has(drawn(fixture, 24, 80, false), "by saving");
	press(fixture, TOP_KEY_SORT);
	check_has(drawn(fixture, 24, 80, false), "by self time");
	/* Threads have one order, pairs two of their own. */
	press(fixture, TOP_KEY_THREADS);
	press(fixture, TOP_KEY_SORT);
	check_has(drawn(fixture, 24, 80, false), "by self time");
	press(fixture, TOP_KEY_PAIRS);
	check_has(drawn(fixture, 24, 80, false), "by saving");
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

/* By what a line made resident; a key of its own, which says where there is nothing to show. */
static void test_memory(void **state)
{
	struct fixture *fixture = *state;
	const char *text;

	show(fixture);
	press(fixture, TOP_KEY_MEMORY);
	text = drawn(fixture, 24, 80, false);
	check_has(text, "begin with --memory");
	check_has(text, "by self time");
	memcpy(fixture->lines, fixture->profile.lines,
	       fixture->profile.line_count * sizeof(fixture->lines[0]));
	fixture->lines[1].side.fresh_bytes[FRESH_PYTHON] = 30 << 20;
	fixture->lines[1].side.fresh_bytes[FRESH_NATIVE] = 10 << 20;
	fixture->later = fixture->profile;
	fixture->later.lines = fixture->lines;
	fixture->later.facts.memory = true;
	assert_int_equal(top_model_update(&fixture->model, &fixture->later), 0);
	press(fixture, TOP_KEY_MEMORY);
	text = drawn(fixture, 24, 80, false);
	check_has(text, "by fresh memory");
	check_has(text, "FRESH/s");
	assert_null(strstr(text, "SAVE%"));
	assert_int_equal(fixture->model.rows[0].index, 1);
	assert_int_equal(fixture->model.rows[0].figures.fresh_bytes, 40 << 20);
	press(fixture, TOP_KEY_MEMORY);
	text = drawn(fixture, 24, 80, false);
	check_has(text, "by self time");
	check_has(text, "SAVE%");
	/* From a view that has no memory, to the lines. */
	press(fixture, TOP_KEY_THREADS);
	press(fixture, TOP_KEY_MEMORY);
	check_has(drawn(fixture, 24, 80, false), "[1 Lines]");
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

/* However long it runs, the ring keeps what the window needs and no more. */
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
	assert_false(top_model_key(&fixture->model, TOP_KEY_QUIT, '\0'));
}

static void type(struct fixture *fixture, const char *words)
{
	for (; *words; words++)
		assert_true(top_model_key(&fixture->model, TOP_KEY_CHARACTER, *words));
}

static void test_filter(void **state)
{
	struct fixture *fixture = *state;

	show(fixture);
	press(fixture, TOP_KEY_FILTER);
	check_has(drawn(fixture, 24, 80, false), "\n /_\n");
	type(fixture, "ENCODERx");
	assert_int_equal(fixture->model.row_count, 0);
	check_has(drawn(fixture, 24, 80, false), "no such rows");
	press(fixture, TOP_KEY_BACKSPACE);
	assert_int_equal(fixture->model.row_count, 1);
	assert_non_null(row_of(fixture, 200));
	press(fixture, TOP_KEY_ENTER);
	check_has(drawn(fixture, 24, 80, false), "\n /ENCODER   Esc: all rows");
	/* Typed no longer. */
	press(fixture, TOP_KEY_THREADS);
	check_has(drawn(fixture, 24, 80, false), "[3 Threads]");
	press(fixture, TOP_KEY_LINES);
	assert_int_equal(fixture->model.row_count, 1);
	press(fixture, TOP_KEY_ESCAPE);
	assert_int_equal(fixture->model.row_count, 3);
	/* A place, a part of the source, a character of several bytes. */
	press(fixture, TOP_KEY_FILTER);
	type(fixture, "prop.py:33");
	assert_int_equal(fixture->model.row_count, 1);
	press(fixture, TOP_KEY_ESCAPE);
	press(fixture, TOP_KEY_FILTER);
	type(fixture, "d[i, j\u00e9");
	press(fixture, TOP_KEY_BACKSPACE);
	assert_string_equal(fixture->model.filter, "d[i, j");
	assert_int_equal(fixture->model.row_count, 1);
	for (size_t i = 0; i < 2 * TOP_FILTER_BYTES; i++)
		type(fixture, "x");
	assert_int_equal(strlen(fixture->model.filter), TOP_FILTER_BYTES - 1);
}

static void test_own(void **state)
{
	struct fixture *fixture = *state;

	show(fixture);
	press(fixture, TOP_KEY_OWN);
	assert_int_equal(fixture->model.row_count, 2);
	assert_null(row_of(fixture, 200));
	check_has(drawn(fixture, 24, 80, false), "own code  last 10 s");
	press(fixture, TOP_KEY_OWN);
	assert_int_equal(fixture->model.row_count, 3);
}

/* Until a row is chosen. */
static void test_verdict_is_selected(void **state)
{
	struct fixture *fixture = *state;

	memcpy(fixture->lines, sample_lines, sizeof(sample_lines));
	fixture->lines[2].self_ns[TIME_PYTHON] = 9 * SECOND;
	fixture->profile.lines = fixture->lines;
	show(fixture);
	check_has(drawn(fixture, 24, 80, false), " in Convolution.backprop\n");
	assert_int_equal(fixture->model.selected, 1);
	press(fixture, TOP_KEY_WINDOW);
	check_has(drawn(fixture, 24, 80, false), " in Convolution.backprop\n");
	press(fixture, TOP_KEY_HOME);
	check_has(drawn(fixture, 24, 80, false), " in encode\n");
	show(fixture);
	check_has(drawn(fixture, 24, 80, false), " in encode\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_sort, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_memory, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_recent_window, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_reset, set_up, tear_down),
		cmocka_unit_test(test_rows_are_bounded),
		cmocka_unit_test_setup_teardown(test_history_is_bounded, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_figures_never_wrap, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_selection, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_pause_help_quit, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_filter, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_own, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_verdict_is_selected, set_up, tear_down),
	};

	return cmocka_run_group_tests_name("daemon_top_model", tests, NULL, NULL);
}
