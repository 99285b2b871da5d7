/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/cli/commands.h"

#include "attach/impersonator.h"
#include "common/clock.h"
#include "daemon/cli/confinement.h"
#include "daemon/cli/file_limit.h"
#include "daemon/cli/hint.h"
#include "daemon/cli/message.h"
#include "daemon/cli/profile_output.h"
#include "daemon/cli/signals.h"
#include "daemon/cli/standard_output.h"
#include "daemon/cli/target_choice.h"
#include "daemon/heap/heap_course.h"
#include "daemon/heap/heap_formats.h"
#include "daemon/report/encode/figure.h"
#include "daemon/report/format/output_file.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define PROGRESS_NS (NS_PER_SECOND / 4)

struct heap_output {
	const struct heap_look *look;
	struct writer_options writer;
	heap_write *write;
};

static int put(void *context, FILE *file)
{
	const struct heap_output *output = context;

	return output->write(output->look, &output->writer, file);
}

/* A file has all of it; what is on the screen depends on the screen. */
static enum exit_code write_files(const struct options *options, const struct heap_look *look,
				  bool *ret_stdout)
{
	enum exit_code code = EXIT_OK;

	*ret_stdout = false;
	for (unsigned i = 0; i < options->output_count; i++) {
		const char *path = options->outputs[i].path;
		bool is_stdout = !strcmp(path, "-");
		struct heap_output output = {
			.look = look,
			.writer = is_stdout ? standard_output_options(options)
					    : (struct writer_options){ 0 },
			.write = heap_write_of(options->outputs[i].writer),
		};
		int failure = output_file_write(path, put, &output);

		*ret_stdout |= is_stdout;
		if (!failure || (failure == -EPIPE && is_stdout))
			continue;
		fprintf(stderr, "pieprofd: %s could not be written: %s\n", path,
			strerror(-failure));
		code = EXIT_INTERNAL;
	}
	return code;
}

static enum exit_code write_look(const struct options *options, const struct heap_look *look)
{
	struct writer_options writer = standard_output_options(options);
	bool is_stdout;
	enum exit_code code = write_files(options, look, &is_stdout);
	int failure;

	if (is_stdout || options->quiet)
		return code;
	failure = heap_write_text(look, &writer, stdout);
	if (!failure && fflush(stdout))
		failure = -errno;
	return standard_output_end("heap", failure, code);
}

struct waiting {
	const struct options *options;
	sigset_t signals;
	uint64_t began_ns;
};

static void show_progress(const struct waiting *waiting, uint64_t looks)
{
	const struct options *options = waiting->options;
	double seconds = (double)(clock_now_ns() - waiting->began_ns) / 1e9;

	if (options->quiet || !isatty(STDERR_FILENO))
		return;
	fprintf(stderr, "\r\033[Klooking at process %d: %.0f", options->pid, seconds);
	if (options->duration_ns)
		fprintf(stderr, " of %.0f", (double)options->duration_ns / 1e9);
	fprintf(stderr, " s, %llu look%s", (unsigned long long)looks, figure_plural(looks));
}

/* Until then, or until somebody wants an end. */
static bool wait_for(void *context, uint64_t ns, uint64_t looks)
{
	const struct waiting *waiting = context;
	uint64_t end_ns = clock_now_ns() + ns;

	for (;;) {
		uint64_t now_ns = clock_now_ns();
		uint64_t left_ns = now_ns < end_ns ? end_ns - now_ns : 0;
		struct timespec timeout =
			clock_timespec(left_ns < PROGRESS_NS ? left_ns : PROGRESS_NS);
		int signal;

		show_progress(waiting, looks);
		if (!left_ns)
			return false;
		signal = sigtimedwait(&waiting->signals, NULL, &timeout);
		/* What has been asked for is written at the end. */
		if (signal > 0 && signal != SIGUSR1)
			return true;
	}
}

static struct heap_look *look_for_a_time(const struct options *options,
					 const struct heap_look_options *look_options,
					 const sigset_t *signals, struct error *error)
{
	struct waiting waiting = { .options = options,
				   .signals = *signals,
				   .began_ns = clock_now_ns() };
	const struct heap_course_options course = {
		.look = *look_options,
		.duration_ns = options->duration_ns,
		.interval_ns = options->interval_ns,
		.no_watch = options->no_watch,
		.max_overhead = options->max_overhead,
		.stop_signal = options->stop_signal,
		.wait = wait_for,
		.context = &waiting,
	};
	struct heap_look *look = heap_course_take(options->pid, &course, error);

	if (!options->quiet && isatty(STDERR_FILENO))
		fprintf(stderr, "\r\033[K");
	signals_end_us(signals);
	return look;
}

static enum exit_code look_at(const struct options *options)
{
	struct heap_look_options look_options = { .no_holders = options->no_holders,
						  .memory_bytes = options->max_memory };
	struct heap_look *look;
	enum exit_code code;
	struct error error;
	sigset_t signals;

	/* One look is over soon: ^C ends it as it does anything. */
	if (options->duration_given)
		signals_block(&signals);
	file_limit_raise();
	look_options.impersonator = impersonator_create();
	if (message_privileges_are_kept(
		    confinement_give_up(CONFINEMENT_READS_TARGETS | CONFINEMENT_WRITES_FILES))) {
		impersonator_destroy(look_options.impersonator);
		return EXIT_INTERNAL;
	}
	look = options->duration_given ? look_for_a_time(options, &look_options, &signals, &error)
				       : heap_look_take(options->pid, &look_options, &error);
	if (!look) {
		hint_python_child(options, &error);
		message_error(&error);
		impersonator_destroy(look_options.impersonator);
		return error.exit_code;
	}
	code = write_look(options, look);
	heap_course_destroy(look->course);
	heap_look_destroy(look);
	impersonator_destroy(look_options.impersonator);
	return code;
}

enum exit_code heap_command(struct options *options)
{
	struct pid_list targets = { 0 };
	enum exit_code code = profile_output_check(options);

	if (code == EXIT_OK)
		code = target_choice(options, &targets);
	pid_list_deinit(&targets);
	return code == EXIT_OK ? look_at(options) : code;
}
