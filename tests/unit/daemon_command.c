/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/cli/command.h"
#include "tests/must.h"

#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static void start(struct command *command)
{
	char name[] = "sleep", seconds[] = "60";
	char *const words[] = { name, seconds, NULL };
	struct command_settings settings;

	command_settings_read(&settings);
	assert_int_equal(command_start(words, &settings, command), 0);
}

static void kill_and_wait(struct command *command)
{
	siginfo_t info;
	int status;

	assert_int_equal(kill(command->pid, SIGKILL), 0);
	must(!waitid(P_PID, (id_t)command->pid, &info, WEXITED | WNOWAIT));
	assert_true(command_has_ended(command));
	/* It says so again and again. */
	assert_true(command_has_ended(command));
	status = command_wait(command);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
	assert_true(command_has_ended(command));
	assert_int_equal(command_wait(command), -ECHILD);
}

static void test_a_command_ends(void **state)
{
	struct command command;

	(void)state;
	start(&command);
	assert_false(command_has_ended(&command));
	kill_and_wait(&command);
}

static void test_a_silent_command_has_no_terminal(void **state)
{
	char name[] = "sh", flag[] = "-c",
	     script[] = "for f in 0 1 2; do test /dev/null -ef /proc/self/fd/$f || exit 3; done; "
			"exit 7";
	char *const words[] = { name, flag, script, NULL };
	struct command_settings settings;
	struct command command;
	int status;

	(void)state;
	command_settings_read(&settings);
	settings.silent = true;
	assert_int_equal(command_start(words, &settings, &command), 0);
	status = command_wait(&command);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 7);
}

struct stopped {
	pid_t pid;
	pthread_barrier_t there, seen;
};

/* As our tracer's thread finds it: a report of a stop, not taken yet. */
static void *stop(void *context)
{
	struct stopped *stopped = context;
	siginfo_t info;

	must(!ptrace(PTRACE_SEIZE, stopped->pid, NULL, NULL));
	must(!ptrace(PTRACE_INTERRUPT, stopped->pid, NULL, NULL));
	must(!waitid(P_PID, (id_t)stopped->pid, &info, WSTOPPED | WNOWAIT | __WALL));
	must(info.si_code == CLD_TRAPPED);
	pthread_barrier_wait(&stopped->there);
	pthread_barrier_wait(&stopped->seen);
	must(waitpid(stopped->pid, NULL, __WALL) == stopped->pid);
	must(!ptrace(PTRACE_DETACH, stopped->pid, NULL, NULL));
	return NULL;
}

static void test_a_stop_is_no_end(void **state)
{
	struct stopped stopped;
	struct command command;
	pthread_t thread;
	bool ended;

	(void)state;
	start(&command);
	stopped.pid = command.pid;
	must(!pthread_barrier_init(&stopped.there, NULL, 2));
	must(!pthread_barrier_init(&stopped.seen, NULL, 2));
	must(!pthread_create(&thread, NULL, stop, &stopped));
	pthread_barrier_wait(&stopped.there);
	ended = command_has_ended(&command);
	pthread_barrier_wait(&stopped.seen);
	must(!pthread_join(thread, NULL));
	kill_and_wait(&command);
	assert_false(ended);
	pthread_barrier_destroy(&stopped.there);
	pthread_barrier_destroy(&stopped.seen);
}

static void test_no_such_program(void **state)
{
	char name[] = "/nonexistent/program";
	char *const words[] = { name, NULL };
	struct command_settings settings;
	struct command command;

	(void)state;
	command_settings_read(&settings);
	assert_int_equal(command_start(words, &settings, &command), -ENOENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_command_ends),
		cmocka_unit_test(test_a_silent_command_has_no_terminal),
		cmocka_unit_test(test_a_stop_is_no_end),
		cmocka_unit_test(test_no_such_program),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
