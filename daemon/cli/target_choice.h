/* SPDX-License-Identifier: Apache-2.0 */
/* Which processes are meant: those given, or found by --name and --cgroup. */
#ifndef PIEPROFD_DAEMON_CLI_TARGET_CHOICE_H
#define PIEPROFD_DAEMON_CLI_TARGET_CHOICE_H

#include "common/error.h"
#include "common/pid_list.h"
#include "daemon/cli/options.h"

/*
 * EXIT_OK, or what to end with, and said. Sets options->pid to the first one. The
 * targets are to be deinitialised whatever comes of it.
 */
enum exit_code target_choice(struct options *options, struct pid_list *targets);

#endif
