/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A call of a tool while it runs: a child process that does what the command of that name does, and
 * writes to pipes. So a call has the command's own confinement, ends alone when something goes
 * wrong, and lets go of its target however it ends, as every command does.
 *
 *   standard output   text NUL json   both bounded; a NUL is in neither
 *   standard error    cause and cure, or notes
 *
 * The child is a copy of this process and not another program: a file that was replaced meanwhile
 * does not matter, nor where it is. It ends with us.
 */
#ifndef PIEPROFD_DAEMON_MCP_CALL_H
#define PIEPROFD_DAEMON_MCP_CALL_H

#include "daemon/mcp/tool.h"

#include <signal.h>
#include <stdint.h>
#include <sys/types.h>

#define CALL_TEXT_BYTES_MAX  (128u << 10)
#define CALL_JSON_BYTES_MAX  (1u << 20)
#define CALL_NOTES_BYTES_MAX (8u << 10)

/* In the child: runs the command of the line, with its standard files as above; the exit code. */
typedef int call_run(struct tool_line *line);

struct call_stream {
	int fd; /* -1: at its end */
	char *bytes;
	size_t used, capacity, limit;
	bool cut; /* more came than is kept */
};

struct call {
	const struct tool *tool;
	pid_t pid; /* 0: none, or it has been waited for */
	int status;
	struct call_stream output, errors;
	uint64_t began_ns, duration_ns, limit_ns;
	uint64_t ending_ns;      /* since when it is told to end; 0: not */
	uint64_t next_signal_ns; /* likewise, again */
	bool expired;            /* it took too long */
};

/*
 * mask: of signals, for the child. 0, or a negative errno: there is no call then. The line is only
 * read.
 */
__attribute__((warn_unused_result)) int call_start(struct call *call, const struct tool *tool,
						   struct tool_line *line, call_run *run,
						   const sigset_t *mask, uint64_t now_ns);

/* Takes what a descriptor that is readable has. */
void call_read(struct call *call, struct call_stream *stream);

/* Tells it to end, as often as it is due; a call that took too long, too. */
void call_tend(struct call *call, uint64_t now_ns);
void call_end(struct call *call, uint64_t now_ns);

/* Has it ended, with all that it wrote read? */
bool call_has_ended(struct call *call);

/* What tools/call answers: content, structuredContent, isError. NULL: no memory. */
json_t *call_result(const struct call *call);

/* The same of a call that could not be made, or was refused. */
json_t *call_refusal(const struct error *error);

void call_deinit(struct call *call);

#endif
