/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/cli/command.h"

#include "common/clock.h"
#include "common/interrupted.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

/* Between two looks at whether it goes on. */
#define AWAIT_NS (NS_PER_SECOND / 4)

void command_settings_read(struct command_settings *ret_settings)
{
	*ret_settings = (struct command_settings){ 0 };
	pthread_sigmask(SIG_SETMASK, NULL, &ret_settings->mask);
	for (int signal = 1; signal <= 64; signal++)
		(void)sigaction(signal, NULL, &ret_settings->actions[signal]);
	(void)getrlimit(RLIMIT_NOFILE, &ret_settings->files);
}

/* In the child: nothing but system calls. */
static void become(char *const *words, const struct command_settings *settings, int errors)
{
	int error;

	for (int signal = 1; signal <= 64; signal++)
		if (signal != SIGKILL && signal != SIGSTOP)
			(void)sigaction(signal, &settings->actions[signal], NULL);
	if (settings->files.rlim_cur)
		(void)setrlimit(RLIMIT_NOFILE, &settings->files);
	(void)sigprocmask(SIG_SETMASK, &settings->mask, NULL);
	if (settings->silent) {
		int nowhere = open("/dev/null", O_RDWR);

		for (int file = 0; nowhere >= 0 && file <= STDERR_FILENO; file++)
			(void)dup2(nowhere, file);
		if (nowhere > STDERR_FILENO)
			(void)close(nowhere);
	}
	execvp(words[0], words);
	error = errno;
	if (write(errors, &error, sizeof(error)) != sizeof(error))
		_exit(126);
	_exit(error == ENOENT ? 127 : 126);
}

int command_start(char *const *words, const struct command_settings *settings,
		  struct command *ret_command)
{
	int errors[2], error = 0;
	unsigned interruptions = 0;
	ssize_t got;
	pid_t pid;

	if (pipe2(errors, O_CLOEXEC) < 0)
		return -errno;
	pid = fork();
	if (pid == 0)
		become(words, settings, errors[1]);
	if (pid < 0)
		error = errno;
	close(errors[1]);
	/* Its end is closed by the exec that succeeds. */
	do
		got = pid > 0 ? read(errors[0], &error, sizeof(error)) : 0;
	while (interrupted(got, &interruptions));
	close(errors[0]);
	if (error) {
		if (pid > 0)
			(void)waitpid(pid, NULL, 0);
		return -error;
	}
	ret_command->pid = pid;
	return 0;
}

bool command_has_ended(const struct command *command)
{
	siginfo_t info = { .si_pid = 0 };

	/* The status stays to be reaped; ECHILD: the tracer has reaped it. */
	if (waitid(P_PID, (id_t)command->pid, &info, WEXITED | WNOHANG | WNOWAIT))
		return errno == ECHILD;
	/* Linux also tells of stops of what any of our threads traces, whatever was asked for. */
	return info.si_pid && (info.si_code == CLD_EXITED || info.si_code == CLD_KILLED ||
			       info.si_code == CLD_DUMPED);
}

bool command_pass_on(const struct command *command, int signal, const siginfo_t *info)
{
	if (!command)
		return false;
	if (!(signal == SIGINT && info->si_code == SI_KERNEL))
		(void)kill(command->pid, signal);
	return true;
}

void command_await(const struct command *command, const sigset_t *signals)
{
	while (!command_has_ended(command)) {
		struct timespec timeout = clock_timespec(AWAIT_NS);
		siginfo_t info;
		int signal = sigtimedwait(signals, &info, &timeout);

		if (signal > 0)
			(void)command_pass_on(command, signal, &info);
	}
}

int command_wait(struct command *command)
{
	unsigned interruptions = 0;
	int status;
	pid_t pid;

	do
		pid = waitpid(command->pid, &status, 0);
	while (interrupted(pid, &interruptions));
	return pid < 0 ? -errno : status;
}
