/* SPDX-License-Identifier: Apache-2.0 */
/* What a session is to do, from the options. */
#ifndef PIEPROFD_DAEMON_CLI_SESSION_SETTINGS_H
#define PIEPROFD_DAEMON_CLI_SESSION_SETTINGS_H

#include "daemon/cli/options.h"
#include "daemon/session/session.h"

/* Of the process options->pid. What they point to is the options'. */
struct session_options session_settings(const struct options *options);

#endif
