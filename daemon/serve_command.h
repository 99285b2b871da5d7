/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `pieprofd serve`: one process, profiled for as long as it lives, for whoever
 * asks over HTTP. The caller's thread looks after the sampler, slow connections,
 * signals and systemd; others answer (serve/server.h).
 */
#ifndef PIEPROFD_DAEMON_SERVE_COMMAND_H
#define PIEPROFD_DAEMON_SERVE_COMMAND_H

#include "common/pid_list.h"
#include "daemon/options.h"
#include "daemon/session.h"

#include <signal.h>

/*
 * Of these processes, until one of the signals, which are blocked in all threads, or the target's
 * end. 0, or -1 with *error filled.
 */
__attribute__((warn_unused_result)) int serve_run(const struct options *options,
						  const struct pid_list *targets,
						  const struct session_options *session,
						  const sigset_t *signals, struct error *error);

#endif
