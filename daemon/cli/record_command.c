/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/cli/commands.h"

#include "attach/impersonator.h"
#include "common/clock.h"
#include "daemon/cli/autosave.h"
#include "daemon/cli/command.h"
#include "daemon/cli/confinement.h"
#include "daemon/cli/file_limit.h"
#include "daemon/cli/hint.h"
#include "daemon/cli/message.h"
#include "daemon/cli/profile_output.h"
#include "daemon/cli/profile_push.h"
#include "daemon/cli/session_settings.h"
#include "daemon/cli/signals.h"
#include "daemon/cli/target_choice.h"
#include "daemon/report/encode/figure.h"
#include "daemon/serve/notify.h"
#include "daemon/session/group.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PROGRESS_NS (NS_PER_SECOND / 4)
/* For the reports of what was sampled when the tracer's thread hung. */
#define LAST_RESORT_SECONDS 60

static void show_progress(const struct options *options, const struct group_progress *progress,
			  uint64_t elapsed_ns)
{
	char target[32];

	if (progress->processes > 1)
		snprintf(target, sizeof(target), "%zu processes", progress->processes);
	else if (options->wait)
		snprintf(target, sizeof(target), "%s",
			 progress->processes ? "one process" : "none yet, waiting");
	else
		snprintf(target, sizeof(target), "process %d", options->pid);
	/* The terminal is the command's. */
	if (options->command)
		return;
	if (options->quiet || !isatty(STDERR_FILENO))
		return;
	if (options->duration_ns)
		fprintf(stderr, "\r\033[Kprofiling %s: %.0f of %.0f s, %llu sample%s", target,
			(double)elapsed_ns / 1e9, (double)options->duration_ns / 1e9,
			(unsigned long long)progress->samples, figure_plural(progress->samples));
	else
		fprintf(stderr, "\r\033[Kprofiling %s: %.0f s, %llu sample%s (^C to end)", target,
			(double)elapsed_ns / 1e9, (unsigned long long)progress->samples,
			figure_plural(progress->samples));
	fflush(stderr);
}

static void end_progress(const struct options *options)
{
	if (!options->quiet && !options->command && isatty(STDERR_FILENO))
		fprintf(stderr, "\r\033[K");
}

static void write_snapshot(const struct options *options, struct group *group)
{
	struct profile *profile = group_profile(group);

	if (profile)
		(void)profile_output_files(options, profile, NULL);
	else
		fprintf(stderr, "pieprofd: no snapshot: nothing profiled yet, or out of memory\n");
	profile_destroy(profile);
}

static void print_notes(struct group *group)
{
	char *notes = group_take_notes(group);

	if (notes)
		fprintf(stderr, "pieprofd: %s", notes);
	free(notes);
}

/* Until the time is over, somebody wants an end, or the targets end. */
static void wait_for_end(const struct options *options, struct group *group,
			 const struct command *command, const sigset_t *signals,
			 struct hint_children *hint)
{
	uint64_t began_ns = clock_now_ns();
	struct autosave autosave;

	autosave_init(&autosave, options, group);
	for (;;) {
		uint64_t look_ns = group_look(group);
		struct group_progress progress = group_progress(group);
		uint64_t elapsed_ns = clock_now_ns() - began_ns;
		struct timespec timeout = { .tv_nsec = (long)look_ns };
		siginfo_t info;
		int signal;

		print_notes(group);
		if (command ? command_has_ended(command) : !progress.running)
			break;
		if (options->duration_ns && elapsed_ns >= options->duration_ns)
			break;
		if (options->duration_ns && options->duration_ns - elapsed_ns < look_ns)
			timeout.tv_nsec = (long)(options->duration_ns - elapsed_ns);
		if (elapsed_ns % PROGRESS_NS < look_ns)
			show_progress(options, &progress, elapsed_ns);
		autosave_poll(&autosave, elapsed_ns);
		hint_children_look(hint);
		signal = sigtimedwait(signals, &info, &timeout);
		if (signal == SIGUSR1)
			write_snapshot(options, group);
		else if (signal > 0 && !command_pass_on(command, signal, &info))
			break;
	}
	end_progress(options);
}

static enum exit_code report_group(const struct options *options, struct group *group,
				   struct hint_children *hint, struct push *push)
{
	struct profile *profile;

	profile_output_step(options, "reading the names of functions");
	profile = group_profile(group);
	profile_output_step(options, NULL);
	if (!profile && group_refusal(group))
		return group_refusal(group); /* its note has said why */
	if (!profile && options->wait) {
		fprintf(stderr, "pieprofd: no profile: no such Python process appeared\n");
		return EXIT_NO_TARGET;
	}
	if (!profile && options->command) {
		fprintf(stderr,
			"pieprofd: no profile: the command ended, or ran something else, "
			"before a CPython could be read%s\n",
			options->follow ? "" : "; --follow profiles what it starts");
		return EXIT_NO_SAMPLES;
	}
	if (!profile && options->follow) {
		fprintf(stderr, "pieprofd: no profile: no CPython was found\n");
		return EXIT_NO_SAMPLES;
	}
	return profile_output_code(options, group_is_degraded(group),
				   profile_output_reports(options, profile, hint, push));
}

/*
 * After the profile: the command may go on. Its own exit code is ours, unless
 * it succeeded and the profile could not be written.
 */
static int end_command(struct command *command, const struct group *group, enum exit_code code)
{
	enum process_end end = PROCESS_RUNNING;
	int status, wait_status;

	if (!group || !group_command_end(group, &end, &status)) {
		wait_status = command_wait(command);
		if (wait_status < 0)
			return EXIT_INTERNAL;
		end = WIFSIGNALED(wait_status) ? PROCESS_KILLED : PROCESS_EXITED;
		status =
			WIFSIGNALED(wait_status) ? WTERMSIG(wait_status) : WEXITSTATUS(wait_status);
	}
	if (end == PROCESS_KILLED)
		return 128 + status;
	if (status == 0 && code == EXIT_INTERNAL)
		return EXIT_INTERNAL;
	return status;
}

static enum exit_code record_group(const struct options *options, struct group *group,
				   const struct command *command, const sigset_t *signals,
				   struct push *push)
{
	struct hint_children hint;
	struct error error;
	enum exit_code code;

	print_notes(group);
	if (options->verbosity)
		group_describe(group, stderr);
	if (group_start(group, &error)) {
		message_error(&error);
		return error.exit_code;
	}
	/* For a target that has started us and waits; a command's socket is the command's. */
	if (!command)
		notify_send("READY=1");
	hint_children_begin(&hint, options);
	wait_for_end(options, group, command, signals, &hint);
	group_finish(group);
	print_notes(group);
	if (!command)
		signals_end_us(signals);
	code = report_group(options, group, &hint, push);
	return code;
}

struct last_resort {
	const struct options *options;
	struct group *group; /* NULL: not yet, or no longer */
};

static void say_at_once(const char *words)
{
	ssize_t written = write(STDERR_FILENO, words, strlen(words));

	(void)written;
}

/*
 * The tracer's thread hangs in the kernel, and the target waits for it. A copy of
 * this process writes what was sampled so far; our own end lets go of the target.
 */
static void record_end_at_once(void *context)
{
	const struct last_resort *last = context;
	struct group *group = __atomic_load_n(&last->group, __ATOMIC_ACQUIRE);
	sigset_t all;

	say_at_once("pieprofd: held up in the kernel while the target waits, or unable to end: it "
		    "is let "
		    "go of, and profiling ends\n");
	if (!group || fork() != 0)
		_exit(EXIT_INTERNAL);
	group_let_go(group);
	/* The target's memory may hold this one up, too: it then ends. */
	sigfillset(&all);
	signal(SIGALRM, SIG_DFL);
	alarm(LAST_RESORT_SECONDS);
	sigprocmask(SIG_UNBLOCK, &all, NULL);
	_exit(report_group(last->options, group, NULL, NULL));
}

static int record_targets(struct options *options, struct pid_list *targets, struct push *push)
{
	struct last_resort last = { .options = options };
	struct group_options group_options = {
		.session = session_settings(options),
		.follow = options->follow,
		.started_here = options->command != NULL,
	};
	struct process_watch watch = { .query = { .name = options->name,
						  .cgroup = options->cgroup } };
	struct command_settings settings;
	struct command command = { 0 };
	struct group *group = NULL;
	struct error error;
	sigset_t signals;
	int code;

	command_settings_read(&settings);
	signals_block(&signals);
	file_limit_raise();
	if (options->command) {
		code = command_start(options->command, &settings, &command);
		if (code) {
			fprintf(stderr, "pieprofd: %s: %s\n", options->command[0], strerror(-code));
			return code == -ENOENT ? 127 : 126;
		}
		options->pid = command.pid;
		targets->items[0] = command.pid;
	}
	group_options.session.impersonator = impersonator_create();
	/* The command has been started, with all that it was given. */
	if (message_privileges_are_kept(confinement_give_up(
		    CONFINEMENT_READS_TARGETS | CONFINEMENT_EVENTS | CONFINEMENT_WRITES_FILES |
		    (options->command ? CONFINEMENT_SIGNALS : 0)))) {
		code = EXIT_INTERNAL;
		goto out;
	}
	if (options->cgroup || options->wait) {
		group_options.watch = &watch;
		group_options.wait = options->wait;
	}
	group_options.session.last_resort = record_end_at_once;
	group_options.session.last_resort_context = &last;
	group_options.pids = targets->items;
	group_options.pid_count = targets->count;
	group = group_create(&group_options, &error);
	__atomic_store_n(&last.group, group, __ATOMIC_RELEASE);
	if (group) {
		code = (int)record_group(options, group, options->command ? &command : NULL,
					 &signals, push);
	} else {
		hint_python_child(options, &error);
		message_error(&error);
		code = error.exit_code;
	}
out:
	if (options->command) {
		command_await(&command, &signals);
		code = end_command(&command, group, (enum exit_code)code);
	}
	group_destroy(group);
	process_watch_deinit(&watch);
	impersonator_destroy(group_options.session.impersonator);
	return code;
}

int record_command(struct options *options)
{
	struct pid_list targets = { 0 };
	int code = target_choice(options, &targets);
	struct push *push = NULL;
	struct error error;

	/* Room for the command, before it is started. */
	if (!code)
		code = (int)profile_output_check(options);
	if (!code && options->command && pid_list_add(&targets, 0)) {
		fprintf(stderr, "pieprofd: out of memory\n");
		code = EXIT_INTERNAL;
	}
	if (!code && profile_push_start(options, &push, &error)) {
		message_error(&error);
		code = (int)error.exit_code;
	}
	if (!code)
		code = record_targets(options, &targets, push);
	push_end(push);
	pid_list_deinit(&targets);
	return code;
}
