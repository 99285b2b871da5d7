/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/cli/commands.h"

#include "attach/impersonator.h"
#include "common/clock.h"
#include "daemon/cli/command.h"
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
#include <sys/wait.h>
#include <time.h>

/* How long a command may take to become a Python that can be read, and how often it is tried. */
#define COMMAND_WAIT_NS (10 * NS_PER_SECOND)
#define COMMAND_LOOK_NS (20 * NS_PER_MS)

static void show_live(const struct options *options, struct impersonator *impersonator,
		      struct session *session)
{
	struct top_options top_options = {
		.version = PIEPROFD_VERSION,
		.colour = options->colour == OPTIONS_COLOUR_ALWAYS ||
			  (options->colour == OPTIONS_COLOUR_AUTO && !getenv("NO_COLOR")),
		.duration_ns = options->duration_ns,
		.heap_pid = options->heap ? options->pid : 0,
		.impersonator = impersonator,
	};
	int failure = top_run(session, &top_options);

	/* What was sampled so far is reported all the same. */
	if (failure)
		fprintf(stderr, "pieprofd: top: %s\n", strerror(-failure));
}

/* Of a command that was started just now: it is no Python, and then none that can be read, for a
 * moment. */
static struct session *open_session(const struct session_options *options,
				    const struct command *command, struct error *error)
{
	uint64_t until_ns = clock_now_ns() + (command ? COMMAND_WAIT_NS : 0);

	for (;;) {
		struct session *session = session_create(options, error);
		struct timespec pause = { .tv_nsec = COMMAND_LOOK_NS };

		if (session && !session_start(session, error))
			return session;
		session_destroy(session);
		if (!command || clock_now_ns() >= until_ns || command_has_ended(command))
			return NULL;
		(void)nanosleep(&pause, NULL);
	}
}

/* Left to itself: it is not ours to end. */
static void tell_of_command(struct command *command)
{
	int status;

	if (!command_has_ended(command)) {
		fprintf(stderr, "pieprofd: process %d, started by top, runs on; kill %d ends it\n",
			(int)command->pid, (int)command->pid);
		return;
	}
	status = command_wait(command);
	if (status > 0 && WIFSIGNALED(status))
		fprintf(stderr, "pieprofd: the command was ended by signal %d\n", WTERMSIG(status));
	else if (status > 0)
		fprintf(stderr, "pieprofd: the command ended with exit code %d\n",
			WEXITSTATUS(status));
}

static enum exit_code top_session(const struct options *options,
				  const struct session_options *session_options,
				  const struct command *command, const sigset_t *signals)
{
	struct hint_children hint;
	struct session *session;
	struct error error;
	enum exit_code code;

	session = open_session(session_options, command, &error);
	if (!session) {
		hint_python_child(options, &error);
		message_error(&error);
		return error.exit_code;
	}
	hint_children_begin(&hint, options);
	show_live(options, session_options->impersonator, session);
	session_finish(session);
	signals_end_us(signals);
	code = profile_output_code(
		options, session_is_degraded(session),
		profile_output_reports(options, session_profile(session, PIEPROFD_VERSION), &hint,
				       NULL));
	session_destroy(session);
	return code;
}

enum exit_code top_command(struct options *options)
{
	struct session_options session_options;
	struct command_settings settings;
	struct command command = { 0 };
	bool started = options->command != NULL;
	struct error error;
	enum exit_code code;
	sigset_t signals;

	if (top_check_terminal(options->pid, &error)) {
		message_error(&error);
		return error.exit_code;
	}
	code = profile_output_check(options);
	if (code)
		return code;
	command_settings_read(&settings);
	settings.silent = true;
	signals_block(&signals);
	file_limit_raise();
	if (started) {
		int failure = command_start(options->command, &settings, &command);

		if (failure) {
			fprintf(stderr, "pieprofd: %s: %s\n", options->command[0],
				strerror(-failure));
			return EXIT_NO_TARGET;
		}
		options->pid = command.pid;
		/* The summary is ours to print: the command has no terminal. */
		options->command = NULL;
	}
	session_options = session_settings(options);
	session_options.python_required = started;
	session_options.impersonator = impersonator_create();
	code = EXIT_INTERNAL;
	if (!message_privileges_are_kept(confinement_give_up(
		    CONFINEMENT_READS_TARGETS | CONFINEMENT_EVENTS | CONFINEMENT_WRITES_FILES)))
		code = top_session(options, &session_options, started ? &command : NULL, &signals);
	impersonator_destroy(session_options.impersonator);
	if (started)
		tell_of_command(&command);
	return code;
}
