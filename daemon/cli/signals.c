/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/cli/signals.h"

#include "common/error.h"
#include "common/foreign_mapping.h"

#include <pthread.h>
#include <unistd.h>

void signals_block(sigset_t *ret_set)
{
	sigemptyset(ret_set);
	sigaddset(ret_set, SIGINT);
	sigaddset(ret_set, SIGTERM);
	sigaddset(ret_set, SIGHUP);
	sigaddset(ret_set, SIGUSR1);
	/* top reads it from a descriptor. */
	sigaddset(ret_set, SIGWINCH);
	pthread_sigmask(SIG_BLOCK, ret_set, NULL);
	sigdelset(ret_set, SIGWINCH);
	/* For the threads to come, whoever of them will read files of the target. */
	foreign_mapping_unblock_signal();
	/* A reader that went away is an error of write(), not an end. */
	signal(SIGPIPE, SIG_IGN);
	/*
	 * A daemon that is stopped (^Z, or a write to a terminal in the background)
	 * leaves every thread of the target waiting at its next sample.
	 */
	signal(SIGTSTP, SIG_IGN);
	signal(SIGTTIN, SIG_IGN);
	signal(SIGTTOU, SIG_IGN);
	/* Ignored by whoever started us, it would take a command's exit status away. */
	signal(SIGCHLD, SIG_DFL);
}

static void end_given_up(int signal)
{
	(void)signal;
	_exit(EXIT_GIVEN_UP);
}

void signals_end_us(const sigset_t *signals)
{
	struct sigaction action = { .sa_handler = end_given_up };

	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	sigaction(SIGHUP, &action, NULL);
	/* The report that is about to be written is newer than any snapshot. */
	signal(SIGUSR1, SIG_IGN);
	pthread_sigmask(SIG_UNBLOCK, signals, NULL);
}
