/* SPDX-License-Identifier: Apache-2.0 */
/* The processes below one: order, work, the limit. */
#include "daemon/session/descendants.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#define LIMIT   256 /* as in docs/SECURITY.md */
#define MORE    20
#define WORK_NS 200000000

static void use_cpu(long ns)
{
	struct timespec used = { 0 };

	while (used.tv_sec * 1000000000l + used.tv_nsec < ns)
		clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
}

/* A parent of so many, which ends when its pipe does, and says when all are there. */
static pid_t make_family(int children, int *ret_pipe)
{
	int ready[2], end[2];
	char byte = 0;
	pid_t pid;

	assert_int_equal(pipe(ready), 0);
	assert_int_equal(pipe(end), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		close(end[1]);
		for (int i = 0; i < children; i++)
			if (!fork()) {
				(void)!read(end[0], &byte, 1);
				_exit(0);
			}
		(void)!write(ready[1], &byte, 1);
		(void)!read(end[0], &byte, 1);
		while (wait(NULL) > 0)
			;
		_exit(0);
	}
	close(end[0]);
	assert_int_equal(read(ready[0], &byte, 1), 1);
	close(ready[0]);
	close(ready[1]);
	*ret_pipe = end[1];
	return pid;
}

static void end_family(pid_t pid, int pipe)
{
	close(pipe);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

static void parents_come_first(void **state)
{
	struct pid_list found = { 0 };
	int end;
	pid_t parent = make_family(3, &end);

	(void)state;
	assert_int_equal(descendants_read(getpid(), &found), 0);
	assert_int_equal(found.count, 4);
	assert_int_equal(found.items[0], parent);
	/* None of them runs Python, and a Python that is none of them does not count. */
	assert_int_equal(descendants_read_python(getpid(), &found), 0);
	assert_int_equal(found.count, 0);
	end_family(parent, end);
	assert_int_equal(descendants_read(parent, &found), -ESRCH);
	pid_list_deinit(&found);
}

/* A daemon that its target has started, and what that may be a child beside. */
static void we_are_none_of_them(void **state)
{
	struct pid_list found = { 0 };
	pid_t parent = getpid(), sibling, pid;
	int end, status;

	(void)state;
	sibling = make_family(0, &end);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid)
		_exit(!descendants_read(parent, &found) && found.count == 1 &&
				      found.items[0] == sibling
			      ? 0
			      : 1);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	end_family(sibling, end);
}

static void test_limit(void **state)
{
	struct pid_list found = { 0 };
	int end;
	pid_t parent = make_family(LIMIT + MORE, &end);

	(void)state;
	assert_int_equal(descendants_read(parent, &found), 0);
	assert_int_equal(found.count, LIMIT);
	end_family(parent, end);
	pid_list_deinit(&found);
}

/* Whether a child lives, has ended, or has been waited for: its time is counted once. */
static void test_work(void **state)
{
	uint64_t before_ns, now_ns;
	size_t count;
	siginfo_t info;
	pid_t pid;

	(void)state;
	assert_int_equal(descendants_work(getpid(), &before_ns, &count), 0);
	assert_int_equal(count, 0);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		use_cpu(WORK_NS);
		_exit(0);
	}
	assert_int_equal(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0);
	for (int round = 0; round < 2; round++) {
		assert_int_equal(descendants_work(getpid(), &now_ns, &count), 0);
		assert_int_equal(count, round == 0);
		/* In ticks of 10 ms. */
		assert_in_range(now_ns - before_ns, WORK_NS - 20000000, WORK_NS + 100000000);
		if (round == 0)
			assert_int_equal(waitpid(pid, NULL, 0), pid);
	}
	assert_int_equal(descendants_work(pid, &now_ns, &count), -ESRCH);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(parents_come_first),
		cmocka_unit_test(we_are_none_of_them),
		cmocka_unit_test(test_limit),
		cmocka_unit_test(test_work),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
