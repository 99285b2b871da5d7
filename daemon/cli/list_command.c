/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/cli/commands.h"

#include "attach/impersonator.h"
#include "daemon/cli/confinement.h"
#include "daemon/cli/message.h"
#include "daemon/cli/standard_output.h"
#include "daemon/inspect/list_writer.h"

#include <errno.h>
#include <stdio.h>

enum exit_code list_command(const struct options *options)
{
	struct writer_options writer = standard_output_options(options);
	struct impersonator *impersonator = impersonator_create();
	struct process_list *processes;
	struct error error;
	int failure = 0;

	if (message_privileges_are_kept(confinement_give_up(CONFINEMENT_READS_TARGETS))) {
		impersonator_destroy(impersonator);
		return EXIT_INTERNAL;
	}
	processes = process_list_take(impersonator, &error);
	impersonator_destroy(impersonator);
	if (!processes) {
		message_error(&error);
		return error.exit_code;
	}
	if (!options->json)
		list_write_text(processes, &writer, stdout);
	if (options->for_tool)
		fputc('\0', stdout);
	if (options->json || options->for_tool)
		failure = list_write_json(processes, stdout);
	if (!failure && fflush(stdout))
		failure = -errno;
	process_list_destroy(processes);
	return standard_output_end("list", failure, EXIT_OK);
}
