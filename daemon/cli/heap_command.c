/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/cli/commands.h"

#include "attach/impersonator.h"
#include "attach/resident_memory.h"
#include "common/clock.h"
#include "daemon/cli/confinement.h"
#include "daemon/cli/file_confinement.h"
#include "daemon/cli/file_limit.h"
#include "daemon/cli/heap_output.h"
#include "daemon/cli/hint.h"
#include "daemon/cli/message.h"
#include "daemon/cli/profile_output.h"
#include "daemon/cli/signals.h"
#include "daemon/cli/target_choice.h"
#include "daemon/heap/heap_course.h"
#include "daemon/report/encode/figure.h"
#include "daemon/session/process_search.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define PROGRESS_NS (NS_PER_SECOND / 4)
/* Memory that is about to run out may do so within seconds. */
#define TEST_NS   (NS_PER_SECOND / 5)
#define SEARCH_NS NS_PER_SECOND

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

/* ---- until there is a process, and it has as much memory as is asked for */

/* Of those that have as much, the largest one; 0: none has. seen: one that could be tested. */
struct candidates {
	pid_t reached, seen;
	uint64_t reached_bytes;
	struct heap_level level; /* of reached */
	bool unlimited;          /* one has no limit that a share could be of */
};

static void test_one(const struct options *options, pid_t pid, struct candidates *found)
{
	struct heap_level level;
	uint64_t bytes;
	int error = heap_threshold_test(&options->at, pid, &level);

	found->unlimited |= error == -ENODATA;
	if (error)
		return;
	found->seen = pid;
	if (!level.reached || resident_memory_read(pid, &bytes) || bytes < found->reached_bytes)
		return;
	found->reached = pid;
	found->reached_bytes = bytes;
	found->level = level;
}

static enum exit_code find_candidates(const struct options *options, struct pid_list *targets,
				      uint64_t *searched_ns, struct candidates *ret_found)
{
	const struct process_query query = { .name = options->name };
	uint64_t now_ns = clock_now_ns();

	*ret_found = (struct candidates){ 0 };
	if (options->wait && (!targets->count || now_ns - *searched_ns >= SEARCH_NS)) {
		*searched_ns = now_ns;
		if (process_search(&query, targets, NULL)) {
			fprintf(stderr, "pieprofd: /proc is not readable\n");
			return EXIT_INTERNAL;
		}
	}
	for (size_t i = 0; i < targets->count; i++)
		test_one(options, targets->items[i], ret_found);
	if (ret_found->unlimited && !ret_found->seen) {
		fprintf(stderr,
			"pieprofd: the memory of the process's control group has no limit that "
			"--at %g%% could be of\n"
			"  Say how much the process itself may have: --at 2G.\n",
			options->at.share * 100);
		return EXIT_USAGE;
	}
	if (!ret_found->seen && !options->wait) {
		fprintf(stderr, "pieprofd: process %d ended before it had so much memory\n",
			options->pid);
		return EXIT_NO_TARGET;
	}
	return EXIT_OK;
}

/* Sets options->pid. Whoever wants an end before gets the look at once. */
static enum exit_code wait_for_memory(struct options *options, struct pid_list *targets,
				      const sigset_t *signals)
{
	const struct timespec pause = clock_timespec(TEST_NS);
	struct candidates found;
	uint64_t searched_ns = 0;
	int signal = 0;

	for (;;) {
		enum exit_code code = find_candidates(options, targets, &searched_ns, &found);

		if (code != EXIT_OK)
			return code;
		options->pid = found.reached ? found.reached : found.seen;
		if (found.reached || signal > 0)
			break;
		signal = sigtimedwait(signals, NULL, &pause);
	}
	if (!options->pid) {
		fprintf(stderr, "pieprofd: no such Python process appeared\n");
		return EXIT_NO_TARGET;
	}
	if (!options->quiet && found.reached && found.level.wanted_bytes)
		fprintf(stderr, "pieprofd: looking at process %d: %s in use, %s were waited for\n",
			options->pid, figure_bytes(found.level.used_bytes).text,
			figure_bytes(found.level.wanted_bytes).text);
	return EXIT_OK;
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
		.allocations = options->allocations,
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

/* base: NULL: nothing to compare the look with. */
static enum exit_code write_look(const struct options *options, const struct heap_file *base,
				 const struct heap_look *look)
{
	enum exit_code code;
	struct error error = { 0 };
	struct heap_file *now;

	if (!base)
		return heap_output_look(options, look);
	now = heap_file_of(look, &error);
	if (!now) {
		message_error(&error);
		return error.exit_code;
	}
	code = heap_output_difference(options, base, now);
	heap_file_close(now);
	return code;
}

static enum exit_code look_at(struct options *options, struct pid_list *targets)
{
	bool waits = options->wait || options->at.share > 0 || options->at.bytes;
	struct heap_look_options look_options = { .no_holders = options->no_holders,
						  .memory_bytes = options->max_memory };
	struct heap_file *base = NULL;
	struct heap_look *look = NULL;
	enum exit_code code = EXIT_OK;
	struct error error = { 0 };
	sigset_t signals;

	/* One look is over soon: ^C ends it as it does anything. */
	if (options->duration_given || waits)
		signals_block(&signals);
	file_limit_raise();
	look_options.impersonator = impersonator_create();
	if (message_privileges_are_kept(confinement_give_up(
		    CONFINEMENT_READS_TARGETS | CONFINEMENT_EVENTS | CONFINEMENT_WRITES_FILES))) {
		impersonator_destroy(look_options.impersonator);
		return EXIT_INTERNAL;
	}
	if (options->base) {
		base = heap_file_open(options->base, &error);
		if (!base) {
			message_error(&error);
			code = error.exit_code;
		}
	}
	if (code == EXIT_OK && waits)
		code = wait_for_memory(options, targets, &signals);
	if (code == EXIT_OK && waits && !options->duration_given)
		signals_end_us(&signals);
	if (code == EXIT_OK) {
		look = options->duration_given
			       ? look_for_a_time(options, &look_options, &signals, &error)
			       : heap_look_take(options->pid, &look_options, &error);
		if (!look) {
			hint_python_child(options, &error);
			message_error(&error);
			code = error.exit_code;
		}
	}
	if (look) {
		code = write_look(options, base, look);
		heap_course_destroy(look->course);
		heap_look_destroy(look);
	}
	heap_file_close(base);
	impersonator_destroy(look_options.impersonator);
	return code;
}

/* Both are over: nobody is looked at. */
static enum exit_code compare_files(const struct options *options)
{
	const char *const read[] = { options->recordings[0], options->base };
	enum exit_code code = file_confinement_begin(options, read, 2);
	struct heap_file *base = NULL, *now = NULL;
	struct error error = { 0 };

	if (code != EXIT_OK)
		return code;
	base = heap_file_open(options->base, &error);
	if (base)
		now = heap_file_open(options->recordings[0], &error);
	if (now) {
		code = heap_output_difference(options, base, now);
	} else {
		message_error(&error);
		code = error.exit_code;
	}
	heap_file_close(base);
	heap_file_close(now);
	return code;
}

enum exit_code heap_command(struct options *options)
{
	struct pid_list targets = { 0 };
	enum exit_code code = profile_output_check(options);

	if (code == EXIT_OK && options->recording_count)
		return compare_files(options);
	if (code == EXIT_OK)
		code = target_choice(options, &targets);
	if (code == EXIT_OK)
		code = look_at(options, &targets);
	pid_list_deinit(&targets);
	return code;
}
