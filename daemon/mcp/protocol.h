/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the Model Context Protocol answers without a process: who we are, which revisions are
 * spoken, which tools there are.
 *
 * Two kinds of revisions are spoken side by side, each request as it comes. Up to 2025-11-25 a
 * client begins with initialize, which settles one for the connection; since 2026-07-28 there is no
 * such beginning, and each request names its revision in _meta. Nothing depends on what came
 * before, so that no order of requests is wrong.
 */
#ifndef PIEPROFD_DAEMON_MCP_PROTOCOL_H
#define PIEPROFD_DAEMON_MCP_PROTOCOL_H

#include "daemon/mcp/rpc_message.h"
#include "daemon/mcp/tool.h"

/* What a tools/call asks for. */
struct protocol_call {
	const struct tool *tool;
	const json_t *arguments; /* borrowed; NULL: none */
	json_t *progress_token;  /* borrowed; NULL: nobody wants to know */
};

/*
 * The answer to a request or to what is no message; NULL with *ret_call filled: a call is to be
 * made; NULL without one (its tool is NULL): no answer is due, or no memory.
 */
json_t *protocol_answer(const struct rpc_message *message, struct protocol_call *ret_call);

/* The message that answers a request with what a call gave; result is taken over. */
json_t *protocol_result(json_t *id, bool modern, json_t *result);

/* Does it name its revision, as those since 2026-07-28 do? */
bool protocol_is_modern(const struct rpc_message *message);

/* The id that a notification takes back; NULL: it is no such notification. */
json_t *protocol_cancelled(const struct rpc_message *message);

#endif
