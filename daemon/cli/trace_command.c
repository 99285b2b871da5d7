/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/cli/commands.h"

#include "attach/counter_set.h"
#include "attach/impersonator.h"
#include "common/clock.h"
#include "daemon/cli/command.h"
#include "daemon/cli/confinement.h"
#include "daemon/cli/file_limit.h"
#include "daemon/cli/message.h"
#include "daemon/cli/profile_output.h"
#include "daemon/cli/signals.h"
#include "daemon/cli/target_choice.h"
#include "daemon/cli/trace_output.h"
#include "daemon/report/encode/figure.h"
#include "daemon/trace/trace_recorder.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define PROGRESS_NS (NS_PER_SECOND / 4)

struct tracing {
	const struct options *options;
	struct trace_recorder *recorder;
	struct command *command; /* NULL: none was started */
	struct command started;  /* what command points to */
	sigset_t signals;
	uint64_t began_ns, shown_ns;
};

static void show_progress(struct tracing *tracing, const struct trace_progress *progress,
			  uint64_t now_ns)
{
	const struct options *options = tracing->options;

	/* The terminal is the command's. */
	if (options->quiet || tracing->command || !isatty(STDERR_FILENO) ||
	    now_ns - tracing->shown_ns < PROGRESS_NS)
		return;
	tracing->shown_ns = now_ns;
	fprintf(stderr, "\r\033[Ktracing %zu process%s: %.0f s, %" PRIu64 " event%s",
		progress->processes, progress->processes == 1 ? "" : "es",
		(double)(now_ns - tracing->began_ns) / 1e9, progress->calls + progress->span_events,
		figure_plural(progress->calls + progress->span_events));
	fflush(stderr);
}

/* Somebody wants an end. */
static bool is_asked_to_end(const struct tracing *tracing)
{
	const struct timespec at_once = { 0 };
	siginfo_t info;
	int signal = sigtimedwait(&tracing->signals, &info, &at_once);

	return signal > 0 && signal != SIGUSR1 && !command_pass_on(tracing->command, signal, &info);
}

/* Until the time is over, somebody wants an end, or the targets end. */
static void trace_until_end(struct tracing *tracing)
{
	const struct options *options = tracing->options;

	for (;;) {
		struct trace_progress progress;
		uint64_t now_ns;

		trace_recorder_look(tracing->recorder);
		now_ns = clock_now_ns();
		progress = trace_recorder_progress(tracing->recorder);
		show_progress(tracing, &progress, now_ns);
		if (tracing->command ? command_has_ended(tracing->command) : !progress.processes)
			break;
		if (options->duration_ns && now_ns - tracing->began_ns >= options->duration_ns)
			break;
		if (is_asked_to_end(tracing))
			break;
	}
	if (!options->quiet && !tracing->command && isatty(STDERR_FILENO))
		fprintf(stderr, "\r\033[K");
}

/* ---- what comes of it ---- */

static enum exit_code refuse_empty(const struct options *options,
				   const struct trace_progress *progress)
{
	if (progress->refused) {
		message_error(&progress->refusal);
		return progress->refusal.exit_code;
	}
	fprintf(stderr, "pieprofd: no trace: %s\n",
		options->command ? "nothing that the command started called MPI"
				 : "no MPI function was called");
	return EXIT_NO_SAMPLES;
}

static enum exit_code finish(struct tracing *tracing)
{
	struct trace_progress progress;
	struct trace trace;
	int failure = trace_recorder_end(tracing->recorder, &trace);

	if (!tracing->command)
		signals_end_us(&tracing->signals);
	if (failure) {
		fprintf(stderr, "pieprofd: the trace cannot be kept: %s\n", strerror(-failure));
		return EXIT_INTERNAL;
	}
	progress = trace_recorder_progress(tracing->recorder);
	if (progress.spans_refused) {
		message_error(&progress.span_refusal);
		if (!progress.calls && !progress.span_events)
			return progress.span_refusal.exit_code;
	}
	if (!progress.calls && !progress.span_events &&
	    span_list_is_empty(&tracing->options->spans))
		return refuse_empty(tracing->options, &progress);
	if (progress.refused)
		fprintf(stderr, "pieprofd: %" PRIu64 " process%s left out: %s\n", progress.refused,
			progress.refused == 1 ? "" : "es", progress.refusal.cause);
	return trace_output(tracing->options, &trace, !tracing->options->quiet);
}

/* ---- processes ---- */

/* --name finds whatever runs Python: those of them without MPI are passed over. */
static enum exit_code add_targets(struct tracing *tracing, const struct pid_list *targets)
{
	const struct options *options = tracing->options;
	size_t added = 0;
	struct error error = { 0 };

	for (size_t i = 0; i < targets->count; i++) {
		if (!trace_recorder_add(tracing->recorder, targets->items[i], &error)) {
			added++;
			continue;
		}
		if (options->name && error.exit_code == EXIT_NO_TARGET)
			continue;
		message_error(&error);
		return error.exit_code;
	}
	if (added) {
		trace_recorder_begin(tracing->recorder);
		return EXIT_OK;
	}
	message_error(&error);
	return error.exit_code;
}

static int end_command(struct command *command, enum exit_code code)
{
	int status = command_wait(command);

	if (status < 0)
		return EXIT_INTERNAL;
	if (WIFSIGNALED(status))
		return 128 + WTERMSIG(status);
	return WEXITSTATUS(status) ? WEXITSTATUS(status) : (int)code;
}

/* The program in the kernel is there first: a short job would be over before. */
static int trace_targets(struct tracing *tracing, const struct pid_list *targets,
			 const struct command_settings *settings)
{
	const struct options *options = tracing->options;
	enum exit_code code = EXIT_OK;
	unsigned needs = CONFINEMENT_READS_TARGETS | CONFINEMENT_EVENTS | CONFINEMENT_WRITES_FILES |
			 (options->command ? CONFINEMENT_SIGNALS : 0);

	/* Some probes are the administrator's. */
	if (trace_recorder_needs_admin(tracing->recorder))
		needs |= CONFINEMENT_PROBES;
	if (options->command) {
		int failure = command_start(options->command, settings, &tracing->started);

		if (failure) {
			fprintf(stderr, "pieprofd: %s: %s\n", options->command[0],
				strerror(-failure));
			return failure == -ENOENT ? 127 : 126;
		}
		tracing->command = &tracing->started;
		trace_recorder_follow(tracing->recorder, tracing->started.pid);
	}
	if (message_privileges_are_kept(confinement_give_up(needs)))
		code = EXIT_INTERNAL;
	if (code == EXIT_OK && !options->command)
		code = add_targets(tracing, targets);
	tracing->began_ns = clock_now_ns();
	if (code == EXIT_OK) {
		trace_until_end(tracing);
		code = finish(tracing);
	}
	if (!options->command)
		return (int)code;
	command_await(tracing->command, &tracing->signals);
	return end_command(tracing->command, code);
}

int trace_command(struct options *options)
{
	struct tracing tracing = { .options = options };
	struct impersonator *impersonator;
	struct command_settings settings;
	struct pid_list targets = { 0 };
	struct error error;
	int code = (int)target_choice(options, &targets);

	if (!code)
		code = (int)profile_output_check(options);
	if (!code && counter_set_check(options->spans.counters, &error)) {
		message_error(&error);
		code = (int)error.exit_code;
	}
	if (!code) {
		command_settings_read(&settings);
		signals_block(&tracing.signals);
		file_limit_raise();
		impersonator = impersonator_create();
		tracing.recorder = trace_recorder_create(impersonator, &options->spans, &error);
		if (tracing.recorder) {
			code = trace_targets(&tracing, &targets, &settings);
		} else {
			message_error(&error);
			code = (int)error.exit_code;
		}
		trace_recorder_destroy(tracing.recorder);
		impersonator_destroy(impersonator);
	}
	pid_list_deinit(&targets);
	return code;
}
