/* SPDX-License-Identifier: Apache-2.0 */
/* A child that exits, one that becomes another program, and one that was never there. */
#include "daemon/sample/program_watch.h"

#include "common/clock.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

struct child {
	pid_t pid;
	int go; /* closed: it goes on */
};

/* Waits for a word, and then is sleep(1), or ends. */
static struct child start_child(bool becomes_another)
{
	struct child child;
	int ends[2];
	char byte;

	assert_int_equal(pipe(ends), 0);
	child.pid = fork();
	assert_true(child.pid >= 0);
	if (child.pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		close(ends[1]);
		(void)!read(ends[0], &byte, 1);
		if (becomes_another)
			execlp("sleep", "sleep", "60", NULL);
		_exit(0);
	}
	close(ends[0]);
	child.go = ends[1];
	return child;
}

/* The clock is ours: a look of each second. */
static enum program_state look_until_changed(struct program_watch *watch, pid_t pid)
{
	enum program_state state = PROGRAM_RUNS;

	for (unsigned i = 1; i < 5000 && state == PROGRAM_RUNS; i++) {
		state = program_watch_look(watch, pid, 2 * i * NS_PER_SECOND);
		usleep(1000);
	}
	return state;
}

static void test_exit(void **state)
{
	struct child child = start_child(false);
	struct program_watch watch;
	siginfo_t info;

	(void)state;
	program_watch_begin(&watch, child.pid);
	assert_true(watch.program.st_ino != 0);
	assert_int_equal(program_watch_look(&watch, child.pid, NS_PER_SECOND), PROGRAM_RUNS);
	close(child.go);
	/* A zombie: its parent has not asked for it yet. */
	assert_int_equal(waitid(P_PID, (id_t)child.pid, &info, WEXITED | WNOWAIT), 0);
	assert_int_equal(program_watch_look(&watch, child.pid, NS_PER_SECOND), PROGRAM_EXITED);
	assert_int_equal(waitpid(child.pid, NULL, 0), child.pid);
	assert_int_equal(program_watch_look(&watch, child.pid, NS_PER_SECOND), PROGRAM_EXITED);
}

static void test_exec(void **state)
{
	struct child child = start_child(true);
	struct program_watch watch;

	(void)state;
	program_watch_begin(&watch, child.pid);
	assert_int_equal(program_watch_look(&watch, child.pid, NS_PER_SECOND), PROGRAM_RUNS);
	close(child.go);
	assert_int_equal(look_until_changed(&watch, child.pid), PROGRAM_REPLACED);
	kill(child.pid, SIGKILL);
	assert_int_equal(waitpid(child.pid, NULL, 0), child.pid);
}

/* Its file is looked at once a second, and its end at each look. */
static void test_looks(void **state)
{
	struct child child = start_child(true);
	struct program_watch watch;

	(void)state;
	program_watch_begin(&watch, child.pid);
	assert_int_equal(program_watch_look(&watch, child.pid, 5 * NS_PER_SECOND), PROGRAM_RUNS);
	/* As if it had been another program at the beginning. */
	watch.program.st_ino++;
	assert_int_equal(program_watch_look(&watch, child.pid, 6 * NS_PER_SECOND - 1),
			 PROGRAM_RUNS);
	assert_int_equal(program_watch_look(&watch, child.pid, 6 * NS_PER_SECOND),
			 PROGRAM_REPLACED);
	/* Or had begun elsewhere. */
	watch.program.st_ino--;
	watch.stack += 4096;
	assert_int_equal(program_watch_look(&watch, child.pid, 7 * NS_PER_SECOND),
			 PROGRAM_REPLACED);
	watch.stack = 0;
	assert_int_equal(program_watch_look(&watch, child.pid, 8 * NS_PER_SECOND), PROGRAM_RUNS);
	/* Unknown: nothing to compare with. */
	watch.program.st_ino = 0;
	assert_int_equal(program_watch_look(&watch, child.pid, 9 * NS_PER_SECOND), PROGRAM_RUNS);
	kill(child.pid, SIGKILL);
	assert_int_equal(waitpid(child.pid, NULL, 0), child.pid);
	close(child.go);
	program_watch_begin(&watch, child.pid);
	assert_int_equal(watch.program.st_ino, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_exit),
		cmocka_unit_test(test_exec),
		cmocka_unit_test(test_looks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
