/* SPDX-License-Identifier: Apache-2.0 */
/* `pieprofd record`: a group of sessions, and its reports. */
#ifndef PIEPROFD_DAEMON_CLI_RECORD_COMMAND_H
#define PIEPROFD_DAEMON_CLI_RECORD_COMMAND_H

#include "daemon/cli/options.h"

/* An exit code: with a command, the command's own. */
int record_command(struct options *options);

#endif
