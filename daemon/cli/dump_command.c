/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/cli/commands.h"

#include "attach/impersonator.h"
#include "daemon/cli/confinement.h"
#include "daemon/cli/file_limit.h"
#include "daemon/cli/hint.h"
#include "daemon/cli/message.h"
#include "daemon/cli/signals.h"
#include "daemon/cli/standard_output.h"
#include "daemon/inspect/dump_writer.h"

#include <errno.h>
#include <stdio.h>

enum exit_code dump_command(const struct options *options)
{
	struct thread_dump_options dump_options = { .native = !options->no_native,
						    .locals = options->locals,
						    .start_frames = options->start_frames };
	struct writer_options writer = standard_output_options(options);
	struct thread_dump *dump;
	struct error error;
	sigset_t signals;
	int failure = 0;

	signals_block(&signals);
	file_limit_raise();
	dump_options.impersonator = impersonator_create();
	if (message_privileges_are_kept(confinement_give_up(CONFINEMENT_READS_TARGETS))) {
		impersonator_destroy(dump_options.impersonator);
		return EXIT_INTERNAL;
	}
	dump = thread_dump_take(options->pid, &dump_options, &error);
	signals_end_us(&signals);
	if (!dump) {
		hint_python_child(options, &error);
		message_error(&error);
		impersonator_destroy(dump_options.impersonator);
		return error.exit_code;
	}
	if (!options->json)
		failure = dump_write_text(dump, &writer, stdout);
	if (options->for_tool)
		fputc('\0', stdout);
	if (!failure && (options->json || options->for_tool))
		failure = dump_write_json(dump, stdout);
	if (!failure && fflush(stdout))
		failure = -errno;
	thread_dump_destroy(dump);
	impersonator_destroy(dump_options.impersonator);
	return standard_output_end("dump", failure, EXIT_OK);
}
