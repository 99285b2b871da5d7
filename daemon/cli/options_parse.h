/* SPDX-License-Identifier: Apache-2.0 */
/* The command line, read by the table of options. */
#ifndef PIEPROFD_DAEMON_CLI_OPTIONS_PARSE_H
#define PIEPROFD_DAEMON_CLI_OPTIONS_PARSE_H

#include "daemon/cli/options.h"

#include <stdio.h>

/*
 * Parses argv. 0, or -1 after one line about what is wrong and how it is
 * written right went to stderr.
 */
__attribute__((warn_unused_result)) int options_parse(int argc, char *const *argv,
						      struct options *ret_options, FILE *errors);

#endif
