/* SPDX-License-Identifier: Apache-2.0 */
/* Whether what was made stays: objects in memory that a test changes between looks. */
#include "daemon/heap/heap_trial.h"
#include "pyintrospect/heap/heap_layout.h"
#include "tests/unit/heap_memory.h"

#define TYPE 0x1234ull

static struct heap_trials begin(void)
{
	struct heap_trials trials = { .type = TYPE, .object_bytes = 48 };

	memset(memory, 0, sizeof(memory));
	for (unsigned i = 0; i < 4; i++) {
		put(i * 0x100, 1);
		put(i * 0x100 + OBJECT_TYPE, TYPE);
		put(i * 0x100 + 24, i);
		heap_trials_add(&trials, BASE + i * 0x100, i % 2, 0);
	}
	return trials;
}

static void test_stays(void **state)
{
	const struct memory_reader reader = { read_memory, NULL };
	struct heap_trials trials = begin();

	(void)state;
	assert_false(heap_trials_are_over(&trials));
	heap_trials_look(&trials, &reader, HEAP_TRIAL_SETTLE_NS - 1);
	assert_int_equal(trials.items[0].state, HEAP_TRIAL_MADE);
	assert_true(heap_trials_unsettled(&trials));
	heap_trials_look(&trials, &reader, HEAP_TRIAL_SETTLE_NS);
	assert_false(heap_trials_unsettled(&trials));
	assert_int_equal(trials.items[0].state, HEAP_TRIAL_SETTLED);
	/* Freed; another one of its type; one of another type. */
	put(0x000, 0);
	put(0x100 + 24, 77);
	put(0x200 + OBJECT_TYPE, TYPE + 8);
	heap_trials_look(&trials, &reader, 100 * NS_PER_MS);
	assert_int_equal(heap_trials_done(&trials), 0);
	heap_trials_look(&trials, &reader, 300 * NS_PER_MS);
	assert_true(heap_trials_are_over(&trials));
	assert_int_equal(heap_trials_done(&trials), 4);
	assert_int_equal(heap_trials_stayed(&trials, -1), 1);
	assert_int_equal(heap_trials_stayed(&trials, 0), 0);
	assert_int_equal(heap_trials_stayed(&trials, 1), 1);
}

/* Neither what cannot be read, nor more than there is room for. */
static void test_limits(void **state)
{
	const struct memory_reader reader = { read_memory, NULL };
	struct heap_trials trials = begin();

	(void)state;
	for (unsigned i = 0; i < 2 * HEAP_TRIALS_MAX; i++)
		heap_trials_add(&trials, BASE + BYTES, 0, 0);
	assert_int_equal(trials.count, HEAP_TRIALS_MAX);
	heap_trials_look(&trials, &reader, NS_PER_SECOND);
	assert_int_equal(heap_trials_done(&trials), HEAP_TRIALS_MAX - 4);
	heap_trials_look(&trials, &reader, 2 * NS_PER_SECOND);
	assert_int_equal(heap_trials_stayed(&trials, -1), 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_stays),
		cmocka_unit_test(test_limits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
