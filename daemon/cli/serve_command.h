/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `pieprofd serve`: one process, profiled for as long as it lives, for whoever
 * asks over HTTP. The caller's thread looks after the sampler, slow connections,
 * signals and systemd; others answer (serve/server.h).
 */
#ifndef PIEPROFD_DAEMON_CLI_SERVE_COMMAND_H
#define PIEPROFD_DAEMON_CLI_SERVE_COMMAND_H

#include "common/error.h"
#include "daemon/cli/options.h"

/* Until a signal, or the target's end. */
enum exit_code serve_command(struct options *options);

#endif
