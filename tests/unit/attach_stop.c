/* SPDX-License-Identifier: Apache-2.0 */
/* Wait statuses and what they do to a tracee: stop.c and tracee.c. */
#include "attach/stop.h"
#include "attach/tracee.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define STOPPED(signal)      ((signal) << 8 | 0x7f)
#define EVENT(signal, event) ((event) << 16 | STOPPED(signal))

static void test_decode(void **state)
{
	static const struct {
		int status;
		enum stop stop;
		int signal;
	} cases[] = {
		{ 0, STOP_EXITED, 0 },
		{ 3 << 8, STOP_EXITED, 0 },
		{ SIGKILL, STOP_KILLED, SIGKILL },
		{ SIGSEGV | 0x80, STOP_KILLED, SIGSEGV },
		{ 0xffff, STOP_CONTINUED, 0 },
		{ STOPPED(SIGURG), STOP_SIGNAL, SIGURG },
		{ STOPPED(SIGSTOP), STOP_SIGNAL, SIGSTOP },
		{ STOPPED(SIGTRAP), STOP_SIGNAL, SIGTRAP },
		{ EVENT(SIGSTOP, PTRACE_EVENT_STOP), STOP_GROUP, SIGSTOP },
		{ EVENT(SIGTSTP, PTRACE_EVENT_STOP), STOP_GROUP, SIGTSTP },
		{ EVENT(SIGTTIN, PTRACE_EVENT_STOP), STOP_GROUP, SIGTTIN },
		{ EVENT(SIGTTOU, PTRACE_EVENT_STOP), STOP_GROUP, SIGTTOU },
		{ EVENT(SIGTRAP, PTRACE_EVENT_STOP), STOP_TRAP, 0 },
		{ EVENT(SIGTRAP, PTRACE_EVENT_CLONE), STOP_CLONE, 0 },
		{ EVENT(SIGTRAP, PTRACE_EVENT_FORK), STOP_FORK, 0 },
		{ EVENT(SIGTRAP, PTRACE_EVENT_VFORK), STOP_FORK, 0 },
		{ EVENT(SIGTRAP, PTRACE_EVENT_EXEC), STOP_EXEC, 0 },
		{ EVENT(SIGTRAP, PTRACE_EVENT_EXIT), STOP_OTHER, 0 },
		{ EVENT(SIGTRAP, PTRACE_EVENT_VFORK_DONE), STOP_OTHER, 0 },
		{ EVENT(SIGTRAP, PTRACE_EVENT_SECCOMP), STOP_OTHER, 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		int signal = -1;

		assert_int_equal(stop_decode(cases[i].status, &signal), cases[i].stop);
		assert_int_equal(signal, cases[i].signal);
	}
}

/* The same statuses, made by a real kernel. */
static void test_decode_live(void **state)
{
	int status, signal;
	pid_t child = fork();

	(void)state;
	if (!child) {
		for (;;)
			pause();
	}
	assert_int_equal(ptrace(PTRACE_SEIZE, child, NULL, NULL), 0);
	kill(child, SIGSTOP);
	assert_int_equal(waitpid(child, &status, __WALL), child);
	assert_int_equal(stop_decode(status, &signal), STOP_SIGNAL);
	assert_int_equal(signal, SIGSTOP);
	ptrace(PTRACE_CONT, child, NULL, (void *)(long)SIGSTOP);
	assert_int_equal(waitpid(child, &status, __WALL), child);
	assert_int_equal(stop_decode(status, &signal), STOP_GROUP);
	ptrace(PTRACE_LISTEN, child, NULL, NULL);
	kill(child, SIGCONT);
	assert_int_equal(waitpid(child, &status, __WALL), child);
	assert_int_equal(stop_decode(status, &signal), STOP_TRAP);
	ptrace(PTRACE_CONT, child, NULL, NULL);
	kill(child, SIGKILL);
	do
		assert_int_equal(waitpid(child, &status, __WALL), child);
	while (stop_decode(status, &signal) == STOP_SIGNAL &&
	       !ptrace(PTRACE_CONT, child, NULL, NULL));
	assert_int_equal(stop_decode(status, &signal), STOP_KILLED);
	assert_int_equal(signal, SIGKILL);
}

static void test_every_stop_is_answered(void **state)
{
	(void)state;
	for (int tracee = 0; tracee < TRACEE_STATE_COUNT; tracee++) {
		for (int stop = 0; stop < STOP_COUNT; stop++) {
			struct tracee_transition transition =
				tracee_step((enum tracee_state)tracee, (enum stop)stop);
			bool dead = stop == STOP_EXITED || stop == STOP_KILLED;
			bool nothing_to_continue = dead || stop == STOP_CONTINUED;

			/* A thread that is stopped must never be left so; a dead one must not be
			 * continued. */
			assert_int_equal(transition.action == TRACEE_FORGET, nothing_to_continue);
			if (dead)
				assert_int_equal(transition.next, TRACEE_GONE);
			/* Group-stops are left as they are, and only they. */
			assert_int_equal(transition.action == TRACEE_LISTEN ||
						 transition.action == TRACEE_START_AND_LISTEN,
					 stop == STOP_GROUP);
			assert_int_equal(transition.action == TRACEE_INSPECT_SIGNAL,
					 stop == STOP_SIGNAL);
			assert_int_equal(transition.action == TRACEE_END_PROGRAM,
					 stop == STOP_EXEC);
		}
	}
}

static void test_story(void **state)
{
	static const struct {
		enum stop stop;
		enum tracee_action action;
		enum tracee_state next;
	} story[] = {
		{ STOP_TRAP, TRACEE_START, TRACEE_RUNNING },            /* born */
		{ STOP_SIGNAL, TRACEE_INSPECT_SIGNAL, TRACEE_RUNNING }, /* sampled */
		{ STOP_SIGNAL, TRACEE_INSPECT_SIGNAL,
		  TRACEE_RUNNING }, /* SIGSTOP from outside ... */
		{ STOP_GROUP, TRACEE_LISTEN, TRACEE_LISTENING },
		{ STOP_TRAP, TRACEE_CONTINUE, TRACEE_RUNNING }, /* ... and SIGCONT */
		{ STOP_CLONE, TRACEE_CONTINUE, TRACEE_RUNNING },
		{ STOP_EXITED, TRACEE_FORGET, TRACEE_GONE },
	};
	enum tracee_state tracee = TRACEE_NEW;

	(void)state;
	for (size_t i = 0; i < sizeof(story) / sizeof(*story); i++) {
		struct tracee_transition transition = tracee_step(tracee, story[i].stop);

		assert_int_equal(transition.action, story[i].action);
		assert_int_equal(transition.next, story[i].next);
		tracee = transition.next;
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_decode),
		cmocka_unit_test(test_decode_live),
		cmocka_unit_test(test_every_stop_is_answered),
		cmocka_unit_test(test_story),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
