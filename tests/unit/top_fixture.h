/* SPDX-License-Identifier: Apache-2.0 */
/* What `top` shows of the sample profile, as text. No terminal. */
#ifndef PIEPROFD_TESTS_UNIT_TOP_FIXTURE_H
#define PIEPROFD_TESTS_UNIT_TOP_FIXTURE_H

#include "daemon/top/layout.h"
#include "report_sample.h"
#include "screen_text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

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

static inline int set_up(void **state)
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

static inline int tear_down(void **state)
{
	struct fixture *fixture = *state;

	top_model_deinit(&fixture->model);
	free(fixture);
	return 0;
}

/* The whole screen, a line each. */
static inline char *drawn(struct fixture *fixture, unsigned rows, unsigned columns, bool utf8)
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

static inline void check_has(const char *text, const char *words)
{
	if (!strstr(text, words))
		print_error("missing: %s\nin:\n%s\n", words, text);
	assert_non_null(strstr(text, words));
}

static inline void check_has_not(const char *text, const char *words)
{
	if (strstr(text, words))
		print_error("there is: %s\nin:\n%s\n", words, text);
	assert_null(strstr(text, words));
}

static inline void show(struct fixture *fixture)
{
	assert_int_equal(top_model_update(&fixture->model, &fixture->profile), 0);
}

static inline void press(struct fixture *fixture, enum top_key key)
{
	assert_true(top_model_key(&fixture->model, key, '\0'));
}

#endif
