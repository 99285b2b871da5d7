/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Threads, their names, who holds the GIL and whether the collector runs,
 * against what live interpreters print of themselves.
 */
#include "pyintrospect/thread_list.h"

#include "pyintrospect/runtime_internal.h"
#include "tests/unit/support_live.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

/*
 * Each thread prints "THREAD ident tid name" and then waits in a way of its
 * own. Main then does what it is told to: nothing (wait for a word on stdin),
 * one long call that keeps the GIL, or collections over many objects.
 */
static const char script[] =
	"\n"
	"import sys, os, threading, _thread, ctypes, time, gc\n"
	"tid = getattr(threading, 'get_native_id', lambda: ctypes.CDLL(None).syscall(186))\n"
	"gate, keep = os.pipe()\n"
	"started = threading.Semaphore(0)\n"
	"lock = threading.Lock(); lock.acquire()\n"
	"def tell(name):\n"
	"    text = u'THREAD %d %d %s\\n' % (threading.get_ident(), tid(), name)\n"
	"    os.write(1, text.encode('utf-8'))\n"
	"    started.release()\n"
	"def named(wait):\n"
	"    def run():\n"
	"        tell(threading.current_thread().name)\n"
	"        wait()\n"
	"    return run\n"
	"class Slotted(threading.Thread):\n"
	"    __slots__ = ('one', 'two')\n"
	"class Many(threading.Thread):\n"
	"    def __init__(self, *a, **k):\n"
	"        threading.Thread.__init__(self, *a, **k)\n"
	"        for i in range(60): setattr(self, 'attribute%d' % i, i)\n"
	"def start(kind, wait, name):\n"
	"    t = kind(target=named(wait), name=name)\n"
	"    t.daemon = True\n"
	"    t.start()\n"
	"    started.acquire()\n"
	"    return t\n"
	"sleep = lambda: time.sleep(100000)\n"
	"start(threading.Thread, sleep, 'sleeper')\n"
	"start(threading.Thread, lock.acquire, u'w\\u00e4rter \\u540d\\u524d \\U0001f40d')\n"
	"start(threading.Thread, lambda: os.read(gate, 1), 'reader')\n"
	"start(Slotted, sleep, 'slotted')\n"
	"start(Many, sleep, 'many')\n"
	"vars(start(threading.Thread, sleep, 'shown'))['extra'] = 1\n"
	"start(threading.Thread, sleep, 'old name').name = 'renamed'\n"
	"start(threading.Thread, sleep, 'x' * 1000)\n"
	"start(threading.Thread, sleep, u'\\u00e9' * 100)\n"
	"_thread.start_new_thread(lambda: (tell(''), sleep()), ())\n"
	"started.acquire()\n"
	"tell(threading.current_thread().name)\n"
	"os.write(1, b'READY\\n')\n"
	"junk = []\n"
	"while True:\n"
	"    word = sys.stdin.readline().strip()\n"
	"    if word == 'hold':\n"
	"        os.write(1, b'OK\\n')\n"
	"        sum(range(10**12))\n"
	"    elif word == 'collect':\n"
	"        gc.disable()\n"
	"        junk = [[i] for i in range(300000)]\n"
	"        os.write(1, b'OK\\n')\n"
	"        while True: gc.collect()\n"
	"    elif word == 'churn':\n"
	"        os.write(1, b'OK\\n')\n"
	"        while True:\n"
	"            t = threading.Thread(target=int); t.start(); t.join()\n";

#define THREADS_MAX 32

struct expected_thread {
	uint64_t ident;
	int tid;
	char name[2048];
};

struct session {
	struct live_target target;
	struct live_binary binary;
	struct live_memory memory;
	struct debug_info info;
	struct memory_reader reader;
	struct python_runtime *runtime;
	struct expected_thread threads[THREADS_MAX];
	size_t count;
};

static void session_start(struct session *session, const struct live_python *python)
{
	struct error error;
	char line[8192];
	size_t named = 0;

	memset(session, 0, sizeof(*session));
	assert_true(live_target_start(&session->target, python->path, script));
	for (;;) {
		struct expected_thread *thread = &session->threads[session->count];

		assert_true(live_target_line(&session->target, line, sizeof(line)));
		if (strcmp(line, "READY") == 0)
			break;
		assert_true(session->count < THREADS_MAX);
		thread->name[0] = '\0';
		assert_true(sscanf(line, "THREAD %lu %d %2047[^\n]", &thread->ident, &thread->tid,
				   thread->name) >= 2);
		if (strcmp(thread->name, "old name") == 0)
			strcpy(thread->name, "renamed");
		named += thread->name[0] != '\0';
		session->count++;
	}
	assert_int_equal(session->count, 11);
	assert_int_equal(named, 10);
	assert_true(live_binary_find(&session->binary, session->target.pid));
	session->memory.pid = session->target.pid;
	session->info = live_debug_info(&session->binary);
	session->reader = (struct memory_reader){ live_memory_read, &session->memory };
	session->runtime = python_runtime_create(&session->info, &session->reader, &error);
	if (!session->runtime)
		fail_msg("3.%d: %s", python->minor, error.cause);
}

static void session_end(struct session *session)
{
	python_runtime_destroy(session->runtime);
	live_binary_close(&session->binary);
	live_target_end(&session->target);
}

static void tell(struct session *session, const char *word)
{
	char line[64];

	fprintf(session->target.input, "%s\n", word);
	fflush(session->target.input);
	assert_true(live_target_line(&session->target, line, sizeof(line)));
	assert_string_equal(line, "OK");
}

static const struct python_thread *find(const struct python_thread_list *list, int tid)
{
	for (size_t i = 0; i < list->count; i++)
		if (list->items[i].tid == tid)
			return &list->items[i];
	return NULL;
}

/* As much of it as fits, in whole characters. */
static bool name_matches(const char *found, const char *expected)
{
	const size_t most = 127; /* bytes; as in docs/SECURITY.md */
	size_t length = strlen(found);

	if (strcmp(found, expected) == 0)
		return length <= most;
	return strlen(expected) > most && length <= most && length + 3 >= most &&
	       strncmp(found, expected, length) == 0 && (expected[length] & 0xc0) != 0x80;
}

static size_t holders(const struct python_thread_list *list)
{
	size_t count = 0;

	for (size_t i = 0; i < list->count; i++)
		count += list->items[i].holds_gil;
	return count;
}

/* Main is on its way into the wait for input: that is seen at once, or a little later. */
static bool nobody_holds(struct session *session, unsigned looks)
{
	struct python_thread_list list;
	bool nobody = false;

	for (unsigned i = 0; i < looks && !nobody; i++) {
		assert_int_equal(python_thread_list_read(session->runtime, &list), 0);
		nobody = holders(&list) == 0 && !(list.flags & PYTHON_THREADS_COLLECTING);
		python_thread_list_deinit(&list);
		if (!nobody)
			usleep(1000);
	}
	return nobody;
}

static void check_list(struct session *session, uint32_t allowed_flags)
{
	struct python_thread_list list;

	assert_int_equal(python_thread_list_read(session->runtime, &list), 0);
	assert_int_equal(list.flags & ~allowed_flags, 0);
	assert_int_equal(list.count, session->count);
	for (size_t i = 0; i < session->count; i++) {
		const struct expected_thread *expected = &session->threads[i];
		const struct python_thread *thread = find(&list, expected->tid);

		assert_non_null(thread);
		assert_int_equal(thread->ident, expected->ident);
		if (!name_matches(thread->name, expected->name))
			fail_msg("3.%d: thread %d is '%s', expected '%s'",
				 session->runtime->version.minor, thread->tid, thread->name,
				 expected->name);
	}
	python_thread_list_deinit(&list);
}

static void test_names_and_ids(void **state)
{
	const struct live_pythons *pythons = live_pythons();

	(void)state;
	for (size_t i = 0; i < pythons->count; i++) {
		struct session session;
		unsigned long calls;

		session_start(&session, &pythons->items[i]);
		assert_true(nobody_holds(&session, 1000));
		calls = session.memory.calls;
		check_list(&session, 0);
		print_message("3.%d.%d: %zu threads with names, %lu system calls\n",
			      pythons->items[i].minor, pythons->items[i].micro, session.count,
			      session.memory.calls - calls);
		session_end(&session);
	}
	if (!pythons->count)
		skip();
}

#define LOOKS 200

/* Main keeps the GIL in one long call: in every look it is the holder, and nobody else. */
static void test_gil_held(void **state)
{
	const struct live_pythons *pythons = live_pythons();

	(void)state;
	for (size_t i = 0; i < pythons->count; i++) {
		struct session session;
		unsigned main_holds = 0, others = 0, unknown = 0;

		session_start(&session, &pythons->items[i]);
		tell(&session, "hold");
		usleep(20000);
		for (unsigned look = 0; look < LOOKS; look++) {
			struct python_thread_list list;

			assert_int_equal(python_thread_list_read(session.runtime, &list), 0);
			unknown += (list.flags & PYTHON_THREADS_GIL_UNKNOWN) != 0;
			for (size_t j = 0; j < list.count; j++) {
				if (!list.items[j].holds_gil)
					continue;
				if (list.items[j].tid == session.target.pid)
					main_holds++;
				else
					others++;
			}
			assert_int_equal(list.flags & PYTHON_THREADS_COLLECTING, 0);
			python_thread_list_deinit(&list);
		}
		print_message("3.%d.%d: held by main in %u of %d looks, by others in %u\n",
			      pythons->items[i].minor, pythons->items[i].micro, main_holds, LOOKS,
			      others);
		assert_int_equal(main_holds, LOOKS);
		assert_int_equal(others, 0);
		assert_int_equal(unknown, 0);
		session_end(&session);
	}
	if (!pythons->count)
		skip();
}

static void test_collector(void **state)
{
	const struct live_pythons *pythons = live_pythons();

	(void)state;
	for (size_t i = 0; i < pythons->count; i++) {
		struct session session;
		unsigned collecting = 0, not_by_main = 0, unknown = 0;

		session_start(&session, &pythons->items[i]);
		tell(&session, "collect");
		for (unsigned look = 0; look < LOOKS; look++) {
			struct python_thread_list list;

			assert_int_equal(python_thread_list_read(session.runtime, &list), 0);
			unknown += (list.flags & PYTHON_THREADS_COLLECTING_UNKNOWN) != 0;
			if (list.flags & PYTHON_THREADS_COLLECTING) {
				const struct python_thread *thread =
					find(&list, session.target.pid);

				collecting++;
				not_by_main += !thread || !thread->holds_gil;
			}
			python_thread_list_deinit(&list);
			usleep(500);
		}
		print_message("3.%d.%d: collecting in %u of %d looks\n", pythons->items[i].minor,
			      pythons->items[i].micro, collecting, LOOKS);
		/* A stripped 3.6 does not say. */
		if (!unknown)
			assert_true(collecting > LOOKS / 2);
		assert_true(!unknown || pythons->items[i].minor == 6);
		assert_int_equal(not_by_main, 0);
		session_end(&session);
	}
	if (!pythons->count)
		skip();
}

/* Threads that come and go all the time: the lasting ones are there in every look. */
static void test_churn(void **state)
{
	const struct live_pythons *pythons = live_pythons();

	(void)state;
	for (size_t i = 0; i < pythons->count; i++) {
		unsigned incomplete = 0, missing = 0, misnamed = 0;
		struct session session;

		session_start(&session, &pythons->items[i]);
		tell(&session, "churn");
		for (unsigned look = 0; look < LOOKS; look++) {
			struct python_thread_list list;

			assert_int_equal(python_thread_list_read(session.runtime, &list), 0);
			incomplete += (list.flags & PYTHON_THREADS_INCOMPLETE) != 0;
			for (size_t j = 0; j < session.count; j++) {
				const struct python_thread *thread =
					find(&list, session.threads[j].tid);

				if (!thread)
					missing += !(list.flags & PYTHON_THREADS_INCOMPLETE);
				else if (thread->name[0])
					misnamed += !name_matches(thread->name,
								  session.threads[j].name);
			}
			python_thread_list_deinit(&list);
		}
		print_message("3.%d.%d: %u of %d lists never settled, %u threads missing, "
			      "%u with another's name\n",
			      pythons->items[i].minor, pythons->items[i].micro, incomplete, LOOKS,
			      missing, misnamed);
		assert_int_equal(missing, 0);
		assert_int_equal(misnamed, 0);
		session_end(&session);
	}
	if (!pythons->count)
		skip();
}

/* Every read of the target says that it is gone. */
static void test_gone(void **state)
{
	const struct live_pythons *pythons = live_pythons();
	struct python_thread_list list;
	struct session session;

	(void)state;
	if (!pythons->count)
		skip();
	session_start(&session, &pythons->items[0]);
	session.memory.pid = 0x7ffffff0;
	assert_int_equal(python_thread_list_read(session.runtime, &list), -ESRCH);
	session_end(&session);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names_and_ids), cmocka_unit_test(test_gil_held),
		cmocka_unit_test(test_collector),     cmocka_unit_test(test_churn),
		cmocka_unit_test(test_gone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
