/* SPDX-License-Identifier: Apache-2.0 */
/* New processes, by the numbers that the kernel gives out; no threads. */
#include "attach/newcomers.h"

#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define CHILDREN 20

struct seen {
	pid_t wanted[CHILDREN + 1];
	unsigned times[CHILDREN + 1];
};

static void note(void *context, const struct newcomer *newcomer)
{
	struct seen *seen = context;

	for (size_t i = 0; i <= CHILDREN; i++)
		if (seen->wanted[i] == newcomer->pid) {
			assert_int_equal(newcomer->parent, getpid());
			seen->times[i]++;
		}
}

static pid_t start_child(void)
{
	pid_t pid = fork();

	assert_true(pid >= 0);
	while (!pid)
		pause();
	return pid;
}

static void *tell_tid(void *argument)
{
	__atomic_store_n((pid_t *)argument, gettid(), __ATOMIC_RELEASE);
	pause();
	return NULL;
}

static void test_newcomers(void **state)
{
	struct newcomers newcomers;
	struct seen seen = { 0 };
	pthread_t thread;

	(void)state;
	assert_int_equal(newcomers_open(&newcomers), 0);
	for (size_t i = 0; i < CHILDREN; i++) {
		seen.wanted[i] = start_child();
		/* Some between looks, several at a time. */
		if (i % 3 == 0)
			assert_int_equal(newcomers_look(&newcomers, note, &seen), 0);
	}
	assert_int_equal(pthread_create(&thread, NULL, tell_tid, &seen.wanted[CHILDREN]), 0);
	while (!__atomic_load_n(&seen.wanted[CHILDREN], __ATOMIC_ACQUIRE))
		usleep(1000);
	for (unsigned i = 0; i < NEWCOMERS_LOOKS; i++)
		assert_int_equal(newcomers_look(&newcomers, note, &seen), 0);
	for (size_t i = 0; i < CHILDREN; i++)
		assert_int_equal(seen.times[i], NEWCOMERS_LOOKS);
	assert_int_equal(seen.times[CHILDREN], 0);
	/* What is old is told no more. */
	assert_int_equal(newcomers_look(&newcomers, note, &seen), 0);
	assert_int_equal(seen.times[0], NEWCOMERS_LOOKS);

	/* The numbers have begun anew, or are too many: all there are. */
	newcomers.last[0] = INT32_MAX;
	assert_int_equal(newcomers_look(&newcomers, note, &seen), 0);
	for (size_t i = 0; i < CHILDREN; i++)
		assert_int_equal(seen.times[i], NEWCOMERS_LOOKS + 1);
	newcomers.last[0] = -NEWCOMERS_MAX - 1;
	assert_int_equal(newcomers_look(&newcomers, note, &seen), 0);
	for (size_t i = 0; i < CHILDREN; i++)
		assert_int_equal(seen.times[i], NEWCOMERS_LOOKS + 2);
	for (size_t i = 0; i < CHILDREN; i++) {
		kill(seen.wanted[i], SIGKILL);
		assert_int_equal(waitpid(seen.wanted[i], NULL, 0), seen.wanted[i]);
	}
	newcomers_close(&newcomers);
	assert_int_equal(newcomers.fd, -1);
}

/* Where the kernel does not tell, lists are compared. */
static void test_listed(void **state)
{
	struct newcomers newcomers = { .open = true, .fd = -1 };
	struct seen seen = { 0 };

	(void)state;
	assert_int_equal(newcomers_look(&newcomers, note, &seen), 0);
	for (size_t i = 0; i < CHILDREN; i++) {
		seen.wanted[i] = start_child();
		if (i % 3 == 0)
			assert_int_equal(newcomers_look(&newcomers, note, &seen), 0);
	}
	for (unsigned i = 0; i < 2; i++)
		assert_int_equal(newcomers_look(&newcomers, note, &seen), 0);
	for (size_t i = 0; i < CHILDREN; i++) {
		assert_int_equal(seen.times[i], 1);
		kill(seen.wanted[i], SIGKILL);
		assert_int_equal(waitpid(seen.wanted[i], NULL, 0), seen.wanted[i]);
	}
	newcomers_close(&newcomers);
	assert_null(newcomers.listed.items);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_newcomers),
		cmocka_unit_test(test_listed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
