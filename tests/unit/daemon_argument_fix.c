/* SPDX-License-Identifier: Apache-2.0 */
/* Findings of several lines that one change mends: a loop over elements, a function's calls. */
#include "argument_samples.h"

static unsigned joined(const struct fixture *fixture, uint32_t site)
{
	unsigned count = 0;

	for (size_t i = 0; i < fixture->log.sample_count; i++)
		count += fixture->findings.votes[i].joined &&
			 fixture->findings.votes[i].site == site;
	return count;
}

/* Elements of two lines, and the rest of the loop, are the site's that has most. */
static void test_loop_over_elements(void **state)
{
	struct fixture *fixture = *state;
	uint32_t elements = subscript_at(fixture, 10, "float64[1000]", CONTENT_INT);
	uint32_t others = subscript_at(fixture, 12, "float64[1000]", CONTENT_INT);
	uint32_t rest = call_at(fixture, "loop", 4), outside = call_at(fixture, "once", 15);

	add_others(fixture, elements, MANY);
	add_others(fixture, others, MANY / 2);
	add_others(fixture, rest, MANY / 2);
	add_others(fixture, outside, MANY);
	judge(fixture);
	assert_int_equal(votes(fixture, ARGUMENT_ELEMENTS, elements), 2 * MANY);
	assert_int_equal(joined(fixture, elements), MANY);
	assert_int_equal(votes(fixture, ARGUMENT_NEEDED, outside), MANY);
	assert_int_equal(fixture->findings.summaries[elements].votes[ARGUMENT_ELEMENTS], 2 * MANY);
	/* A loop with much else to do stays. */
	add_others(fixture, rest, 2 * MANY);
	judge(fixture);
	assert_int_equal(votes(fixture, ARGUMENT_ELEMENTS, elements), MANY + MANY / 2);
	assert_int_equal(votes(fixture, ARGUMENT_NEEDED, rest), 2 * MANY + MANY / 2);
}

static uint32_t entry_of(struct fixture *fixture, const char *function)
{
	struct argument_site *entry;
	uint32_t id;

	entry = argument_log_site(&fixture->log,
				  &compiled_function(fixture->compiled, function)->code,
				  ARGUMENT_ENTRY, &id);
	assert_non_null(entry);
	return id;
}

/* once() is called from two lines, each time with what it got from the other. */
static void test_called_from_several_places(void **state)
{
	struct fixture *fixture = *state;
	uint32_t inside = call_at(fixture, "once", 15), entry = entry_of(fixture, "once");
	uint32_t callers[] = { call_at(fixture, "loop", 4), call_at(fixture, "loop", 8) };
	uint32_t dropping = call_at(fixture, "loop", 5);

	for (uint32_t i = 0; i < MANY; i++)
		add_two(fixture, frame(inside, i, i), frame(callers[i % 2], i, i));
	all_are(fixture, ARGUMENT_NEEDED, inside);
	site_of(fixture, entry)->compared = 12;
	site_of(fixture, entry)->repeated = 8;
	all_are(fixture, ARGUMENT_REPEATED, inside);
	assert_int_equal(fixture->findings.summaries[inside].entry, entry);
	assert_true(argument_summary_part(&fixture->findings.summaries[inside], ARGUMENT_REPEATED)
			    .middle > 0.6);
	/* By chance, or too few. */
	site_of(fixture, entry)->repeated = 3;
	all_are(fixture, ARGUMENT_NEEDED, inside);
	site_of(fixture, entry)->compared = site_of(fixture, entry)->repeated = 3;
	all_are(fixture, ARGUMENT_NEEDED, inside);
	site_of(fixture, entry)->compared = site_of(fixture, entry)->repeated = 12;
	/* It works on state that nobody can read. */
	for (size_t i = 0; i < fixture->log.sample_count; i++)
		fixture->log.samples[i].frames[0].flags |= ARGUMENT_OPAQUE | ARGUMENT_STATE;
	judge(fixture);
	assert_int_equal(votes(fixture, ARGUMENT_REPEATED, inside), 0);
	/* Called for its effect. */
	for (size_t i = 0; i < fixture->log.sample_count; i++) {
		fixture->log.samples[i].frames[0].flags = ARGUMENT_JUDGED | ARGUMENT_DATA;
		fixture->log.samples[i].frames[1].site = dropping;
	}
	judge(fixture);
	assert_int_equal(votes(fixture, ARGUMENT_REPEATED, inside), 0);
}

/* A cache of once() spares the calls of both lines. */
static void test_cache_of_several_callers(void **state)
{
	struct fixture *fixture = *state;
	uint32_t inside = call_at(fixture, "once", 15);
	uint32_t callers[] = { call_at(fixture, "loop", 4), call_at(fixture, "loop", 12) };

	for (uint32_t i = 0; i < MANY; i++)
		add_two(fixture, frame(inside, i, i), frame(callers[i % 4 == 0], i, i));
	for (size_t c = 0; c < 2; c++) {
		struct argument_site *site = site_of(fixture, callers[c]);

		site->operands[1].kind = CONTENT_INT;
		site->operands[1].hashable = site->of_callee = true;
		site->rows = 4;
		site->row_alike = 12;
		site->row_recurring = 3;
	}
	all_are(fixture, ARGUMENT_FEW, callers[0]);
	assert_int_equal(joined(fixture, callers[0]), MANY / 4);
	/* So does what is kept with the object that both call it of. */
	for (size_t c = 0; c < 2; c++) {
		struct argument_site *site = site_of(fixture, callers[c]);

		site->operands[1].kind = CONTENT_OBJECT;
		site->operands[1].hashable = false;
		site->row_held = 12;
	}
	all_are(fixture, ARGUMENT_IN_TURN, callers[0]);
	assert_int_equal(joined(fixture, callers[0]), MANY / 4);
}

/* Two lines of a loop go over what grows: one pass will do. */
static void test_lines_of_one_pass(void **state)
{
	struct fixture *fixture = *state;
	uint32_t sites[] = { call_at(fixture, "loop", 4), call_at(fixture, "loop", 12) };
	uint32_t elsewhere = call_at(fixture, "join", 24);

	for (uint32_t i = 0; i < 3 * MANY; i++) {
		struct argument_frame one = frame(i % 3 == 2 ? elsewhere : sites[i % 6 == 0], i, i);

		one.largest = 100 + i;
		add(fixture, one);
	}
	judge(fixture);
	assert_int_equal(votes(fixture, ARGUMENT_GROWING, sites[0]), 2 * MANY);
	assert_int_equal(joined(fixture, sites[0]), MANY / 2);
	assert_int_equal(votes(fixture, ARGUMENT_GROWING, elsewhere), MANY);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_loop_over_elements, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_called_from_several_places, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_cache_of_several_callers, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_lines_of_one_pass, set_up, tear_down),
	};

	return run_on_interpreters(tests);
}
