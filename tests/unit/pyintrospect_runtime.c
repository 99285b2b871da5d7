/* SPDX-License-Identifier: Apache-2.0 */
/* Which interpreters are taken and which refused, and what a person is told. */
#include "pyintrospect/runtime.h"

#include "pyintrospect/python_stack.h"
#include "pyintrospect/version.h"
#include "tests/unit/support_live.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static void test_version_strings(void **state)
{
	static const char text[] = "x13.8.1\0Python-3.8.18\0"
				   "3.8.x\0"
				   "3.9.2+\0"
				   "3.10.1\0"
				   "3.10.2\0"
				   "3.7.1 (default)\0"
				   "3.6.1";

	(void)state;
	assert_int_equal(python_version_scan(text, sizeof(text), 3, 8), 18);
	assert_int_equal(python_version_scan(text, sizeof(text), 3, 9), 2);
	assert_int_equal(python_version_scan(text, sizeof(text), 3, 10), -2);
	assert_int_equal(python_version_scan(text, sizeof(text), 3, 7), -1);
	assert_int_equal(python_version_scan(text, sizeof(text), 3, 6), 1);
	assert_int_equal(python_version_scan(text, sizeof(text) - 1, 3, 6), -1);
	assert_int_equal(python_version_scan(text, 0, 3, 6), -1);
}

/* A binary of which only Py_Version is known, in this process. */
static uint32_t version_hex;

static int one_symbol(void *context, const char *name, remote_addr *ret_address, uint64_t *ret_size)
{
	const char *only = context;

	if (!only || strcmp(name, only) != 0)
		return -ENOENT;
	*ret_address = (remote_addr)(uintptr_t)&version_hex;
	*ret_size = sizeof(version_hex);
	return 0;
}

static int no_section(void *context, const char *name, remote_addr *ret_address, uint64_t *ret_size)
{
	(void)context;
	(void)name;
	(void)ret_address;
	(void)ret_size;
	return -ENOENT;
}

static void test_versions_refused(void **state)
{
	struct live_memory memory = { .pid = getpid() };
	struct memory_reader reader = { live_memory_read, &memory };
	char name[] = "Py_Version";
	struct debug_info info = { .symbol = one_symbol, .section = no_section, .context = name };
	struct error error;

	(void)state;
	version_hex = 0x031000f0;
	assert_null(python_runtime_create(&info, &reader, &error));
	assert_int_equal(error.exit_code, EXIT_UNSUPPORTED_PYTHON);
	assert_string_equal(error.cause, "CPython 3.16 is not supported");
	assert_non_null(strstr(error.cure, "3.6 to 3.15"));
	version_hex = 0x040000f0;
	assert_null(python_runtime_create(&info, &reader, &error));
	assert_string_equal(error.cause, "CPython 4.0 is not supported");
	/* Of a supported version, and nothing else to be found. */
	version_hex = 0x030b02f0;
	assert_null(python_runtime_create(&info, &reader, &error));
	assert_int_equal(error.exit_code, EXIT_UNSUPPORTED_PYTHON);
	assert_non_null(strstr(error.cause, "3.11"));
	info.context = NULL;
	assert_false(python_runtime_in(&info));
	assert_null(python_runtime_create(&info, &reader, &error));
	assert_int_equal(error.exit_code, EXIT_NO_TARGET);
}

static const char waiting[] =
	"\nimport sys\nprint('READY')\nsys.stdout.flush()\nsys.stdin.read()\n";

struct waiting_target {
	struct live_target target;
	struct live_binary binary;
	struct live_memory memory;
	struct memory_reader reader;
	struct debug_info info;
};

static void waiting_start(struct waiting_target *waiter, const char *python)
{
	char line[64];

	memset(waiter, 0, sizeof(*waiter));
	assert_true(live_target_start(&waiter->target, python, waiting));
	assert_true(live_target_line(&waiter->target, line, sizeof(line)));
	assert_true(live_binary_find(&waiter->binary, waiter->target.pid));
	waiter->memory.pid = waiter->target.pid;
	waiter->reader = (struct memory_reader){ live_memory_read, &waiter->memory };
	waiter->info = live_debug_info(&waiter->binary);
}

static void waiting_end(struct waiting_target *waiter)
{
	live_binary_close(&waiter->binary);
	live_target_end(&waiter->target);
}

static void test_python_2_refused(void **state)
{
	const char *home = getenv("HOME");
	struct waiting_target waiter;
	char pattern[PATH_MAX];
	struct error error;
	glob_t found;

	(void)state;
	snprintf(pattern, sizeof(pattern), "%s/.pyenv/versions/2.7.*/bin/python2.7",
		 home ? home : "");
	if (glob(pattern, 0, NULL, &found)) {
		print_message("no Python 2.7 here\n");
		skip();
	}
	waiting_start(&waiter, found.gl_pathv[0]);
	globfree(&found);
	assert_true(python_runtime_in(&waiter.info));
	assert_null(python_runtime_create(&waiter.info, &waiter.reader, &error));
	assert_int_equal(error.exit_code, EXIT_UNSUPPORTED_PYTHON);
	assert_string_equal(error.cause, "CPython 2.7 is not supported");
	waiting_end(&waiter);
}

/* DWARF that lies: another binary's, say. */
static const char *lie_about;
static bool lied;

static int lying_offset(void *context, const char *type, const char *member, uint32_t *ret_offset)
{
	int error = live_member_offset(context, type, member, ret_offset);

	if (!error && strcmp(member, lie_about) == 0) {
		*ret_offset += 8;
		lied = true;
	}
	return error;
}

/* Wrong offsets are noticed on the live process, and the next source is taken. */
static void test_wrong_offsets_noticed(void **state)
{
	static const char *const members[] = { "interp", "ob_type", "co_lnotab", "co_linetable" };
	const struct live_pythons *pythons = live_pythons();
	unsigned tried = 0;

	(void)state;
	for (size_t i = 0; i < pythons->count; i++) {
		struct waiting_target waiter;

		if (pythons->items[i].minor >= 13)
			continue; /* never asks DWARF */
		waiting_start(&waiter, pythons->items[i].path);
		waiter.info.member_offset = lying_offset;
		for (size_t j = 0; waiter.binary.dwarf && j < 4; j++) {
			static struct python_stack stack;
			struct python_runtime *runtime;
			struct error error;

			lie_about = members[j];
			lied = false;
			runtime = python_runtime_create(&waiter.info, &waiter.reader, &error);
			assert_non_null(runtime);
			assert_int_equal(python_runtime_offsets_source(runtime),
					 lied ? PYTHON_OFFSETS_TABLE : PYTHON_OFFSETS_DWARF);
			assert_int_equal(
				python_stack_read(runtime, waiter.target.pid, NULL, &stack), 0);
			assert_true(stack.count > 0);
			python_runtime_destroy(runtime);
			tried += lied;
		}
		waiting_end(&waiter);
	}
	if (!tried)
		skip();
}

static void test_symbols(void **state)
{
	const struct live_pythons *pythons = live_pythons();

	(void)state;
	for (size_t i = 0; i < pythons->count; i++) {
		struct waiting_target waiter;
		struct python_runtime *runtime;
		struct address_range eval;
		struct error error;
		uint64_t address, size;

		waiting_start(&waiter, pythons->items[i].path);
		assert_true(python_runtime_in(&waiter.info));
		runtime = python_runtime_create(&waiter.info, &waiter.reader, &error);
		assert_non_null(runtime);
		assert_int_equal(python_runtime_eval_function(runtime, &eval), 0);
		assert_true(eval.end > eval.start);
		assert_int_equal(live_symbol(&waiter.binary, "PyType_Type", &address, &size), 0);
		assert_int_equal(python_runtime_type_type(runtime), address);
		python_runtime_destroy(runtime);
		waiting_end(&waiter);
	}
	if (!pythons->count)
		skip();
}

/* A live interpreter with the GIL whose _Py_DebugOffsets say that it is a free-threaded build. */
static remote_addr free_threaded_word;

static int free_threaded_read(void *context, struct memory_range *ranges, size_t count)
{
	const uint64_t yes = 1;
	int error = live_memory_read(context, ranges, count);

	for (size_t i = 0; !error && i < count; i++) {
		uint64_t at = free_threaded_word - ranges[i].address;

		if (!ranges[i].error && free_threaded_word >= ranges[i].address &&
		    ranges[i].size >= sizeof(yes) && at <= ranges[i].size - sizeof(yes))
			memcpy((uint8_t *)ranges[i].buffer + at, &yes, sizeof(yes));
	}
	return error;
}

static void test_free_threaded_pretended(void **state)
{
	const struct live_pythons *pythons = live_pythons();
	unsigned tried = 0;

	(void)state;
	for (size_t i = 0; i < pythons->count; i++) {
		struct waiting_target waiter;
		struct error error;
		uint64_t size;

		if (pythons->items[i].minor < 13)
			continue;
		waiting_start(&waiter, pythons->items[i].path);
		assert_int_equal(
			live_symbol(&waiter.binary, "_PyRuntime", &free_threaded_word, &size), 0);
		free_threaded_word += 16; /* behind the cookie and the version */
		waiter.reader.read = free_threaded_read;
		assert_null(python_runtime_create(&waiter.info, &waiter.reader, &error));
		assert_int_equal(error.exit_code, EXIT_UNSUPPORTED_PYTHON);
		assert_non_null(strstr(error.cause, "not laid out as expected"));
		waiting_end(&waiter);
		tried++;
	}
	if (!tried)
		skip();
}

static void test_free_threaded(void **state)
{
	const struct live_pythons *pythons = live_free_threaded();
	static struct python_stack stack;

	(void)state;
	for (size_t i = 0; i < pythons->count; i++) {
		struct waiting_target waiter;
		struct python_runtime *runtime;
		struct error error;

		waiting_start(&waiter, pythons->items[i].path);
		runtime = python_runtime_create(&waiter.info, &waiter.reader, &error);
		assert_non_null(runtime);
		assert_true(python_runtime_version(runtime).free_threaded);
		assert_int_equal(python_runtime_object_head(runtime), 32);
		assert_int_equal(python_stack_read(runtime, waiter.memory.pid, NULL, &stack), 0);
		assert_true(stack.count > 0);
		assert_int_equal(stack.gil, GIL_UNKNOWN);
		python_runtime_destroy(runtime);
		waiting_end(&waiter);
	}
	if (!pythons->count)
		skip();
}

/* The target is gone: an error, not a wait. */
static void test_gone(void **state)
{
	const struct live_pythons *pythons = live_pythons();
	struct waiting_target waiter;
	static struct python_stack stack;
	struct python_runtime *runtime;
	struct error error;

	(void)state;
	if (!pythons->count)
		skip();
	waiting_start(&waiter, pythons->items[0].path);
	runtime = python_runtime_create(&waiter.info, &waiter.reader, &error);
	assert_non_null(runtime);
	waiting_end(&waiter);
	assert_int_equal(python_stack_read(runtime, waiter.memory.pid, NULL, &stack), -ESRCH);
	python_runtime_destroy(runtime);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_version_strings),
		cmocka_unit_test(test_versions_refused),
		cmocka_unit_test(test_python_2_refused),
		cmocka_unit_test(test_symbols),
		cmocka_unit_test(test_wrong_offsets_noticed),
		cmocka_unit_test(test_free_threaded_pretended),
		cmocka_unit_test(test_free_threaded),
		cmocka_unit_test(test_gone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
