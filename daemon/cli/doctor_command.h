/* SPDX-License-Identifier: Apache-2.0 */
/* `pieprofd doctor`: what works here, or with one process. */
#ifndef PIEPROFD_DAEMON_CLI_DOCTOR_COMMAND_H
#define PIEPROFD_DAEMON_CLI_DOCTOR_COMMAND_H

#include "common/error.h"
#include "daemon/cli/options.h"

/* debuginfod: DEBUGINFOD_URLS was set when the program began. */
enum exit_code doctor_command(const struct options *options, bool debuginfod);

#endif
