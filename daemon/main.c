/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pieprofd: options, a group of sessions, its reports.
 *
 * SIGINT and SIGTERM end the session and write; a second one gives up.
 * SIGUSR1 writes the reports as they are now.
 *
 * While a command runs that was started here, SIGINT from the terminal reaches
 * it, too: it decides what that means, and we go on until it has ended. Other
 * signals are passed on to it.
 */
#include "attach/impersonator.h"
#include "common/clock.h"
#include "common/foreign_mapping.h"
#include "daemon/cli/autosave.h"
#include "daemon/cli/command.h"
#include "daemon/cli/confinement.h"
#include "daemon/cli/hint.h"
#include "daemon/cli/options.h"
#include "daemon/cli/options_help.h"
#include "daemon/cli/report_command.h"
#include "daemon/cli/serve_command.h"
#include "daemon/inspect/doctor_writer.h"
#include "daemon/inspect/dump_writer.h"
#include "daemon/inspect/list_writer.h"
#include "daemon/report/format/writer.h"
#include "daemon/session/group.h"
#include "daemon/session/process_search.h"
#include "daemon/session/session.h"
#include "daemon/top/top.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define WATCH_TIMEOUT_NS (1 * NS_PER_SECOND)
#define PROGRESS_NS      (NS_PER_SECOND / 4)
/* For the reports of what was sampled when the tracer's thread hung. */
#define LAST_RESORT_SECONDS 60

static void print_error(const struct error *error)
{
	fprintf(stderr, "pieprofd: %s\n", error->cause);
	if (error->cure[0])
		fprintf(stderr, "  %s\n", error->cure);
	if (error->exit_code == EXIT_PERMISSION)
		fputs("  pieprofd doctor says what works here, and how to get what does not.\n",
		      stderr);
}

/* True, and said: who cannot give up what he may do goes no further. */
static bool keeps_privileges(int failure)
{
	struct error error;

	if (!confinement_has_failed(failure))
		return false;
	confinement_explain(failure, &error);
	print_error(&error);
	return true;
}

static void block_signals(sigset_t *set)
{
	sigemptyset(set);
	sigaddset(set, SIGINT);
	sigaddset(set, SIGTERM);
	sigaddset(set, SIGHUP);
	sigaddset(set, SIGUSR1);
	/* top reads it from a descriptor. */
	sigaddset(set, SIGWINCH);
	pthread_sigmask(SIG_BLOCK, set, NULL);
	sigdelset(set, SIGWINCH);
	/* For the threads to come, whoever of them will read files of the target. */
	foreign_mapping_unblock_signal();
	/* A reader that went away is an error of write(), not an end. */
	signal(SIGPIPE, SIG_IGN);
	/*
	 * A daemon that is stopped (^Z, or a write to a terminal in the background)
	 * leaves every thread of the target waiting at its next sample.
	 */
	signal(SIGTSTP, SIG_IGN);
	signal(SIGTTIN, SIG_IGN);
	signal(SIGTTOU, SIG_IGN);
	/* Ignored by whoever started us, it would take a command's exit status away. */
	signal(SIGCHLD, SIG_DFL);
}

/* Six descriptors for each thread of the target. */
static void raise_file_limit(void)
{
	struct rlimit limit;

	if (!getrlimit(RLIMIT_NOFILE, &limit) && limit.rlim_cur < limit.rlim_max) {
		limit.rlim_cur = limit.rlim_max;
		(void)setrlimit(RLIMIT_NOFILE, &limit);
	}
}

static struct writer_options terminal_options(const struct options *options)
{
	struct writer_options writer = { .lines_max = options->lines_max,
					 .pairs_max = options->pairs_max };
	struct winsize size;

	if (!ioctl(STDOUT_FILENO, TIOCGWINSZ, &size))
		writer.columns = size.ws_col;
	writer.colour = options->colour == OPTIONS_COLOUR_ALWAYS ||
			(options->colour == OPTIONS_COLOUR_AUTO && isatty(STDOUT_FILENO) &&
			 !getenv("NO_COLOR"));
	return writer;
}

/* What takes a while after sampling, on a terminal; NULL: done. */
static void show_step(const struct options *options, const char *step)
{
	if (!options->quiet && isatty(STDERR_FILENO))
		fprintf(stderr, "\r\033[K%s", step ? step : "");
	fflush(stderr);
}

/* Writes every file asked for; the first failure's exit code. */
static enum exit_code write_files(const struct options *options, const struct profile *profile)
{
	struct writer_options writer_options = terminal_options(options);
	enum exit_code code = EXIT_OK;

	for (unsigned i = 0; i < options->output_count; i++) {
		const struct options_output *output = &options->outputs[i];
		char step[64];
		int failure;

		snprintf(step, sizeof(step), "writing %s, file %u of %u", output->writer->name,
			 i + 1, options->output_count);
		/* Standard output may be the same terminal. */
		if (strcmp(output->path, "-") != 0)
			show_step(options, step);
		failure = writer_write_file(output->writer, profile, &writer_options, output->path);
		show_step(options, NULL);
		/* Whoever read our standard output has seen enough. */
		if (failure && !(failure == -EPIPE && !strcmp(output->path, "-"))) {
			fprintf(stderr, "pieprofd: %s could not be written: %s\n", output->path,
				strerror(-failure));
			code = EXIT_INTERNAL;
		}
	}
	return code;
}

static bool writes_to_stdout(const struct options *options)
{
	for (unsigned i = 0; i < options->output_count; i++)
		if (!strcmp(options->outputs[i].path, "-"))
			return true;
	return false;
}

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
		fprintf(stderr, "\r\033[Kprofiling %s: %.0f of %.0f s, %llu samples", target,
			(double)elapsed_ns / 1e9, (double)options->duration_ns / 1e9,
			(unsigned long long)progress->samples);
	else
		fprintf(stderr, "\r\033[Kprofiling %s: %.0f s, %llu samples (^C to end)", target,
			(double)elapsed_ns / 1e9, (unsigned long long)progress->samples);
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
		(void)write_files(options, profile);
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

/* Meant for the command, unless the terminal has sent it to both of us. True: it was. */
static bool pass_on(const struct command *command, int signal, const siginfo_t *info)
{
	if (!command)
		return false;
	if (!(signal == SIGINT && info->si_code == SI_KERNEL))
		(void)kill(command->pid, signal);
	return true;
}

/* Until the time is over, somebody wants an end, or the targets end. */
static void wait_for_end(const struct options *options, struct group *group,
			 const struct command *command, const sigset_t *signals)
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
		signal = sigtimedwait(signals, &info, &timeout);
		if (signal == SIGUSR1)
			write_snapshot(options, group);
		else if (signal > 0 && !pass_on(command, signal, &info))
			break;
	}
	end_progress(options);
}

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

static void give_up(int signal)
{
	(void)signal;
	_exit(EXIT_GIVEN_UP);
}

/* From here on ^C ends the program at once: the target is detached, only writing is left. */
static void let_signals_end_us(const sigset_t *signals)
{
	struct sigaction action = { .sa_handler = give_up };

	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	sigaction(SIGHUP, &action, NULL);
	/* The report that is about to be written is newer than any snapshot. */
	signal(SIGUSR1, SIG_IGN);
	pthread_sigmask(SIG_UNBLOCK, signals, NULL);
}

/* For a person: on stdout, or on stderr where stdout is a command's. */
static int write_summary(const struct options *options, const struct profile *profile)
{
	struct writer_options writer_options = terminal_options(options);

	if (options->command)
		return writer_text.write(profile, &writer_options, stderr);
	return writer_write_file(&writer_text, profile, &writer_options, "-");
}

/* Takes the profile; NULL: it could not be made. */
static enum exit_code write_reports(const struct options *options, struct profile *profile)
{
	enum exit_code code;

	if (!profile) {
		fprintf(stderr, "pieprofd: out of memory\n");
		return EXIT_INTERNAL;
	}
	code = write_files(options, profile);
	if (!options->quiet && !writes_to_stdout(options)) {
		int failure = write_summary(options, profile);

		if (failure && failure != -EPIPE)
			code = EXIT_INTERNAL;
	}
	if (code == EXIT_OK && !profile->facts.samples && !side_time_waiting_ns(&profile->side)) {
		fprintf(stderr,
			"pieprofd: no samples: process %d used no CPU time in user code "
			"meanwhile\n",
			profile->facts.target.pid);
		code = EXIT_NO_SAMPLES;
	}
	if (!options->follow && !options->cgroup && !options->quiet)
		hint_children(stderr, &profile->facts);
	profile_destroy(profile);
	return code;
}

/* --strict: a degraded profile is written, but no success. */
static enum exit_code strict_code(const struct options *options, bool degraded, enum exit_code code)
{
	if (!options->strict || !degraded || (code != EXIT_OK && code != EXIT_NO_SAMPLES))
		return code;
	fprintf(stderr, "pieprofd: less was measured than asked for, as said above "
			"(--strict)\n");
	return EXIT_DEGRADED;
}

static enum exit_code report(const struct options *options, struct group *group)
{
	struct profile *profile;

	show_step(options, "reading the names of functions");
	profile = group_profile(group);
	show_step(options, NULL);
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
	return strict_code(options, group_is_degraded(group), write_reports(options, profile));
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

/* Signals that come while it goes on are its own. */
static void await_command(const struct command *command, const sigset_t *signals)
{
	while (!command_has_ended(command)) {
		struct timespec timeout = { .tv_nsec = (long)PROGRESS_NS };
		siginfo_t info;
		int signal = sigtimedwait(signals, &info, &timeout);

		if (signal > 0)
			(void)pass_on(command, signal, &info);
	}
}

static enum exit_code record_group(const struct options *options, struct group *group,
				   const struct command *command, const sigset_t *signals)
{
	struct error error;
	enum exit_code code;

	print_notes(group);
	if (options->verbosity)
		group_describe(group, stderr);
	if (group_start(group, &error)) {
		print_error(&error);
		return error.exit_code;
	}
	wait_for_end(options, group, command, signals);
	group_finish(group);
	print_notes(group);
	if (!command)
		let_signals_end_us(signals);
	code = report(options, group);
	return code;
}

static enum exit_code explain_none(const struct options *options, size_t others)
{
	if (!options->cgroup)
		fprintf(stderr, "pieprofd: no Python process has a command line like '%s'\n",
			options->name);
	else if (others)
		fprintf(stderr,
			"pieprofd: none of the %zu processes in cgroup '%s'%s%s%s runs Python\n",
			others, options->cgroup, options->name ? " with a command line like '" : "",
			options->name ? options->name : "", options->name ? "'" : "");
	else
		fprintf(stderr,
			"pieprofd: there is no process in a cgroup '%s'%s%s%s\n"
			"  Paths are as in /proc/PID/cgroup, names as systemd-cgls shows them.\n",
			options->cgroup, options->name ? " with a command line like '" : "",
			options->name ? options->name : "", options->name ? "'" : "");
	return EXIT_NO_TARGET;
}

/* --name, --cgroup: 0, or an exit code. */
static enum exit_code find_targets(struct options *options, struct pid_list *found)
{
	const struct process_query query = { options->name, options->cgroup };
	size_t others;

	if (process_search(&query, found, &others)) {
		fprintf(stderr, "pieprofd: /proc is not readable\n");
		return EXIT_INTERNAL;
	}
	if (!found->count && !options->wait)
		return explain_none(options, others);
	if (found->count > 1 && !options->cgroup && !options->all && !options->follow &&
	    !options->wait) {
		fprintf(stderr,
			"pieprofd: %zu processes match '%s'; --all profiles them together\n",
			found->count, options->name);
		process_search_print(stderr, found);
		return EXIT_USAGE;
	}
	options->pid = found->count ? found->items[0] : 0;
	return EXIT_OK;
}

/* To be deinitialised whatever comes of it. */
static enum exit_code choose_targets(struct options *options, struct pid_list *targets)
{
	if (options->name || options->cgroup)
		return find_targets(options, targets);
	for (unsigned i = 0; i < options->pid_count; i++)
		if (pid_list_add(targets, options->pids[i])) {
			fprintf(stderr, "pieprofd: out of memory\n");
			return EXIT_INTERNAL;
		}
	return EXIT_OK;
}

static struct session_options session_options_of(const struct options *options)
{
	return (struct session_options){
		.pid = options->pid,
		.period_ns = (uint64_t)(1e9 / options->rate_hz),
		.waits = options->waits,
		.loads = options->loads,
		.stores = options->stores,
		.breakpoints_required = options->redundancy_required,
		.max_overhead = options->max_overhead,
		.stop_signal = options->stop_signal,
		.timeout_ns = WATCH_TIMEOUT_NS,
		.patterns = &options->patterns,
		.native_lines = options->native_lines,
		.no_source = options->no_source,
		.download = options->debuginfod,
	};
}

/* top: of one process, until it is left. */
static enum exit_code live(const struct options *options)
{
	struct session_options session_options = session_options_of(options);
	struct session *session;
	struct error error;
	enum exit_code code;
	sigset_t signals;

	if (top_check_terminal(options->pid, &error)) {
		print_error(&error);
		return error.exit_code;
	}
	block_signals(&signals);
	raise_file_limit();
	session_options.impersonator = impersonator_create();
	if (keeps_privileges(
		    confinement_give_up(CONFINEMENT_READS_TARGETS | CONFINEMENT_WRITES_FILES))) {
		impersonator_destroy(session_options.impersonator);
		return EXIT_INTERNAL;
	}
	session = session_create(&session_options, &error);
	if (!session || session_start(session, &error)) {
		print_error(&error);
		session_destroy(session);
		impersonator_destroy(session_options.impersonator);
		return error.exit_code;
	}
	show_live(options, session);
	session_finish(session);
	let_signals_end_us(&signals);
	code = strict_code(options, session_is_degraded(session),
			   write_reports(options, session_profile(session, PIEPROFD_VERSION)));
	session_destroy(session);
	impersonator_destroy(session_options.impersonator);
	return code;
}

static enum exit_code serve(struct options *options)
{
	struct pid_list targets = { 0 };
	enum exit_code code = choose_targets(options, &targets);
	struct session_options session_options = session_options_of(options);
	struct error error;
	sigset_t signals;

	if (!code) {
		block_signals(&signals);
		raise_file_limit();
		session_options.impersonator = impersonator_create();
		if (serve_run(options, &targets, &session_options, &signals, &error)) {
			print_error(&error);
			code = error.exit_code;
		}
		impersonator_destroy(session_options.impersonator);
	}
	pid_list_deinit(&targets);
	return code;
}

struct last_resort {
	const struct options *options;
	struct group *group; /* NULL: not yet, or no longer */
};

static void say(const char *words)
{
	ssize_t written = write(STDERR_FILENO, words, strlen(words));

	(void)written;
}

/*
 * The tracer's thread hangs in the kernel, and the target waits for it. A copy of
 * this process writes what was sampled so far; our own end lets go of the target.
 */
static void end_at_once(void *context)
{
	const struct last_resort *last = context;
	struct group *group = __atomic_load_n(&last->group, __ATOMIC_ACQUIRE);
	sigset_t all;

	say("pieprofd: held up in the kernel while the target waits, or unable to end: it is let "
	    "go of, and profiling ends\n");
	if (!group || fork() != 0)
		_exit(EXIT_INTERNAL);
	group_let_go(group);
	/* The target's memory may hold this one up, too: it then ends. */
	sigfillset(&all);
	signal(SIGALRM, SIG_DFL);
	alarm(LAST_RESORT_SECONDS);
	sigprocmask(SIG_UNBLOCK, &all, NULL);
	_exit(report(last->options, group));
}

static int record_targets(struct options *options, struct pid_list *targets)
{
	struct last_resort last = { .options = options };
	struct group_options group_options = {
		.session = session_options_of(options),
		.follow = options->follow,
		.started_here = options->command != NULL,
	};
	struct process_watch watch = { .query = { options->name, options->cgroup } };
	struct command_settings settings;
	struct command command = { 0 };
	struct group *group = NULL;
	struct error error;
	sigset_t signals;
	int code;

	command_settings_read(&settings);
	block_signals(&signals);
	raise_file_limit();
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
	if (keeps_privileges(confinement_give_up(CONFINEMENT_READS_TARGETS |
						 CONFINEMENT_WRITES_FILES |
						 (options->command ? CONFINEMENT_SIGNALS : 0)))) {
		code = EXIT_INTERNAL;
		goto out;
	}
	if (options->cgroup || options->wait) {
		group_options.watch = &watch;
		group_options.wait = options->wait;
	}
	group_options.session.last_resort = end_at_once;
	group_options.session.last_resort_context = &last;
	group_options.pids = targets->items;
	group_options.pid_count = targets->count;
	group = group_create(&group_options, &error);
	__atomic_store_n(&last.group, group, __ATOMIC_RELEASE);
	if (group) {
		code = (int)record_group(options, group, options->command ? &command : NULL,
					 &signals);
	} else {
		print_error(&error);
		code = error.exit_code;
	}
out:
	if (options->command) {
		await_command(&command, &signals);
		code = end_command(&command, group, (enum exit_code)code);
	}
	group_destroy(group);
	impersonator_destroy(group_options.session.impersonator);
	return code;
}

static int record(struct options *options)
{
	struct pid_list targets = { 0 };
	int code = choose_targets(options, &targets);

	/* Room for the command, before it is started. */
	if (!code && options->command && pid_list_add(&targets, 0)) {
		fprintf(stderr, "pieprofd: out of memory\n");
		code = EXIT_INTERNAL;
	}
	if (!code)
		code = record_targets(options, &targets);
	pid_list_deinit(&targets);
	return code;
}

/* What to end with once this was written to standard output, or could not be. */
static enum exit_code written(const char *what, int failure, enum exit_code code)
{
	if (!failure || failure == -EPIPE)
		return code;
	fprintf(stderr, "pieprofd: the %s could not be written: %s\n", what, strerror(-failure));
	return EXIT_INTERNAL;
}

static enum exit_code dump(const struct options *options)
{
	struct thread_dump_options dump_options = { .native = !options->no_native };
	struct writer_options writer = terminal_options(options);
	struct thread_dump *dump;
	struct error error;
	sigset_t signals;
	int failure = 0;

	block_signals(&signals);
	raise_file_limit();
	dump_options.impersonator = impersonator_create();
	if (keeps_privileges(confinement_give_up(CONFINEMENT_READS_TARGETS))) {
		impersonator_destroy(dump_options.impersonator);
		return EXIT_INTERNAL;
	}
	dump = thread_dump_take(options->pid, &dump_options, &error);
	let_signals_end_us(&signals);
	if (!dump) {
		print_error(&error);
		impersonator_destroy(dump_options.impersonator);
		return error.exit_code;
	}
	if (options->json)
		failure = dump_write_json(dump, stdout);
	else
		failure = dump_write_text(dump, &writer, stdout);
	if (!failure && fflush(stdout))
		failure = -errno;
	thread_dump_destroy(dump);
	impersonator_destroy(dump_options.impersonator);
	return written("dump", failure, EXIT_OK);
}

static enum exit_code list(const struct options *options)
{
	struct writer_options writer = terminal_options(options);
	struct process_list *processes;
	struct error error;
	int failure = 0;

	if (keeps_privileges(confinement_give_up(CONFINEMENT_READS_TARGETS)))
		return EXIT_INTERNAL;
	processes = process_list_take(&error);
	if (!processes) {
		print_error(&error);
		return error.exit_code;
	}
	if (options->json)
		failure = list_write_json(processes, stdout);
	else
		list_write_text(processes, &writer, stdout);
	if (!failure && fflush(stdout))
		failure = -errno;
	process_list_destroy(processes);
	return written("list", failure, EXIT_OK);
}

static enum exit_code doctor(const struct options *options, bool debuginfod)
{
	struct writer_options writer = terminal_options(options);
	static struct doctor_report report;
	struct impersonator *impersonator;
	struct error error;
	sigset_t signals;
	int failure = 0;

	block_signals(&signals);
	impersonator = impersonator_create();
	failure = doctor_examine(options->pid, debuginfod, impersonator, &report, &error);
	impersonator_destroy(impersonator);
	let_signals_end_us(&signals);
	if (failure) {
		print_error(&error);
		return error.exit_code;
	}
	if (options->json)
		failure = doctor_write_json(&report, stdout);
	else
		doctor_write_text(&report, &writer, stdout);
	if (!failure && fflush(stdout))
		failure = -errno;
	return written("report", failure, report.exit_code);
}

static enum exit_code report_recording(const struct options *options)
{
	const struct writer_options terminal = terminal_options(options);

	int failure;

	signal(SIGPIPE, SIG_IGN);
	/* What it reads may come from anywhere. */
	if (keeps_privileges(confinement_give_up_for_files(options)))
		return EXIT_INTERNAL;
	failure = confinement_filter_files();
	if (keeps_privileges(failure))
		return EXIT_INTERNAL;
	if (failure && options->verbosity)
		fprintf(stderr, "pieprofd: system calls are not filtered: %s\n",
			strerror(-failure));
	return report_command(options, &terminal);
}

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
		return dump(&options);
	case OPTIONS_REPORT:
		return report_recording(&options);
	case OPTIONS_LIST:
		return list(&options);
	case OPTIONS_DOCTOR:
		return doctor(&options, debuginfod);
	case OPTIONS_TOP:
		return live(&options);
	case OPTIONS_SERVE:
		return serve(&options);
	case OPTIONS_RECORD:
		break;
	}
	return record(&options);
}
