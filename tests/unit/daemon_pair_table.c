/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/cct/pair_table.h"
#include "daemon/session/session_parts.h"
#include "unit_random.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#define NODES 40

static const struct python_code codes[NODES];

struct fixture {
	struct cct *cct;
	const struct cct_node *nodes[NODES];
};

static int set_up(void **state)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));

	fixture->cct = cct_create(NODES + 1);
	for (size_t i = 0; i < NODES; i++) {
		struct frame frame = { .kind = FRAME_PYTHON, .python.code = &codes[i] };

		fixture->nodes[i] = cct_insert(fixture->cct, &frame, 1);
	}
	*state = fixture;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *fixture = *state;

	cct_destroy(fixture->cct);
	free(fixture);
	return 0;
}

static void test_counts(void **state)
{
	const struct fixture *fixture = *state;
	const struct cct_node *a = fixture->nodes[0], *b = fixture->nodes[1];
	struct pair_table *table = pair_table_create(10);
	struct pair_evidence evidence = { .call_ns = 100,
					  .distance_ns = 7,
					  .memory = MEMORY_OBJECT,
					  .same_instruction = true,
					  .bytes = 8 };
	const struct pair_origin *origin;
	const struct pair *pair;

	assert_int_equal(pair_table_add(table, PAIR_LOAD, a, b, VERDICT_REDUNDANT, &evidence), 0);
	evidence = (struct pair_evidence){ .distance_ns = 5, .memory = MEMORY_HEAP, .bytes = 4 };
	assert_int_equal(pair_table_add(table, PAIR_LOAD, a, b, VERDICT_NEW, &evidence), 0);
	evidence.call_ns = 300;
	assert_int_equal(pair_table_add(table, PAIR_LOAD, a, b, VERDICT_APPROXIMATE, &evidence), 0);
	assert_int_equal(pair_table_add_never(table, PAIR_LOAD, a, &evidence), 0);

	assert_int_equal(pair_table_pair_count(table), 1);
	pair = pair_table_pair(table, 0);
	assert_ptr_equal(pair->first, a);
	assert_ptr_equal(pair->second, b);
	assert_int_equal(pair->verdicts[VERDICT_REDUNDANT], 1);
	assert_int_equal(pair->verdicts[VERDICT_NEW], 1);
	assert_int_equal(pair->verdicts[VERDICT_APPROXIMATE], 1);
	assert_int_equal(pair->same_instruction, 1);
	assert_int_equal(pair->distance_ns_sum, 17);
	assert_int_equal(pair->bytes, 8); /* of the redundant one alone */

	assert_int_equal(pair_table_origin_count(table), 1);
	origin = pair_table_origin(table, 0);
	assert_ptr_equal(origin->node, a);
	assert_int_equal(origin->sampled, 4);
	assert_int_equal(origin->never, 1);
	assert_int_equal(origin->verdicts[VERDICT_REDUNDANT], 1);
	assert_int_equal(origin->by_memory[MEMORY_OBJECT], 1);
	assert_int_equal(origin->by_memory[MEMORY_HEAP], 3);
	assert_int_equal(origin->redundant_by_memory[MEMORY_OBJECT], 1);
	assert_int_equal(origin->redundant_by_memory[MEMORY_HEAP], 1);
	/* One of the four has no known duration. */
	assert_int_equal(origin->call_count, 3);
	assert_int_equal(origin->call_ns_sum, 700);
	assert_int_equal(origin->call_ns_kept, 3);
	assert_int_equal(origin->call_ns[0], 100);
	assert_int_equal(origin->call_ns[2], 300);
	assert_null(pair_table_pair(table, 1));
	assert_null(pair_table_origin(table, 1));
	/* What a call leaves in the end is looked at only after a new value. */
	assert_int_equal(pair->settled, 0);
	evidence.settled = true;
	assert_int_equal(pair_table_add(table, PAIR_LOAD, a, b, VERDICT_NEW, &evidence), 0);
	evidence.settled_same = true;
	assert_int_equal(pair_table_add(table, PAIR_LOAD, a, b, VERDICT_NEW, &evidence), 0);
	assert_int_equal(pair_table_add(table, PAIR_LOAD, a, b, VERDICT_REDUNDANT, &evidence), 0);
	pair = pair_table_pair(table, 0);
	assert_int_equal(pair->settled, 2);
	assert_int_equal(pair->settled_same, 1);
	assert_int_equal(pair->verdicts[VERDICT_NEW], 3);
	pair_table_destroy(table);
	pair_table_destroy(NULL);
}

static void test_kinds_and_directions_are_apart(void **state)
{
	const struct fixture *fixture = *state;
	const struct cct_node *a = fixture->nodes[0], *b = fixture->nodes[1];
	struct pair_table *table = pair_table_create(10);
	struct pair_evidence evidence = { 0 };

	assert_int_equal(pair_table_add(table, PAIR_LOAD, a, b, VERDICT_NEW, &evidence), 0);
	assert_int_equal(pair_table_add(table, PAIR_LOAD, b, a, VERDICT_NEW, &evidence), 0);
	assert_int_equal(pair_table_add(table, PAIR_STORE, a, b, VERDICT_NEW, &evidence), 0);
	assert_int_equal(pair_table_add(table, PAIR_STORE, a, a, VERDICT_NEW, &evidence), 0);
	assert_int_equal(pair_table_pair_count(table), 4);
	assert_int_equal(pair_table_origin_count(table), 3);
	assert_int_equal(pair_table_pair(table, 2)->kind, PAIR_STORE);
	pair_table_destroy(table);
}

static void test_limit_changes_nothing(void **state)
{
	const struct fixture *fixture = *state;
	struct pair_table *table = pair_table_create(2);
	struct pair_evidence evidence = { 0 };
	const struct cct_node *const *nodes = fixture->nodes;

	assert_int_equal(
		pair_table_add(table, PAIR_LOAD, nodes[0], nodes[1], VERDICT_NEW, &evidence), 0);
	assert_int_equal(
		pair_table_add(table, PAIR_LOAD, nodes[0], nodes[2], VERDICT_NEW, &evidence), 0);
	assert_int_equal(
		pair_table_add(table, PAIR_LOAD, nodes[0], nodes[3], VERDICT_NEW, &evidence),
		-ENOSPC);
	assert_int_equal(
		pair_table_add(table, PAIR_LOAD, nodes[5], nodes[3], VERDICT_NEW, &evidence),
		-ENOSPC);
	assert_int_equal(pair_table_origin_count(table), 1);
	assert_int_equal(pair_table_origin(table, 0)->sampled, 2);
	/* What is known goes on counting; there is room for one more origin. */
	assert_int_equal(
		pair_table_add(table, PAIR_LOAD, nodes[0], nodes[1], VERDICT_NEW, &evidence), 0);
	assert_int_equal(pair_table_add_never(table, PAIR_LOAD, nodes[7], &evidence), 0);
	assert_int_equal(pair_table_add_never(table, PAIR_LOAD, nodes[8], &evidence), -ENOSPC);
	assert_int_equal(pair_table_origin(table, 0)->sampled, 3);
	pair_table_destroy(table);
}

static int by_value(const void *left, const void *right)
{
	const uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;

	return a < b ? -1 : a > b;
}

/* Durations 1 to n in order: the kept ones must be spread over all of them. */
static void test_kept_durations_are_a_fair_choice(void **state)
{
	const struct fixture *fixture = *state;
	struct pair_table *table = pair_table_create(10);
	const struct pair_origin *origin;
	const uint64_t n = 100000;
	uint64_t sorted[PAIR_ORIGIN_CALLS_MAX];

	for (uint64_t i = 1; i <= n; i++) {
		struct pair_evidence evidence = { .call_ns = i };

		assert_int_equal(
			pair_table_add_never(table, PAIR_STORE, fixture->nodes[0], &evidence), 0);
	}
	origin = pair_table_origin(table, 0);
	assert_int_equal(origin->call_count, n);
	assert_int_equal(origin->call_ns_sum, n * (n + 1) / 2);
	assert_int_equal(origin->call_ns_kept, PAIR_ORIGIN_CALLS_MAX);
	for (size_t i = 0; i < PAIR_ORIGIN_CALLS_MAX; i++)
		sorted[i] = origin->call_ns[i];
	qsort(sorted, PAIR_ORIGIN_CALLS_MAX, sizeof(sorted[0]), by_value);
	for (size_t i = 1; i < PAIR_ORIGIN_CALLS_MAX; i++)
		assert_true(sorted[i] > sorted[i - 1]);
	/* Quartiles within 10 points, more than four standard deviations of 512 values. */
	assert_in_range(sorted[PAIR_ORIGIN_CALLS_MAX / 4], n * 15 / 100, n * 35 / 100);
	assert_in_range(sorted[PAIR_ORIGIN_CALLS_MAX / 2], n * 40 / 100, n * 60 / 100);
	assert_in_range(sorted[PAIR_ORIGIN_CALLS_MAX * 3 / 4], n * 65 / 100, n * 85 / 100);
	pair_table_destroy(table);
}

/* Against plain arrays. */
static void test_random_additions(void **state)
{
	const struct fixture *fixture = *state;
	struct unit_random random = { .state = 7 };
	struct pair_table *table = pair_table_create(100000);
	static uint64_t pairs[PAIR_KIND_COUNT][NODES][NODES][VERDICT_COUNT];
	static uint64_t never[PAIR_KIND_COUNT][NODES];
	uint64_t seen = 0;

	for (int i = 0; i < 50000; i++) {
		enum pair_kind kind = (enum pair_kind)unit_random_below(&random, PAIR_KIND_COUNT);
		enum access_verdict verdict =
			(enum access_verdict)unit_random_below(&random, VERDICT_COUNT);
		size_t a = unit_random_below(&random, NODES), b = unit_random_below(&random, NODES);
		struct pair_evidence evidence = { .memory = (enum memory_class)unit_random_below(
							  &random, MEMORY_CLASS_COUNT) };

		if (unit_random_below(&random, 4)) {
			assert_int_equal(pair_table_add(table, kind, fixture->nodes[a],
							fixture->nodes[b], verdict, &evidence),
					 0);
			pairs[kind][a][b][verdict]++;
		} else {
			assert_int_equal(
				pair_table_add_never(table, kind, fixture->nodes[a], &evidence), 0);
			never[kind][a]++;
		}
	}
	for (size_t i = 0; i < pair_table_pair_count(table); i++) {
		const struct pair *pair = pair_table_pair(table, i);

		/* Node i has id i + 1. */
		for (size_t v = 0; v < VERDICT_COUNT; v++) {
			assert_int_equal(
				pair->verdicts[v],
				pairs[pair->kind][pair->first->id - 1][pair->second->id - 1][v]);
			seen += pair->verdicts[v];
		}
	}
	for (size_t i = 0; i < pair_table_origin_count(table); i++) {
		const struct pair_origin *origin = pair_table_origin(table, i);
		uint64_t memory = 0, verdicts = 0;

		assert_int_equal(origin->never, never[origin->kind][origin->node->id - 1]);
		seen += origin->never;
		for (size_t c = 0; c < MEMORY_CLASS_COUNT; c++)
			memory += origin->by_memory[c];
		for (size_t v = 0; v < VERDICT_COUNT; v++)
			verdicts += origin->verdicts[v];
		assert_int_equal(memory, origin->sampled);
		assert_int_equal(verdicts + origin->never, origin->sampled);
	}
	assert_int_equal(seen, 50000);
	pair_table_destroy(table);
}

/* As many as a session has, by docs/SECURITY.md. */
static void test_limit_of_a_session(void **state)
{
	struct session session = { .options = { .pair_limit = 0 } };
	struct pair_table *table = pair_table_create(session_pair_limit(&session));
	struct cct *cct = cct_create(1000);
	const size_t most = 100000, side = 400;
	const struct cct_node *nodes[400];
	struct pair_evidence evidence = { 0 };

	(void)state;
	for (size_t i = 0; i < side; i++) {
		struct frame frame = { .kind = FRAME_PYTHON,
				       .python = { .code = &codes[0],
						   .instruction_offset = (int)i } };

		nodes[i] = cct_insert(cct, &frame, 1);
	}
	for (size_t i = 0; i < side * side; i++)
		assert_int_equal(pair_table_add(table, PAIR_LOAD, nodes[i / side], nodes[i % side],
						VERDICT_NEW, &evidence),
				 i < most ? 0 : -ENOSPC);
	/* What is known goes on counting. */
	assert_int_equal(
		pair_table_add(table, PAIR_LOAD, nodes[0], nodes[0], VERDICT_NEW, &evidence), 0);
	pair_table_destroy(table);
	cct_destroy(cct);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_counts),
		cmocka_unit_test(test_kinds_and_directions_are_apart),
		cmocka_unit_test(test_limit_changes_nothing),
		cmocka_unit_test(test_limit_of_a_session),
		cmocka_unit_test(test_kept_durations_are_a_fair_choice),
		cmocka_unit_test(test_random_additions),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
