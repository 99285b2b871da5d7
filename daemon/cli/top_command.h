/* SPDX-License-Identifier: Apache-2.0 */
/* `pieprofd top`: one process, shown live until it is left; then the summary. */
#ifndef PIEPROFD_DAEMON_CLI_TOP_COMMAND_H
#define PIEPROFD_DAEMON_CLI_TOP_COMMAND_H

#include "common/error.h"
#include "daemon/cli/options.h"

enum exit_code top_command(const struct options *options);

#endif
