/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a client of the Model Context Protocol sends: lines, as they come from a pipe. The answers
 * are messages of one line, and a call's command line has no option that the client made up.
 */
#include "daemon/cli/option_table.h"
#include "daemon/cli/options_parse.h"
#include "daemon/mcp/line_reader.h"
#include "daemon/mcp/protocol.h"
#include "tests/fuzz/fuzz.h"

#include <string.h>

static void check_answer(json_t *answer)
{
	char *line = json_dumps(answer, JSON_COMPACT | JSON_ENSURE_ASCII);

	fuzz_must(line && !strchr(line, '\n'));
	fuzz_must(!strcmp(json_string_value(json_object_get(answer, "jsonrpc")), "2.0"));
	fuzz_must(json_object_get(answer, "id"));
	fuzz_must(!json_object_get(answer, "result") != !json_object_get(answer, "error"));
	free(line);
	json_decref(answer);
}

static void check_line(const struct tool *tool, struct tool_line *line)
{
	struct options options;

	fuzz_must(line->count >= 2 && line->count < TOOL_WORDS_MAX && !line->words[line->count]);
	fuzz_must(!strcmp(line->words[1], tool->command[0]));
	fuzz_must(line->limit_ns > line->duration_ns);
	if (options_parse((int)line->count, line->words, &options, fuzz_sink()))
		return;
	/* Neither a program to start nor a file but for a recording. */
	fuzz_must(!options.command &&
		  !strcmp(options_command_name(options.action), tool->command[0]));
	fuzz_must(options.output_count <= tool->writes);
	fuzz_must(options.recording_count == !strcmp(tool->name, "findings"));
}

static void take_message(const char *bytes, size_t length)
{
	struct protocol_call call;
	struct rpc_message message;
	struct error error = { 0 };
	struct tool_line line;
	json_t *answer;

	rpc_message_read(bytes, length, &message);
	answer = protocol_answer(&message, &call);
	fuzz_must(!answer || !call.tool);
	fuzz_must(message.kind != RPC_REQUEST || answer || call.tool);
	if (answer)
		check_answer(answer);
	if (protocol_cancelled(&message))
		fuzz_must(message.kind == RPC_NOTIFICATION);
	if (call.tool && !tool_line_make(call.tool, call.arguments, &line, &error)) {
		check_line(call.tool, &line);
		tool_line_deinit(&line);
	} else if (call.tool) {
		fuzz_must(error.cause[0] && error.exit_code == EXIT_USAGE);
	}
	rpc_message_deinit(&message);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct line_reader reader;
	int fd = fuzz_file(data, size);

	line_reader_init(&reader, fd);
	for (;;) {
		const char *line;
		size_t length;
		enum line_outcome outcome = line_reader_next(&reader, &line, &length);

		if (outcome == LINE_END)
			break;
		if (outcome == LINE_READ)
			take_message(line, length);
		if (outcome == LINE_NONE)
			fuzz_must(!line_reader_fill(&reader));
	}
	close(fd);
	return 0;
}
