/* SPDX-License-Identifier: Apache-2.0 */
/* Copies of the tree and the pairs, made while both grow. */
#include "daemon/session/snapshot.h"
#include "unit_random.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define CODES 64
#define LIMIT 100000

static const struct python_code codes[CODES];

struct fixture {
	struct cct *cct;
	struct pair_table *pairs;
	struct snapshot snapshot;
	struct unit_random random;
};

static int set_up(void **state)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));

	assert_non_null(fixture);
	fixture->cct = cct_create(LIMIT);
	fixture->pairs = pair_table_create(LIMIT);
	assert_non_null(fixture->cct);
	assert_non_null(fixture->pairs);
	assert_int_equal(snapshot_init(&fixture->snapshot, LIMIT, LIMIT), 0);
	fixture->random.state = 7;
	*state = fixture;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *fixture = *state;

	snapshot_deinit(&fixture->snapshot);
	pair_table_destroy(fixture->pairs);
	cct_destroy(fixture->cct);
	free(fixture);
	return 0;
}

static struct cct_node *random_node(struct fixture *fixture)
{
	struct frame frames[12];
	size_t count = 1 + unit_random_next(&fixture->random) % 12;

	for (size_t i = 0; i < count; i++)
		frames[i] = (struct frame){
			.kind = FRAME_PYTHON,
			.flags = unit_random_next(&fixture->random) % 2 ? FRAME_GUESSED : 0,
			.python.code = &codes[unit_random_next(&fixture->random) % CODES],
		};
	return cct_insert(fixture->cct, frames, count);
}

/* What sampling does: charges, and the ends of watches. */
static void sample(struct fixture *fixture, unsigned samples)
{
	for (unsigned i = 0; i < samples; i++) {
		struct cct_node *first = random_node(fixture), *second = random_node(fixture);
		struct pair_evidence evidence = {
			.call_ns = unit_random_next(&fixture->random) % 3 ? 1000 + i : 0,
			.memory = (enum memory_class)(unit_random_next(&fixture->random) %
						      MEMORY_CLASS_COUNT),
			.bytes = 8,
		};
		enum pair_kind kind =
			(enum pair_kind)(unit_random_next(&fixture->random) % PAIR_KIND_COUNT);

		assert_non_null(first);
		assert_non_null(second);
		cct_node_charge(first, i % TIME_CLASS_COUNT, 1, 1000 + i);
		if (unit_random_next(&fixture->random) % 4 == 0)
			assert_int_equal(
				pair_table_add_never(fixture->pairs, kind, first, &evidence), 0);
		else
			assert_int_equal(pair_table_add(fixture->pairs, kind, first, second,
							(enum access_verdict)(i % VERDICT_COUNT),
							&evidence),
					 0);
		/* Some paths again and again: their durations fill the store. */
		while (i % 97 == 0 && unit_random_next(&fixture->random) % 64)
			assert_int_equal(
				pair_table_add_never(fixture->pairs, kind, first, &evidence), 0);
	}
}

static unsigned take(struct fixture *fixture, unsigned meanwhile)
{
	unsigned steps = 1;
	int result;

	while ((result = snapshot_step(&fixture->snapshot, fixture->cct, fixture->pairs)) ==
	       -EAGAIN) {
		sample(fixture, meanwhile);
		steps++;
	}
	assert_int_equal(result, 0);
	return steps;
}

static void check_same_node(const struct fixture *fixture, const struct cct_node *copy,
			    const struct cct_node *original)
{
	assert_ptr_equal(copy, cct_node(fixture->snapshot.cct, original->id));
	assert_ptr_not_equal(copy, original);
}

static void check_tree(const struct fixture *fixture)
{
	size_t count = cct_node_count(fixture->cct);

	assert_int_equal(cct_node_count(fixture->snapshot.cct), count);
	for (uint32_t id = 0; id < count; id++) {
		const struct cct_node *original = cct_node(fixture->cct, id);
		const struct cct_node *copy = cct_node(fixture->snapshot.cct, id);

		assert_int_equal(copy->id, id);
		assert_int_equal(copy->depth, original->depth);
		assert_int_equal(copy->frame.flags, original->frame.flags);
		if (original->parent) {
			check_same_node(fixture, copy->parent, original->parent);
			assert_true(frame_equal(&copy->frame, &original->frame));
		}
		if (original->first_child)
			check_same_node(fixture, copy->first_child, original->first_child);
		if (original->next_sibling)
			check_same_node(fixture, copy->next_sibling, original->next_sibling);
		assert_memory_equal(copy->samples, original->samples, sizeof(copy->samples));
		assert_memory_equal(copy->time_ns, original->time_ns, sizeof(copy->time_ns));
	}
}

static void check_pairs(const struct fixture *fixture)
{
	size_t pairs = pair_table_pair_count(fixture->pairs);
	size_t origins = pair_table_origin_count(fixture->pairs);

	assert_int_equal(pair_table_pair_count(fixture->snapshot.pairs), pairs);
	assert_int_equal(pair_table_origin_count(fixture->snapshot.pairs), origins);
	for (size_t i = 0; i < pairs; i++) {
		const struct pair *original = pair_table_pair(fixture->pairs, i);
		const struct pair *copy = pair_table_pair(fixture->snapshot.pairs, i);

		check_same_node(fixture, copy->first, original->first);
		check_same_node(fixture, copy->second, original->second);
		assert_int_equal(copy->kind, original->kind);
		assert_memory_equal(copy->verdicts, original->verdicts, sizeof(copy->verdicts));
		assert_int_equal(copy->bytes, original->bytes);
	}
	for (size_t i = 0; i < origins; i++) {
		const struct pair_origin *original = pair_table_origin(fixture->pairs, i);
		const struct pair_origin *copy = pair_table_origin(fixture->snapshot.pairs, i);

		check_same_node(fixture, copy->node, original->node);
		assert_int_equal(copy->sampled, original->sampled);
		assert_int_equal(copy->never, original->never);
		assert_int_equal(copy->call_count, original->call_count);
		assert_int_equal(copy->call_ns_kept, original->call_ns_kept);
		if (copy->call_ns_kept) {
			assert_ptr_not_equal(copy->call_ns, original->call_ns);
			assert_memory_equal(copy->call_ns, original->call_ns,
					    copy->call_ns_kept * sizeof(copy->call_ns[0]));
		}
	}
}

static void test_copies_of_nothing(void **state)
{
	struct fixture *fixture = *state;

	take(fixture, 0);
	check_tree(fixture);
	check_pairs(fixture);
}

/* Each later copy has what is new and what has changed. */
static void test_copies_are_equal(void **state)
{
	struct fixture *fixture = *state;

	for (unsigned round = 0; round < 6; round++) {
		sample(fixture, 500);
		/* More than one step a stage: the tree is larger than a slice. */
		assert_true(take(fixture, 0) > 3);
		check_tree(fixture);
		check_pairs(fixture);
	}
}

static uint64_t sum(const uint64_t verdicts[VERDICT_COUNT])
{
	uint64_t total = 0;

	for (size_t i = 0; i < VERDICT_COUNT; i++)
		total += verdicts[i];
	return total;
}

/* While it grows: every pair's ends are there, and no pair counts what its origin does not. */
static void check_consistent(const struct fixture *fixture)
{
	const struct pair_table *pairs = fixture->snapshot.pairs;
	const struct cct *cct = fixture->snapshot.cct;
	uint64_t *of_pairs[PAIR_KIND_COUNT], *of_origins[PAIR_KIND_COUNT];
	size_t nodes = cct_node_count(cct);

	for (size_t kind = 0; kind < PAIR_KIND_COUNT; kind++) {
		of_pairs[kind] = calloc(nodes, sizeof(uint64_t));
		of_origins[kind] = calloc(nodes, sizeof(uint64_t));
		assert_non_null(of_pairs[kind]);
		assert_non_null(of_origins[kind]);
	}
	for (size_t i = 0; i < pair_table_pair_count(pairs); i++) {
		const struct pair *pair = pair_table_pair(pairs, i);

		assert_ptr_equal(pair->first, cct_node(cct, pair->first->id));
		assert_ptr_equal(pair->second, cct_node(cct, pair->second->id));
		of_pairs[pair->kind][pair->first->id] += sum(pair->verdicts);
	}
	for (size_t i = 0; i < pair_table_origin_count(pairs); i++) {
		const struct pair_origin *origin = pair_table_origin(pairs, i);

		assert_ptr_equal(origin->node, cct_node(cct, origin->node->id));
		assert_true(origin->sampled >= sum(origin->verdicts));
		of_origins[origin->kind][origin->node->id] = sum(origin->verdicts);
	}
	for (size_t kind = 0; kind < PAIR_KIND_COUNT; kind++) {
		for (size_t id = 0; id < nodes; id++)
			assert_true(of_pairs[kind][id] <= of_origins[kind][id]);
		free(of_pairs[kind]);
		free(of_origins[kind]);
	}
}

static void test_copies_while_sampling_goes_on(void **state)
{
	struct fixture *fixture = *state;

	for (unsigned round = 0; round < 6; round++) {
		take(fixture, 3);
		check_consistent(fixture);
		sample(fixture, 300);
	}
	/* And what was missed is in the next one. */
	take(fixture, 0);
	check_tree(fixture);
	check_pairs(fixture);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_copies_of_nothing, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_copies_are_equal, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_copies_while_sampling_goes_on, set_up,
						tear_down),
	};

	return cmocka_run_group_tests_name("daemon_snapshot", tests, NULL, NULL);
}
