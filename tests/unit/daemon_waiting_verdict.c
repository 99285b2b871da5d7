/* SPDX-License-Identifier: Apache-2.0 */
/* The verdict of a profile with --idle: what the time was spent waiting for, and where. */
#include "report_sample.h"
#include "report_text.h"

#include "daemon/report/model/verdict.h"

#define APP     "/srv/app.py"
#define LIBRARY "/usr/lib/python3.11"
#define FRAMES  8
#define STACKS  8

/* A thread's stack, outermost first, and for how long it slept there. */
struct stack {
	struct profile_frame frames[FRAMES];
	enum wait_kind kind;
	uint64_t waiting_ns;
};

#define PYTHON(file_, function_, line_)                                                            \
	{                                                                                          \
		.kind = FRAME_PYTHON, .file = (file_), .function = (function_), .line = (line_)    \
	}
#define NATIVE(file_)                                                                              \
	{                                                                                          \
		.kind = FRAME_NATIVE, .file = (file_), .function = "?"                             \
	}
#define THREAD PYTHON(LIBRARY "/threading.py", "Thread._bootstrap", 995)
#define MAIN   PYTHON(APP, "<module>", 90)

struct tree {
	struct profile profile;
	struct profile_frame frames[FRAMES * STACKS];
	struct profile_node nodes[FRAMES * STACKS];
};

/* Each stack is a branch of its own. */
static void make_tree(struct tree *tree, const struct stack *stacks, size_t count)
{
	size_t nodes = 0;

	*tree = (struct tree){ .profile = sample_profile() };
	tree->profile.facts.waits = true;
	tree->profile.facts.cpu_ns = 20000000;
	tree->profile.facts.duration_ns = 10000000000;
	tree->profile.lines = NULL;
	tree->profile.line_count = tree->profile.pair_count = tree->profile.pairs_omitted = 0;
	for (size_t i = 0; i < count; i++) {
		for (size_t k = 0; k < FRAMES && stacks[i].frames[k].file; k++, nodes++) {
			tree->frames[nodes] = stacks[i].frames[k];
			tree->nodes[nodes] = (struct profile_node){
				.parent = k ? (uint32_t)nodes - 1 : PROFILE_NODE_NONE,
				.frame = (uint32_t)nodes,
				.depth = (uint32_t)k,
			};
		}
		tree->nodes[nodes - 1].side.waiting_ns[stacks[i].kind] = stacks[i].waiting_ns;
		tree->profile.side.waiting_ns[stacks[i].kind] += stacks[i].waiting_ns;
	}
	tree->profile.tree = (struct profile_tree){
		.frames = tree->frames,
		.frame_count = nodes,
		.nodes = tree->nodes,
		.node_count = nodes,
	};
}

static char *text_of(const struct stack *stacks, size_t count)
{
	struct tree tree;

	make_tree(&tree, stacks, count);
	return sample_written(&writer_text, &tree.profile, &defaults);
}

#define TEXT_OF(stacks) text_of(stacks, sizeof(stacks) / sizeof(stacks[0]))

/* Idle threads outnumber it, and a thread that waits for its result waits as long. */
static void test_places_by_rank(void **state)
{
	static const struct stack stacks[] = {
		{ { THREAD, PYTHON(LIBRARY "/concurrent/futures/thread.py", "_worker", 81) },
		  WAIT_LOCK,
		  70000000000 },
		{ { THREAD, PYTHON(APP, "consume", 14),
		    PYTHON(LIBRARY "/queue.py", "Queue.get", 171),
		    PYTHON(LIBRARY "/threading.py", "Condition.wait", 320) },
		  WAIT_LOCK,
		  10000000000 },
		{ { MAIN, PYTHON(LIBRARY "/concurrent/futures/_base.py", "Future.result", 451),
		    PYTHON(LIBRARY "/threading.py", "Condition.wait", 320) },
		  WAIT_LOCK,
		  10000000000 },
		{ { THREAD, PYTHON(APP, "tick", 30) }, WAIT_SLEEP, 10000000000 },
		{ { THREAD, PYTHON(LIBRARY "/concurrent/futures/thread.py", "_worker", 83),
		    PYTHON(LIBRARY "/concurrent/futures/thread.py", "_WorkItem.run", 58),
		    PYTHON(APP, "fetch", 20),
		    PYTHON(LIBRARY "/socket.py", "SocketIO.readinto", 706) },
		  WAIT_IO,
		  6000000000 },
		{ { NATIVE("/usr/lib/libopenblas.so.0") }, WAIT_LOCK, 30000000000 },
	};
	static const char *const order[] = {
		"VERDICT  it mostly waited: for input or output\n",
		"    /srv/app.py:20 in fetch\n",
		"  6.00 s (60% of the time) waiting for input or output.\n",
		"    /srv/app.py:30 in tick\n",
		"  10.0 s (100% of the time) waiting for a time that the program has set itself.\n",
		"    /srv/app.py:90 in <module>\n",
		"  10.0 s (100% of the time) waiting for another thread's or process's result.\n",
		"  Idle, which slows nothing down: a queue without work, 10.0 s (100% of the "
		"time); a",
		"pool without work, 70.0 s (as of 7 threads all the time); native code without "
		"Python, "
		"30.0 s",
		"It used a CPU for 0.2% of the time.\n",
		"\nTIME ",
	};
	char *text = TEXT_OF(stacks);

	(void)state;
	check_order(text, order, 7);
	check_has(text, order[7]);
	check_has(text, order[9]);
	check_has_not(text, "app.py:14");
	free(text);
}

/* What a queue in the main thread has are results, and of a thread's work nothing is idle. */
static void test_only_threads_are_idle(void **state)
{
	static const struct stack stacks[] = {
		{ { MAIN, PYTHON(LIBRARY "/queue.py", "Queue.get", 171) }, WAIT_LOCK, 10000000000 },
		{ { THREAD, PYTHON(LIBRARY "/multiprocessing/pool.py", "worker", 114),
		    PYTHON(LIBRARY "/multiprocessing/pool.py", "mapstar", 48),
		    PYTHON(LIBRARY "/subprocess.py", "run", 500) },
		  WAIT_CHILD,
		  1000000000 },
	};
	char *text = TEXT_OF(stacks);

	(void)state;
	check_has(text, "VERDICT  it mostly waited: for another process\n"
			"    /usr/lib/python3.11/subprocess.py:500 in run\n"
			"  1.00 s (10% of the time) waiting for another process.\n");
	check_has(
		text,
		"  10.0 s (100% of the time) waiting for another thread's or process's result.\n");
	check_has_not(text, "Idle");
	free(text);
}

static void test_idle(void **state)
{
	static const struct stack servers[] = {
		{ { MAIN, PYTHON(LIBRARY "/socketserver.py", "BaseServer.serve_forever", 232),
		    PYTHON(LIBRARY "/selectors.py", "_PollLikeSelector.select", 415) },
		  WAIT_IO,
		  10000000000 },
	};
	static const struct stack loops[] = {
		{ { MAIN,
		    PYTHON(LIBRARY "/asyncio/base_events.py", "BaseEventLoop._run_once", 1884),
		    PYTHON(LIBRARY "/selectors.py", "EpollSelector.select", 468) },
		  WAIT_IO,
		  10000000000 },
	};
	struct verdict verdict;
	struct tree tree;
	char *text = TEXT_OF(servers);

	(void)state;
	check_has(text, "VERDICT  it was idle: its threads waited for work\n"
			"  Idle, which slows nothing down: a server without a client, 10.0 s");
	check_has(text, "    /srv/app.py:90 in <module>\n");
	free(text);
	text = TEXT_OF(loops);
	check_has(text, "VERDICT  it was idle: its event loop had nothing that was ready\n");
	check_has(text, "asyncio/base_events.py:1884 in BaseEventLoop._run");
	check_has(text, "What its tasks wait for is shown by pieprofd dump.");
	free(text);
	make_tree(&tree, loops, 1);
	verdict_find(&tree.profile, &verdict);
	assert_int_equal(verdict.kind, VERDICT_IDLE);
	assert_int_equal(verdict.line->line, 1884);
}

/* A call that waits in a callback: of asyncio, also of one loop inside another, and of uvloop. */
static void test_blocked_loop(void **state)
{
	static const struct stack asyncio[] = {
		{ { MAIN,
		    PYTHON(LIBRARY "/asyncio/base_events.py", "BaseEventLoop._run_once", 1898),
		    PYTHON(LIBRARY "/asyncio/events.py", "Handle._run", 80),
		    PYTHON(APP, "handle", 40), PYTHON(APP, "fetch", 20),
		    PYTHON(LIBRARY "/socket.py", "SocketIO.readinto", 706) },
		  WAIT_IO,
		  800000000 },
		{ { MAIN,
		    PYTHON(LIBRARY "/asyncio/base_events.py", "BaseEventLoop._run_once", 1884),
		    PYTHON(LIBRARY "/selectors.py", "EpollSelector.select", 468) },
		  WAIT_IO,
		  9000000000 },
	};
	static const struct stack uvloop[] = {
		{ { MAIN, NATIVE("/usr/lib/python3/dist-packages/uvloop/loop.cpython-311.so"),
		    PYTHON(APP, "handle", 40) },
		  WAIT_SLEEP,
		  800000000 },
		{ { MAIN, NATIVE("/usr/lib/python3/dist-packages/uvloop/loop.cpython-311.so") },
		  WAIT_IO,
		  9000000000 },
	};
	struct stack few[2];
	char *text = TEXT_OF(asyncio);

	(void)state;
	check_has(
		text,
		"VERDICT  an event loop was blocked by a call that waits\n"
		"    /srv/app.py:20 in fetch\n"
		"  An event loop was blocked for 800 ms (8% of the time) by this line, which "
		"waits for input or\n  output; all other tasks of the loop wait meanwhile. Use an "
		"asynchronous client, or await\n  asyncio.to_thread().\n");
	check_has(text, "an event loop with nothing ready, 9.00 s (90% of the time).");
	free(text);
	text = TEXT_OF(uvloop);
	check_has(text, "    /srv/app.py:40 in handle\n  An event loop was blocked");
	check_has(text, "by this line, which waits for a time");
	check_has(text, "Await asyncio.sleep() instead.");
	check_has(text, "an event loop with nothing ready, 9.00 s (90% of the time).");
	free(text);
	/* Hardly ever: not worth a word. */
	memcpy(few, asyncio, sizeof(few));
	few[0].waiting_ns = 400000000;
	text = TEXT_OF(few);
	check_has_not(text, "blocked");
	free(text);
}

/* The GIL is of no line, and a process that uses its CPU, or has none, does not wait first. */
static void test_gil(void **state)
{
	static const struct stack stacks[] = {
		{ { THREAD, PYTHON(APP, "burn", 50) }, WAIT_GIL, 20000000000 },
		{ { MAIN, PYTHON(LIBRARY "/threading.py", "Thread.join", 1112) },
		  WAIT_LOCK,
		  10000000000 },
	};
	static const struct profile_thread threads[] = {
		{ .tid = 11, .name = "one", .gil_ns = 1000000000 },
		{ .tid = 12, .name = "two", .gil_ns = 4000000000 },
	};
	struct profile_thread asleep[2];
	struct tree tree;
	char *text;

	(void)state;
	make_tree(&tree, stacks, 2);
	tree.profile.facts.threads = threads;
	tree.profile.facts.thread_count = 2;
	tree.profile.facts.gil_known = true;
	tree.profile.gil_ns = 5000000000;
	text = sample_written(&writer_text, &tree.profile, &defaults);
	check_has(text, "VERDICT  it mostly waited: for the GIL\n"
			"  Threads waited for the GIL for 20.0 s (as of 2 threads all the time); "
			"code with it ran "
			"for 50.0%\n  of the time, most of it in thread 12 (two).\n"
			"    /srv/app.py:90 in <module>\n"
			"  10.0 s (100% of the time) waiting for another thread to end.\n");
	free(text);
	memcpy(asleep, threads, sizeof(asleep));
	asleep[0].gil_asleep_ns = 9000000000;
	tree.profile.facts.threads = asleep;
	text = sample_written(&writer_text, &tree.profile, &defaults);
	check_has(text, "thread 11 (one) slept with\n  it for 9.00 s: native code");
	free(text);

	for (size_t i = 0; i < 2; i++) {
		tree.profile.facts.cpu_ns = i ? 1000000000 : 5000000000;
		tree.profile.facts.queued_ns = i ? 4000000000 : 0;
		text = sample_written(&writer_text, &tree.profile, &defaults);
		check_has(text, "VERDICT  no line that repeats work stands out\n");
		check_has(text, "Threads waited for the GIL for 20.0 s");
		check_has_not(text, "another thread to end");
		free(text);
	}
}

/* Redundant work is told also where most of the time was spent asleep. */
static void test_with_a_finding(void **state)
{
	static const struct stack stacks[] = {
		{ { THREAD, PYTHON(APP, "fetch", 20) }, WAIT_IO, 8000000000 },
	};
	struct verdict verdict;
	struct tree tree;
	char *text;

	(void)state;
	make_tree(&tree, stacks, 1);
	tree.profile.lines = sample_lines;
	tree.profile.line_count = 3;
	text = sample_written(&writer_text, &tree.profile, &defaults);
	check_has(text, "VERDICT  it mostly waited: for input or output\n");
	check_has(text, "  And of its CPU time: one line repeats memory accesses needlessly.\n"
			"    /home/user/project/conv_backprop.py:33 in Convolution.backprop\n");
	free(text);
	verdict_find(&tree.profile, &verdict);
	assert_int_equal(verdict.kind, VERDICT_WAITING);
	assert_string_equal(verdict.line->file, APP);

	/* Nothing of it without --idle. */
	tree.profile.facts.waits = false;
	verdict_find(&tree.profile, &verdict);
	assert_int_equal(verdict.kind, VERDICT_FINDING);
}

/* Ready to run and without a CPU: the GIL is none of it, and what else it may be is told apart. */
static void test_without_a_cpu(void **state)
{
	static const struct {
		uint64_t throttled_ns, idle_ns, all_ns;
		const char *words;
	} cases[] = {
		{ 2000000000, 0, 20000000000,
		  "had used up its quota, and was throttled for 2.00 s" },
		{ 100000000, 1000000000, 20000000000,
		  "the machine is busy, its processors were idle for 5.0% of the time" },
		{ 0, 12000000000, 20000000000, "they may be bound to few of them" },
		{ 0, 0, 0, "the machine is busy, or the control group has used up its share" },
	};
	struct profile profile = sample_profile();
	const struct writer_options wide = { .columns = 240 };

	(void)state;
	profile.line_count = 1;
	profile.pair_count = profile.pairs_omitted = 0;
	profile.facts.cpu_ns = 3000000000;
	profile.facts.queued_known = true;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char *text;

		profile.facts.queued_ns = 6000000000;
		profile.facts.throttled_ns = cases[i].throttled_ns;
		profile.facts.machine_idle_ns = cases[i].idle_ns;
		profile.facts.machine_ns = cases[i].all_ns;
		text = sample_written(&writer_text, &profile, &wide);
		check_has(text, "VERDICT  it was ready to run, but mostly had no CPU\n");
		check_has(text, "ready to run for 6.00 s without a CPU, which is not the GIL");
		check_has(text, cases[i].words);
		for (size_t k = 0; k < sizeof(cases) / sizeof(cases[0]); k++)
			if (k != i)
				check_has_not(text, cases[k].words);
		free(text);
		profile.facts.queued_ns = 2000000000;
		text = sample_written(&writer_text, &profile, &wide);
		check_has(text, "VERDICT  the hottest line; none that repeats work stands out\n");
		check_has(text, cases[i].words);
		free(text);
		profile.facts.queued_ns = 900000000;
		text = sample_written(&writer_text, &profile, &wide);
		check_has_not(text, "without a CPU");
		free(text);
	}
}

/* Without --idle: what used the little CPU time is not why it is slow. */
static void test_asleep(void **state)
{
	struct profile profile = sample_profile();
	char *text;

	(void)state;
	profile.line_count = 1;
	profile.pair_count = profile.pairs_omitted = 0;
	profile.facts.cpu_ns = 1000000000;
	profile.facts.queued_known = true;
	text = sample_written(&writer_text, &profile, &defaults);
	check_has(text, "VERDICT  it mostly slept; --idle says what for\n    /");
	check_has(text, "It used a CPU for 10.0% of the time and slept otherwise");
	free(text);
	profile.facts.samples = 0;
	text = sample_written(&writer_text, &profile, &defaults);
	check_has(text, "VERDICT  it slept, and used next to no CPU time\n");
	free(text);
	profile.facts.cpu_ns = 9000000000;
	text = sample_written(&writer_text, &profile, &defaults);
	check_has(text, "VERDICT  nothing was sampled\n");
	free(text);
}

/* Before everything else, however busy other threads are. */
static void test_deadlock(void **state)
{
	static const struct stack stacks[] = {
		{ { THREAD, PYTHON(APP, "one", 20) }, WAIT_LOCK, 10000000000 },
		{ { THREAD, PYTHON(LIBRARY "/concurrent/futures/thread.py", "_worker", 81) },
		  WAIT_LOCK,
		  70000000000 },
	};
	static const char *const order[] = {
		"VERDICT  probable deadlock: threads wait for each other's locks\n",
		"  Thread 1 waits for thread 2.\n",
		"  Thread 2 waits for thread 1, \\u001b[31m.\n",
		"    /srv/app.py:20 in one\n",
		"  10.0 s (100% of the time) waiting for a lock.\n",
		"  Idle, which slows nothing down: a pool without work",
	};
	char many[40 * 64] = "", *text;
	struct verdict verdict;
	struct tree tree;

	(void)state;
	make_tree(&tree, stacks, 2);
	tree.profile.facts.cpu_ns = 9000000000;
	tree.profile.facts.deadlock =
		"Thread 1 waits for thread 2.\nThread 2 waits for thread 1, \033[31m.\n";
	text = sample_written(&writer_text, &tree.profile, &defaults);
	check_order(text, order, sizeof(order) / sizeof(order[0]));
	free(text);
	for (unsigned i = 0; i < 40; i++)
		strcat(many, "A wait in a very long circle.\n");
	tree.profile.facts.deadlock = many;
	verdict_find(&tree.profile, &verdict);
	assert_int_equal(verdict.kind, VERDICT_DEADLOCK);
	assert_true(verdict.sentence_count <= VERDICT_SENTENCES_MAX);
	assert_non_null(strstr(verdict.sentences[6], "There are more: pieprofd dump"));
	/* There is room for the rest. */
	assert_non_null(strstr(verdict.sentences[verdict.sentence_count - 1], "It used a CPU for"));
}

/* On one screen there is no place without what is said of it. */
static void test_places_on_one_screen(void **state)
{
	static const struct stack stacks[] = {
		{ { THREAD, PYTHON(APP, "one", 20) }, WAIT_LOCK, 9000000000 },
		{ { THREAD, PYTHON(APP, "two", 30) }, WAIT_CHILD, 8000000000 },
		{ { THREAD, PYTHON(APP, "three", 40) }, WAIT_IO, 7000000000 },
		{ { THREAD, PYTHON(APP, "four", 50) }, WAIT_IO, 6000000000 },
	};
	/* Which takes some of the room. */
	const struct writer_options brief = {
		.columns = 40,
		.brief = true,
		.notes = "Wrote /home/somebody/of/a/long/name/profile.html (104 KB), "
			 "/home/somebody/of/a/long/name/profile.json (204 KB), "
			 "/home/somebody/of/a/long/name/profile.pieprof (14 KB)",
	};
	struct tree tree;
	unsigned places = 0, sentences = 0;
	char *text;

	(void)state;
	make_tree(&tree, stacks, 4);
	text = sample_written(&writer_text, &tree.profile, &brief);
	for (const char *at = text; (at = strstr(at, "/srv/app.py:")); at++)
		places++;
	for (const char *at = text; (at = strstr(at, "waiting for")); at++)
		sentences++;
	assert_in_range(places, 1, 3);
	assert_int_equal(places, sentences);
	free(text);
}

/* Of a lock alone there is something to be said; where the threads would wait for ever, there is
 * not. */
static void test_lock(void **state)
{
	static const struct stack stacks[] = {
		{ { THREAD, PYTHON(APP, "one", 20) }, WAIT_LOCK, 70000000000 },
	};
	char *text = TEXT_OF(stacks);

	(void)state;
	check_has(text,
		  "VERDICT  it mostly waited: for a lock\n"
		  "    /srv/app.py:20 in one\n"
		  "  70.0 s (as of 7 threads all the time) waiting for a lock: hold it for less ");
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_places_by_rank),
		cmocka_unit_test(test_only_threads_are_idle),
		cmocka_unit_test(test_idle),
		cmocka_unit_test(test_blocked_loop),
		cmocka_unit_test(test_gil),
		cmocka_unit_test(test_with_a_finding),
		cmocka_unit_test(test_places_on_one_screen),
		cmocka_unit_test(test_lock),
		cmocka_unit_test(test_deadlock),
		cmocka_unit_test(test_without_a_cpu),
		cmocka_unit_test(test_asleep),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
