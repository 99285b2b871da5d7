/* SPDX-License-Identifier: Apache-2.0 */
/* How much recordings of a set differ: against a calculation by hand, and what a difference makes
 * of it. */
#include "daemon/report/diff/diff.h"
#include "unit_random.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* A recording of two lines; the rest of its time is the second's. */
struct part {
	struct profile_line lines[2];
	struct profile_node node;
	struct profile profile;
};

static void fill(struct part *part, uint64_t first_ms, uint64_t all_ms)
{
	*part = (struct part){ .profile = { .facts = { .duration_ns = 10000000000ull } } };
	for (unsigned i = 0; i < 2; i++) {
		struct profile_line *line = &part->lines[i];
		uint64_t ms = i ? all_ms - first_ms : first_ms;

		line->file = "/srv/app.py";
		line->function = "work";
		line->source = i ? "rest()" : "first()";
		line->line = 7 + (int)i;
		line->self_ns[TIME_PYTHON] = line->total_ns = ms * 1000000;
	}
	part->profile.lines = part->lines;
	part->profile.line_count = 2;
	part->profile.time_ns[TIME_PYTHON] = all_ms * 1000000;
	/* So many samples that they alone would know all to a thousandth. */
	part->node.samples[TIME_PYTHON] = 1000000;
	part->profile.tree.nodes = &part->node;
	part->profile.tree.node_count = 1;
}

static const struct spread_key first_key = { "/srv/app.py", "work", "first()", 0 };

static void test_by_hand(void **state)
{
	static const uint64_t first_ms[] = { 100, 300, 200 };
	struct spread *spread = spread_create();
	struct spread_errors errors;
	struct part part;

	(void)state;
	assert_non_null(spread);
	for (unsigned i = 0; i < 3; i++) {
		fill(&part, first_ms[i], 1000);
		assert_int_equal(spread_add(spread, &part.profile), 0);
	}
	errors = spread_errors_of(spread, &first_key);
	/* Shares 0.1, 0.3 and 0.2: a deviation of 0.1, and an error of that by the root of 3. */
	assert_true(fabs(errors.self.share - 0.1 / sqrt(3)) < 1e-9);
	/* 10, 30 and 20 ms a second. */
	assert_true(fabs(errors.self.rate - 10 / sqrt(3)) < 1e-9);
	assert_true(fabs(errors.total.share - errors.self.share) < 1e-12);
	assert_int_equal(spread_recordings(spread), 3);
	assert_true(fabs(spread_seconds(spread) - 30) < 1e-9);
	spread_destroy(spread);
}

static void test_recordings_without_the_line_count(void **state)
{
	struct spread *spread = spread_create();
	struct part part;

	(void)state;
	fill(&part, 200, 1000);
	assert_int_equal(spread_add(spread, &part.profile), 0);
	part.profile.lines = &part.lines[1];
	part.profile.line_count = 1;
	assert_int_equal(spread_add(spread, &part.profile), 0);
	/* Shares 0.2 and 0. */
	assert_true(fabs(spread_errors_of(spread, &first_key).self.share - 0.1) < 1e-9);
	spread_destroy(spread);
}

/* Two lines of one text are one thing, whose time within a recording is their sum. */
static void test_lines_of_one_text(void **state)
{
	struct spread *spread = spread_create();
	struct part part;

	(void)state;
	for (unsigned i = 0; i < 4; i++) {
		fill(&part, i % 2 ? 900 : 100, 1000);
		part.lines[1].source = "first()";
		assert_int_equal(spread_add(spread, &part.profile), 0);
	}
	assert_true(spread_errors_of(spread, &first_key).self.share < 1e-9);
	spread_destroy(spread);
}

static void test_nothing_is_known_of_one(void **state)
{
	static const struct spread_key other = { "/srv/app.py", "work", "other()", 0 };
	struct spread *spread = spread_create();
	struct part part;

	(void)state;
	fill(&part, 200, 1000);
	assert_int_equal(spread_add(spread, &part.profile), 0);
	assert_true(spread_errors_of(spread, &first_key).self.share == 0);
	assert_true(spread_errors_of(spread, &other).self.share == 0);
	spread_destroy(spread);
}

/* Sets whose recordings differ by a tenth, of means that may differ: how many stand out? */
static unsigned stand_out(double base_share, double now_share, bool with_spread)
{
	struct unit_random random = { 22 };
	unsigned loud = 0;

	for (unsigned round = 0; round < 200; round++) {
		struct part parts[DIFF_SIDES];
		struct spread *spreads[DIFF_SIDES];
		const double shares[] = { base_share, now_share };
		const struct profile *profiles[DIFF_SIDES];
		struct diff *diff;

		for (unsigned s = 0; s < DIFF_SIDES; s++) {
			uint64_t sum = 0;

			spreads[s] = spread_create();
			for (unsigned i = 0; i < 12; i++) {
				double off = 0;

				/* Nearly normal, with a deviation of 0.1. */
				for (unsigned k = 0; k < 12; k++)
					off += (double)unit_random_below(&random, 1000) / 1000;
				fill(&parts[s], (uint64_t)(10000 * (shares[s] + (off - 6) / 10)),
				     10000);
				sum += time_sum(parts[s].lines[0].self_ns) / 1000000;
				assert_int_equal(spread_add(spreads[s], &parts[s].profile), 0);
			}
			fill(&parts[s], sum, 120000);
			parts[s].profile.facts.duration_ns *= 12;
			profiles[s] = &parts[s].profile;
		}
		diff = diff_create_of_sets(profiles, (const struct spread *const[]){
							     with_spread ? spreads[0] : NULL,
							     with_spread ? spreads[1] : NULL });
		assert_non_null(diff);
		loud += !diff->lines[0].time.noise;
		diff_destroy(diff);
		spread_destroy(spreads[0]);
		spread_destroy(spreads[1]);
	}
	return loud;
}

static void test_noise_and_change(void **state)
{
	(void)state;
	/* By samples alone, whatever differs by chance passes for a change. */
	assert_in_range(stand_out(0.5, 0.5, false), 150, 200);
	/* One in twenty. */
	assert_in_range(stand_out(0.5, 0.5, true), 0, 22);
	/* By five errors. */
	assert_in_range(stand_out(0.4, 0.6, true), 190, 200);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_by_hand),
		cmocka_unit_test(test_recordings_without_the_line_count),
		cmocka_unit_test(test_lines_of_one_text),
		cmocka_unit_test(test_nothing_is_known_of_one),
		cmocka_unit_test(test_noise_and_change),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
