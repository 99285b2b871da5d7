/* SPDX-License-Identifier: Apache-2.0 */
/* What looks at a heap have in common, and what their growth means. */
#include "common/clock.h"
#include "daemon/heap/heap_verdict.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define MB           1000000ull
#define CACHE        0x7f0000001000ull
#define DICT         0x955000ull
#define LOOK_NS      NS_PER_SECOND
#define TYPE_DICT    3
#define TYPE_ORDER   4
#define ENTRY_BYTES  500ull
#define STEADY_LOOKS 12

/* A heap with one dict, which has so many orders in it. */
struct state {
	uint64_t second, entries;
	uint64_t garbage, native, free;
};

static struct heap_look *look_of(const struct state *state)
{
	struct heap_look *look = calloc(1, sizeof(*look));
	struct heap_snapshot *snapshot = &look->snapshot;
	struct heap_paths *paths = &snapshot->paths;
	uint64_t held = state->entries * ENTRY_BYTES;
	uint32_t root, item;

	look->time_ns = (1000 + state->second) * LOOK_NS;
	snapshot->type_names = calloc(5, sizeof(*snapshot->type_names));
	snapshot->type_name_count = 5;
	strcpy(snapshot->type_names[TYPE_DICT], "dict");
	strcpy(snapshot->type_names[TYPE_ORDER], "app.Order");
	assert_int_equal(heap_paths_init(paths), 0);
	/* Numbers of paths differ from look to look. */
	if (state->second % 2)
		(void)heap_paths_child(paths, 0, heap_paths_string(paths, "sys.path"), 0);
	root = heap_paths_child(paths, 0, heap_paths_string(paths, "app.cache"), TYPE_DICT);
	item = heap_paths_child(paths, root, heap_paths_string(paths, "{*}"), TYPE_ORDER);
	paths->items[root].count = 1;
	paths->items[item].count = state->entries;
	snapshot->held_bytes = calloc(paths->count, sizeof(uint64_t));
	snapshot->held_counts = calloc(paths->count, sizeof(uint64_t));
	snapshot->held_bytes[item] = held;
	snapshot->held_bytes[root] = held + 1000;
	snapshot->types = calloc(1, sizeof(*snapshot->types));
	snapshot->type_count = 1;
	snapshot->types[0] = (struct heap_type_count){
		.address = 0x1000, .name = "app.Order", .count = state->entries, .bytes = held
	};
	snapshot->containers.items = calloc(1, sizeof(*snapshot->containers.items));
	snapshot->containers.count = 1;
	snapshot->containers.items[0] = (struct heap_container){
		.address = CACHE,
		.type = DICT,
		.length_at = CACHE + 16,
		.length = state->entries,
		.path = root,
		.type_number = TYPE_DICT,
	};
	snapshot->regions = (struct heap_regions){
		.objects_bytes = 20 * MB + held + state->garbage,
		.malloc_unheld_bytes = state->native,
		.free_bytes = state->free,
	};
	snapshot->regions.rss_bytes =
		snapshot->regions.objects_bytes + state->native + state->free + 5 * MB;
	snapshot->quality.unheld_reached_bytes = state->garbage;
	return look;
}

struct outcome {
	struct heap_verdict verdict;
	struct heap_grower first; /* container HEAP_NODE_NONE: none grows */
	size_t growers;
	char path[64]; /* that grew most */
};

/* As the command does it: what is told is of the last look. */
static struct outcome outcome_of(struct state (*state_at)(uint64_t second), uint64_t looks)
{
	struct outcome outcome = { .first = { .container = HEAP_NODE_NONE } };
	struct heap_growth growth;
	struct heap_grower *growers = NULL;
	struct heap_growing_path *paths = NULL;
	size_t path_count = 0;

	assert_int_equal(heap_growth_init(&growth), 0);
	for (uint64_t i = 0; i < looks; i++) {
		struct state state = state_at(i);
		struct heap_look *look;

		state.second = i;
		look = look_of(&state);
		assert_int_equal(heap_growth_add(&growth, look), 0);
		if (i + 1 == looks) {
			const struct heap_snapshot *last = &look->snapshot;

			assert_int_equal(
				heap_growers_find(&growth, last, 10, &growers, &outcome.growers),
				0);
			assert_int_equal(
				heap_growing_paths_find(&growth, last, 10, &paths, &path_count), 0);
			outcome.verdict = heap_verdict_find(&growth, growers, outcome.growers,
							    paths, path_count);
			if (path_count)
				snprintf(outcome.path, sizeof(outcome.path), "%s",
					 last->paths.strings +
						 last->paths.items[paths[0].path].step);
		}
		heap_look_destroy(look);
	}
	if (outcome.growers)
		outcome.first = growers[0];
	assert_true(growth.looks <= HEAP_GROWTH_LOOKS_MAX);
	assert_int_equal(growth.taken, looks);
	free(growers);
	free(paths);
	heap_growth_deinit(&growth);
	return outcome;
}

static struct state leaking(uint64_t second)
{
	/* What else there is goes up and down. */
	return (struct state){ .entries = 1000 + 400 * second,
			       .garbage = 20000 * (second % 3),
			       .free = second % 2 * 30000 };
}

static void test_a_leak(void **context)
{
	struct outcome outcome = outcome_of(leaking, STEADY_LOOKS);

	(void)context;
	assert_int_equal(outcome.verdict.kind, HEAP_VERDICT_LEAK);
	assert_true(outcome.verdict.grower_decided);
	assert_int_equal(outcome.growers, 1);
	assert_float_equal(outcome.first.trend.per_s, 400, 0.001);
	assert_int_equal(outcome.first.trend.falls, 0);
	assert_float_equal(outcome.verdict.bytes_per_s, 400 * ENTRY_BYTES, 1);
	assert_true(outcome.verdict.share_of_growth > 0.9);
	assert_string_equal(outcome.path, "{*}");
}

/* Of many looks every second one is dropped, again and again; rates stay what they are. */
static void test_many_looks(void **context)
{
	struct outcome outcome = outcome_of(leaking, 10 * HEAP_GROWTH_LOOKS_MAX + 1);

	(void)context;
	assert_int_equal(outcome.verdict.kind, HEAP_VERDICT_LEAK);
	assert_float_equal(outcome.first.trend.per_s, 400, 0.001);
	assert_int_equal(outcome.first.trend.first, 1000);
	assert_int_equal(outcome.first.trend.last, 1000 + 400 * 10 * HEAP_GROWTH_LOOKS_MAX);
}

static struct state warming(uint64_t second)
{
	return (struct state){ .entries = 20000 - 16000 / (1 + second) };
}

static struct state filled(uint64_t second)
{
	return (struct state){ .entries = second < 7 ? 2000 * second : 14000 };
}

static void test_a_cache_that_warms_up(void **context)
{
	(void)context;
	assert_int_equal(outcome_of(warming, STEADY_LOOKS).verdict.kind, HEAP_VERDICT_WARMING);
	assert_true(outcome_of(filled, STEADY_LOOKS).verdict.stood_still);
	assert_int_equal(outcome_of(filled, STEADY_LOOKS).verdict.kind, HEAP_VERDICT_WARMING);
}

static struct state collecting_never(uint64_t second)
{
	return (struct state){ .entries = 1000, .garbage = 300000 * second };
}

static struct state collecting(uint64_t second)
{
	return (struct state){ .entries = 1000, .garbage = 3 * MB * (second % 4) };
}

static void test_garbage(void **context)
{
	(void)context;
	assert_int_equal(outcome_of(collecting_never, STEADY_LOOKS).verdict.kind,
			 HEAP_VERDICT_GARBAGE);
	assert_int_equal(outcome_of(collecting, STEADY_LOOKS).verdict.kind, HEAP_VERDICT_GARBAGE);
}

static struct state in_c(uint64_t second)
{
	return (struct state){ .entries = 1000, .native = 500000 * second };
}

static void test_native(void **context)
{
	(void)context;
	assert_int_equal(outcome_of(in_c, STEADY_LOOKS).verdict.kind, HEAP_VERDICT_NATIVE);
}

static struct state scattered(uint64_t second)
{
	return (struct state){ .entries = 1000, .free = 800000 * second };
}

static struct state half_free(uint64_t second)
{
	return (struct state){ .entries = 1000, .free = 40 * MB + second % 3 * MB };
}

/* Some room more, once. */
static struct state a_little_free(uint64_t second)
{
	return (struct state){ .entries = 1000, .free = MB / 2 + (second > 4 ? MB / 2 : 0) };
}

static void test_fragmentation(void **context)
{
	(void)context;
	assert_int_equal(outcome_of(scattered, STEADY_LOOKS).verdict.kind,
			 HEAP_VERDICT_FRAGMENTATION);
	assert_int_equal(outcome_of(half_free, STEADY_LOOKS).verdict.kind,
			 HEAP_VERDICT_FRAGMENTATION);
	assert_int_equal(outcome_of(a_little_free, STEADY_LOOKS).verdict.kind, HEAP_VERDICT_STEADY);
}

static struct state steady(uint64_t second)
{
	return (struct state){ .entries = 1000 + second * 37 % 11,
			       .garbage = second * 53 % 7 * 40000,
			       .native = second * 29 % 5 * 30000 };
}

/* As many as there were, made and dropped in turns: no look can tell more. */
/* For one look, all that the cache had is held by nobody. */
static void test_torn_looks(void **context)
{
	const struct state before = { .entries = 2000 }, same = { .second = 1, .entries = 2100 },
			   torn = { .second = 1, .entries = 10, .garbage = 2090 * ENTRY_BYTES },
			   circles = { .second = 1, .entries = 2100, .garbage = 2 * MB };
	struct heap_look *looks[] = { look_of(&before), look_of(&same), look_of(&torn),
				      look_of(&circles) };
	struct heap_growth growth;

	(void)context;
	assert_int_equal(heap_growth_init(&growth), 0);
	assert_int_equal(heap_growth_tear(&growth, looks[2]), HEAP_TEAR_NONE);
	assert_int_equal(heap_growth_add(&growth, looks[0]), 0);
	assert_int_equal(heap_growth_tear(&growth, looks[1]), HEAP_TEAR_NONE);
	assert_int_equal(heap_growth_tear(&growth, looks[2]), HEAP_TEAR_THIS);
	/* New garbage is nothing that has come loose. */
	assert_int_equal(heap_growth_tear(&growth, looks[3]), HEAP_TEAR_NONE);
	heap_growth_restart(&growth);
	assert_int_equal(growth.looks, 0);
	assert_int_equal(heap_growth_add(&growth, looks[2]), 0);
	assert_int_equal(heap_growth_tear(&growth, looks[1]), HEAP_TEAR_BEFORE);
	heap_growth_deinit(&growth);
	for (size_t i = 0; i < sizeof(looks) / sizeof(looks[0]); i++)
		heap_look_destroy(looks[i]);
}

static struct state sawtooth(uint64_t second)
{
	return (struct state){ .entries = 1000 + 3000 * (second % 4) };
}

static void test_steady(void **context)
{
	(void)context;
	assert_int_equal(outcome_of(steady, STEADY_LOOKS).verdict.kind, HEAP_VERDICT_STEADY);
	assert_int_equal(outcome_of(sawtooth, STEADY_LOOKS).verdict.kind, HEAP_VERDICT_STEADY);
	assert_int_equal(outcome_of(sawtooth, STEADY_LOOKS).growers, 0);
}

static void test_too_few_looks(void **context)
{
	(void)context;
	for (uint64_t looks = 1; looks < HEAP_VERDICT_LOOKS_MIN; looks++)
		assert_int_equal(outcome_of(leaking, looks).verdict.kind,
				 HEAP_VERDICT_TOO_FEW_LOOKS);
	assert_int_equal(outcome_of(leaking, HEAP_VERDICT_LOOKS_MIN).verdict.kind,
			 HEAP_VERDICT_LEAK);
}

/* More paths and containers than are followed: the large ones are, and the others are counted. */
static void test_more_than_is_followed(void **context)
{
	const size_t more = 3 * HEAP_GROWTH_PATHS_MAX;
	struct heap_look *look = look_of(&(struct state){ .entries = 1000 });
	struct heap_snapshot *snapshot = &look->snapshot;
	struct heap_growth growth;
	char words[32];

	(void)context;
	assert_int_equal(heap_growth_init(&growth), 0);
	for (size_t i = 0; i < more; i++) {
		snprintf(words, sizeof(words), "app.v%zu", i);
		(void)heap_paths_child(&snapshot->paths, 0,
				       heap_paths_string(&snapshot->paths, words), TYPE_DICT);
	}
	snapshot->held_bytes = realloc(snapshot->held_bytes,
				       snapshot->paths.count * sizeof(*snapshot->held_bytes));
	assert_non_null(snapshot->held_bytes);
	for (size_t i = 3; i < snapshot->paths.count; i++)
		snapshot->held_bytes[i] = 64 + i % 8;
	for (unsigned i = 0; i < 3; i++)
		assert_int_equal(heap_growth_add(&growth, look), 0);
	assert_non_null(heap_growth_path(&growth, 1));
	assert_true(growth.paths.count <= HEAP_GROWTH_PATHS_MAX);
	assert_true(growth.paths.left_out >= more - HEAP_GROWTH_PATHS_MAX);
	assert_null(heap_growth_path(&growth, (uint32_t)more));
	heap_growth_deinit(&growth);
	heap_look_destroy(look);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_leak),
		cmocka_unit_test(test_many_looks),
		cmocka_unit_test(test_a_cache_that_warms_up),
		cmocka_unit_test(test_garbage),
		cmocka_unit_test(test_native),
		cmocka_unit_test(test_fragmentation),
		cmocka_unit_test(test_torn_looks),
		cmocka_unit_test(test_steady),
		cmocka_unit_test(test_too_few_looks),
		cmocka_unit_test(test_more_than_is_followed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
