/* SPDX-License-Identifier: Apache-2.0 */
/* A window is what came between two snapshots, whatever came before, and however many look. */
#include "daemon/sample/stop_times.h"
#include "daemon/session/snapshot_mark.h"
#include "unit_random.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define CODES   16
#define LIMIT   100000
#define WINDOWS 3

static const struct python_code codes[CODES];

struct fixture {
	struct cct *cct, *since; /* all of it; what came since a moment, in a tree of its own */
	struct pair_table *pairs, *pairs_since;
	struct snapshot snapshot;
	struct unit_random random;
};

static int set_up(void **state)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));

	assert_non_null(fixture);
	fixture->cct = cct_create(LIMIT);
	fixture->pairs = pair_table_create(LIMIT);
	assert_int_equal(snapshot_init(&fixture->snapshot, LIMIT, LIMIT), 0);
	fixture->random.state = 11;
	*state = fixture;
	return 0;
}

static void begin_since(struct fixture *fixture)
{
	if (fixture->since) {
		cct_destroy(fixture->since);
		pair_table_destroy(fixture->pairs_since);
	}
	fixture->since = cct_create(LIMIT);
	fixture->pairs_since = pair_table_create(LIMIT);
	assert_non_null(fixture->since);
	assert_non_null(fixture->pairs_since);
}

static int tear_down(void **state)
{
	struct fixture *fixture = *state;

	snapshot_deinit(&fixture->snapshot);
	pair_table_destroy(fixture->pairs);
	cct_destroy(fixture->cct);
	if (fixture->since) {
		cct_destroy(fixture->since);
		pair_table_destroy(fixture->pairs_since);
	}
	free(fixture);
	return 0;
}

static size_t random_path(struct fixture *fixture, struct frame frames[6])
{
	size_t count = 1 + unit_random_next(&fixture->random) % 6;

	for (size_t i = 0; i < count; i++)
		frames[i] = (struct frame){
			.kind = FRAME_PYTHON,
			.python.code = &codes[unit_random_next(&fixture->random) % CODES],
		};
	return count;
}

static void charge(struct cct_node *node, const struct pair_evidence *evidence)
{
	assert_non_null(node);
	cct_node_charge(node, TIME_NATIVE, 1, evidence->call_ns + 1);
	node->side.waiting_ns[WAIT_IO] += 7;
}

static void add_pair(struct pair_table *pairs, const struct cct_node *first,
		     const struct cct_node *second, enum access_verdict verdict,
		     const struct pair_evidence *evidence)
{
	if (verdict == VERDICT_COUNT)
		assert_int_equal(pair_table_add_never(pairs, PAIR_LOAD, first, evidence), 0);
	else
		assert_int_equal(pair_table_add(pairs, PAIR_LOAD, first, second, verdict, evidence),
				 0);
}

/* Into all of it, and into what came since. */
static void sample(struct fixture *fixture, unsigned samples)
{
	for (unsigned i = 0; i < samples; i++) {
		struct frame first[6], second[6];
		size_t first_count = random_path(fixture, first);
		size_t second_count = random_path(fixture, second);
		enum access_verdict verdict = (enum access_verdict)(
			unit_random_next(&fixture->random) % (VERDICT_COUNT + 1));
		struct pair_evidence evidence = {
			.call_ns = unit_random_next(&fixture->random) % 3 ? 1000 + i : 0,
			.distance_ns = 5,
			.memory = MEMORY_HEAP,
			.bytes = 8,
		};

		charge(cct_insert(fixture->cct, first, first_count), &evidence);
		add_pair(fixture->pairs, cct_insert(fixture->cct, first, first_count),
			 cct_insert(fixture->cct, second, second_count), verdict, &evidence);
		if (!fixture->since)
			continue;
		charge(cct_insert(fixture->since, first, first_count), &evidence);
		add_pair(fixture->pairs_since, cct_insert(fixture->since, first, first_count),
			 cct_insert(fixture->since, second, second_count), verdict, &evidence);
	}
}

static void take(struct fixture *fixture, unsigned meanwhile)
{
	int result;

	while ((result = snapshot_step(&fixture->snapshot, fixture->cct, fixture->pairs)) ==
	       -EAGAIN)
		sample(fixture, meanwhile);
	assert_int_equal(result, 0);
}

/* The path of a node of the window, in the tree of what came since; NULL: nothing did. */
static const struct cct_node *same_path(struct fixture *fixture, const struct cct_node *node)
{
	struct frame frames[6];
	size_t depth = node->depth, before = cct_node_count(fixture->since);
	const struct cct_node *found;

	for (; node->parent; node = node->parent)
		frames[node->depth - 1] = node->frame;
	found = cct_insert(fixture->since, frames, depth);
	return found->id < before ? found : NULL;
}

static void check_nodes(struct fixture *fixture)
{
	static const struct cct_node nothing;

	for (uint32_t id = 1; id < cct_node_count(fixture->snapshot.cct); id++) {
		const struct cct_node *node = cct_node(fixture->snapshot.cct, id);
		const struct cct_node *expected = same_path(fixture, node);

		if (!expected)
			expected = &nothing;
		assert_memory_equal(node->samples, expected->samples, sizeof(node->samples));
		assert_memory_equal(node->time_ns, expected->time_ns, sizeof(node->time_ns));
		assert_memory_equal(&node->side, &expected->side, sizeof(node->side));
	}
}

static uint64_t pair_sum(const struct pair_table *table, uint64_t *ret_bytes)
{
	uint64_t sum = 0;

	*ret_bytes = 0;
	for (size_t i = 0; i < pair_table_pair_count(table); i++) {
		const struct pair *pair = pair_table_pair(table, i);

		for (size_t v = 0; v < VERDICT_COUNT; v++)
			sum += (v + 1) * pair->verdicts[v];
		sum += 1000 * pair->distance_ns_sum;
		*ret_bytes += pair->bytes;
	}
	return sum;
}

static uint64_t origin_sum(const struct pair_table *table)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < pair_table_origin_count(table); i++) {
		const struct pair_origin *origin = pair_table_origin(table, i);

		sum += origin->sampled + 1000 * origin->never +
		       1000000 * origin->by_memory[MEMORY_HEAP] + 100000000 * origin->call_count +
		       origin->call_ns_sum;
	}
	return sum;
}

/* What the profile takes for granted: no pair has more than its origin. */
static void check_origins(const struct pair_table *table)
{
	for (size_t i = 0; i < pair_table_origin_count(table); i++) {
		const struct pair_origin *origin = pair_table_origin(table, i);
		uint64_t verdicts[VERDICT_COUNT] = { 0 }, sum = origin->never;

		for (size_t k = 0; k < pair_table_pair_count(table); k++) {
			const struct pair *pair = pair_table_pair(table, k);

			for (size_t v = 0; v < VERDICT_COUNT && pair->first == origin->node; v++)
				verdicts[v] += pair->verdicts[v];
		}
		for (size_t v = 0; v < VERDICT_COUNT; v++)
			sum += verdicts[v];
		assert_memory_equal(origin->verdicts, verdicts, sizeof(verdicts));
		assert_int_equal(origin->sampled, sum);
		assert_true(origin->call_count || !origin->call_ns_kept);
	}
}

/* One window after another, each behind more of a past. */
static void test_windows_are_what_came_between(void **state)
{
	struct fixture *fixture = *state;

	for (unsigned window = 0; window < WINDOWS; window++) {
		struct snapshot_mark mark;
		uint64_t bytes, expected;

		sample(fixture, 300);
		take(fixture, 0);
		assert_int_equal(snapshot_mark_take(&fixture->snapshot, &mark), 0);
		begin_since(fixture);
		sample(fixture, 500 * (1 + window));
		take(fixture, 0);
		assert_int_equal(snapshot_subtract(&fixture->snapshot, &mark), 0);
		check_nodes(fixture);
		assert_int_equal(pair_sum(fixture->snapshot.pairs, &bytes),
				 pair_sum(fixture->pairs_since, &expected));
		assert_int_equal(bytes, expected);
		assert_int_equal(origin_sum(fixture->snapshot.pairs),
				 origin_sum(fixture->pairs_since));
		check_origins(fixture->snapshot.pairs);
		snapshot_mark_deinit(&mark);
	}
}

/* Samples that come while either snapshot is made are in one part of it and not in another. */
static void test_torn_snapshots_keep_what_is_taken_for_granted(void **state)
{
	struct fixture *fixture = *state;
	struct snapshot_mark marks[WINDOWS];

	for (unsigned i = 0; i < WINDOWS; i++) {
		sample(fixture, 400);
		take(fixture, 5);
		assert_int_equal(snapshot_mark_take(&fixture->snapshot, &marks[i]), 0);
	}
	sample(fixture, 100);
	for (unsigned i = 0; i < WINDOWS; i++) {
		take(fixture, 5);
		assert_int_equal(snapshot_subtract(&fixture->snapshot, &marks[i]), 0);
		check_origins(fixture->snapshot.pairs);
		for (uint32_t id = 1; id < cct_node_count(fixture->snapshot.cct); id++)
			assert_true(cct_node(fixture->snapshot.cct, id)->samples[TIME_NATIVE] <
				    LIMIT);
		snapshot_mark_deinit(&marks[i]);
	}
	/* A snapshot after a subtraction is whole again. */
	take(fixture, 0);
	for (uint32_t id = 0; id < cct_node_count(fixture->cct); id++)
		assert_memory_equal(cct_node(fixture->snapshot.cct, id)->time_ns,
				    cct_node(fixture->cct, id)->time_ns,
				    sizeof(cct_node(fixture->cct, id)->time_ns));
	assert_int_equal(origin_sum(fixture->snapshot.pairs), origin_sum(fixture->pairs));
	for (size_t i = 0; i < pair_table_origin_count(fixture->pairs); i++) {
		const struct pair_origin *copy = pair_table_origin(fixture->snapshot.pairs, i);
		const struct pair_origin *origin = pair_table_origin(fixture->pairs, i);

		assert_int_equal(copy->call_ns_kept, origin->call_ns_kept);
		if (copy->call_ns_kept)
			assert_memory_equal(copy->call_ns, origin->call_ns,
					    copy->call_ns_kept * sizeof(copy->call_ns[0]));
	}
}

static void test_histograms_are_subtracted(void **state)
{
	static struct stop_histogram before, now, both;

	(void)state;
	for (uint64_t ns = 1; ns < 1000000; ns += 777)
		stop_histogram_add(&before, ns);
	now = before;
	for (uint64_t ns = 50000; ns < 60000; ns += 10)
		stop_histogram_add(&now, ns);
	assert_int_equal(stop_histogram_count_to(&now, UINT64_MAX), now.count);
	stop_histogram_subtract(&now, &before);
	assert_int_equal(now.count, 1000);
	assert_int_equal(stop_histogram_count_to(&now, 40000), 0);
	assert_int_equal(stop_histogram_count_to(&now, 100000), 1000);
	assert_in_range(now.max_ns, 59990, 66000);
	assert_in_range(stop_histogram_quantile(&now, 0.5), 50000, 60000);
	stop_histogram_merge(&both, &now);
	stop_histogram_merge(&both, &before);
	assert_int_equal(both.count, now.count + before.count);
	assert_int_equal(both.max_ns, before.max_ns);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_windows_are_what_came_between, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(test_torn_snapshots_keep_what_is_taken_for_granted,
						set_up, tear_down),
		cmocka_unit_test(test_histograms_are_subtracted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
