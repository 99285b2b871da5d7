/* SPDX-License-Identifier: Apache-2.0 */
/* What --help prints, from the table of options. */
#ifndef PIEPROFD_DAEMON_CLI_OPTIONS_HELP_H
#define PIEPROFD_DAEMON_CLI_OPTIONS_HELP_H

#include "daemon/cli/options.h"

#include <stdio.h>

void options_print_help(FILE *file);

void options_print_command_help(enum options_action command, FILE *file);

#endif
