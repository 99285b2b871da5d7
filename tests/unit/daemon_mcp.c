/* SPDX-License-Identifier: Apache-2.0 */
/* The Model Context Protocol: lines, messages, answers, and the command lines that calls become. */
#include "common/clock.h"
#include "daemon/cli/options_parse.h"
#include "daemon/mcp/line_reader.h"
#include "daemon/mcp/protocol.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define MODERN                                                                                     \
	"\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\","                   \
	"\"io.modelcontextprotocol/clientCapabilities\":{}}"

/* ---- lines ---- */

static struct line_reader reader;

/* The outcome, with the line in *text when there is one. */
static enum line_outcome next_line(char *text, size_t size)
{
	const char *line;
	size_t length;
	enum line_outcome outcome = line_reader_next(&reader, &line, &length);

	*text = '\0';
	if (outcome == LINE_READ)
		snprintf(text, size, "%.*s", (int)length, line);
	return outcome;
}

static void test_lines(void **state)
{
	static char long_line[LINE_BYTES_MAX + 2];
	char text[64];
	int ends[2];

	(void)state;
	assert_int_equal(pipe(ends), 0);
	assert_true(fcntl(ends[1], F_SETPIPE_SZ, 4 * LINE_BYTES_MAX) > 0);
	line_reader_init(&reader, ends[0]);
	assert_int_equal(write(ends[1], "one\n\ntwo", 8), 8);
	assert_int_equal(line_reader_fill(&reader), 0);
	assert_int_equal(next_line(text, sizeof(text)), LINE_READ);
	assert_string_equal(text, "one");
	assert_int_equal(next_line(text, sizeof(text)), LINE_READ);
	assert_string_equal(text, "");
	assert_int_equal(next_line(text, sizeof(text)), LINE_NONE);

	/* The longest that there is room for, its newline included; then one byte more. */
	memset(long_line, 'x', sizeof(long_line));
	long_line[0] = '\n';
	long_line[LINE_BYTES_MAX] = '\n';
	assert_int_equal(write(ends[1], long_line, LINE_BYTES_MAX + 1), LINE_BYTES_MAX + 1);
	assert_int_equal(line_reader_fill(&reader), 0);
	assert_int_equal(next_line(text, sizeof(text)), LINE_READ);
	assert_string_equal(text, "two");
	for (enum line_outcome outcome = LINE_NONE; outcome == LINE_NONE;) {
		const char *line;
		size_t length;

		assert_int_equal(line_reader_fill(&reader), 0);
		outcome = line_reader_next(&reader, &line, &length);
		if (outcome == LINE_READ)
			assert_int_equal(length, LINE_BYTES_MAX - 1);
		else
			assert_int_equal(outcome, LINE_NONE);
	}
	long_line[0] = long_line[LINE_BYTES_MAX] = 'x';
	long_line[LINE_BYTES_MAX + 1] = '\n';
	assert_int_equal(write(ends[1], long_line, sizeof(long_line)), sizeof(long_line));
	assert_int_equal(write(ends[1], "three\nfour", 10), 10);
	close(ends[1]);
	for (enum line_outcome outcome = LINE_NONE; outcome != LINE_TOO_LONG;) {
		assert_int_equal(line_reader_fill(&reader), 0);
		outcome = next_line(text, sizeof(text));
		assert_true(outcome == LINE_NONE || outcome == LINE_TOO_LONG);
	}
	while (next_line(text, sizeof(text)) != LINE_READ)
		assert_int_equal(line_reader_fill(&reader), 0);
	assert_string_equal(text, "three");
	/* What has no newline is no message. */
	assert_int_equal(line_reader_fill(&reader), 0);
	assert_int_equal(line_reader_fill(&reader), 0);
	assert_int_equal(next_line(text, sizeof(text)), LINE_END);
	close(ends[0]);
}

/* ---- messages ---- */

/* The answer to a line; NULL: none is due. *ret_call as protocol_answer() has it. */
static json_t *answer_to(const char *line)
{
	struct protocol_call call;
	struct rpc_message message;
	json_t *answer;

	rpc_message_read(line, strlen(line), &message);
	answer = protocol_answer(&message, &call);
	assert_true(!answer || !call.tool);
	rpc_message_deinit(&message);
	return answer;
}

static void refused(const char *line, int code)
{
	json_t *answer = answer_to(line);
	json_t *error = json_object_get(answer, "error");

	if (json_integer_value(json_object_get(error, "code")) != code)
		print_error("%s: %s\n", line, answer ? json_dumps(answer, 0) : "no answer");
	assert_int_equal(json_integer_value(json_object_get(error, "code")), code);
	assert_true(json_string_length(json_object_get(error, "message")) > 0);
	assert_string_equal(json_string_value(json_object_get(answer, "jsonrpc")), "2.0");
	assert_non_null(json_object_get(answer, "id"));
	json_decref(answer);
}

static void passed_over(const char *line)
{
	json_t *answer = answer_to(line);

	if (answer)
		print_error("%s is answered\n", line);
	assert_null(answer);
}

static json_t *result_of(const char *line)
{
	json_t *answer = answer_to(line), *result = json_object_get(answer, "result");

	if (!result)
		print_error("%s: %s\n", line, answer ? json_dumps(answer, 0) : "no answer");
	assert_non_null(result);
	json_incref(result);
	json_decref(answer);
	return result;
}

static void test_messages(void **state)
{
	char deep[2 * RPC_DEPTH_MAX + 64], text[600];

	(void)state;
	refused("", RPC_PARSE_ERROR);
	refused("{", RPC_PARSE_ERROR);
	refused("{} {}", RPC_PARSE_ERROR);
	refused("\"\xff\"", RPC_PARSE_ERROR);
	refused("{\"jsonrpc\":\"2.0\",\"id\":1,\"id\":2,\"method\":\"ping\"}", RPC_PARSE_ERROR);
	refused("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"a\\u0000b\"}", RPC_PARSE_ERROR);
	refused("[]", RPC_INVALID_REQUEST);
	refused("[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}]", RPC_INVALID_REQUEST);
	refused("7", RPC_PARSE_ERROR);
	refused("{}", RPC_INVALID_REQUEST);
	refused("{\"jsonrpc\":\"1.0\",\"id\":1,\"method\":\"ping\"}", RPC_INVALID_REQUEST);
	refused("{\"jsonrpc\":\"2.0\",\"id\":1}", RPC_INVALID_REQUEST);
	refused("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":7}", RPC_INVALID_REQUEST);
	refused("{\"jsonrpc\":\"2.0\",\"id\":null,\"method\":\"ping\"}", RPC_INVALID_REQUEST);
	refused("{\"jsonrpc\":\"2.0\",\"id\":1.5,\"method\":\"ping\"}", RPC_INVALID_REQUEST);
	refused("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",\"params\":[1]}",
		RPC_INVALID_PARAMS);
	snprintf(text, sizeof(text), "{\"jsonrpc\":\"2.0\",\"id\":\"%0*d\",\"method\":\"ping\"}",
		 RPC_ID_BYTES_MAX + 1, 0);
	refused(text, RPC_INVALID_REQUEST);

	/* As deep as it may be; brackets in strings are none. */
	memset(deep, '[', RPC_DEPTH_MAX);
	memset(deep + RPC_DEPTH_MAX, ']', RPC_DEPTH_MAX);
	deep[2 * RPC_DEPTH_MAX] = '\0';
	refused(deep, RPC_INVALID_REQUEST);
	memset(deep, '[', RPC_DEPTH_MAX + 1);
	deep[RPC_DEPTH_MAX + 1] = '\0';
	refused(deep, RPC_INVALID_REQUEST);
	deep[RPC_DEPTH_MAX] = '\0';
	refused(deep, RPC_PARSE_ERROR);
	json_decref(
		result_of("{\"jsonrpc\":\"2.0\",\"id\":\"[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[\\\""
			  "\",\"method\":\"ping\"}"));

	passed_over("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}");
	passed_over("{\"jsonrpc\":\"2.0\",\"method\":\"ping\"}");
	passed_over("{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}");
	passed_over("{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":1,\"message\":\"\"}}");
}

static void test_line_of_a_message(void **state)
{
	static const char expected[] =
		"{\"jsonrpc\":\"2.0\",\"id\":\"a\\n\\u00E9\",\"result\":{}}\n";
	json_t *id = json_string("a\n\xc3\xa9");
	char text[128] = "";
	int ends[2];

	(void)state;
	assert_int_equal(pipe(ends), 0);
	assert_int_equal(rpc_put(ends[1], rpc_result(id, json_object())), 0);
	assert_int_equal(read(ends[0], text, sizeof(text)), strlen(expected));
	/* One line, of ASCII alone. */
	assert_string_equal(text, expected);
	assert_int_equal(rpc_put(ends[1], NULL), -ENOMEM);
	close(ends[0]);
	signal(SIGPIPE, SIG_IGN);
	assert_int_equal(rpc_put(ends[1], rpc_result(id, json_object())), -EPIPE);
	close(ends[1]);
	json_decref(id);
}

/* ---- revisions ---- */

static void settles(const char *asked, const char *expected)
{
	char line[256];
	json_t *result;

	snprintf(line, sizeof(line),
		 "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":"
		 "{\"protocolVersion\":\"%s\",\"capabilities\":{},\"clientInfo\":{}}}",
		 asked);
	result = result_of(line);
	assert_string_equal(json_string_value(json_object_get(result, "protocolVersion")),
			    expected);
	assert_true(
		json_is_object(json_object_get(json_object_get(result, "capabilities"), "tools")));
	assert_null(json_object_get(result, "resultType"));
	json_decref(result);
}

static void test_initialize(void **state)
{
	(void)state;
	settles("2025-11-25", "2025-11-25");
	settles("2025-06-18", "2025-06-18");
	settles("2024-11-05", "2024-11-05");
	/* What we do not speak: the newest that its client may know. */
	settles("2025-03-26", "2024-11-05");
	settles("2030-01-01", "2025-11-25");
	settles("2026-07-28", "2025-11-25");
	settles("1999-01-01", "2025-11-25");
	refused("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\"}", RPC_INVALID_PARAMS);
	refused("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":"
		"{\"protocolVersion\":7}}",
		RPC_INVALID_PARAMS);
}

static void test_modern(void **state)
{
	json_t *result = result_of("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"server/discover\","
				   "\"params\":{" MODERN "}}");
	const json_t *meta = json_object_get(result, "_meta");

	(void)state;
	assert_string_equal(
		json_string_value(json_array_get(json_object_get(result, "supportedVersions"), 0)),
		"2026-07-28");
	assert_string_equal(json_string_value(json_object_get(result, "resultType")), "complete");
	assert_true(json_is_integer(json_object_get(result, "ttlMs")));
	assert_true(json_is_object(json_object_get(meta, "io.modelcontextprotocol/serverInfo")));
	json_decref(result);
	result = result_of(
		"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\",\"params\":{" MODERN "}}");
	assert_string_equal(json_string_value(json_object_get(result, "cacheScope")), "public");
	json_decref(result);
	/* There is none since. */
	refused("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",\"params\":{" MODERN "}}",
		RPC_METHOD_NOT_FOUND);
	refused("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"server/discover\"}",
		RPC_INVALID_PARAMS);
	refused("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\",\"params\":{\"_meta\":"
		"{\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\"}}}",
		RPC_INVALID_PARAMS);
	refused("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\",\"params\":{\"_meta\":"
		"{\"io.modelcontextprotocol/protocolVersion\":\"2031-01-01\","
		"\"io.modelcontextprotocol/clientCapabilities\":{}}}}",
		RPC_UNSUPPORTED_VERSION);
}

static void test_methods(void **state)
{
	json_t *result = result_of("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\"}");

	(void)state;
	assert_int_equal(json_array_size(json_object_get(result, "tools")), 4);
	assert_null(json_object_get(result, "ttlMs"));
	json_decref(result);
	refused("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\",\"params\":{\"cursor\":"
		"\"2\"}}",
		RPC_INVALID_PARAMS);
	refused("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"resources/list\"}",
		RPC_METHOD_NOT_FOUND);
	refused("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\"}", RPC_INVALID_PARAMS);
	refused("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":"
		"\"serve\"}}",
		RPC_INVALID_PARAMS);
	refused("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":"
		"\"list\",\"arguments\":[]}}",
		RPC_INVALID_PARAMS);
}

/* ---- calls ---- */

/* The words of the line that a call of the tool becomes, with spaces; they are options, too. */
static char *line_of(const char *name, const char *arguments, struct options *ret_options)
{
	json_t *value = json_loads(arguments, 0, NULL);
	static struct tool_line line;
	struct error error = { 0 };
	char *text = NULL;
	size_t size;
	FILE *file = open_memstream(&text, &size);
	int result;

	assert_non_null(value);
	tool_line_deinit(&line);
	result = tool_line_make(tool_by_name(name), value, &line, &error);
	if (result)
		print_error("%s %s: %s\n", name, arguments, error.cause);
	assert_int_equal(result, 0);
	for (size_t i = 1; i < line.count; i++)
		fprintf(file, "%s%s", i > 1 ? " " : "", line.words[i]);
	fclose(file);
	assert_null(line.words[line.count]);
	assert_true(line.limit_ns > line.duration_ns);
	assert_int_equal(options_parse((int)line.count, line.words, ret_options, stderr), 0);
	json_decref(value);
	return text;
}

static void becomes(const char *name, const char *arguments, const char *expected)
{
	struct options options;
	char *text = line_of(name, arguments, &options);

	assert_string_equal(text, expected);
	free(text);
}

static void is_refused(const char *name, const char *arguments, const char *expected)
{
	json_t *value = json_loads(arguments, 0, NULL);
	struct tool_line line = { .count = 77 };
	struct error error = { 0 };

	assert_non_null(value);
	assert_int_equal(tool_line_make(tool_by_name(name), value, &line, &error), -EINVAL);
	if (!strstr(error.cause, expected))
		print_error("%s %s: %s\n", name, arguments, error.cause);
	assert_non_null(strstr(error.cause, expected));
	assert_int_equal(line.count, 77);
	json_decref(value);
}

static void test_command_lines(void **state)
{
	struct options options;

	(void)state;
	becomes("list", "{}", "list");
	becomes("dump", "{\"pid\": 7}", "dump --pid=7");
	becomes("dump", "{\"pid\": 7, \"locals\": true, \"python_only\": true}",
		"dump --pid=7 --no-native --locals");
	becomes("dump", "{\"pid\": 7, \"locals\": false, \"python_only\": null}", "dump --pid=7");
	becomes("record", "{\"name\": \"--pid=1 x\"}", "record --quiet --name=--pid=1 x");
	becomes("record",
		"{\"pid\": 7, \"duration\": 0.5, \"mode\": \"time\", \"idle\": true, "
		"\"follow\": true, \"output\": \"-x.pieprof\"}",
		"record --quiet --pid=7 --duration=0.500 --mode=time --idle --follow "
		"--output=-x.pieprof");
	becomes("findings", "{\"path\": \"a b\\n.pieprof\"}", "report a b\n.pieprof");
	/* A path is no option, and no second command. */
	becomes("findings", "{\"path\": \"--diff\"}", "report ./--diff");
	free(line_of("record", "{\"pid\": 7, \"duration\": 300}", &options));
	assert_int_equal(options.duration_ns, 300 * NS_PER_SECOND);
	assert_int_equal(options.pid, 7);
}

static void test_wrong_arguments(void **state)
{
	char text[2 * 4096];

	(void)state;
	is_refused("list", "{\"pid\": 7}", "no argument pid");
	is_refused("dump", "{}", "dump needs pid");
	is_refused("dump", "{\"pid\": null}", "dump needs pid");
	is_refused("dump", "{\"pid\": 0}", "pid must be");
	is_refused("dump", "{\"pid\": -1}", "pid must be");
	is_refused("dump", "{\"pid\": \"7\"}", "pid must be");
	is_refused("dump", "{\"pid\": 7.5}", "pid must be");
	is_refused("dump", "{\"pid\": 9223372036854775807}", "pid must be");
	is_refused("dump", "{\"pid\": 7, \"locals\": 1}", "locals must be true or false");
	is_refused("dump", "{\"pid\": 7, \"\\u001b[31m\": 1}", "no argument \\u001b");
	is_refused("record", "{}", "needs pid or name, and not both");
	is_refused("record", "{\"pid\": 7, \"name\": \"x\"}", "needs pid or name, and not both");
	is_refused("record", "{\"name\": \"\"}", "name must be a string");
	is_refused("record", "{\"pid\": 7, \"duration\": 0}", "from 0.1 to 300");
	is_refused("record", "{\"pid\": 7, \"duration\": 301}", "from 0.1 to 300");
	is_refused("record", "{\"pid\": 7, \"duration\": \"10\"}", "from 0.1 to 300");
	is_refused("record", "{\"pid\": 7, \"mode\": \"redundancy\"}", "mode must be all or time");
	is_refused("record", "{\"pid\": 7, \"output\": \"/tmp/x.html\"}", "ends with .pieprof");
	is_refused("record", "{\"pid\": 7, \"output\": \".pieprof\"}", "ends with .pieprof");
	is_refused("record", "{\"pid\": 7, \"output\": \"-\"}", "ends with .pieprof");
	is_refused("findings", "{\"path\": \"\"}", "path must be a string");
	snprintf(text, sizeof(text), "{\"path\": \"%0*d\"}", 4096, 0);
	is_refused("findings", text, "path must be a string");
}

/* What is told is what is taken: each argument's schema has a type, and all are closed. */
static void test_schemas(void **state)
{
	json_t *tools = tool_descriptions(), *tool, *property;
	const char *name;
	size_t i;

	(void)state;
	json_array_foreach(tools, i, tool)
	{
		const json_t *schema = json_object_get(tool, "inputSchema");

		assert_string_equal(json_string_value(json_object_get(schema, "type")), "object");
		assert_true(json_is_false(json_object_get(schema, "additionalProperties")));
		assert_non_null(tool_by_name(json_string_value(json_object_get(tool, "name"))));
		json_object_foreach(json_object_get(schema, "properties"), name, property)
		{
			assert_true(json_is_string(json_object_get(property, "type")));
			assert_true(json_is_string(json_object_get(property, "description")));
		}
	}
	json_decref(tools);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lines),
		cmocka_unit_test(test_messages),
		cmocka_unit_test(test_line_of_a_message),
		cmocka_unit_test(test_initialize),
		cmocka_unit_test(test_modern),
		cmocka_unit_test(test_methods),
		cmocka_unit_test(test_command_lines),
		cmocka_unit_test(test_wrong_arguments),
		cmocka_unit_test(test_schemas),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
