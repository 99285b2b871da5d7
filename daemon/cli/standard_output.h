/* SPDX-License-Identifier: Apache-2.0 */
/* What a command writes to standard output: how wide, in which colours, and whether that went well.
 */
#ifndef PIEPROFD_DAEMON_CLI_STANDARD_OUTPUT_H
#define PIEPROFD_DAEMON_CLI_STANDARD_OUTPUT_H

#include "common/error.h"
#include "daemon/cli/options.h"

struct writer_options standard_output_options(const struct options *options);

/* What to end with once this was written, or could not be: then it is said. */
enum exit_code standard_output_end(const char *what, int failure, enum exit_code code);

#endif
