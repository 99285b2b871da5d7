/* SPDX-License-Identifier: Apache-2.0 */
/* What went wrong, said to a person on standard error. */
#ifndef PIEPROFD_DAEMON_CLI_MESSAGE_H
#define PIEPROFD_DAEMON_CLI_MESSAGE_H

#include "common/error.h"

#include <stdbool.h>

void message_error(const struct error *error);
/*
 * failure: of a function of confinement.h. True, and said: a command that could not
 * give up what it may do goes no further.
 */
bool message_privileges_are_kept(int failure);

#endif
