/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is logged of calls in a live interpreter's loops (argument_cases.py),
 * one sample a round, and what the rule makes of it; on every interpreter found.
 */
#include "daemon/detect/argument_rule.h"
#include "daemon/detect/argument_sampler.h"

#include "tests/unit/support_live.h"

#include <setjmp.h>
#include <stdarg.h>
#include <sys/syscall.h>

#include <cmocka.h>

#define ROUNDS 24 /* as in argument_cases.py */
#define CASES  12 /* of so many rounds; others have four and six times as many */
#define MS     1000000ull

struct session {
	const struct live_python *python;
	struct live_target process;
	struct live_binary binary;
	struct live_memory memory;
	struct debug_info info;
	struct target target;
	struct argument_sampler *sampler;
	struct argument_findings findings;
	struct call_site_table sites;
	struct capture capture;
	size_t samples;
};

static void start(struct session *session, const struct live_python *python)
{
	FILE *file = fopen("tests/unit/argument_cases.py", "r"); /* run in the repository's root */
	char *script = NULL;
	size_t size = 0;

	memset(session, 0, sizeof(*session));
	session->python = python;
	assert_non_null(file);
	assert_true(getdelim(&script, &size, '\0', file) > 0);
	fclose(file);
	assert_true(live_target_start(&session->process, python->path, script));
	free(script);
}

static void attach(struct session *session)
{
	struct target *target = &session->target;
	struct error error;

	assert_true(live_binary_find(&session->binary, session->process.pid));
	session->memory.pid = session->process.pid;
	session->info = live_debug_info(&session->binary);
	target->pid = session->process.pid;
	target->reader = (struct memory_reader){ live_memory_read, &session->memory };
	target->runtime = python_runtime_create(&session->info, &target->reader, &error);
	if (!target->runtime)
		fail_msg("3.%d: %s", session->python->minor, error.cause);
	session->sampler = argument_sampler_create(target);
	assert_non_null(session->sampler);
}

/* One sample of a thread that waits for its byte. */
static void sample(struct session *session)
{
	uint64_t sp;
	pid_t pid = session->process.pid;

	assert_true(live_thread_wait_syscall(pid, pid, SYS_read, &sp));
	session->capture.python_error =
		python_stack_read(session->target.runtime, pid, NULL, &session->capture.python);
	assert_int_equal(session->capture.python_error, 0);
	argument_sampler_take(session->sampler, &session->capture);
	session->samples++;
	argument_sampler_log(session->sampler, session->samples * 10 * MS, 10 * MS, 1);
	/* What was logged once is not logged again. */
	argument_sampler_log(session->sampler, session->samples * 10 * MS, 10 * MS, 1);
}

static void run(struct session *session)
{
	char line[16];

	while (live_target_line(&session->process, line, sizeof(line)) && !strcmp(line, ".")) {
		if (!session->sampler)
			attach(session);
		sample(session);
		assert_int_equal(fputc('x', session->process.input), 'x');
		fflush(session->process.input);
	}
	assert_string_equal(line, "END");
	assert_int_equal(session->samples, (CASES + 4 + 6) * ROUNDS);
}

static void end(struct session *session)
{
	argument_findings_deinit(&session->findings);
	call_site_table_deinit(&session->sites);
	argument_sampler_destroy(session->sampler);
	python_runtime_destroy(session->target.runtime);
	live_binary_close(&session->binary);
	live_target_end(&session->process);
}

/* What the samples of a case say. */
struct seen {
	unsigned samples, judged, opaque, changes, rounds, verdicts[ARGUMENT_VERDICT_COUNT];
	uint64_t samples_ns;
	const struct argument_site *site;
	const struct argument_frame *last;
};

static struct seen look(const struct session *session, const char *function)
{
	const struct argument_log *log = argument_sampler_argument_log(session->sampler);
	struct seen seen = { .samples = 0 };

	for (size_t i = 0; i < log->sample_count; i++) {
		const struct argument_sample *sample = &log->samples[i];

		for (unsigned f = 0; f < sample->frame_count; f++) {
			const struct argument_frame *frame = &sample->frames[f];
			const struct argument_site *site = &log->sites[frame->site];

			if (strcmp(site->code->function, function) != 0)
				continue;
			seen.samples++;
			seen.samples_ns += sample->time_ns;
			seen.judged += !!(frame->flags & ARGUMENT_JUDGED);
			seen.opaque += !!(frame->flags & ARGUMENT_OPAQUE);
			if (seen.last) {
				assert_ptr_equal(site, seen.site);
				seen.changes += frame->contents != seen.last->contents;
				seen.rounds += frame->rounds[0] != seen.last->rounds[0];
			}
			assert_int_equal(frame->loop_count, 1);
			seen.verdicts[session->findings.votes[i].verdict]++;
			seen.site = site;
			seen.last = frame;
		}
	}
	return seen;
}

static void check_case(const struct session *session, const char *function, unsigned changes,
		       unsigned opaque, enum argument_verdict verdict)
{
	struct seen seen = look(session, function);

	/* Nothing else in the sample may have been comparable. */
	if (verdict == ARGUMENT_NEEDED)
		seen.verdicts[verdict] += seen.verdicts[ARGUMENT_UNKNOWN];
	if (seen.samples < ROUNDS || seen.judged != seen.samples ||
	    seen.rounds != seen.samples - 1 ||
	    (changes ? seen.changes != seen.samples - 1 : seen.changes) ||
	    (opaque ? seen.opaque != seen.samples : seen.opaque) ||
	    seen.verdicts[verdict] != seen.samples)
		fail_msg("3.%d %s: %u samples, %u judged, %u opaque, %u rounds, %u changes, %u of "
			 "verdict %d (%u needed, %u invariant, %u repeated)",
			 session->python->minor, function, seen.samples, seen.judged, seen.opaque,
			 seen.rounds, seen.changes, seen.verdicts[verdict], verdict,
			 seen.verdicts[ARGUMENT_NEEDED], seen.verdicts[ARGUMENT_INVARIANT],
			 seen.verdicts[ARGUMENT_REPEATED]);
}

static void test_python(const struct live_python *python)
{
	struct session *session = calloc(1, sizeof(*session));
	const struct argument_log *log;
	struct seen seen;

	assert_non_null(session);
	start(session, python);
	run(session);
	log = argument_sampler_argument_log(session->sampler);
	assert_int_equal(argument_findings_make(&session->findings, log, NULL, &session->sites), 0);
	check_case(session, "same_in_library", 0, 0, ARGUMENT_INVARIANT);
	check_case(session, "alike_in_library", 0, 0, ARGUMENT_INVARIANT);
	check_case(session, "other_in_library", 1, 0, ARGUMENT_NEEDED);
	check_case(session, "opaque_in_library", 0, 1, ARGUMENT_NEEDED);
	check_case(session, "dropped_in_library", 0, 0, ARGUMENT_NEEDED);
	check_case(session, "same_in_own", 0, 0, ARGUMENT_INVARIANT);
	check_case(session, "other_in_own", 1, 0, ARGUMENT_NEEDED);
	check_case(session, "few_in_own", 1, 0, ARGUMENT_FEW);
	check_case(session, "drawing_in_own", 0, 0, ARGUMENT_NEEDED);
	check_case(session, "table_in_own", 0, 0, ARGUMENT_INVARIANT);
	check_case(session, "changed_in_own", 0, 0, ARGUMENT_NEEDED);
	check_case(session, "stream_in_own", 0, 0, ARGUMENT_NEEDED);
	seen = look(session, "same_in_library");
	assert_int_equal(seen.site->kind, OPERATION_CALL);
	assert_false(seen.site->of_callee);
	assert_int_equal(seen.samples_ns, ROUNDS * 10 * MS);
	seen = look(session, "same_in_own");
	assert_true(seen.site->of_callee);
	/* All its samples speak, though not of all the contents were read. */
	seen = look(session, "known_well");
	assert_int_equal(seen.samples, 4 * ROUNDS);
	assert_int_equal(seen.verdicts[ARGUMENT_INVARIANT], 4 * ROUNDS);
	assert_int_equal(seen.judged,
			 ARGUMENT_KNOWN_SAMPLES +
				 (4 * ROUNDS - ARGUMENT_KNOWN_SAMPLES) / ARGUMENT_RARE);
	/* What could be keys of a cache, for longer. */
	seen = look(session, "known_keys");
	assert_int_equal(seen.samples, 6 * ROUNDS);
	assert_int_equal(seen.judged,
			 ARGUMENT_KEYED_SAMPLES +
				 (6 * ROUNDS - ARGUMENT_KEYED_SAMPLES) / ARGUMENT_RARE);
	end(session);
	free(session);
}

static void test_live(void **state)
{
	const struct live_pythons *pythons = live_pythons();

	(void)state;
	for (size_t i = 0; i < pythons->count; i++)
		test_python(&pythons->items[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_live),
	};

	if (!live_pythons()->count) {
		print_message("skipped: no CPython 3.6 to 3.15 found\n");
		return 0;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
