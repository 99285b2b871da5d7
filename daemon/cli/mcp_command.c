/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/cli/commands.h"

#include "daemon/cli/options_parse.h"
#include "daemon/mcp/mcp_server.h"
#include "daemon/mcp/tool_writer.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

/* ---- in a call's process ---- */

static void answer_with(struct options *options, const struct writer *writer)
{
	options->outputs[options->output_count++] = (struct options_output){ "-", writer };
}

static int run_call(struct tool_line *line)
{
	struct options options;

	if (options_parse((int)line->count, line->words, &options, stderr))
		return EXIT_USAGE;
	options.for_tool = true;
	switch (options.action) {
	case OPTIONS_LIST:
		return list_command(&options);
	case OPTIONS_DUMP:
		return dump_command(&options);
	case OPTIONS_REPORT:
		answer_with(&options, &writer_tool);
		return report_command(&options);
	case OPTIONS_RECORD:
		answer_with(&options, &writer_tool);
		return record_command(&options);
	case OPTIONS_TOP:
	case OPTIONS_SERVE:
	case OPTIONS_TRACE:
	case OPTIONS_HEAP:
	case OPTIONS_DOCTOR:
	case OPTIONS_MCP:
	case OPTIONS_HELP:
	case OPTIONS_VERSION:
		break;
	}
	return EXIT_USAGE;
}

/* ---- the server ---- */

/* The client's end of the pipe, where nothing else of this process can write by mistake. */
static int take_output(void)
{
	int output = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);

	if (output >= 0 && dup2(STDERR_FILENO, STDOUT_FILENO) < 0)
		return -errno;
	return output < 0 ? -errno : output;
}

static int take_signals(sigset_t *ret_mask)
{
	sigset_t ours;
	int fd;

	sigemptyset(&ours);
	sigaddset(&ours, SIGINT);
	sigaddset(&ours, SIGTERM);
	sigaddset(&ours, SIGHUP);
	sigprocmask(SIG_BLOCK, &ours, ret_mask);
	signal(SIGPIPE, SIG_IGN);
	/* Ignored by whoever started us, it would take a call's exit status away. */
	signal(SIGCHLD, SIG_DFL);
	fd = signalfd(-1, &ours, SFD_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

enum exit_code mcp_command(const struct options *options)
{
	struct mcp_server_options server = { .input = STDIN_FILENO, .run = run_call };
	int result;

	(void)options;
	if (isatty(STDIN_FILENO))
		fputs("pieprofd: this speaks the Model Context Protocol, one JSON message a line; "
		      "it is meant to be started by a client\n",
		      stderr);
	server.output = take_output();
	server.signals = take_signals(&server.child_mask);
	result = server.output < 0    ? server.output
		 : server.signals < 0 ? server.signals
				      : mcp_server_run(&server);
	if (!result)
		return EXIT_OK;
	fprintf(stderr, "pieprofd: the conversation ended: %s\n", strerror(-result));
	return EXIT_INTERNAL;
}
