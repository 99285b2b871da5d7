/* SPDX-License-Identifier: Apache-2.0 */
/* What comes of a trace: files, and what it says on standard output. */
#ifndef PIEPROFD_DAEMON_CLI_TRACE_OUTPUT_H
#define PIEPROFD_DAEMON_CLI_TRACE_OUTPUT_H

#include "common/error.h"
#include "daemon/cli/options.h"
#include "daemon/trace/trace.h"

/* speaks: also on standard output. What goes wrong is said. */
enum exit_code trace_output(const struct options *options, const struct trace *trace, bool speaks);

#endif
