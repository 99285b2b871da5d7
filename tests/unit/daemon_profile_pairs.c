/* SPDX-License-Identifier: Apache-2.0 */
/* What becomes of sampled pairs in a profile: rows of their own, and a verdict on the line. */
#include "built_profile.h"
#include "unit_random.h"

#define PAIRS 4096 /* as in docs/SECURITY.md */

static void test_pair(void **state)
{
	struct fixture *fixture = *state;
	const struct cct_node *first = element(fixture, 3, 0), *second = element(fixture, 3, 1);
	const struct profile *profile;
	const struct profile_pair *pair;
	const struct profile_line *line;

	cct_node_charge(element(fixture, 3, 0), TIME_NATIVE, 1, 100 * MS);
	add(fixture, PAIR_LOAD, first, second, VERDICT_REDUNDANT, 300, 15);
	add(fixture, PAIR_LOAD, first, second, VERDICT_NEW, 100, 4);
	add(fixture, PAIR_LOAD, first, second, VERDICT_APPROXIMATE, 300, 1);
	profile = build(fixture);
	assert_int_equal(profile->pair_count, 1);
	pair = &profile->pairs[0];
	assert_int_equal(pair->kind, PAIR_LOAD);
	assert_int_equal(pair->sampled, 20);
	assert_int_equal(pair->redundant, 15);
	assert_int_equal(pair->approximate, 1);
	assert_true(pair->share == 0.75);
	assert_true(pair->share_low > 0.53 && pair->share_low < 0.54);
	assert_true(pair->share_high > 0.88 && pair->share_high < 0.89);
	assert_int_equal(pair->category, CATEGORY_SLICE_UNDERUTILISATION);
	assert_string_equal(pair->advice, category_advice(CATEGORY_SLICE_UNDERUTILISATION));

	assert_int_equal(pair->first_count, 3);
	assert_int_equal(pair->first[0].kind, FRAME_PYTHON);
	assert_string_equal(pair->first[0].function, "<module>");
	assert_int_equal(pair->first[1].line, 3);
	assert_string_equal(pair->first[1].source, "g[f] += d[f, 1] * r");
	assert_string_equal(pair->first[1].opcode, subscript(fixture));
	assert_int_equal(pair->first[2].kind, FRAME_NATIVE);
	assert_string_equal(pair->first[2].function, "array_subscript");
	assert_non_null(strstr(pair->first[2].file, "daemon_profile"));
	assert_int_equal(pair->first[2].address,
			 (uintptr_t)array_subscript + 1 - first->frame.native.module->bias);

	line = pair->line;
	assert_ptr_equal(line, line_of(profile, 3));
	assert_int_equal(line->accesses[PAIR_LOAD].sampled, 20);
	assert_int_equal(line->accesses[PAIR_LOAD].reaccessed, 20);
	assert_int_equal(line->accesses[PAIR_LOAD].redundant, 15);
	assert_int_equal(line->accesses[PAIR_LOAD].approximate, 1);
	assert_int_equal(line->accesses[PAIR_STORE].sampled, 0);
	assert_int_equal(line->call_ns, 100); /* the only line is its own measure */
	assert_int_equal(line->category, CATEGORY_SLICE_UNDERUTILISATION);
	assert_in_range(line->avoidable_ns, 6 * MS, 10 * MS);
	assert_int_equal(pair->avoidable_ns, line->avoidable_ns);
	assert_int_equal(line->reason_count, 5);
	assert_string_equal(
		line->reasons[0],
		"16 of 20 sampled loads found the value unchanged (95% interval 58 to 92%)");
	assert_non_null(strstr(line->reasons[1], "2.0 us or less"));
	assert_int_equal(profile->accesses[PAIR_LOAD].sampled, 20);
}

static void test_pairs_a_reader_cannot_tell_apart_are_one(void **state)
{
	struct fixture *fixture = *state;
	const struct cct_node *a = element(fixture, 3, 0), *b = element(fixture, 3, 1);
	const struct cct_node *other = element(fixture, 4, 0);
	const struct profile *profile;

	/* Two subscripts of one line, in all combinations; loads and stores apart; another line
	 * apart. */
	add(fixture, PAIR_LOAD, a, a, VERDICT_REDUNDANT, 300, 1);
	add(fixture, PAIR_LOAD, a, b, VERDICT_REDUNDANT, 300, 2);
	add(fixture, PAIR_LOAD, b, a, VERDICT_NEW, 300, 4);
	add(fixture, PAIR_STORE, a, b, VERDICT_REDUNDANT, 300, 8);
	add(fixture, PAIR_LOAD, a, other, VERDICT_REDUNDANT, 300, 16);
	profile = build(fixture);
	assert_int_equal(profile->pair_count, 3);
	assert_int_equal(profile->pairs[0].redundant, 16);
	assert_int_equal(profile->pairs[0].category, CATEGORY_SLICE_UNDERUTILISATION);
	assert_int_equal(profile->pairs[1].redundant, 8);
	assert_int_equal(profile->pairs[1].kind, PAIR_STORE);
	assert_int_equal(profile->pairs[2].redundant, 3);
	assert_int_equal(profile->pairs[2].sampled, 7);
	assert_int_equal(line_of(profile, 3)->accesses[PAIR_LOAD].sampled, 23);
	assert_null(line_of(profile, 4)); /* a later access is not the line's own sample */
}

/* Bulk calls whose stores all put other values, but which leave in the end what was there. */
static void test_whole_calls_made_again(void **state)
{
	struct fixture *fixture = *state;
	struct cct_node *node = vectorised(fixture);
	struct pair_evidence evidence = { .call_ns = MS / 2, .memory = MEMORY_HEAP, .bytes = 8 };
	const struct profile_line *line;

	cct_node_charge(node, TIME_NATIVE, 1, 1000 * MS);
	for (int i = 0; i < 30; i++)
		assert_int_equal(pair_table_add(fixture->pairs, PAIR_STORE, node, node, VERDICT_NEW,
						&evidence),
				 0);
	line = line_of(build(fixture), 5);
	assert_int_equal(line->avoidable_ns, 0);
	assert_int_equal(line->category, CATEGORY_UNCLEAR);
	evidence.settled = evidence.settled_same = true;
	for (int i = 0; i < 300; i++)
		assert_int_equal(pair_table_add(fixture->pairs, PAIR_STORE, node, node, VERDICT_NEW,
						&evidence),
				 0);
	line = line_of(build(fixture), 5);
	assert_in_range(line->avoidable_ns, 800 * MS, 1000 * MS);
	assert_int_equal(line->accesses[PAIR_STORE].redundant, 0);
	assert_int_equal(line->category, CATEGORY_REPEATED_CALL);
}

static void test_never_reaccessed(void **state)
{
	struct fixture *fixture = *state;
	struct pair_evidence evidence = { .call_ns = 100, .memory = MEMORY_HEAP };
	const struct profile *profile;
	const struct profile_line *line;

	add(fixture, PAIR_STORE, vectorised(fixture), vectorised(fixture), VERDICT_NEW, 100, 1);
	for (int i = 0; i < 3; i++)
		assert_int_equal(pair_table_add_never(fixture->pairs, PAIR_STORE,
						      vectorised(fixture), &evidence),
				 0);
	profile = build(fixture);
	assert_int_equal(profile->pair_count, 0); /* it always found a new value: no finding */
	line = line_of(profile, 5);
	assert_int_equal(line->accesses[PAIR_STORE].sampled, 4);
	assert_int_equal(line->accesses[PAIR_STORE].reaccessed, 1);
	assert_int_equal(line->accesses[PAIR_STORE].redundant, 0);
	assert_int_equal(line->avoidable_ns, 0);
}

/* Two lines equally hot and equally redundant, one of them vectorised. */
static void test_inefficient_line_goes_before_the_vectorised(void **state)
{
	struct fixture *fixture = *state;
	const struct cct_node *slow = element(fixture, 3, 0);
	struct unit_random random = { .state = 8 };
	const struct profile_line *inefficient, *bulk;
	const struct profile *profile;

	cct_node_charge(element(fixture, 3, 0), TIME_NATIVE, 1, 1000 * MS);
	cct_node_charge(vectorised(fixture), TIME_NATIVE, 1, 1100 * MS);
	for (int i = 0; i < 200; i++) {
		enum access_verdict verdict =
			unit_random_below(&random, 10) < 6 ? VERDICT_REDUNDANT : VERDICT_NEW;

		add(fixture, PAIR_LOAD, slow, slow, verdict, unit_random_below(&random, 800) + 1,
		    1);
		add(fixture, PAIR_LOAD, vectorised(fixture), vectorised(fixture), verdict,
		    unit_random_below(&random, MS) + 1, 1);
	}
	profile = build(fixture);
	inefficient = line_of(profile, 3);
	bulk = line_of(profile, 5);
	assert_true(bulk->total_ns > inefficient->total_ns);
	assert_int_equal(bulk->accesses[PAIR_LOAD].redundant,
			 inefficient->accesses[PAIR_LOAD].redundant);
	assert_true(inefficient->avoidable_ns > 50 * MS);
	assert_true(inefficient->avoidable_high_ns > 500 * MS);
	assert_true(bulk->avoidable_ns < inefficient->avoidable_ns / 100);
	assert_ptr_equal(profile->pairs[0].line, inefficient);
	assert_true(inefficient->call_ns < 1000);
	assert_in_range(bulk->call_ns, 750000, 1250000);
}

static void test_collector_is_taken_out(void **state)
{
	struct fixture *fixture = *state;
	const struct cct_node *line = element(fixture, 3, 0);
	const struct cct_node *collector = INSERT(
		fixture, module_frame(fixture), python(fixture->back, 3, subscript(fixture), 0),
		native(fixture, gc_collect_main, 1), native(fixture, vector_kernel, 1));
	/* A finaliser: Python code that the collector runs. */
	const struct cct_node *finaliser =
		INSERT(fixture, module_frame(fixture), native(fixture, gc_collect_main, 1),
		       python(fixture->back, 5, "CALL", 0), native(fixture, vector_kernel, 1));
	const struct profile *profile;

	fixture->facts.losses.counts[LOSS_FILTER_COLLECTOR] = 100;
	add(fixture, PAIR_LOAD, line, line, VERDICT_REDUNDANT, 300, 5);
	add(fixture, PAIR_LOAD, line, collector, VERDICT_REDUNDANT, 300, 3);
	add(fixture, PAIR_LOAD, collector, line, VERDICT_REDUNDANT, 300, 7);
	add(fixture, PAIR_LOAD, finaliser, line, VERDICT_REDUNDANT, 300, 2);
	profile = build(fixture);
	assert_int_equal(profile->facts.losses.counts[LOSS_FILTER_COLLECTOR], 110);
	assert_int_equal(profile->pair_count, 2);
	assert_int_equal(profile->accesses[PAIR_LOAD].sampled, 7);
	assert_int_equal(line_of(profile, 3)->accesses[PAIR_LOAD].sampled, 5);
	assert_int_equal(line_of(profile, 3)->accesses[PAIR_LOAD].redundant, 5);
	assert_int_equal(line_of(profile, 5)->accesses[PAIR_LOAD].sampled, 2);
}

static void test_unknown_native_functions(void **state)
{
	struct fixture *fixture = *state;
	struct frame nowhere = { .kind = FRAME_NATIVE, .native = { .pc = 0x1234 } };
	struct frame elsewhere = { .kind = FRAME_NATIVE, .native = { .pc = 0x5678 } };
	const struct cct_node *a = INSERT(fixture, module_frame(fixture), nowhere);
	const struct cct_node *b = INSERT(fixture, module_frame(fixture), elsewhere);
	const struct cct_node *no_python = INSERT(fixture, nowhere);
	const struct profile *profile;

	add(fixture, PAIR_LOAD, a, a, VERDICT_REDUNDANT, 300, 2);
	add(fixture, PAIR_LOAD, b, b, VERDICT_REDUNDANT, 300, 3);
	add(fixture, PAIR_LOAD, no_python, no_python, VERDICT_REDUNDANT, 300, 1);
	profile = build(fixture);
	assert_int_equal(profile->pair_count, 3);
	for (size_t i = 0; i < 3; i++) {
		const struct profile_pair *pair = &profile->pairs[i];
		const struct profile_frame *leaf = &pair->first[pair->first_count - 1];

		assert_string_equal(leaf->function, "?");
		assert_string_equal(leaf->file, "?");
		assert_int_equal(leaf->address, pair->redundant == 3 ? 0x5678 : 0x1234);
		assert_int_equal(pair->line == NULL, pair->redundant == 1);
	}
	/* Names are a help, not a need. */
	profile_destroy(fixture->profile);
	fixture->profile = profile_build(fixture->cct, fixture->pairs, NULL, &fixture->facts);
	assert_int_equal(fixture->profile->pair_count, 3);
}

static void test_limit_of_pairs(void **state)
{
	struct fixture *fixture = *state;
	const struct cct_node *nodes[70];
	const struct profile *profile;

	for (size_t i = 0; i < 70; i++) {
		struct frame frame = { .kind = FRAME_NATIVE, .native = { .pc = 0x1000 + i } };

		nodes[i] = INSERT(fixture, module_frame(fixture), frame);
	}
	for (size_t i = 0; i < 70; i++)
		for (size_t k = 0; k < 70; k++)
			add(fixture, PAIR_LOAD, nodes[i], nodes[k], VERDICT_REDUNDANT, 100,
			    i == 69 ? 2 : 1);
	profile = build(fixture);
	assert_int_equal(profile->pair_count, PAIRS);
	assert_int_equal(profile->pairs_omitted, 4900 - PAIRS);
	assert_int_equal(profile->pairs[0].redundant, 2); /* those that say most are kept */
	assert_int_equal(line_of(profile, 8)->accesses[PAIR_LOAD].redundant, 4900 + 70);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_pair),
		TEST(test_pairs_a_reader_cannot_tell_apart_are_one),
		TEST(test_whole_calls_made_again),
		TEST(test_never_reaccessed),
		TEST(test_inefficient_line_goes_before_the_vectorised),
		TEST(test_collector_is_taken_out),
		TEST(test_unknown_native_functions),
		TEST(test_limit_of_pairs),
	};

	return cmocka_run_group_tests(tests, group_set_up, group_tear_down);
}
