/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Threads stopped at random moments while they alternate between ways of
 * calling as fast as they can: every stack read has to be one that the program
 * can be in. And code that comes and goes, and threads that do.
 */
#include "pyintrospect/python_stack.h"

#include "pyintrospect/code_cache.h"
#include "pyintrospect/runtime.h"
#include "pyintrospect/runtime_internal.h"
#include "tests/unit/support_alternating.h"
#include "tests/unit/support_live.h"
#include "tests/unit/support_unwind.h"

#include <setjmp.h>
#include <stdarg.h>
#include <sys/user.h>

#include <cmocka.h>

#define STACK_COPY (32u << 10)
#define SAMPLES    5000

/*
 * Anchors and groups against libunwind: as many groups as evaluation loops, or
 * one less while the innermost loop is entering or leaving.
 */
static bool legal_groups(const struct python_stack *stack, pid_t tid, int minor)
{
	struct eval_frame frames[128];
	int count = native_eval_frames(tid, frames, 128), groups = 0, skipped;

	for (size_t i = 0; i < stack->count; i++)
		groups += stack->frames[i].entry;
	if (count < 0)
		return true; /* libunwind is at a loss: no opinion */
	skipped = count - groups;
	if (skipped < 0 || skipped > 1)
		return false;
	for (size_t i = 0, group = 0; i < stack->count; i++) {
		const struct eval_frame *frame = &frames[group + (size_t)skipped];

		if (!stack->frames[i].entry)
			continue;
		if (minor >= 11 &&
		    (stack->frames[i].anchor < frame->sp || stack->frames[i].anchor >= frame->cfa))
			return false;
		group++;
	}
	return true;
}

struct sampled {
	unsigned whole, recovered, invalid, truncated, empty, wrong, wrong_groups;
};

struct running {
	struct live_target target;
	struct live_binary binary;
	struct live_memory memory;
	struct debug_info info;
	struct memory_reader reader;
	struct python_runtime *runtime;
	uint8_t *stack_bytes;
	pid_t tids[8];
	size_t tid_count;
};

static void running_start(struct running *running, const struct live_python *python,
			  const char *script)
{
	struct error error;
	char line[64];

	memset(running, 0, sizeof(*running));
	assert_true(live_target_start(&running->target, python->path, script));
	assert_true(live_target_line(&running->target, line, sizeof(line)));
	assert_string_equal(line, "READY");
	assert_true(live_binary_find(&running->binary, running->target.pid));
	running->memory.pid = running->target.pid;
	running->info = live_debug_info(&running->binary);
	running->reader = (struct memory_reader){ live_memory_read, &running->memory };
	running->runtime = python_runtime_create(&running->info, &running->reader, &error);
	if (!running->runtime)
		fail_msg("3.%d: %s", python->minor, error.cause);
	running->stack_bytes = malloc(STACK_COPY);
}

static void running_end(struct running *running)
{
	python_runtime_destroy(running->runtime);
	free(running->stack_bytes);
	live_binary_close(&running->binary);
	live_target_end(&running->target);
}

static void seize_all(struct running *running)
{
	char path[64];
	struct dirent *entry;
	DIR *folder;

	snprintf(path, sizeof(path), "/proc/%d/task", running->target.pid);
	folder = opendir(path);
	assert_non_null(folder);
	while ((entry = readdir(folder)) && running->tid_count < 8) {
		pid_t tid = atoi(entry->d_name);

		if (tid > 0 && ptrace(PTRACE_SEIZE, tid, NULL, NULL) == 0)
			running->tids[running->tid_count++] = tid;
	}
	closedir(folder);
}

static void stop_thread(pid_t tid)
{
	int status;

	assert_int_equal(ptrace(PTRACE_INTERRUPT, tid, NULL, NULL), 0);
	assert_int_equal(waitpid(tid, &status, __WALL), tid);
	assert_true(WIFSTOPPED(status));
}

static struct stack_snapshot copy_stack(struct running *running, pid_t tid)
{
	struct user_regs_struct registers;
	struct stack_snapshot snapshot = { .bytes = running->stack_bytes };

	assert_int_equal(ptrace(PTRACE_GETREGS, tid, NULL, &registers), 0);
	snapshot.start = registers.rsp - STACK_RED_ZONE_BYTES;
	while (snapshot.size < STACK_COPY) {
		uint64_t address = snapshot.start + snapshot.size;
		size_t part = 4096 - (address & 4095);

		if (part > STACK_COPY - snapshot.size)
			part = STACK_COPY - snapshot.size;
		if (memory_read(&running->reader, address, running->stack_bytes + snapshot.size,
				part))
			break;
		snapshot.size += part;
	}
	return snapshot;
}

static void sample_once(struct running *running, pid_t tid, int minor, struct sampled *sampled)
{
	static struct python_stack stack;
	struct stack_snapshot snapshot;
	bool flagged;

	stop_thread(tid);
	snapshot = copy_stack(running, tid);
	assert_int_equal(python_stack_read(running->runtime, tid, &snapshot, &stack), 0);
	flagged = stack.flags & (PYTHON_STACK_INVALID | PYTHON_STACK_TRUNCATED);
	sampled->recovered += (stack.flags & PYTHON_STACK_RECOVERED) != 0;
	sampled->invalid += (stack.flags & PYTHON_STACK_INVALID) != 0;
	sampled->truncated += (stack.flags & PYTHON_STACK_TRUNCATED) != 0;
	sampled->empty += stack.count == 0;
	sampled->whole += !flagged && stack.count;
	if (!flagged && stack.count && !legal_stack(&stack)) {
		sampled->wrong++;
		print_stack(&stack);
	}
	/* The second opinion is slow: for all that is unusual, and for some others. */
	if (!flagged && stack.count &&
	    ((stack.flags & PYTHON_STACK_RECOVERED) || rand() % 64 == 0) &&
	    !legal_groups(&stack, tid, minor)) {
		sampled->wrong_groups++;
		print_stack(&stack);
	}
	assert_int_equal(ptrace(PTRACE_CONT, tid, NULL, NULL), 0);
}

static void sample_many(const struct live_python *python, const char *threads, unsigned samples,
			struct sampled *sampled)
{
	struct running running;

	setenv("THREADS", threads, 1);
	running_start(&running, python, alternating);
	seize_all(&running);
	for (unsigned i = 0; i < samples; i++) {
		sample_once(&running, running.tids[i % running.tid_count], python->minor, sampled);
		if (rand() % 4 == 0) /* a wait takes 50 us more than it says */
			usleep((useconds_t)(rand() % 100));
	}
	running_end(&running);
}

/* Mostly one thread, which runs whenever it is stopped; and three that take turns. */
static void test_alternating(void **state)
{
	const struct live_pythons *pythons = live_pythons();
	unsigned samples = getenv("SAMPLES") ? (unsigned)atoi(getenv("SAMPLES")) : SAMPLES;
	unsigned wrong = 0, lost = 0;

	(void)state;
	srand(1);
	for (size_t i = 0; i < pythons->count; i++) {
		struct sampled sampled = { 0 };

		sample_many(&pythons->items[i], "0", samples - samples / 5, &sampled);
		sample_many(&pythons->items[i], "2", samples / 5, &sampled);
		print_message(
			"3.%d.%d: %u samples, %u whole, %u recovered, %u invalid, %u truncated, "
			"%u empty, %u impossible, %u with wrong groups\n",
			pythons->items[i].minor, pythons->items[i].micro, samples, sampled.whole,
			sampled.recovered, sampled.invalid, sampled.truncated, sampled.empty,
			sampled.wrong, sampled.wrong_groups);
		wrong += sampled.wrong + sampled.wrong_groups;
		lost += sampled.invalid + sampled.truncated > samples / 100;
	}
	assert_int_equal(wrong, 0);
	assert_int_equal(lost, 0); /* under 1% of the samples */
	if (!pythons->count)
		skip();
}

#define STEPS 8000

/*
 * One instruction at a time, so that every state the interpreter goes through
 * while it enters and leaves functions is seen, however short.
 */
static void test_every_instruction(void **state)
{
	const struct live_pythons *pythons = live_pythons();
	static struct python_stack stack;
	unsigned wrong = 0, lost = 0;

	(void)state;
	setenv("THREADS", "0", 1);
	for (size_t i = 0; i < pythons->count; i++) {
		unsigned recovered = 0, invalid = 0, empty = 0, impossible = 0;
		struct running running;
		pid_t tid;

		running_start(&running, &pythons->items[i], alternating);
		seize_all(&running);
		tid = running.tids[0];
		usleep(200000); /* hot code is specialised by then */
		stop_thread(tid);
		for (unsigned step = 0; step < STEPS; step++) {
			struct stack_snapshot snapshot = copy_stack(&running, tid);
			int status;

			assert_int_equal(python_stack_read(running.runtime, tid, &snapshot, &stack),
					 0);
			recovered += (stack.flags & PYTHON_STACK_RECOVERED) != 0;
			invalid += (stack.flags & ~PYTHON_STACK_RECOVERED) != 0;
			empty += stack.count == 0;
			if ((stack.flags & ~PYTHON_STACK_RECOVERED) == 0 &&
			    (!legal_stack(&stack) ||
			     (stack.flags &&
			      !legal_groups(&stack, tid, pythons->items[i].minor)))) {
				impossible++;
				print_stack(&stack);
			}
			assert_int_equal(ptrace(PTRACE_SINGLESTEP, tid, NULL, NULL), 0);
			assert_int_equal(waitpid(tid, &status, __WALL), tid);
			assert_true(WIFSTOPPED(status));
		}
		print_message("3.%d.%d: %d instructions, %u recovered, %u invalid, %u empty, "
			      "%u impossible\n",
			      pythons->items[i].minor, pythons->items[i].micro, STEPS, recovered,
			      invalid, empty, impossible);
		wrong += impossible;
		lost += invalid > STEPS / 200;
		running_end(&running);
	}
	assert_int_equal(wrong, 0);
	assert_int_equal(lost, 0);
	if (!pythons->count)
		skip();
}

#define CHURN_SAMPLES 1500

/* Code objects made, run and dropped: addresses are reused all the time. */
static const char churning[] =
	"\n"
	"import os\n"
	"space = {}\n"
	"texts = ['\\n' * (i % 7) + 'def f%d(n):\\n  for i in range(n):\\n    n * n' % i\n"
	"         + '\\n' * (i % 3) for i in range(40)]\n"
	"os.write(1, b'READY\\n')\n"
	"k = 0\n"
	"while True:\n"
	"    k = (k + 17) % 40\n"
	"    exec(compile(texts[k], 'text%d' % k, 'exec'), space)\n"
	"    space.pop('f%d' % k)(200)\n";

static void test_code_churn(void **state)
{
	const struct live_pythons *pythons = live_pythons();
	static struct python_stack stack;

	(void)state;
	for (size_t i = 0; i < pythons->count; i++) {
		unsigned wrong = 0, seen = 0;
		struct running running;

		running_start(&running, &pythons->items[i], churning);
		seize_all(&running);
		for (unsigned j = 0; j < CHURN_SAMPLES; j++) {
			struct stack_snapshot snapshot;

			stop_thread(running.tids[0]);
			snapshot = copy_stack(&running, running.tids[0]);
			assert_int_equal(python_stack_read(running.runtime, running.tids[0],
							   &snapshot, &stack),
					 0);
			assert_int_equal(ptrace(PTRACE_CONT, running.tids[0], NULL, NULL), 0);
			for (size_t k = 0; k < stack.count; k++) {
				const struct python_code *code = stack.frames[k].code;

				if (strncmp(code->file, "text", 4) != 0)
					continue;
				/* Name, file and line belong together. */
				if (code->function[0] == 'f') {
					int number = atoi(code->function + 1);

					seen++;
					wrong += number != atoi(code->file + 4);
					wrong += code->first_line != number % 7 + 1;
				}
			}
			usleep((useconds_t)(rand() % 100));
		}
		print_message("3.%d.%d: %u frames of short-lived code, %u wrong, %zu code objects "
			      "kept\n",
			      pythons->items[i].minor, pythons->items[i].micro, seen, wrong,
			      code_cache_count(running.runtime->codes));
		assert_int_equal(wrong, 0);
		assert_true(seen > 0);
		assert_true(code_cache_count(running.runtime->codes) < 400);
		running_end(&running);
	}
	if (!pythons->count)
		skip();
}

/* Threads that start after the runtime was created, one after the other. */
static const char starting[] =
	"\n"
	"import os, sys, threading, ctypes\n"
	"tid = getattr(threading, 'get_native_id', lambda: ctypes.CDLL(None).syscall(186))\n"
	"gate, keep = os.pipe()\n"
	"def late():\n"
	"    os.write(1, b'%d\\n' % tid()) and os.read(gate, 1)\n"
	"os.write(1, b'READY\\n')\n"
	"while os.read(0, 1):\n"
	"    t = threading.Thread(target=late); t.start()\n"
	"    os.read(0, 1)\n"
	"    os.write(keep, b'x')\n"
	"    t.join()\n"
	"    os.write(1, b'GONE\\n')\n";

static void wait_gone(pid_t pid, pid_t tid)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/task/%d", pid, tid);
	while (access(path, F_OK) == 0)
		usleep(1000);
}

static void test_threads_start_and_end(void **state)
{
	const struct live_pythons *pythons = live_pythons();
	static struct python_stack stack;

	(void)state;
	for (size_t i = 0; i < pythons->count; i++) {
		struct running running;
		char line[64];

		running_start(&running, &pythons->items[i], starting);
		for (unsigned round = 0; round < 30; round++) {
			uint64_t sp;
			pid_t tid;
			int error;

			fputc('x', running.target.input);
			fflush(running.target.input);
			assert_true(live_target_line(&running.target, line, sizeof(line)));
			tid = atoi(line);
			assert_true(live_thread_wait_syscall(running.target.pid, tid, 0, &sp));
			assert_int_equal(python_stack_read(running.runtime, tid, NULL, &stack), 0);
			assert_int_equal(stack.flags, 0);
			assert_true(stack.count >= 3);
			assert_string_equal(stack.frames[0].code->function, "late");
			fputc('x', running.target.input);
			fflush(running.target.input);
			assert_true(live_target_line(&running.target, line, sizeof(line)));
			assert_string_equal(line, "GONE");
			wait_gone(running.target.pid, tid); /* join() returns a little earlier */
			/* Its state is freed memory now, which may still look like one without
			 * frames. */
			error = python_stack_read(running.runtime, tid, NULL, &stack);
			assert_true(error == -ESRCH || (error == 0 && stack.count == 0));
		}
		running_end(&running);
	}
	if (!pythons->count)
		skip();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_alternating),
		cmocka_unit_test(test_every_instruction),
		cmocka_unit_test(test_code_churn),
		cmocka_unit_test(test_threads_start_and_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
