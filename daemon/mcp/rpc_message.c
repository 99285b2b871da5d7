/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/mcp/rpc_message.h"

#include "daemon/report/format/json_value.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ASCII alone: no newline and no control character gets out but as an escape. */
#define LINE_FLAGS (JSON_COMPACT | JSON_ENSURE_ASCII | JSON_REAL_PRECISION(9))

/* How deep brackets are in each other; in strings they are none. */
static bool is_too_deep(const char *bytes, size_t size)
{
	unsigned depth = 0;
	bool quoted = false;

	for (size_t i = 0; i < size; i++) {
		if (quoted) {
			if (bytes[i] == '\\')
				i++;
			else if (bytes[i] == '"')
				quoted = false;
			continue;
		}
		quoted = bytes[i] == '"';
		if ((bytes[i] == '{' || bytes[i] == '[') && ++depth > RPC_DEPTH_MAX)
			return true;
		if ((bytes[i] == '}' || bytes[i] == ']') && depth)
			depth--;
	}
	return false;
}

bool rpc_is_id(const json_t *value)
{
	return json_is_integer(value) ||
	       (json_is_string(value) && json_string_length(value) <= RPC_ID_BYTES_MAX);
}

static void make_invalid(struct rpc_message *message, enum rpc_code code, const char *problem)
{
	message->kind = RPC_INVALID;
	message->code = code;
	message->problem = problem;
}

static void read_object(struct rpc_message *message)
{
	const char *version = json_string_value(json_object_get(message->root, "jsonrpc"));
	json_t *id = json_object_get(message->root, "id");
	json_t *method = json_object_get(message->root, "method");
	json_t *params = json_object_get(message->root, "params");

	if (rpc_is_id(id))
		message->id = id;
	if (!version || strcmp(version, "2.0") != 0) {
		make_invalid(message, RPC_INVALID_REQUEST, "\"jsonrpc\" must be \"2.0\"");
		return;
	}
	if (!method &&
	    (json_object_get(message->root, "result") || json_object_get(message->root, "error"))) {
		message->kind = RPC_RESPONSE;
		return;
	}
	if (!json_is_string(method)) {
		make_invalid(message, RPC_INVALID_REQUEST, "\"method\" must be a string");
		return;
	}
	if (id && !message->id) {
		make_invalid(message, RPC_INVALID_REQUEST,
			     "\"id\" must be a whole number or a string of at most 256 bytes");
		return;
	}
	if (params && !json_is_object(params)) {
		make_invalid(message, RPC_INVALID_PARAMS, "\"params\" must be an object");
		return;
	}
	message->method = json_string_value(method);
	message->params = params;
	message->kind = id ? RPC_REQUEST : RPC_NOTIFICATION;
}

void rpc_message_read(const char *bytes, size_t size, struct rpc_message *ret_message)
{
	struct rpc_message message = { .kind = RPC_INVALID };
	json_error_t error;

	if (is_too_deep(bytes, size)) {
		make_invalid(&message, RPC_INVALID_REQUEST,
			     "objects and arrays are too deep in each other");
	} else if (!(message.root = json_loadb(bytes, size, JSON_REJECT_DUPLICATES, &error))) {
		make_invalid(&message, RPC_PARSE_ERROR,
			     "not one JSON value in UTF-8, or a key that is there twice");
	} else if (!json_is_object(message.root)) {
		make_invalid(&message, RPC_INVALID_REQUEST,
			     "a line is one message, an object; batches are not answered");
	} else {
		read_object(&message);
	}
	*ret_message = message;
}

void rpc_message_deinit(struct rpc_message *message)
{
	json_decref(message->root);
	message->root = NULL;
}

static json_t *envelope(json_t *id)
{
	json_t *object = json_with(json_object(), "jsonrpc", json_text("2.0"));

	return json_with(object, "id", id ? json_incref(id) : json_null());
}

json_t *rpc_result(json_t *id, json_t *result)
{
	return json_with(envelope(id), "result", result);
}

json_t *rpc_error(json_t *id, enum rpc_code code, const char *words, json_t *data)
{
	json_t *error = json_with(json_object(), "code", json_integer(code));

	error = json_with(error, "message", json_text(words));
	if (data)
		error = json_with(error, "data", data);
	return json_with(envelope(id), "error", error);
}

json_t *rpc_notification(const char *method, json_t *params)
{
	json_t *object = json_with(json_object(), "jsonrpc", json_text("2.0"));

	object = json_with(object, "method", json_text(method));
	return json_with(object, "params", params);
}

int rpc_put(int fd, json_t *message)
{
	char *line = message ? json_dumps(message, LINE_FLAGS) : NULL;
	size_t length = line ? strlen(line) : 0, written = 0;
	int result = line ? 0 : -ENOMEM;

	/* With its newline in one: nobody is to see half a message, if it can be helped. */
	if (line)
		line[length++] = '\n';
	while (!result && written < length) {
		ssize_t count = write(fd, line + written, length - written);

		if (count > 0)
			written += (size_t)count;
		else if (count < 0 && errno != EINTR)
			result = -errno;
	}
	free(line);
	json_decref(message);
	return result;
}
