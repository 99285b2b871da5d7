/* SPDX-License-Identifier: Apache-2.0 */
/*
 * JSON-RPC 2.0 messages, as the Model Context Protocol has them on standard input and output: one a
 * line, ids are strings or whole numbers, and parameters are an object. Bytes may be anything: what
 * is no such message is told as what is wrong with it.
 */
#ifndef PIEPROFD_DAEMON_MCP_RPC_MESSAGE_H
#define PIEPROFD_DAEMON_MCP_RPC_MESSAGE_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

/* Of objects and arrays in each other; a message of ours needs 6. */
#define RPC_DEPTH_MAX 32
/* Ids and tokens are kept, and sent back. */
#define RPC_ID_BYTES_MAX 256

/* Codes of JSON-RPC 2.0, and of revision 2026-07-28 of the protocol. */
enum rpc_code {
	RPC_PARSE_ERROR = -32700,
	RPC_INVALID_REQUEST = -32600,
	RPC_METHOD_NOT_FOUND = -32601,
	RPC_INVALID_PARAMS = -32602,
	RPC_INTERNAL_ERROR = -32603,
	RPC_UNSUPPORTED_VERSION = -32022,
};

enum rpc_kind {
	RPC_REQUEST,
	RPC_NOTIFICATION,
	RPC_RESPONSE, /* to a request of ours: there are none */
	RPC_INVALID,
};

struct rpc_message {
	enum rpc_kind kind;
	json_t *root; /* owned; all others point into it */
	json_t *id;   /* NULL: none that can be answered */
	const char *method;
	json_t *params; /* an object, or NULL */
	/* Of an invalid one. */
	enum rpc_code code;
	const char *problem;
};

/* To be given to rpc_message_deinit(), whatever kind it is. */
void rpc_message_read(const char *bytes, size_t size, struct rpc_message *ret_message);
void rpc_message_deinit(struct rpc_message *message);

/* A string of bounded length, or a whole number. */
bool rpc_is_id(const json_t *value);

/* The id is borrowed, NULL is written as null; other values are taken over. NULL: no memory. */
json_t *rpc_result(json_t *id, json_t *result);
json_t *rpc_error(json_t *id, enum rpc_code code, const char *words, json_t *data);
json_t *rpc_notification(const char *method, json_t *params);

/* Writes a message, which is taken over, as one line. 0, or a negative errno. */
__attribute__((warn_unused_result)) int rpc_put(int fd, json_t *message);

#endif
