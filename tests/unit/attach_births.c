/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers that were given out some looks ago, each told at its ages and no more. */
#include "attach/births.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

struct seen {
	pid_t wanted;
	unsigned looks; /* that it was told of, added */
	unsigned times, all;
};

static void note(void *context, pid_t pid, unsigned looks)
{
	struct seen *seen = context;

	seen->all++;
	if (pid != seen->wanted)
		return;
	seen->looks += looks;
	seen->times++;
}

static pid_t start_child(void)
{
	pid_t pid = fork();

	assert_true(pid >= 0);
	while (!pid)
		pause();
	return pid;
}

static void end_child(pid_t pid)
{
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

static void test_ages(void **state)
{
	struct births births = { .fd = 0 };
	struct seen seen = { .wanted = 0 };

	(void)state;
	assert_int_equal(births_open(&births), 0);
	seen.wanted = start_child();
	for (unsigned look = 1; look <= BIRTHS_LOOKS + 4; look++) {
		unsigned before = seen.times;

		births_look(&births, note, &seen);
		assert_int_equal(seen.times - before,
				 look == 2 || look == 4 || look == 8 || look == BIRTHS_LOOKS);
	}
	assert_int_equal(seen.looks, 2 + 4 + 8 + BIRTHS_LOOKS);
	end_child(seen.wanted);
	births_close(&births);
	assert_int_equal(births.fd, -1);
	seen.all = 0;
	births_look(&births, note, &seen);
	assert_int_equal(seen.all, 0);
}

/* The numbers have begun anew, or are too many. */
static void test_too_many(void **state)
{
	struct births births = { .fd = 0 };
	struct seen seen = { .wanted = 0 };

	(void)state;
	assert_int_equal(births_open(&births), 0);
	births.last[1] -= BIRTHS_MAX + 1;
	births_look(&births, note, &seen);
	assert_int_equal(seen.all, 0);
	for (size_t i = 1; i <= BIRTHS_LOOKS; i++)
		births.last[i] = births.last[0];
	births.last[1] -= BIRTHS_MAX / 2;
	births_look(&births, note, &seen);
	assert_true(seen.all >= BIRTHS_MAX / 2);
	births.last[0] = INT32_MAX;
	seen.all = 0;
	births_look(&births, note, &seen);
	assert_int_equal(seen.all, 0);
	for (size_t i = 1; i <= BIRTHS_LOOKS; i++)
		assert_int_equal(births.last[i], births.last[0]);
	assert_true(births.last[0] < INT32_MAX);
	births_close(&births);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ages),
		cmocka_unit_test(test_too_many),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
