/* SPDX-License-Identifier: Apache-2.0 */
/* A tracer that is held up while more threads come than are noted. */
#include "attach/relief.h"

#include "attach/procfs.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define BORN   64 /* as in docs/SECURITY.md */
#define BEYOND 6

/* Stopped as a new thread is, and nobody has looked at it. */
static pid_t stopped_process(void)
{
	pid_t pid = fork();
	siginfo_t info;

	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			pause();
	}
	assert_true(pid > 0);
	assert_int_equal(ptrace(PTRACE_SEIZE, pid, NULL, NULL), 0);
	assert_int_equal(ptrace(PTRACE_INTERRUPT, pid, NULL, NULL), 0);
	assert_int_equal(waitid(P_PID, (id_t)pid, &info, WSTOPPED | WNOWAIT | __WALL), 0);
	return pid;
}

static void test_more_than_are_noted(void **state)
{
	static struct relief relief;
	struct process_times times;
	pid_t pids[BORN + BEYOND];

	(void)state;
	relief_init(&relief, getpid(), SIGRTMIN + 4);
	assert_int_equal(relief_begin(&relief), 0);
	relief_work(&relief);
	for (size_t i = 0; i < BORN + BEYOND; i++)
		pids[i] = stopped_process();
	relief_ask(&relief, pthread_self(), relief_turn(&relief));
	assert_int_equal(relief_answered(&relief), 1);
	/* All run on; so many are told. */
	assert_int_equal(relief.let_go, BORN + BEYOND);
	assert_int_equal(relief.born_count, BORN);
	for (size_t i = 0; i < BORN + BEYOND; i++) {
		assert_int_equal(procfs_read_times(pids[i], 0, &times), 0);
		assert_int_not_equal(times.state, 't');
		kill(pids[i], SIGKILL);
		assert_int_equal(waitpid(pids[i], NULL, __WALL), pids[i]);
	}
	relief_end(&relief);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_more_than_are_noted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
