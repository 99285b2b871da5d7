/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One client of the Model Context Protocol: reads its messages, answers them, and looks after the
 * calls that run meanwhile, of which each is a process (call.h). One thread, which waits in
 * poll(2):
 *
 *   lines of the input, one by one --> an answer at once (protocol.h)
 *                                  \-> a call, whose answer is written when it has ended
 *
 * Nothing but messages is written to the output. The end of the input, a signal, or an output that
 * nobody reads ends all calls, whose targets are let go of, and then the server.
 */
#ifndef PIEPROFD_DAEMON_MCP_MCP_SERVER_H
#define PIEPROFD_DAEMON_MCP_MCP_SERVER_H

#include "daemon/mcp/call.h"

/* At once; a process can be profiled by one of them. */
#define MCP_CALLS_MAX 4

struct mcp_server_options {
	int input, output;
	int signals; /* signalfd(2): anything to read there ends it */
	sigset_t child_mask;
	call_run *run;
};

/* 0 at the end of the input or on a signal; or a negative errno: of the output, or -ENOMEM. */
__attribute__((warn_unused_result)) int mcp_server_run(const struct mcp_server_options *options);

#endif
