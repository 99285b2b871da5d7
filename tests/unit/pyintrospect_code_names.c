/* SPDX-License-Identifier: Apache-2.0 */
/* Names that code refers to, against what live interpreters print of the code they run. */
#include "pyintrospect/code_names.h"

#include "pyintrospect/python_stack.h"
#include "tests/unit/support_live.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

/*
 * Prints "NAME kind index name" for each, then "READY tid", and waits in the function
 * that has them. After a line of input that function is gone, and others have its place.
 */
static const char script[] =
	"\n"
	"import sys, os, threading, ctypes\n"
	"tid = getattr(threading, 'get_native_id', lambda: ctypes.CDLL(None).syscall(186))\n"
	"text = u'def outer(free, \\u00e9t\\u00e9):\\n'\\\n"
	"       u'    def work(parameter, cell):\\n'\\\n"
	"       u'        \\u540d = [lambda: cell, free, \\u00e9t\\u00e9]\\n'\\\n"
	"       u'        sys.stdout.write(tell(work))\\n'\\\n"
	"       u'        sys.stdout.flush()\\n'\\\n"
	"       u'        wait()\\n'\\\n"
	"       u'        return parameter.attribute + \\u540d\\n'\\\n"
	"       u'    return work\\n'\n"
	"def tell(f):\n"
	"    c = f.__code__\n"
	"    cells = c.co_cellvars + c.co_freevars\n"
	"    variables = c.co_varnames\n"
	"    if sys.version_info >= (3, 11):\n"
	"        variables += tuple(n for n in cells if n not in variables)\n"
	"        cells = ()\n"
	"    out = ''\n"
	"    for kind, names in enumerate((c.co_names, variables, cells)):\n"
	"        for i, n in enumerate(names): out += 'NAME %d %d %s\\n' % (kind, i, n)\n"
	"    return out + 'READY %d\\n' % tid()\n"
	"def wait():\n"
	"    sys.stdin.readline()\n"
	"space = dict(globals())\n"
	"exec(compile(text, 'made.py', 'exec'), space)\n"
	"work = space['outer'](1, 2)\n"
	"try: work(3, 4)\n"
	"except AttributeError: pass\n"
	"del work; space.clear()\n"
	"keep = [compile('x%d = 1' % i, 'other.py', 'exec') for i in range(2000)]\n"
	"sys.stdout.write('GONE\\n'); sys.stdout.flush()\n"
	"sys.stdin.readline()\n";

#define NAMES_MAX 64

struct expected_name {
	unsigned kind, index;
	char name[64];
};

struct session {
	struct live_target target;
	struct live_binary binary;
	struct live_memory memory;
	struct debug_info info;
	struct memory_reader reader;
	struct python_runtime *runtime;
	struct expected_name names[NAMES_MAX];
	size_t count;
	int tid;
};

static void session_start(struct session *session, const struct live_python *python)
{
	struct error error;
	char line[512];

	memset(session, 0, sizeof(*session));
	assert_true(live_target_start(&session->target, python->path, script));
	for (;;) {
		struct expected_name *name = &session->names[session->count];

		assert_true(live_target_line(&session->target, line, sizeof(line)));
		if (sscanf(line, "READY %d", &session->tid) == 1)
			break;
		assert_true(session->count++ < NAMES_MAX);
		assert_int_equal(
			sscanf(line, "NAME %u %u %63s", &name->kind, &name->index, name->name), 3);
	}
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

/* The code object of the waiting function. */
static const struct python_code *find_code(struct session *session)
{
	static struct python_stack stack;
	uint64_t sp;

	/* Until it waits, its frames change. */
	assert_true(live_thread_wait_syscall(session->target.pid, session->tid, 0, &sp));
	assert_int_equal(python_stack_read(session->runtime, session->tid, NULL, &stack), 0);
	for (size_t i = 0; i < stack.count; i++)
		if (strstr(stack.frames[i].code->function, "work"))
			return stack.frames[i].code;
	fail_msg("no such function among %zu frames", stack.count);
	return NULL;
}

static void check_names(struct session *session, const struct code_names *names)
{
	unsigned counts[3] = { 0 };
	char name[64], cut[3];

	for (size_t i = 0; i < session->count; i++) {
		const struct expected_name *expected = &session->names[i];

		assert_int_equal(
			code_names_read(names, expected->kind, expected->index, name, sizeof(name)),
			0);
		assert_string_equal(name, expected->name);
		counts[expected->kind]++;
	}
	assert_true(counts[PYTHON_NAMES] > 4 && counts[PYTHON_LOCALS] > 1);
	for (unsigned kind = 0; kind < 3; kind++) {
		assert_int_equal(code_names_read(names, kind, counts[kind], name, sizeof(name)),
				 -ENOENT);
		assert_int_equal(code_names_read(names, kind, UINT32_MAX, name, sizeof(name)),
				 -ENOENT);
	}
	assert_int_equal(code_names_read(names, PYTHON_LOCALS, 0, cut, sizeof(cut)), 0);
	assert_string_equal(cut, "pa");
}

/* Where a tuple should be there is something else, or nothing. */
static void check_others(const struct code_names *names)
{
	struct code_names other = *names;
	char name[64];

	other.names = python_runtime_type_type(names->runtime);
	assert_int_equal(code_names_read(&other, PYTHON_NAMES, 0, name, sizeof(name)),
			 other.names ? -EBADMSG : -ENOENT);
	other.names = 8;
	assert_int_equal(code_names_read(&other, PYTHON_NAMES, 0, name, sizeof(name)), -EBADMSG);
}

static void test_names(void **state)
{
	const struct live_pythons *pythons = live_pythons();

	(void)state;
	for (size_t i = 0; i < pythons->count; i++) {
		const struct python_code *code;
		struct python_code unseen;
		struct code_names names;
		struct session session;
		char line[64];

		session_start(&session, &pythons->items[i]);
		code = find_code(&session);
		assert_int_equal(code_names_find(session.runtime, code, &names), 0);
		check_names(&session, &names);
		check_others(&names);
		unseen = *code;
		assert_int_equal(code_names_find(session.runtime, &unseen, &names), -ENOENT);
		assert_true(fputs("\n", session.target.input) >= 0);
		assert_int_equal(fflush(session.target.input), 0);
		assert_true(live_target_line(&session.target, line, sizeof(line)));
		assert_string_equal(line, "GONE");
		assert_int_equal(code_names_find(session.runtime, code, &names), -ENOENT);
		/* The interpreter has gone, too. */
		kill(session.target.pid, SIGKILL);
		assert_int_equal(waitid(P_PID, (id_t)session.target.pid, NULL, WEXITED | WNOWAIT),
				 0);
		assert_true(code_names_find(session.runtime, code, &names) < 0);
		print_message("3.%d.%d: %zu names\n", pythons->items[i].minor,
			      pythons->items[i].micro, session.count);
		session_end(&session);
	}
	if (!pythons->count)
		skip();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
