/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A command run as an ordinary child, as env(1) or time(1) run one: our
 * standard files, signals as we found them, no descriptor of ours. It is not
 * stopped, and outlives us should we die.
 */
#ifndef PIEPROFD_DAEMON_CLI_COMMAND_H
#define PIEPROFD_DAEMON_CLI_COMMAND_H

#include <signal.h>
#include <stdbool.h>
#include <sys/resource.h>
#include <sys/types.h>

/* What a child is given back; to be taken before we change any of it. */
struct command_settings {
	sigset_t mask;
	struct sigaction actions[65]; /* by signal */
	struct rlimit files;
	bool silent; /* its standard files are /dev/null: the terminal is ours */
};

void command_settings_read(struct command_settings *ret_settings);

struct command {
	pid_t pid;
};

/* 0, or a negative errno, such as -ENOENT: no such program. */
__attribute__((warn_unused_result)) int command_start(char *const *words,
						      const struct command_settings *settings,
						      struct command *ret_command);

/* It may still be there to be reaped. */
bool command_has_ended(const struct command *command);

/*
 * A signal that came to us: passed on to the command, which may be NULL, unless the terminal has
 * sent it to both of us. True: it was the command's.
 */
bool command_pass_on(const struct command *command, int signal, const siginfo_t *info);

/* Until it has ended, while signals that come are its own. */
void command_await(const struct command *command, const sigset_t *signals);

/*
 * Waits for its end, which may be long ago; no tracer may be left. The status as
 * waitpid(2) has it, or a negative errno: -ECHILD when a tracer of ours has
 * seen the end.
 */
int command_wait(struct command *command);

#endif
