/* SPDX-License-Identifier: Apache-2.0 */
/* Which processes are refused before they are attached to, and in which words. */
#include "traced_child.h"

static void test_refusals(void **state)
{
	struct preflight preflight;
	struct error error;
	pid_t pid = start_child(child_storing), tracer, gone = fork();
	int ready[2];
	char byte;

	(void)state;
	if (!gone)
		_exit(0);
	waitpid(gone, NULL, 0);
	assert_int_equal(preflight_check(gone, 0, &preflight, &error), -1);
	assert_int_equal(error.exit_code, EXIT_NO_TARGET);
	assert_non_null(strstr(error.cause, "no process"));
	assert_int_equal(preflight_check(getpid(), 0, &preflight, &error), -1);
	assert_int_equal(error.exit_code, EXIT_NO_TARGET);
	assert_int_equal(preflight_check(2, 0, &preflight, &error),
			 -1); /* kthreadd, or nothing in a container */

	assert_int_equal(pipe(ready), 0);
	tracer = fork();
	if (!tracer) {
		prctl(PR_SET_NAME, "other tracer");
		ptrace(PTRACE_SEIZE, pid, NULL, NULL);
		(void)!write(ready[1], "r", 1);
		for (;;)
			pause();
	}
	assert_int_equal(read(ready[0], &byte, 1), 1);
	assert_int_equal(preflight_check(pid, 0, &preflight, &error), -1);
	assert_int_equal(error.exit_code, EXIT_PERMISSION);
	assert_non_null(strstr(error.cause, "already traced"));
	assert_non_null(strstr(error.cause, "other tracer"));
	kill(tracer, SIGKILL);
	waitpid(tracer, NULL, 0);

	/* All debug registers taken by another program. */
	{
		struct thread_events others;

		assert_int_equal(thread_events_open(&others, pid, SIGURG, NS_PER_SECOND), 0);
		for (unsigned slot = 0; slot < BREAKPOINT_SLOTS; slot++)
			assert_int_equal(breakpoint_arm(&others, slot, BREAKPOINT_EXECUTE, 8, 8),
					 0);
		assert_int_equal(preflight_check(pid, 0, &preflight, &error), 0);
		assert_int_equal(preflight.breakpoints, 0);
		assert_int_equal(preflight.breakpoint_errno, ENOSPC);
		preflight_explain_breakpoints(pid, preflight.breakpoint_errno, &error);
		assert_non_null(strstr(error.cause, "debug registers"));
		thread_events_close(&others);
	}
	assert_int_equal(preflight_check(pid, 0, &preflight, &error), 0);
	assert_int_equal(preflight.breakpoints, 4);
	shared->stop = true;
	assert_exit(pid, 7);
}

/* As another user: what an ordinary user is told about root's process. */
static void test_refused_to_strangers(void **state)
{
	struct preflight preflight;
	struct error error;
	pid_t pid, child;
	int status;

	(void)state;
	if (geteuid() != 0) {
		print_message("skipped: needs root to become somebody else\n");
		return;
	}
	pid = start_child(child_storing);
	child = fork();
	if (!child) {
		if (setgid(65534) || setuid(65534))
			_exit(2);
		if (preflight_check(pid, 0, &preflight, &error) != -1 ||
		    error.exit_code != EXIT_PERMISSION || !strstr(error.cause, "belongs to user 0"))
			_exit(1);
		_exit(0);
	}
	waitpid(child, &status, 0);
	assert_int_equal(status, 0);
	shared->stop = true;
	assert_exit(pid, 7);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_refusals),
		cmocka_unit_test(test_refused_to_strangers),
	};

	if (under_valgrind())
		return nothing_under_valgrind();
	return cmocka_run_group_tests(tests, share_memory, NULL);
}
