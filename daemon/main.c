/* SPDX-License-Identifier: Apache-2.0 */
/* pieprofd: the options, and the command that they name. */
#include "common/error.h"
#include "daemon/cli/commands.h"
#include "daemon/cli/options_help.h"
#include "daemon/cli/options_parse.h"

#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
	struct options options;
	bool debuginfod;

	if (options_parse(argc, argv, &options, stderr))
		return EXIT_USAGE;
	debuginfod = getenv("DEBUGINFOD_URLS") != NULL;
	/* libdw would ask servers for debug files on its own. */
	if (!options.debuginfod)
		unsetenv("DEBUGINFOD_URLS");
	switch (options.action) {
	case OPTIONS_HELP:
		if (options.command_helped)
			options_print_command_help(options.help_command, stdout);
		else
			options_print_help(stdout);
		return EXIT_OK;
	case OPTIONS_VERSION:
		puts("pieprofd " PIEPROFD_VERSION);
		return EXIT_OK;
	case OPTIONS_DUMP:
		return dump_command(&options);
	case OPTIONS_HEAP:
		return heap_command(&options);
	case OPTIONS_REPORT:
		return report_command(&options);
	case OPTIONS_LIST:
		return list_command(&options);
	case OPTIONS_DOCTOR:
		return doctor_command(&options, debuginfod);
	case OPTIONS_MCP:
		return mcp_command(&options);
	case OPTIONS_TRACE:
		return trace_command(&options);
	case OPTIONS_TOP:
		return top_command(&options);
	case OPTIONS_SERVE:
		return serve_command(&options);
	case OPTIONS_RECORD:
		break;
	}
	return record_command(&options);
}
