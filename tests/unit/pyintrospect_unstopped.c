/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Threads that nobody stops: asleep, waiting, in one long native call, or
 * alternating between functions as fast as they can. What is accepted must be
 * a stack that the program can be in; what was torn must be said to be.
 */
#include "pyintrospect/python_stack.h"

#include "pyintrospect/runtime.h"
#include "pyintrospect/runtime_internal.h"
#include "tests/unit/assert_sampled.h"
#include "tests/unit/support_alternating.h"
#include "tests/unit/support_live.h"

#include <sched.h>
#include <time.h>

/* Readings of a thread whose like was read before, and what they may cost. */
#define WARM_READS     20
#define WARM_CALLS_MAX 6

struct unstopped {
	struct live_target target;
	struct live_binary binary;
	struct live_memory memory;
	struct debug_info info;
	struct memory_reader reader;
	struct python_runtime *runtime;
	pid_t tids[8];
	size_t tid_count;
};

static void find_threads(struct unstopped *unstopped)
{
	char path[64];
	struct dirent *entry;
	DIR *folder;

	snprintf(path, sizeof(path), "/proc/%d/task", unstopped->target.pid);
	folder = opendir(path);
	assert_non_null(folder);
	while ((entry = readdir(folder)) && unstopped->tid_count < 8)
		if (atoi(entry->d_name) > 0)
			unstopped->tids[unstopped->tid_count++] = atoi(entry->d_name);
	closedir(folder);
}

static void unstopped_start(struct unstopped *unstopped, const struct live_python *python,
			    const char *script)
{
	struct error error;
	char line[64];

	memset(unstopped, 0, sizeof(*unstopped));
	assert_true(live_target_start(&unstopped->target, python->path, script));
	assert_true(live_target_line(&unstopped->target, line, sizeof(line)));
	assert_string_equal(line, "READY");
	assert_true(live_binary_find(&unstopped->binary, unstopped->target.pid));
	unstopped->memory.pid = unstopped->target.pid;
	unstopped->info = live_debug_info(&unstopped->binary);
	unstopped->reader = (struct memory_reader){ live_memory_read, &unstopped->memory };
	unstopped->runtime = python_runtime_create(&unstopped->info, &unstopped->reader, &error);
	if (!unstopped->runtime)
		fail_msg("3.%d: %s", python->minor, error.cause);
	find_threads(unstopped);
}

static void unstopped_end(struct unstopped *unstopped)
{
	python_runtime_destroy(unstopped->runtime);
	live_binary_close(&unstopped->binary);
	live_target_end(&unstopped->target);
}

/* The nth processor that this process may use, or any when there are fewer. */
static void keep_to_processor(pid_t tid, int n)
{
	static cpu_set_t allowed;
	cpu_set_t one;

	if (CPU_COUNT(&allowed) == 0)
		assert_int_equal(sched_getaffinity(0, sizeof(allowed), &allowed), 0);
	CPU_ZERO(&one);
	for (int i = 0; i < CPU_SETSIZE && CPU_COUNT(&one) == 0; i++)
		if (CPU_ISSET(i, &allowed) && n-- == 0)
			CPU_SET(i, &one);
	assert_int_equal(sched_setaffinity(tid, sizeof(one), CPU_COUNT(&one) ? &one : &allowed), 0);
}

/* Reader and target at the same time, not one after the other: else little is torn. */
static void keep_apart(const struct unstopped *unstopped)
{
	keep_to_processor(0, 0);
	for (size_t i = 0; i < unstopped->tid_count; i++)
		keep_to_processor(unstopped->tids[i], 1);
}

/* ---- asleep ---- */

static const char sleeping[] =
	"\n"
	"import os, threading, time, sys\n"
	"lock = threading.Lock(); lock.acquire()\n"
	"gate, keep = os.pipe()\n"
	"inside = threading.Semaphore(0)\n"
	"def leaf(wait): inside.release(); wait()\n"
	"def nested(n, wait): return leaf(wait) if n == 0 else sorted([n], key=lambda x: "
	"nested(n - 1, wait))\n"
	"for wait in (lock.acquire, lambda: time.sleep(100000), lambda: os.read(gate, 1)):\n"
	"    t = threading.Thread(target=nested, args=(6, wait)); t.daemon = True; t.start()\n"
	"for i in range(3): inside.acquire()\n"
	"time.sleep(0.2)\n"
	"os.write(1, b'READY\\n')\n"
	"nested(6, lambda: os.read(gate, 1))\n";

static bool same_stacks(const struct python_stack *a, const struct python_stack *b)
{
	if (a->count != b->count || a->flags != b->flags)
		return false;
	for (size_t i = 0; i < a->count; i++)
		if (a->frames[i].code != b->frames[i].code ||
		    a->frames[i].instruction_offset != b->frames[i].instruction_offset ||
		    a->frames[i].entry != b->frames[i].entry ||
		    a->frames[i].anchor != b->frames[i].anchor)
			return false;
	return true;
}

/* Read like a stopped thread, in full, with few system calls and nothing to try again. */
static void test_sleeping(void **state)
{
	const struct live_pythons *pythons = live_pythons();
	static struct python_stack stack, expected;

	(void)state;
	for (size_t i = 0; i < pythons->count; i++) {
		unsigned long most_calls = 0;
		struct unstopped unstopped;

		unstopped_start(&unstopped, &pythons->items[i], sleeping);
		assert_int_equal(unstopped.tid_count, 4);
		for (size_t j = 0; j < unstopped.tid_count; j++) {
			uint64_t sp;

			/* Main gets there a little after it said so; the others are there. */
			if (unstopped.tids[j] == unstopped.target.pid)
				assert_true(live_thread_wait_syscall(unstopped.target.pid,
								     unstopped.tids[j], 0, &sp));
			assert_int_equal(python_stack_read(unstopped.runtime, unstopped.tids[j],
							   NULL, &expected),
					 0);
			assert_int_equal(expected.flags, 0);
			assert_true(expected.count > 12);
			assert_int_equal(python_stack_read_running(unstopped.runtime,
								   unstopped.tids[j], &stack),
					 0);
			for (unsigned k = 0; k < WARM_READS; k++) {
				unsigned long calls = unstopped.memory.calls;

				assert_int_equal(python_stack_read_running(unstopped.runtime,
									   unstopped.tids[j],
									   &stack),
						 0);
				assert_true(same_stacks(&stack, &expected));
				calls = unstopped.memory.calls - calls;
				if (calls > most_calls)
					most_calls = calls;
			}
		}
		print_message("3.%d.%d: %zu sleeping threads, %lu system calls at most\n",
			      pythons->items[i].minor, pythons->items[i].micro, unstopped.tid_count,
			      most_calls);
		assert_true(most_calls <= WARM_CALLS_MAX);
		unstopped_end(&unstopped);
	}
	if (!pythons->count)
		skip();
}

/* ---- in one long call ---- */

static const char long_call[] = "\n"
				"import os\n"
				"def count(): return sum(range(10**12))\n"
				"def outer(): return count()\n"
				"os.write(1, b'READY\\n')\n"
				"outer()\n";

static void test_long_call(void **state)
{
	const struct live_pythons *pythons = live_pythons();
	static struct python_stack stack;

	(void)state;
	for (size_t i = 0; i < pythons->count; i++) {
		unsigned whole = 0, torn = 0;
		struct unstopped unstopped;

		unstopped_start(&unstopped, &pythons->items[i], long_call);
		usleep(50000);
		for (unsigned k = 0; k < 100; k++) {
			assert_int_equal(python_stack_read_running(unstopped.runtime,
								   unstopped.tids[0], &stack),
					 0);
			if (stack.flags == PYTHON_STACK_TORN) {
				assert_int_equal(stack.count, 0);
				torn++;
				continue;
			}
			assert_int_equal(stack.flags, 0);
			assert_int_equal(stack.count, 3);
			assert_string_equal(stack.frames[0].code->function, "count");
			assert_string_equal(stack.frames[1].code->function, "outer");
			whole++;
		}
		print_message("3.%d.%d: %u of 100 readings of the GIL's holder accepted\n",
			      pythons->items[i].minor, pythons->items[i].micro, whole);
		/* To 3.10 it has to be stopped. */
		assert_int_equal(whole, pythons->items[i].minor >= 11 ? 100 : 0);
		unstopped_end(&unstopped);
	}
	if (!pythons->count)
		skip();
}

/* ---- alternating ---- */

static double seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Two functions, at the same depth, that never meet. */
static const char two_functions[] = "\n"
				    "import os\n"
				    "def a5(): pass\n"
				    "def a4(): a5()\n"
				    "def a3(): a4()\n"
				    "def a2(): a3()\n"
				    "def a1(): a2()\n"
				    "def b5(): pass\n"
				    "def b4(): b5()\n"
				    "def b3(): b4()\n"
				    "def b2(): b3()\n"
				    "def b1(): b2()\n"
				    "def loop():\n"
				    "    while True:\n"
				    "        a1()\n"
				    "        b1()\n"
				    "os.write(1, b'READY\\n')\n"
				    "loop()\n";

/* Threads that give the GIL away in the middle of their calls, all the time. */
static const char yielding[] = "\n"
			       "import os, threading, time\n"
			       "def a4(): time.sleep(0)\n"
			       "def a3(): a4(); a4()\n"
			       "def a2(): a3()\n"
			       "def a1(): a2()\n"
			       "def b4(): time.sleep(0.00001)\n"
			       "def b3(): b4(); b4()\n"
			       "def b2(): b3()\n"
			       "def b1(): b2()\n"
			       "def loop():\n"
			       "    while True:\n"
			       "        a1()\n"
			       "        b1()\n"
			       "for i in range(2):\n"
			       "    threading.Thread(target=loop, daemon=True).start()\n"
			       "os.write(1, b'READY\\n')\n"
			       "loop()\n";

static bool chain_of(const char *callee, const char *caller)
{
	if ((callee[0] == 'a' || callee[0] == 'b') && callee[1] > '1')
		return caller[0] == callee[0] && caller[1] == callee[1] - 1;
	if (callee[1] == '1')
		return strcmp(caller, "loop") == 0;
	if (strcmp(callee, "loop") == 0)
		return strcmp(caller, "<module>") == 0 || strcmp(caller, "run") == 0;
	return strcmp(callee, "run") == 0 || strcmp(callee, "_bootstrap_inner") == 0;
}

/* The line of loop() from which the chain was called belongs to it, too. */
static bool legal_chain(const struct python_stack *stack)
{
	int first_line = 0, a_line = 0;
	const char *last;

	if (!stack->count || !stack->frames[stack->count - 1].entry)
		return false;
	for (size_t i = 0; i + 1 < stack->count; i++) {
		const struct python_frame *caller = &stack->frames[i + 1];
		const char *callee = stack->frames[i].code->function;

		if (!chain_of(callee, caller->code->function) &&
		    !chain_of(short_name(callee), short_name(caller->code->function)))
			return false;
		if (callee[1] != '1' || callee[2])
			continue;
		first_line = caller->code->first_line;
		a_line = python_code_line(caller->code, caller->instruction_offset) - first_line;
		if (a_line != (callee[0] == 'a' ? 2 : 3))
			return false;
	}
	last = short_name(stack->frames[stack->count - 1].code->function);
	return strcmp(last, "<module>") == 0 || strcmp(last, "_bootstrap") == 0;
}

#define READS 2000

static void read_many(const char *name, const char *script,
		      bool (*legal)(const struct python_stack *))
{
	const struct live_pythons *pythons = live_pythons();
	unsigned reads = getenv("SAMPLES") ? (unsigned)atoi(getenv("SAMPLES")) : READS;
	static struct python_stack stack;
	unsigned wrong = 0;

	for (size_t i = 0; i < pythons->count; i++) {
		unsigned accepted = 0, impossible = 0, torn = 0;
		struct unstopped unstopped;
		double start;

		unstopped_start(&unstopped, &pythons->items[i], script);
		keep_apart(&unstopped);
		start = seconds();
		for (unsigned k = 0; k < reads; k++) {
			pid_t tid = unstopped.tids[k % unstopped.tid_count];

			assert_int_equal(python_stack_read_running(unstopped.runtime, tid, &stack),
					 0);
			assert_int_equal(stack.flags & PYTHON_STACK_INVALID, 0);
			if (stack.flags & PYTHON_STACK_TORN) {
				assert_int_equal(stack.count, 0);
				torn++;
				continue;
			}
			accepted++;
			if (!legal(&stack)) {
				impossible++;
				print_stack(&stack);
			}
		}
		print_message("3.%d.%d %s: %u reads, %u accepted, %u given up, %u impossible; "
			      "%.0f us a read\n",
			      pythons->items[i].minor, pythons->items[i].micro, name, reads,
			      accepted, torn, impossible, (seconds() - start) / reads * 1e6);
		wrong += impossible;
		unstopped_end(&unstopped);
	}
	assert_int_equal(wrong, 0);
	if (!pythons->count)
		skip();
}

static void test_two_functions(void **state)
{
	(void)state;
	read_many("two functions", two_functions, legal_chain);
}

static void test_yielding(void **state)
{
	(void)state;
	read_many("yielding", yielding, legal_chain);
}

static void test_alternating(void **state)
{
	(void)state;
	setenv("THREADS", "2", 1);
	read_many("alternating", alternating, legal_stack);
}

/* ---- samples ---- */

/*
 * What samples are made of: nothing is waited for. Of a thread that holds the
 * GIL many are cut down to their outermost frames, and few are lost.
 */
static void test_passing(void **state)
{
	const struct live_pythons *pythons = live_pythons();
	static struct python_stack stack;

	(void)state;
	for (size_t i = 0; i < pythons->count; i++) {
		unsigned whole = 0, moved = 0, torn = 0, impossible = 0, still = 0;
		struct unstopped unstopped;
		double start;

		unstopped_start(&unstopped, &pythons->items[i], two_functions);
		keep_apart(&unstopped);
		start = seconds();
		for (unsigned k = 0; k < READS; k++) {
			assert_int_equal(python_stack_read_passing(unstopped.runtime,
								   unstopped.tids[0], &stack),
					 0);
			torn += (stack.flags & PYTHON_STACK_TORN) != 0;
			moved += (stack.flags & PYTHON_STACK_MOVED) != 0;
			still += (stack.flags & PYTHON_STACK_STILL) != 0;
			whole += !(stack.flags & (PYTHON_STACK_TORN | PYTHON_STACK_MOVED));
			impossible += stack.count && !legal_chain(&stack);
		}
		print_message("3.%d.%d samples: %u whole (%u stood still), %u in part, %u lost, %u "
			      "impossible; %.0f us a read\n",
			      pythons->items[i].minor, pythons->items[i].micro, whole, still, moved,
			      torn, impossible, (seconds() - start) / READS * 1e6);
		/* The worst of programs: frames that live for a microsecond. */
		assert_sampled(impossible <= READS / 25);
		assert_sampled(torn <= READS / 10);
		unstopped_end(&unstopped);
	}
	if (!pythons->count)
		skip();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sleeping),      cmocka_unit_test(test_long_call),
		cmocka_unit_test(test_two_functions), cmocka_unit_test(test_yielding),
		cmocka_unit_test(test_alternating),   cmocka_unit_test(test_passing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
