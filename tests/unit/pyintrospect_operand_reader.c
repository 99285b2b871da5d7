/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Operands, loops and arguments read from outside against what live
 * interpreters print from inside (operand_cases.py), on every interpreter found.
 */
#include "pyintrospect/operand_reader.h"
#include "pyintrospect/runtime.h"

#include "tests/unit/assert_sampled.h"
#include "tests/unit/operation_name.h"
#include "tests/unit/support_live.h"

#include <setjmp.h>
#include <stdarg.h>
#include <sys/syscall.h>

#include <cmocka.h>

#define CASES_MAX 80
#define IDS_MAX   32

/* System calls of a reading whose like was done before: frames, slots, and rounds of iterators. */
#define CALLS_MAX 7

struct expected_loop {
	uint64_t object;
	long position, remaining;
};

struct expected {
	char name[64], function[96], kind[32];
	pid_t tid;
	unsigned taken;
	size_t operands, loops, arguments;
	uint64_t operand[IDS_MAX], argument[IDS_MAX];
	struct expected_loop loop[IDS_MAX];
};

struct session {
	struct live_target target;
	struct live_binary binary;
	struct live_memory memory;
	struct debug_info info;
	struct memory_reader reader;
	struct python_runtime *runtime;
	struct operand_reader *operands;
	struct expected cases[CASES_MAX];
	size_t count;
	int minor;
	size_t wrong, compared, most_calls;
};

static uint64_t next_number(char **line)
{
	char *end;
	uint64_t number = (uint64_t)strtoll(*line, &end, 10);

	assert_true(end != *line);
	*line = end;
	return number;
}

static void parse_case(struct expected *expected, char *line)
{
	int used = 0;

	memset(expected, 0, sizeof(*expected));
	assert_int_equal(sscanf(line, "CASE %63s %d %95s %31s %u%n", expected->name, &expected->tid,
				expected->function, expected->kind, &expected->taken, &used),
			 5);
	line += used;
	expected->operands = next_number(&line);
	assert_true(expected->operands <= IDS_MAX);
	for (size_t i = 0; i < expected->operands; i++)
		expected->operand[i] = next_number(&line);
	expected->loops = next_number(&line);
	assert_true(expected->loops <= IDS_MAX);
	for (size_t i = 0; i < expected->loops; i++) {
		expected->loop[i].object = next_number(&line);
		expected->loop[i].position = (long)next_number(&line);
		expected->loop[i].remaining = (long)next_number(&line);
	}
	expected->arguments = next_number(&line);
	assert_true(expected->arguments <= IDS_MAX);
	for (size_t i = 0; i < expected->arguments; i++)
		expected->argument[i] = next_number(&line);
}

static void session_begin(struct session *session, const struct live_python *python,
			  const char *script)
{
	memset(session, 0, sizeof(*session));
	session->minor = python->minor;
	assert_true(live_target_start(&session->target, python->path, script));
}

static void session_attach(struct session *session, const struct live_python *python)
{
	struct error error;

	assert_true(live_binary_find(&session->binary, session->target.pid));
	session->memory.pid = session->target.pid;
	session->info = live_debug_info(&session->binary);
	session->reader = (struct memory_reader){ live_memory_read, &session->memory };
	session->runtime = python_runtime_create(&session->info, &session->reader, &error);
	if (!session->runtime)
		fail_msg("3.%d: %s", python->minor, error.cause);
	session->operands = operand_reader_create(session->runtime);
	assert_non_null(session->operands);
}

static void session_start(struct session *session, const struct live_python *python)
{
	/* Tests run in the repository's root. */
	FILE *file = fopen("tests/unit/operand_cases.py", "r");
	char *script = NULL, *line = NULL;
	size_t size = 0, wanted = SIZE_MAX;

	assert_non_null(file);
	assert_true(getdelim(&script, &size, '\0', file) > 0);
	fclose(file);
	session_begin(session, python, script);
	free(script);
	size = 0;
	while (session->count < wanted && getline(&line, &size, session->target.output) > 0) {
		if (sscanf(line, "READY %zu", &wanted) == 1)
			continue;
		assert_true(session->count < CASES_MAX);
		parse_case(&session->cases[session->count++], line);
	}
	free(line);
	assert_int_equal(session->count, wanted);
	session_attach(session, python);
}

static void session_end(struct session *session)
{
	operand_reader_destroy(session->operands);
	python_runtime_destroy(session->runtime);
	live_binary_close(&session->binary);
	live_target_end(&session->target);
}

static size_t find_frame(const struct python_stack *stack, const struct expected *expected)
{
	for (size_t i = 0; i < stack->count; i++)
		if (!strcmp(stack->frames[i].code->function, expected->function))
			return i;
	fail_msg("%s: no frame of %s", expected->name, expected->function);
	return 0;
}

static void check(struct session *session, const struct expected *expected, bool good,
		  const char *what, size_t index, uint64_t found, uint64_t wanted)
{
	session->compared++;
	if (good)
		return;
	session->wrong++;
	print_error("3.%d %s: %s %zu is %lx, expected %lx\n", session->minor, expected->name, what,
		    index, found, wanted);
}

static void compare_values(struct session *session, const struct expected *expected,
			   const char *what, const struct operand_value *values, size_t count,
			   const uint64_t *ids, size_t id_count)
{
	for (size_t i = 0; i < count && i < id_count; i++)
		if (ids[i])
			check(session, expected,
			      values[i].state == OPERAND_IS_OBJECT && values[i].object == ids[i],
			      what, i, values[i].object, ids[i]);
}

static void compare(struct session *session, const struct expected *expected,
		    const struct operand_sample *sample)
{
	size_t most =
		expected->operands < OPERANDS_MAX ? expected->operands : sample->operand_count;

	check(session, expected, sample->argument_count == expected->arguments, "arguments", 0,
	      sample->argument_count, expected->arguments);
	compare_values(session, expected, "argument", sample->arguments, sample->argument_count,
		       expected->argument, expected->arguments);
	if (!strcmp(expected->kind, "unknown")) {
		check(session, expected, sample->error == -ENOENT, "error", 0,
		      (uint64_t)sample->error, (uint64_t)-ENOENT);
		return;
	}
	check(session, expected, sample->error == 0, "error", 0, (uint64_t)sample->error, 0);
	check(session, expected, !strcmp(operation_name(sample->kind), expected->kind),
	      expected->kind, 0, sample->kind, 0);
	check(session, expected, sample->taken == expected->taken, "taken", 0, sample->taken,
	      expected->taken);
	check(session, expected, sample->operand_total == expected->operands, "operands", 0,
	      sample->operand_total, expected->operands);
	check(session, expected, sample->operand_count == most, "operands told", 0,
	      sample->operand_count, most);
	compare_values(session, expected, "operand", sample->operands, sample->operand_count,
		       expected->operand, expected->operands);
	check(session, expected, sample->loop_count == expected->loops, "loops", 0,
	      sample->loop_count, expected->loops);
	for (size_t i = 0; i < sample->loop_count && i < expected->loops; i++) {
		const struct operand_iterator *iterator = &sample->loops[i];
		const struct expected_loop *loop = &expected->loop[i];

		if (loop->object)
			check(session, expected, iterator->object == loop->object, "loop", i,
			      iterator->object, loop->object);
		check(session, expected, iterator->position_known == (loop->position >= 0),
		      "position known", i, iterator->position_known, loop->position >= 0);
		if (loop->position >= 0)
			check(session, expected, iterator->position == loop->position, "position",
			      i, (uint64_t)iterator->position, (uint64_t)loop->position);
		check(session, expected, iterator->remaining == loop->remaining, "remaining", i,
		      (uint64_t)iterator->remaining, (uint64_t)loop->remaining);
	}
	if (!strcmp(expected->name, "binary_in_place"))
		check(session, expected, sample->in_place, "in place", 0, 0, 1);
}

static void read_case(struct session *session, const struct expected *expected)
{
	static struct python_stack stack;
	struct operand_sample sample, all[OPERAND_FRAMES_MAX];
	size_t frames[OPERAND_FRAMES_MAX], frame, count;
	unsigned long calls;
	uint64_t sp;

	assert_true(live_thread_wait_syscall(session->target.pid, expected->tid, SYS_read, &sp));
	assert_int_equal(python_stack_read(session->runtime, expected->tid, NULL, &stack), 0);
	frame = find_frame(&stack, expected);
	assert_int_equal(operand_reader_read(session->operands, &stack, &frame, 1, &sample), 0);
	compare(session, expected, &sample);
	calls = session->memory.calls;
	assert_int_equal(operand_reader_read(session->operands, &stack, &frame, 1, &sample), 0);
	calls = session->memory.calls - calls;
	if (calls > session->most_calls)
		session->most_calls = calls;
	/* Together with others, it is the same. */
	count = stack.count < OPERAND_FRAMES_MAX ? stack.count : OPERAND_FRAMES_MAX;
	for (size_t i = 0; i < count; i++)
		frames[i] = i;
	assert_int_equal(operand_reader_read(session->operands, &stack, frames, count, all), 0);
	if (frame < count)
		compare(session, expected, &all[frame]);
	/* A frame that has gone on is noticed. */
	stack.frames[frame].instruction_offset += 2;
	assert_int_equal(operand_reader_read(session->operands, &stack, &frame, 1, &sample), 0);
	check(session, expected, sample.error != 0 && !sample.operand_count && !sample.loop_count,
	      "error of a frame that has gone on", 0, (uint64_t)sample.error, (uint64_t)-ESTALE);
}

/* ---- memory that is not what it should be ---- */

#define CORRUPTED_READS 40

struct corrupted_memory {
	struct live_memory *memory;
	unsigned one_in; /* words that are replaced */
};

/* Words become numbers, small and large, and addresses of other things that were read. */
static int corrupted_read(void *context, struct memory_range *ranges, size_t count)
{
	struct corrupted_memory *corrupted = context;
	int error = live_memory_read(corrupted->memory, ranges, count);

	for (size_t i = 0; !error && i < count; i++) {
		uint8_t *bytes = ranges[i].buffer;

		if (rand() % 100 == 0)
			ranges[i].error = -EFAULT;
		for (size_t at = 0; at + 8 <= ranges[i].size; at += 8) {
			const uint64_t words[] = { 0,
						   1,
						   (uint64_t)rand(),
						   UINT64_MAX,
						   INT64_MAX,
						   ranges[rand() % (int)count].address,
						   ranges[i].address + at };

			if (rand() % (int)corrupted->one_in == 0)
				memcpy(bytes + at, &words[rand() % 7], 8);
		}
	}
	return error;
}

static void read_corrupted(struct session *session, const struct expected *expected)
{
	static struct python_stack stack;
	struct operand_sample samples[OPERAND_FRAMES_MAX];
	struct corrupted_memory corrupted = { .memory = &session->memory };
	size_t frames[OPERAND_FRAMES_MAX] = { 0, 1, 2, 3 }, count;

	session->reader = (struct memory_reader){ live_memory_read, &session->memory };
	assert_int_equal(python_stack_read(session->runtime, expected->tid, NULL, &stack), 0);
	count = stack.count < OPERAND_FRAMES_MAX ? stack.count : OPERAND_FRAMES_MAX;
	session->reader = (struct memory_reader){ corrupted_read, &corrupted };
	for (unsigned i = 0; i < CORRUPTED_READS; i++) {
		corrupted.one_in = i % 2 ? 4 : 40;
		/* Also instructions where it is not, whose slots hold anything. */
		if (i % 4 == 3)
			stack.frames[0].instruction_offset = rand() % 64 - 2;
		assert_int_equal(
			operand_reader_read(session->operands, &stack, frames, count, samples), 0);
		for (size_t k = 0; k < count; k++) {
			assert_true(samples[k].operand_count <= OPERANDS_MAX);
			assert_true(samples[k].loop_count <= OPERAND_LOOPS_MAX);
			assert_true(samples[k].argument_count <= OPERAND_ARGUMENTS_MAX);
			for (size_t l = 0; l < samples[k].loop_count; l++)
				assert_true(samples[k].loops[l].remaining >= ITERATOR_UNKNOWN);
		}
	}
	session->reader = (struct memory_reader){ live_memory_read, &session->memory };
}

static void test_corrupted(void **state)
{
	const struct live_pythons *pythons = live_pythons();
	static struct session session;
	uint64_t sp;

	(void)state;
	srand(7);
	for (size_t i = 0; i < pythons->count; i++) {
		session_start(&session, &pythons->items[i]);
		for (size_t k = 0; k < session.count; k++) {
			assert_true(live_thread_wait_syscall(session.target.pid,
							     session.cases[k].tid, SYS_read, &sp));
			read_corrupted(&session, &session.cases[k]);
		}
		session_end(&session);
	}
	if (!pythons->count)
		skip();
}

static void test_cases(void **state)
{
	const struct live_pythons *pythons = live_pythons();
	static struct session session;
	size_t wrong = 0;

	(void)state;
	for (size_t i = 0; i < pythons->count; i++) {
		session_start(&session, &pythons->items[i]);
		for (size_t k = 0; k < session.count; k++)
			read_case(&session, &session.cases[k]);
		print_message("3.%d.%d: %zu cases, %zu comparisons, at most %zu system calls\n",
			      pythons->items[i].minor, pythons->items[i].micro, session.count,
			      session.compared, session.most_calls);
		assert_true(session.most_calls <= CALLS_MAX);
		wrong += session.wrong;
		session_end(&session);
	}
	assert_int_equal(wrong, 0);
	if (!pythons->count)
		skip();
}

/* ---- a program that runs, stopped at any moment ---- */

#define SAMPLES 400

/* Prints what each operation works on, and then works on it for ever, hot. */
static const char working[] =
	"\n"
	"import os\n"
	"numbers = list(range(3000)); text = 'x' * 30000; more = list(numbers)\n"
	"cut = slice(10, 2900)\n"
	"def work():\n"
	"    a, b, s, c, f, g = numbers, more, text, cut, sorted, sum\n"
	"    while True:\n"
	"        for i in range(50):\n"
	"            f(a); g(b); a + b; s.count('ab'); a[c]; s in s; a == b\n"
	"words = []\n"
	"for name, operands in (('call', (sorted, numbers)), ('call', (sum, more)),\n"
	"                       ('call', (str.__dict__['count'], text, 'ab')),\n"
	"                       ('binary', (numbers, more)), ('subscript', (numbers, cut)),\n"
	"                       ('contains', (text, text)), ('compare', (text, text)),\n"
	"                       ('compare', (numbers, more))):\n"
	"    words.append('%s %d %s' % (name, len(operands), ' '.join(str(id(o)) for o in "
	"operands)))\n"
	"os.write(1, ('\\n'.join(words) + '\\nREADY\\n').encode())\n"
	"work()\n";

static bool sample_is(const struct operand_sample *sample, const struct expected *expected)
{
	/* 3.6 binds a method first: that is another object each time. */
	size_t skipped = expected->operands - sample->operand_count;

	if (strcmp(operation_name(sample->kind), expected->kind) != 0 || skipped > 1)
		return false;
	for (size_t i = skipped; i < sample->operand_count; i++)
		if (sample->operands[i].object != expected->operand[i + skipped])
			return false;
	return true;
}

static void test_working(void **state)
{
	const struct live_pythons *pythons = live_pythons();
	static struct session session;
	static struct python_stack stack;

	(void)state;
	for (size_t i = 0; i < pythons->count; i++) {
		unsigned good = 0, other = 0, looped = 0, lost = 0, status;
		char line[256];

		session_begin(&session, &pythons->items[i], working);
		while (live_target_line(&session.target, line, sizeof(line)) &&
		       strcmp(line, "READY") != 0) {
			struct expected *expected = &session.cases[session.count++];
			char *rest = line;
			int used;

			assert_int_equal(sscanf(line, "%31s%n", expected->kind, &used), 1);
			rest += used;
			expected->operands = next_number(&rest);
			for (size_t k = 0; k < expected->operands; k++)
				expected->operand[k] = next_number(&rest);
		}
		session_attach(&session, &pythons->items[i]);
		for (unsigned n = 0; n < SAMPLES; n++) {
			struct operand_sample sample;
			size_t frame = 0, k;

			usleep(500 + (useconds_t)(rand() % 500));
			kill(session.target.pid, SIGSTOP);
			assert_int_equal(waitpid(session.target.pid, (int *)&status, WUNTRACED),
					 session.target.pid);
			assert_true(WIFSTOPPED(status));
			assert_int_equal(python_stack_read(session.runtime, session.target.pid,
							   NULL, &stack),
					 0);
			if (!stack.count || strcmp(stack.frames[0].code->function, "work") != 0) {
				lost++;
			} else {
				assert_int_equal(operand_reader_read(session.operands, &stack,
								     &frame, 1, &sample),
						 0);
				assert_int_equal(sample.error, 0);
				for (k = 0; k < session.count; k++)
					if (sample_is(&sample, &session.cases[k]))
						break;
				/* Jumps and moves have none to compare. */
				if (k < session.count)
					good++;
				else if (sample.operand_count && sample.kind != OPERATION_NEXT)
					other++;
				looped += sample.loop_count == 1 &&
					  sample.loops[0].kind == ITERATOR_RANGE &&
					  sample.loops[0].position >= 0 &&
					  sample.loops[0].position <= 50;
			}
			kill(session.target.pid, SIGCONT);
		}
		print_message("3.%d.%d: %u as expected, %u else, %u in the loop, %u not read\n",
			      pythons->items[i].minor, pythons->items[i].micro, good, other, looped,
			      lost);
		assert_sampled(good > SAMPLES / 2);
		/* The result may have taken an operand's place already. */
		assert_sampled(other * 20 <= good);
		assert_sampled(looped * 10 > good * 9);
		session_end(&session);
	}
	if (!pythons->count)
		skip();
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_cases),
					    cmocka_unit_test(test_corrupted),
					    cmocka_unit_test(test_working) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
