/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the tools record and findings answer: the report in Markdown, a NUL, and what a program
 * wants of it as JSON (call.h has what becomes of both).
 */
#ifndef PIEPROFD_DAEMON_MCP_TOOL_WRITER_H
#define PIEPROFD_DAEMON_MCP_TOOL_WRITER_H

#include "daemon/report/format/writer.h"

/* Not in the table of writers: a format of ours alone. */
extern const struct writer writer_tool;

/*
 * The same of a report that pieprofd has written as JSON. 0; -EINVAL: it is none; -ENOMEM, or what
 * reading it said.
 */
__attribute__((warn_unused_result)) int tool_write_report(const char *path, FILE *file);

#endif
