/* SPDX-License-Identifier: Apache-2.0 */
/* Forged interpreters and thread states, more than are walked. */
#include "pyintrospect/thread_state.h"

#include "pyintrospect/runtime_internal.h"
#include "pyintrospect/thread_list.h"
#include "tests/unit/own_memory.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

/* As in docs/SECURITY.md. */
#define INTERPRETERS 16
#define STATES       16384
#define BEYOND       2

struct forged_interpreter {
	uint64_t next, threads, gil;
};

struct forged_state {
	uint64_t next, interpreter, pthread, tid;
};

struct forged {
	struct python_runtime *runtime;
	remote_addr first;
	struct forged_interpreter interpreters[INTERPRETERS + BEYOND];
	struct forged_state states[STATES + BEYOND];
};

static struct forged *forge(void)
{
	struct forged *forged = calloc(1, sizeof(*forged));
	struct python_offsets *offsets;

	assert_non_null(forged);
	forged->runtime = calloc(1, sizeof(*forged->runtime));
	assert_non_null(forged->runtime);
	assert_int_equal(thread_table_init(&forged->runtime->threads), 0);
	forged->runtime->reader = &own_memory;
	forged->runtime->layout = *python_layout_builtin(12);
	forged->runtime->interpreters = own_address(&forged->first);
	forged->runtime->sizes.thread = sizeof(struct forged_state);
	offsets = &forged->runtime->layout.offsets;
	offsets->interpreter_next = offsetof(struct forged_interpreter, next);
	offsets->interpreter_threads = offsetof(struct forged_interpreter, threads);
	offsets->interpreter_gil = offsetof(struct forged_interpreter, gil);
	offsets->interpreter_modules = OFFSET_ABSENT;
	offsets->interpreter_collecting = OFFSET_ABSENT;
	offsets->thread_next = offsetof(struct forged_state, next);
	offsets->thread_interpreter = offsetof(struct forged_state, interpreter);
	offsets->thread_pthread = offsetof(struct forged_state, pthread);
	offsets->thread_native_id = offsetof(struct forged_state, tid);
	forged->first = own_address(&forged->interpreters[0]);
	return forged;
}

static void forged_destroy(struct forged *forged)
{
	thread_table_deinit(&forged->runtime->threads);
	free(forged->runtime);
	free(forged);
}

/* Each has one thread. */
static void test_interpreters(void **state)
{
	(void)state;
	for (size_t count = INTERPRETERS; count <= INTERPRETERS + BEYOND; count++) {
		struct forged *forged = forge();
		struct python_thread_list list;
		struct thread_state *thread;

		for (size_t i = 0; i < count; i++) {
			forged->interpreters[i] = (struct forged_interpreter){
				.next = i + 1 < count ? own_address(&forged->interpreters[i + 1])
						      : 0,
				.threads = own_address(&forged->states[i]),
			};
			forged->states[i] = (struct forged_state){
				.interpreter = own_address(&forged->interpreters[i]),
				.tid = i + 1,
			};
		}
		for (size_t i = 0; i < count; i++) {
			int expected = i < INTERPRETERS ? 0 : -ESRCH;

			assert_int_equal(thread_state_find(forged->runtime, (pid_t)i + 1, &thread),
					 expected);
		}
		assert_int_equal(forged->runtime->threads.complete, count == INTERPRETERS);
		assert_int_equal(python_thread_list_read(forged->runtime, &list), 0);
		assert_int_equal(list.count, INTERPRETERS);
		assert_int_equal((list.flags & PYTHON_THREADS_CUT) != 0, count > INTERPRETERS);
		python_thread_list_deinit(&list);
		forged_destroy(forged);
	}
}

/* Threads that have ended, which are looked at and not remembered, and behind them some that live.
 */
static void test_states(void **state)
{
	struct forged *forged = forge();
	struct thread_state *thread;

	(void)state;
	forged->interpreters[0].threads = own_address(&forged->states[0]);
	for (size_t i = 0; i < STATES + BEYOND; i++)
		forged->states[i] = (struct forged_state){
			.next = i + 1 < STATES + BEYOND ? own_address(&forged->states[i + 1]) : 0,
			.interpreter = own_address(&forged->interpreters[0]),
			.tid = i + 1 < STATES ? 0 : i + 1,
		};
	assert_int_equal(thread_state_find(forged->runtime, STATES, &thread), 0);
	assert_int_equal(thread->address, own_address(&forged->states[STATES - 1]));
	assert_int_equal(thread_state_find(forged->runtime, STATES + 1, &thread), -ESRCH);
	assert_int_equal(thread_state_find(forged->runtime, STATES + BEYOND, &thread), -ESRCH);
	assert_false(forged->runtime->threads.complete);
	forged_destroy(forged);
}

static size_t ranges_read;

static int counting_read(void *context, struct memory_range *ranges, size_t count)
{
	ranges_read += count;
	return own_memory_read(context, ranges, count);
}

/* Looking for a thread beyond the limit, again and again, costs a walk only now and then. */
static void test_walks_beyond_the_limit(void **state)
{
	static const struct memory_reader counting = { counting_read, NULL };
	struct forged *forged = forge();
	struct thread_state *thread;
	size_t one_walk, most;

	(void)state;
	forged->runtime->reader = &counting;
	forged->interpreters[0].threads = own_address(&forged->states[0]);
	for (size_t i = 0; i <= THREAD_TABLE_MAX; i++)
		forged->states[i] = (struct forged_state){
			.next = i < THREAD_TABLE_MAX ? own_address(&forged->states[i + 1]) : 0,
			.interpreter = own_address(&forged->interpreters[0]),
			.tid = i + 1,
		};
	ranges_read = 0;
	assert_int_equal(thread_state_find(forged->runtime, THREAD_TABLE_MAX, &thread), 0);
	one_walk = ranges_read;
	most = 2 * one_walk;
	ranges_read = 0;
	for (unsigned i = 0; i <= THREAD_MISSES_MAX; i++)
		assert_int_equal(thread_state_find(forged->runtime, THREAD_TABLE_MAX + 1, &thread),
				 -ESRCH);
	assert_in_range(ranges_read, one_walk, most);
	/* Those that are remembered are found all the same. */
	assert_int_equal(thread_state_find(forged->runtime, 1, &thread), 0);
	assert_int_equal(thread_state_find(forged->runtime, THREAD_TABLE_MAX, &thread), 0);
	forged_destroy(forged);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_interpreters),
		cmocka_unit_test(test_states),
		cmocka_unit_test(test_walks_beyond_the_limit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
