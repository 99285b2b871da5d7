/* SPDX-License-Identifier: Apache-2.0 */
/* `pieprofd report`: a recording in another format, or what changed between two. */
#ifndef PIEPROFD_DAEMON_CLI_REPORT_COMMAND_H
#define PIEPROFD_DAEMON_CLI_REPORT_COMMAND_H

#include "common/error.h"
#include "daemon/cli/options.h"

/* What goes wrong is said on stderr. */
enum exit_code report_command(const struct options *options);

#endif
