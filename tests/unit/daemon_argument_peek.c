/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Arguments of a thread that goes on while they are read, at each read in turn: what
 * counts is of one call, never of two; on every interpreter found.
 */
#include "daemon/detect/argument_sampler.h"

#include "tests/unit/support_live.h"

#include <setjmp.h>
#include <stdarg.h>
#include <sys/syscall.h>

#include <cmocka.h>

#define MS 1000000ull

/* Each round works on another list, with other contents, and waits for a byte twice. */
static const char script[] = "import os\n"
			     "def wait(x):\n"
			     "    os.write(1, b'.\\n')\n"
			     "    os.read(0, 1)\n"
			     "    return x is not None\n"
			     "def turn(rounds):\n"
			     "    for i in range(rounds):\n"
			     "        m = [i, i + 1, i + 2]\n"
			     "        r = wait(m)\n"
			     "turn(10**6)\n";

struct session {
	struct live_target process;
	struct live_binary binary;
	struct live_memory memory;
	struct debug_info info;
	struct target target;
	struct python_stack stack;
	unsigned reads;    /* since the last peek began */
	unsigned moves_at; /* the thread goes on before that read; 0: it stays */
};

static void wait_for_round(struct session *session)
{
	char line[16];
	uint64_t sp;

	assert_true(live_target_line(&session->process, line, sizeof(line)));
	assert_true(live_thread_wait_syscall(session->process.pid, session->process.pid, SYS_read,
					     &sp));
}

static int read_while_it_moves(void *context, struct memory_range *ranges, size_t count)
{
	struct session *session = context;

	if (++session->reads == session->moves_at) {
		assert_int_equal(fputc('x', session->process.input), 'x');
		fflush(session->process.input);
		wait_for_round(session);
	}
	return live_memory_read(&session->memory, ranges, count);
}

static void attach(struct session *session, const struct live_python *python)
{
	struct target *target = &session->target;
	struct error error;

	assert_true(live_target_start(&session->process, python->path, script));
	wait_for_round(session);
	assert_true(live_binary_find(&session->binary, session->process.pid));
	session->memory.pid = session->process.pid;
	session->info = live_debug_info(&session->binary);
	target->pid = session->process.pid;
	target->reader = (struct memory_reader){ read_while_it_moves, session };
	target->runtime = python_runtime_create(&session->info, &target->reader, &error);
	if (!target->runtime)
		fail_msg("3.%d: %s", python->minor, error.cause);
}

/* What a peek logs of the list that turn() hands to wait(); false: nothing. */
static bool peek(struct session *session, bool moves, unsigned moves_at, uint64_t *ret_contents)
{
	struct argument_sampler *sampler = argument_sampler_create(&session->target);
	const struct argument_log *log = argument_sampler_argument_log(sampler);
	bool seen = false;

	assert_non_null(sampler);
	assert_int_equal(python_stack_read(session->target.runtime, session->process.pid, NULL,
					   &session->stack),
			 0);
	session->reads = 0;
	session->moves_at = moves_at;
	argument_sampler_peek(sampler, &session->stack, moves);
	session->moves_at = 0;
	argument_sampler_log(sampler, MS, 10 * MS, 1);
	assert_true(log->sample_count <= 1);
	for (size_t i = 0; i < log->sample_count; i++) {
		const struct argument_sample *sample = &log->samples[i];

		assert_int_equal(sample->timeless, moves);
		assert_int_equal(sample->time_ns, moves ? 0 : 10 * MS);
		for (unsigned f = 0; f < sample->frame_count; f++)
			if (!strcmp(log->sites[sample->frames[f].site].code->function, "turn") &&
			    sample->frames[f].flags & ARGUMENT_JUDGED) {
				seen = true;
				*ret_contents = sample->frames[f].contents;
			}
	}
	argument_sampler_destroy(sampler);
	return seen;
}

static void test_python(const struct live_python *python)
{
	struct session *session = calloc(1, sizeof(*session));
	unsigned refused = 0, at = 1, reads;
	uint64_t before, now, after;

	assert_non_null(session);
	attach(session, python);
	do {
		assert_true(peek(session, false, 0, &before));
		/* It stays: what is read is used, but stands for no time. */
		assert_true(peek(session, true, 0, &now));
		assert_true(now == before);
		if (!peek(session, true, at, &now)) {
			refused++;
			now = before;
		}
		reads = session->reads;
		if (reads >= at) {
			assert_true(peek(session, false, 0, &after));
			assert_true(after != before);
			/* That it went on before the first read leaves it all of the next round. */
			if (now != before && now != after)
				fail_msg("3.%d: of two calls, moved at read %u of %u",
					 python->minor, at, reads);
		}
	} while (at++ < reads);
	/* Operands, contents, operands again: in between it is always noticed. */
	assert_true(reads >= 4);
	assert_true(refused >= reads / 2);
	python_runtime_destroy(session->target.runtime);
	live_binary_close(&session->binary);
	live_target_end(&session->process);
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
