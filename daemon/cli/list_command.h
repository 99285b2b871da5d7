/* SPDX-License-Identifier: Apache-2.0 */
/* `pieprofd list`: the Python processes of the machine. */
#ifndef PIEPROFD_DAEMON_CLI_LIST_COMMAND_H
#define PIEPROFD_DAEMON_CLI_LIST_COMMAND_H

#include "common/error.h"
#include "daemon/cli/options.h"

enum exit_code list_command(const struct options *options);

#endif
