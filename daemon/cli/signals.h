/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SIGINT and SIGTERM end a session and have it written; a second one gives up.
 * SIGUSR1 writes the reports as they are now.
 *
 * While a command runs that was started here, SIGINT from the terminal reaches
 * it, too: it decides what that means, and we go on until it has ended. Other
 * signals are passed on to it.
 */
#ifndef PIEPROFD_DAEMON_CLI_SIGNALS_H
#define PIEPROFD_DAEMON_CLI_SIGNALS_H

#include <signal.h>

/* Those that a command waits for, in *ret_set; before it makes any thread. */
void signals_block(sigset_t *ret_set);

/* From here on ^C ends the program at once: the target is detached, only writing is left. */
void signals_end_us(const sigset_t *signals);

#endif
