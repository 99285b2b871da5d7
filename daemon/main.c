/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pieprofd: options, one session, its reports.
 *
 * SIGINT and SIGTERM end the session and write; a second one gives up.
 * SIGUSR1 writes the reports as they are now.
 */
#include "common/clock.h"
#include "daemon/autosave.h"
#include "daemon/options.h"
#include "daemon/report/doctor_writer.h"
#include "daemon/report/dump_writer.h"
#include "daemon/report/list_writer.h"
#include "daemon/report/writer.h"
#include "daemon/report_command.h"
#include "daemon/session.h"
#include "daemon/top/top.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#define WATCH_TIMEOUT_NS (1 * NS_PER_SECOND)
#define PROGRESS_NS      (NS_PER_SECOND / 4)

static void print_error(const struct error *error)
{
	fprintf(stderr, "pieprofd: %s\n", error->cause);
	if (error->cure[0])
		fprintf(stderr, "  %s\n", error->cure);
	if (error->exit_code == EXIT_PERMISSION)
		fputs("  pieprofd doctor says what works here, and how to get what does not.\n",
		      stderr);
}

static void block_signals(sigset_t *set)
{
	sigemptyset(set);
	sigaddset(set, SIGINT);
	sigaddset(set, SIGTERM);
	sigaddset(set, SIGHUP);
	sigaddset(set, SIGUSR1);
	/* SIGCHLD is the tracer's: blocked everywhere, waited for there. */
	sigaddset(set, SIGCHLD);
	/* top reads it from a descriptor. */
	sigaddset(set, SIGWINCH);
	pthread_sigmask(SIG_BLOCK, set, NULL);
	sigdelset(set, SIGCHLD);
	sigdelset(set, SIGWINCH);
	/* A reader that went away is an error of write(), not an end. */
	signal(SIGPIPE, SIG_IGN);
	/*
	 * A daemon that is stopped (^Z, or a write to a terminal in the background)
	 * leaves every thread of the target waiting at its next sample.
	 */
	signal(SIGTSTP, SIG_IGN);
	signal(SIGTTIN, SIG_IGN);
	signal(SIGTTOU, SIG_IGN);
	/* Ignored by whoever started us, it would not tell of the target's stops. */
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

static void show_progress(const struct options *options, const struct session_progress *progress,
			  uint64_t elapsed_ns)
{
	if (options->quiet || !isatty(STDERR_FILENO))
		return;
	if (options->duration_ns)
		fprintf(stderr, "\r\033[Kprofiling process %d: %.0f of %.0f s, %llu samples",
			options->pid, (double)elapsed_ns / 1e9, (double)options->duration_ns / 1e9,
			(unsigned long long)progress->samples);
	else
		fprintf(stderr, "\r\033[Kprofiling process %d: %.0f s, %llu samples (^C to end)",
			options->pid, (double)elapsed_ns / 1e9,
			(unsigned long long)progress->samples);
	fflush(stderr);
}

static void end_progress(const struct options *options)
{
	if (!options->quiet && isatty(STDERR_FILENO))
		fprintf(stderr, "\r\033[K");
}

static void write_snapshot(const struct options *options, struct session *session)
{
	struct profile *profile;

	session_pause(session);
	profile = session_profile(session, PIEPROFD_VERSION);
	if (profile)
		(void)write_files(options, profile);
	else
		fprintf(stderr, "pieprofd: no snapshot: out of memory\n");
	profile_destroy(profile);
	session_resume(session);
}

/* Until the time is over, somebody wants an end, or the target ends. */
static void wait_for_end(const struct options *options, struct session *session,
			 const sigset_t *signals)
{
	uint64_t began_ns = clock_now_ns();
	struct autosave autosave;

	autosave_init(&autosave, options, session);
	for (;;) {
		struct timespec timeout = { .tv_nsec = (long)PROGRESS_NS };
		struct session_progress progress = session_progress(session);
		uint64_t elapsed_ns = clock_now_ns() - began_ns;
		int signal;

		if (!progress.running ||
		    (options->duration_ns && elapsed_ns >= options->duration_ns))
			break;
		if (options->duration_ns && options->duration_ns - elapsed_ns < PROGRESS_NS)
			timeout.tv_nsec = (long)(options->duration_ns - elapsed_ns);
		show_progress(options, &progress, elapsed_ns);
		autosave_poll(&autosave, elapsed_ns);
		signal = sigtimedwait(signals, NULL, &timeout);
		if (signal == SIGUSR1)
			write_snapshot(options, session);
		else if (signal > 0)
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

static enum exit_code report(const struct options *options, struct session *session)
{
	struct writer_options writer_options = terminal_options(options);
	struct profile *profile;
	enum exit_code code;

	show_step(options, "reading the names of functions");
	profile = session_profile(session, PIEPROFD_VERSION);
	show_step(options, NULL);
	if (!profile) {
		fprintf(stderr, "pieprofd: out of memory\n");
		return EXIT_INTERNAL;
	}
	code = write_files(options, profile);
	if (!options->quiet && !writes_to_stdout(options)) {
		int failure = writer_write_file(&writer_text, profile, &writer_options, "-");

		if (failure && failure != -EPIPE)
			code = EXIT_INTERNAL;
	}
	if (code == EXIT_OK && !profile->facts.samples && !side_time_waiting_ns(&profile->side)) {
		fprintf(stderr,
			"pieprofd: no samples: process %d used no CPU time in user code "
			"meanwhile\n",
			options->pid);
		code = EXIT_NO_SAMPLES;
	}
	profile_destroy(profile);
	return code;
}

static enum exit_code record(const struct options *options)
{
	struct session_options session_options = {
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
	struct session *session;
	struct error error;
	enum exit_code code;
	sigset_t signals;

	if (options->action == OPTIONS_TOP && top_check_terminal(options->pid, &error)) {
		print_error(&error);
		return error.exit_code;
	}
	block_signals(&signals);
	raise_file_limit();
	session = session_create(&session_options, &error);
	if (!session) {
		print_error(&error);
		return error.exit_code;
	}
	if (session_notes(session)[0])
		fprintf(stderr, "pieprofd: %s", session_notes(session));
	if (options->verbosity)
		session_describe(session, stderr);
	if (session_start(session, &error)) {
		print_error(&error);
		session_destroy(session);
		return error.exit_code;
	}
	if (options->action == OPTIONS_TOP)
		show_live(options, session);
	else
		wait_for_end(options, session, &signals);
	session_finish(session);
	let_signals_end_us(&signals);
	code = report(options, session);
	session_destroy(session);
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
	dump = thread_dump_take(options->pid, &dump_options, &error);
	let_signals_end_us(&signals);
	if (!dump) {
		print_error(&error);
		return error.exit_code;
	}
	if (options->json)
		failure = dump_write_json(dump, stdout);
	else
		dump_write_text(dump, &writer, stdout);
	if (!failure && fflush(stdout))
		failure = -errno;
	thread_dump_destroy(dump);
	return written("dump", failure, EXIT_OK);
}

static enum exit_code list(const struct options *options)
{
	struct writer_options writer = terminal_options(options);
	struct process_list *processes;
	struct error error;
	int failure = 0;

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
	struct error error;
	sigset_t signals;
	int failure = 0;

	block_signals(&signals);
	failure = doctor_examine(options->pid, debuginfod, &report, &error);
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

	signal(SIGPIPE, SIG_IGN);
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
	case OPTIONS_RECORD:
	case OPTIONS_TOP:
		break;
	}
	return record(&options);
}
