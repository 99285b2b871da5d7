/* SPDX-License-Identifier: Apache-2.0 */
/*
 * After a profile that shows next to nothing: what the reader may have meant
 * instead. On standard error, as it is about the command, not about the target.
 */
#ifndef PIEPROFD_DAEMON_CLI_HINT_H
#define PIEPROFD_DAEMON_CLI_HINT_H

#include "daemon/report/model/profile.h"

#include <stdio.h>

/* A process that slept while it had children: those of a pre-fork server do its work. */
void hint_children(FILE *file, const struct profile_facts *facts);

#endif
