/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Code objects and calls as the program in an interpreter's handlers reports them, and the process
 * that they are of:
 *
 *   u8 bytes of a pattern, the pattern; u16 size of the reports, the reports; a process as in
 *   remote_image.h
 *   a report: u8 what it is; u64 address of a code object; u8 its identity; a call has u16 times
 *   of its begin and end, u8 flags besides
 *
 * The interpreter is found without the reports; the process is gone at some time. What is answered
 * to the program has to be the same each time, and calls are told of what was read alone.
 */
#include "daemon/trace/function_watch.c"

#include "tests/fuzz/remote_image.h"

#include <time.h>

#define REPORTS_MAX 400
#define READS_MAX   5000
/* What a report is. */
#define REPORT_CALL   1u
#define REPORT_REFUSE 2u  /* the kernel has no room for the answer */
#define REPORT_GONE   4u  /* the process is, for this one */
#define REPORT_MANY   64u /* and some hundred more that cannot be read */
#define MANY          300
/* As in runtime.c, VALIDATION_ATTEMPTS. */
#define ATTEMPTS 50

static struct remote_image *image;
static unsigned pauses;
static enum function_verdict answer;
static bool refuses;

/* As in attach_clock_sample.c: this process stands still. */
int nanosleep(const struct timespec *duration, struct timespec *left)
{
	(void)duration;
	(void)left;
	image->reads_left = ++pauses % ATTEMPTS ? 0 : READS_MAX;
	return 0;
}

/* ---- in the kernel's place ---- */

int function_probes_decide(struct mpi_probes *probes, const struct function_code_record *code,
			   enum function_verdict verdict)
{
	fuzz_must(!probes && code->code);
	fuzz_must(verdict == FUNCTION_WANTED || verdict == FUNCTION_UNWANTED);
	answer = verdict;
	return refuses ? -E2BIG : 0;
}

int function_probes_configure(struct mpi_probes *probes, unsigned slot,
			      const struct function_config *config)
{
	(void)probes, (void)slot, (void)config;
	return -ENOTSUP;
}

int function_probes_set(struct mpi_probes *probes, unsigned slot, pid_t pid, int fd,
			const struct function_place *places, size_t count, unsigned span)
{
	(void)probes, (void)slot, (void)pid, (void)fd, (void)places, (void)count, (void)span;
	return -ENOTSUP;
}

void function_probes_remove(struct mpi_probes *probes, unsigned slot)
{
	(void)probes, (void)slot;
}

bool function_probes_are_out(struct mpi_probes *probes, unsigned slot, bool wait)
{
	(void)probes, (void)slot, (void)wait;
	return true;
}

struct function_counts function_probes_counts(const struct mpi_probes *probes, unsigned slot)
{
	(void)probes, (void)slot;
	return (struct function_counts){ 0 };
}

void function_probes_read_open(const struct mpi_probes *probes, unsigned slot, uint32_t epoch,
			       const struct mpi_taker *taker, uint64_t now_ns)
{
	(void)probes, (void)slot, (void)epoch, (void)taker, (void)now_ns;
}

void mpi_probes_read(struct mpi_probes *probes, const struct mpi_taker *taker, int timeout_ms)
{
	(void)probes, (void)taker, (void)timeout_ms;
}

uint64_t trap_cost_of(const struct trap_cost *cost, const struct function_counts *counts)
{
	(void)cost, (void)counts;
	return 0;
}

int function_site_find(const struct target *target, struct function_site *ret_site,
		       struct error *error)
{
	(void)target, (void)ret_site, (void)error;
	return -ENOTSUP;
}

void function_site_deinit(struct function_site *site)
{
	(void)site;
}

/* ---- reports ---- */

/* Of a code object that is known: what is said of it now was said before. */
static void take_code(struct function_watch *watch, const struct function_code_record *record)
{
	const struct function_known *known =
		watch->known_slots ? slot_of(watch, record->code, record->identity) : NULL;
	bool was_known = known && known->code;
	uint32_t path = was_known ? known->path : CALL_PATH_NONE;
	uint64_t undecided = watch->undecided;
	size_t count = watch->known_count;

	answer = FUNCTION_UNDECIDED;
	function_watch_code(watch, record);
	fuzz_must(!record->code == (answer == FUNCTION_UNDECIDED));
	fuzz_must(watch->undecided == undecided + (answer && refuses));
	fuzz_must(watch->known_count == count + (answer && !was_known));
	fuzz_must(2 * watch->known_count <= watch->known_slots);
	if (!answer)
		return;
	known = slot_of(watch, record->code, record->identity);
	fuzz_must(known->code == record->code && known->identity == record->identity);
	fuzz_must(!was_known || known->path == path);
	fuzz_must((known->path != CALL_PATH_NONE) == (answer == FUNCTION_WANTED));
	fuzz_must(!known->unreadable || answer == FUNCTION_UNWANTED);
}

static void take_call(struct function_watch *watch, const struct function_record *record)
{
	const struct function_known *known =
		watch->known_slots ? slot_of(watch, record->code, record->identity) : NULL;
	bool readable = known && known->code && !known->unreadable;
	uint64_t unknown = watch->unknown;
	struct trace_event event;
	const struct call_frame *frame;

	if (!function_watch_event(watch, record, &event)) {
		fuzz_must(watch->unknown == unknown + !readable);
		fuzz_must(!readable || known->path == CALL_PATH_NONE ||
			  record->end_ns < record->begin_ns);
		return;
	}
	fuzz_must(readable && watch->unknown == unknown && event.path == known->path);
	fuzz_must(event.end_ns >= event.begin_ns);
	frame = call_paths_frame(watch->paths, event.path);
	fuzz_must(frame && frame->caller == CALL_PATH_NONE);
	fuzz_read_string(frame->function);
	fuzz_read_string(frame->file);
	fuzz_must(function_choice_fits(watch->choice, frame->function, frame->file));
}

static void take_many(struct function_watch *watch, uint64_t code)
{
	for (unsigned i = 0; i < MANY; i++) {
		const struct function_code_record record = { .code = code ? code : 1,
							     .identity = 1000 + i };

		image->reads_left = 0;
		take_code(watch, &record);
	}
}

static void take_reports(struct function_watch *watch, struct fuzz_input *reports)
{
	bool many = false;

	for (unsigned i = 0; i < REPORTS_MAX && reports->left; i++) {
		uint8_t what = (uint8_t)fuzz_number(reports, 1);
		uint64_t code = fuzz_number(reports, 8), identity = fuzz_number(reports, 1);
		struct function_record call = { .code = code, .identity = identity };

		image->reads_left = what & REPORT_GONE ? 0 : READS_MAX;
		refuses = what & REPORT_REFUSE;
		if (what & REPORT_CALL) {
			call.begin_ns = fuzz_number(reports, 2);
			call.end_ns = fuzz_number(reports, 2);
			call.flags = (uint8_t)fuzz_number(reports, 1);
			take_call(watch, &call);
			continue;
		}
		take_code(watch,
			  &(struct function_code_record){ .code = code, .identity = identity });
		if (what & REPORT_MANY && !many)
			take_many(watch, code);
		many |= what & REPORT_MANY;
	}
}

/* As the daemon looks at a process: by copies, which it reads when they are asked for. */
static void watch_target(struct target *target, const struct function_choice *choice,
			 struct fuzz_input *reports)
{
	struct call_paths paths = { 0 };
	struct function_watch watch = {
		.state = FUNCTIONS_REFUSED,
		.target = target,
		.paths = &paths,
		.choice = choice,
	};

	image->is_later = true;
	take_reports(&watch, reports);
	/* It has ended: nothing is read any more, and what was is still known. */
	function_watch_release(&watch);
	answer = FUNCTION_UNDECIDED;
	function_watch_code(&watch, &(struct function_code_record){ .code = 1 });
	fuzz_must(answer == FUNCTION_UNDECIDED);
	take_call(&watch, &(struct function_record){ .code = 1 });
	function_watch_deinit(&watch);
	call_paths_deinit(&paths);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_input input = { data, size }, reports = { 0 };
	struct target *target = calloc(1, sizeof(*target));
	struct function_choice choice = { .pattern_count = 1 };
	struct error error = { 0 };
	struct debug_info info;
	char pattern[256] = "";
	size_t there;

	image = calloc(1, sizeof(*image));
	fuzz_must(image && target);
	there = (size_t)fuzz_number(&input, 1) % 32;
	memcpy(pattern, fuzz_take(&input, there, &there), there);
	choice.patterns[0] = pattern;
	reports.left = (size_t)fuzz_number(&input, 2);
	reports.at = fuzz_take(&input, reports.left, &reports.left);
	remote_image_parse(image, input);
	pauses = 0;
	info = remote_image_info(image);
	target->copied.process = (struct memory_reader){ remote_image_read, image };
	target->reader = copied_memory_reader(&target->copied);
	image->reads_left = READS_MAX;
	target->runtime = python_runtime_create(&info, &target->reader, &error);
	if (target->runtime)
		watch_target(target, &choice, &reports);
	python_runtime_destroy(target->runtime);
	free(target);
	free(image);
	return 0;
}
