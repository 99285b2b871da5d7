/* SPDX-License-Identifier: Apache-2.0 */
/* `pieprofd dump`: what every thread does now. */
#ifndef PIEPROFD_DAEMON_CLI_DUMP_COMMAND_H
#define PIEPROFD_DAEMON_CLI_DUMP_COMMAND_H

#include "common/error.h"
#include "daemon/cli/options.h"

enum exit_code dump_command(const struct options *options);

#endif
