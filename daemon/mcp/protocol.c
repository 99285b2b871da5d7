/* SPDX-License-Identifier: Apache-2.0 */
/* Facts are from modelcontextprotocol.io, revisions 2024-11-05 to 2026-07-28. */
#include "daemon/mcp/protocol.h"

#include "daemon/report/format/json_value.h"

#include <string.h>

#define META_VERSION      "io.modelcontextprotocol/protocolVersion"
#define META_CAPABILITIES "io.modelcontextprotocol/clientCapabilities"
#define META_SERVER       "io.modelcontextprotocol/serverInfo"
/* What can be called does not change while we live. */
#define LISTS_STAY_MS 3600000

/* Newest first. 2025-03-26 had batches, which every server of it must answer, and is left out. */
static const char *const handshake_versions[] = { "2025-11-25", "2025-06-18", "2024-11-05" };
static const char modern_version[] = "2026-07-28";

#define HANDSHAKE_COUNT (sizeof(handshake_versions) / sizeof(handshake_versions[0]))

static const char instructions[] =
	"pieprofd profiles running, unmodified Python processes from outside. list shows which "
	"there are; dump says what one does now, when it hangs or is slow; record says where its "
	"CPU time goes, which lines waste it, and what to do; findings reads a recording that "
	"record kept. Another user's process needs root.";

static const json_t *meta_of(const struct rpc_message *message)
{
	return json_object_get(message->params, "_meta");
}

bool protocol_is_modern(const struct rpc_message *message)
{
	return json_object_get(meta_of(message), META_VERSION) != NULL;
}

static json_t *server_info(void)
{
	json_t *info = json_with(json_object(), "name", json_text("pieprofd"));

	info = json_with(info, "title", json_text("pieprofd, a profiler for Python"));
	return json_with(info, "version", json_text(PIEPROFD_VERSION));
}

static json_t *capabilities(void)
{
	return json_with(json_object(), "tools", json_object());
}

static json_t *supported_versions(void)
{
	json_t *array = json_appended(json_array(), json_text(modern_version));

	for (size_t i = 0; i < HANDSHAKE_COUNT; i++)
		array = json_appended(array, json_text(handshake_versions[i]));
	return array;
}

json_t *protocol_result(json_t *id, bool modern, json_t *result)
{
	if (modern) {
		result = json_with(result, "resultType", json_text("complete"));
		result = json_with(result, "_meta",
				   json_with(json_object(), META_SERVER, server_info()));
	}
	return rpc_result(id, result);
}

/* The newest that is no newer than the client's: it cannot speak those. */
static const char *chosen_version(const char *wanted)
{
	for (size_t i = 0; i < HANDSHAKE_COUNT; i++)
		if (strcmp(handshake_versions[i], wanted) <= 0)
			return handshake_versions[i];
	return handshake_versions[0];
}

static json_t *answer_initialize(const struct rpc_message *message)
{
	const char *wanted = json_string_value(json_object_get(message->params, "protocolVersion"));
	json_t *result;

	if (!wanted)
		return rpc_error(message->id, RPC_INVALID_PARAMS,
				 "\"protocolVersion\" must be a string", NULL);
	result = json_with(json_object(), "protocolVersion", json_text(chosen_version(wanted)));
	result = json_with(result, "capabilities", capabilities());
	result = json_with(result, "serverInfo", server_info());
	result = json_with(result, "instructions", json_text(instructions));
	return rpc_result(message->id, result);
}

/* What is wrong with what a request says of itself, as an answer; NULL: nothing. */
static json_t *refuse_envelope(const struct rpc_message *message)
{
	const json_t *version = json_object_get(meta_of(message), META_VERSION);
	json_t *data;

	if (!json_is_string(version) ||
	    !json_is_object(json_object_get(meta_of(message), META_CAPABILITIES)))
		return rpc_error(message->id, RPC_INVALID_PARAMS,
				 "\"_meta\" must have " META_VERSION
				 ", a string, and " META_CAPABILITIES ", an object",
				 NULL);
	if (!strcmp(json_string_value(version), modern_version))
		return NULL;
	data = json_with(json_object(), "supported", supported_versions());
	data = json_with(data, "requested", json_text(json_string_value(version)));
	return rpc_error(message->id, RPC_UNSUPPORTED_VERSION, "Unsupported protocol version",
			 data);
}

static json_t *cacheable(json_t *result, bool modern)
{
	if (!modern)
		return result;
	result = json_with(result, "ttlMs", json_integer(LISTS_STAY_MS));
	return json_with(result, "cacheScope", json_text("public"));
}

static json_t *answer_discover(const struct rpc_message *message)
{
	json_t *result = json_with(json_object(), "supportedVersions", supported_versions());

	result = json_with(result, "capabilities", capabilities());
	result = json_with(result, "instructions", json_text(instructions));
	return protocol_result(message->id, true, cacheable(result, true));
}

static json_t *answer_tools(const struct rpc_message *message, bool modern)
{
	const json_t *cursor = json_object_get(message->params, "cursor");
	json_t *result;

	/* All of them are one page. */
	if (cursor && !json_is_null(cursor))
		return rpc_error(message->id, RPC_INVALID_PARAMS, "there is no such \"cursor\"",
				 NULL);
	result = json_with(json_object(), "tools", tool_descriptions());
	return protocol_result(message->id, modern, cacheable(result, modern));
}

/* Which tool; NULL with *ret_call filled. */
static json_t *answer_call(const struct rpc_message *message, struct protocol_call *ret_call)
{
	const char *name = json_string_value(json_object_get(message->params, "name"));
	const json_t *arguments = json_object_get(message->params, "arguments");
	json_t *token = json_object_get(meta_of(message), "progressToken");
	const struct tool *tool = name ? tool_by_name(name) : NULL;

	if (!tool)
		return rpc_error(message->id, RPC_INVALID_PARAMS,
				 name ? "there is no tool of that name; tools/list has them"
				      : "\"name\" must be a tool's",
				 NULL);
	if (arguments && !json_is_object(arguments) && !json_is_null(arguments))
		return rpc_error(message->id, RPC_INVALID_PARAMS, "\"arguments\" must be an object",
				 NULL);
	ret_call->tool = tool;
	ret_call->arguments = json_is_object(arguments) ? arguments : NULL;
	ret_call->progress_token = rpc_is_id(token) ? token : NULL;
	return NULL;
}

static json_t *answer_request(const struct rpc_message *message, struct protocol_call *ret_call)
{
	bool modern = protocol_is_modern(message);
	bool discover = !strcmp(message->method, "server/discover");
	json_t *refusal;

	if (!strcmp(message->method, "initialize"))
		return answer_initialize(message);
	refusal = modern || discover ? refuse_envelope(message) : NULL;
	if (refusal)
		return refusal;
	if (discover)
		return answer_discover(message);
	if (!strcmp(message->method, "tools/list"))
		return answer_tools(message, modern);
	if (!strcmp(message->method, "tools/call"))
		return answer_call(message, ret_call);
	/* Since 2026-07-28 there is none. */
	if (!strcmp(message->method, "ping") && !modern)
		return rpc_result(message->id, json_object());
	return rpc_error(message->id, RPC_METHOD_NOT_FOUND, "there is no such method", NULL);
}

json_t *protocol_answer(const struct rpc_message *message, struct protocol_call *ret_call)
{
	*ret_call = (struct protocol_call){ 0 };
	switch (message->kind) {
	case RPC_INVALID:
		return rpc_error(message->id, message->code, message->problem, NULL);
	case RPC_REQUEST:
		return answer_request(message, ret_call);
	case RPC_NOTIFICATION:
	case RPC_RESPONSE:
		break;
	}
	return NULL;
}

json_t *protocol_cancelled(const struct rpc_message *message)
{
	json_t *id;

	if (message->kind != RPC_NOTIFICATION ||
	    strcmp(message->method, "notifications/cancelled") != 0)
		return NULL;
	id = json_object_get(message->params, "requestId");
	return rpc_is_id(id) ? id : NULL;
}
