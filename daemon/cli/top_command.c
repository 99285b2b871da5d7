/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/cli/commands.h"

#include "attach/impersonator.h"
#include "daemon/cli/confinement.h"
#include "daemon/cli/file_limit.h"
#include "daemon/cli/hint.h"
#include "daemon/cli/message.h"
#include "daemon/cli/profile_output.h"
#include "daemon/cli/session_settings.h"
#include "daemon/cli/signals.h"
#include "daemon/session/session.h"
#include "daemon/top/top.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void show_live(const struct options *options, struct session *session)
{
	struct top_options top_options = {
		.version = PIEPROFD_VERSION,
		.colour = options->colour == OPTIONS_COLOUR_ALWAYS ||
			  (options->colour == OPTIONS_COLOUR_AUTO && !getenv("NO_COLOR")),
		.duration_ns = options->duration_ns,
	};
	int failure = top_run(session, &top_options);

	/* What was sampled so far is reported all the same. */
	if (failure)
		fprintf(stderr, "pieprofd: top: %s\n", strerror(-failure));
}

enum exit_code top_command(const struct options *options)
{
	struct session_options session_options = session_settings(options);
	struct hint_children hint;
	struct session *session;
	struct error error;
	enum exit_code code;
	sigset_t signals;

	if (top_check_terminal(options->pid, &error)) {
		message_error(&error);
		return error.exit_code;
	}
	signals_block(&signals);
	file_limit_raise();
	session_options.impersonator = impersonator_create();
	if (message_privileges_are_kept(
		    confinement_give_up(CONFINEMENT_READS_TARGETS | CONFINEMENT_WRITES_FILES))) {
		impersonator_destroy(session_options.impersonator);
		return EXIT_INTERNAL;
	}
	session = session_create(&session_options, &error);
	if (!session || session_start(session, &error)) {
		hint_python_child(options, &error);
		message_error(&error);
		session_destroy(session);
		impersonator_destroy(session_options.impersonator);
		return error.exit_code;
	}
	hint_children_begin(&hint, options);
	show_live(options, session);
	session_finish(session);
	signals_end_us(&signals);
	code = profile_output_code(
		options, session_is_degraded(session),
		profile_output_reports(options, session_profile(session, PIEPROFD_VERSION), &hint));
	session_destroy(session);
	impersonator_destroy(session_options.impersonator);
	return code;
}
