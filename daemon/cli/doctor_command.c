/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/cli/commands.h"

#include "attach/impersonator.h"
#include "daemon/cli/hint.h"
#include "daemon/cli/message.h"
#include "daemon/cli/signals.h"
#include "daemon/cli/standard_output.h"
#include "daemon/inspect/doctor.h"
#include "daemon/inspect/doctor_writer.h"

#include <errno.h>
#include <stdio.h>

enum exit_code doctor_command(const struct options *options, bool debuginfod)
{
	struct writer_options writer = standard_output_options(options);
	static struct doctor_report report;
	struct impersonator *impersonator;
	struct error error;
	sigset_t signals;
	int failure = 0;

	signals_block(&signals);
	impersonator = impersonator_create();
	failure = doctor_examine(options->pid, debuginfod, impersonator, &report, &error);
	impersonator_destroy(impersonator);
	signals_end_us(&signals);
	if (failure) {
		hint_python_child(options, &error);
		message_error(&error);
		return error.exit_code;
	}
	if (options->json)
		failure = doctor_write_json(&report, stdout);
	else
		doctor_write_text(&report, &writer, stdout);
	if (!failure && fflush(stdout))
		failure = -errno;
	return standard_output_end("report", failure, report.exit_code);
}
