/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Interpreters that are hard to find: without symbols, inside another program,
 * under another name, in a file that is gone.
 */
#include "pyintrospect/runtime_search.h"

#include "pyintrospect/python_stack.h"
#include "pyintrospect/runtime.h"
#include "tests/unit/support_live.h"

#include <setjmp.h>
#include <stdarg.h>
#include <sys/stat.h>

#include <cmocka.h>

static const char waiting[] = "\n"
			      "import os, sys\n"
			      "def inner(): os.write(1, b'READY\\n'); sys.stdin.read()\n"
			      "def outer(): inner()\n"
			      "outer()\n";

/* ---- a module of the target, with what is wanted of its symbols left out ---- */

struct hidden {
	struct live_binary binary;
	struct debug_info info; /* of binary, all of it */
	bool no_symbols;
	bool no_runtime_section; /* .PyRuntime is part of .data, as a linker script may have it */
};

static int hidden_symbol(void *context, const char *name, remote_addr *ret_address,
			 uint64_t *ret_size)
{
	struct hidden *hidden = context;

	return hidden->no_symbols ? -ENOENT
				  : live_symbol(&hidden->binary, name, ret_address, ret_size);
}

static int hidden_section(void *context, const char *name, remote_addr *ret_address,
			  uint64_t *ret_size)
{
	struct hidden *hidden = context;
	remote_addr address;
	uint64_t size;
	int error;

	if (hidden->no_runtime_section && strcmp(name, ".PyRuntime") == 0)
		return -ENOENT;
	error = live_section(&hidden->binary, name, ret_address, ret_size);
	if (!error && hidden->no_runtime_section && strcmp(name, ".data") == 0 &&
	    live_section(&hidden->binary, ".PyRuntime", &address, &size) == 0)
		*ret_size = address + size - *ret_address;
	return error;
}

static int no_member(void *context, const char *type, const char *member, uint32_t *ret_offset)
{
	(void)context;
	(void)type;
	(void)member;
	(void)ret_offset;
	return -ENODATA;
}

static int no_size(void *context, const char *type, uint32_t *ret_size)
{
	return no_member(context, type, NULL, ret_size);
}

static struct debug_info hidden_info(struct hidden *hidden)
{
	return (struct debug_info){
		.symbol = hidden_symbol,
		.section = hidden_section,
		.member_offset = no_member,
		.type_size = no_size,
		.context = hidden,
	};
}

/* The file itself, however it is called: opened through /proc, with its place from the map. */
static bool open_executable(struct live_binary *binary, pid_t pid)
{
	char path[64], target[PATH_MAX], maps[64], line[PATH_MAX + 128], mapped[PATH_MAX];
	uint64_t start, offset;
	GElf_Ehdr header;
	GElf_Phdr segment;
	size_t segments;
	ssize_t length;
	FILE *file;

	memset(binary, 0, sizeof(*binary));
	snprintf(path, sizeof(path), "/proc/%d/exe", pid);
	length = readlink(path, target, sizeof(target) - 1);
	if (length < 0)
		return false;
	target[length] = '\0';
	elf_version(EV_CURRENT);
	binary->fd = open(path, O_RDONLY | O_CLOEXEC);
	binary->elf = binary->fd < 0 ? NULL : elf_begin(binary->fd, ELF_C_READ_MMAP, NULL);
	if (!binary->elf || !gelf_getehdr(binary->elf, &header) ||
	    elf_getphdrnum(binary->elf, &segments))
		return false;
	if (header.e_type != ET_DYN)
		return true;
	snprintf(maps, sizeof(maps), "/proc/%d/maps", pid);
	file = fopen(maps, "r");
	while (file && fgets(line, sizeof(line), file)) {
		if (sscanf(line, "%lx-%*x %*s %lx %*s %*s %4095[^\n]", &start, &offset, mapped) !=
			    3 ||
		    offset != 0 || strcmp(mapped, target) != 0)
			continue;
		for (size_t i = 0; i < segments; i++) {
			gelf_getphdr(binary->elf, (int)i, &segment);
			if (segment.p_type == PT_LOAD)
				break;
		}
		binary->bias = start - (segment.p_vaddr - segment.p_offset);
		fclose(file);
		return true;
	}
	if (file)
		fclose(file);
	return false;
}

struct session {
	struct live_target target;
	struct hidden hidden;
	struct live_memory memory;
	struct memory_reader reader;
};

static void session_start(struct session *session, const char *program, bool executable)
{
	char line[256];

	memset(session, 0, sizeof(*session));
	assert_true(live_target_start(&session->target, program, waiting));
	if (!live_target_line(&session->target, line, sizeof(line)))
		fail_msg("%s did not start", program);
	assert_string_equal(line, "READY");
	session->memory.pid = session->target.pid;
	session->reader = (struct memory_reader){ live_memory_read, &session->memory };
	if (executable)
		assert_true(open_executable(&session->hidden.binary, session->target.pid));
	else
		assert_true(live_binary_find(&session->hidden.binary, session->target.pid));
}

static void session_end(struct session *session)
{
	live_binary_close(&session->hidden.binary);
	live_target_end(&session->target);
}

/* Is it found, and are the frames there? */
static void check_found(struct session *session, const char *what, int minor)
{
	struct debug_info info = hidden_info(&session->hidden);
	static struct python_stack stack;
	struct python_runtime *runtime;
	struct error error;
	remote_addr address;
	uint64_t sp, size;

	assert_true(live_thread_wait_syscall(session->target.pid, session->target.pid, 0, &sp));
	runtime = python_runtime_create(&info, &session->reader, &error);
	if (!runtime)
		fail_msg("3.%d %s: %s", minor, what, error.cause);
	assert_int_equal(python_runtime_version(runtime).minor, minor);
	assert_int_equal(python_stack_read(runtime, session->target.pid, NULL, &stack), 0);
	assert_int_equal(stack.flags, 0);
	assert_int_equal(stack.count, 3);
	assert_string_equal(stack.frames[0].code->function, "inner");
	assert_string_equal(stack.frames[1].code->function, "outer");
	assert_true(python_runtime_type_type(runtime) != 0);
	/* Who holds the GIL was found, too: but for a stripped 3.6, which keeps that to itself. */
	assert_int_equal(python_stack_read_running(runtime, session->target.pid, &stack), 0);
	if (minor == 6 && info.symbol(info.context, "_PyThreadState_Current", &address, &size))
		assert_int_equal(stack.flags, PYTHON_STACK_TORN);
	else
		assert_int_equal(stack.flags, 0);
	python_runtime_destroy(runtime);
}

static void test_without_symbols(void **state)
{
	const struct live_pythons *pythons = live_pythons();

	(void)state;
	for (size_t i = 0; i < pythons->count; i++) {
		int minor = pythons->items[i].minor;
		struct python_version version;
		struct address_range eval;
		struct python_runtime *runtime;
		struct debug_info info, normal;
		remote_addr code_type, type_type, address;
		struct session session;
		struct error error;
		uint64_t size;

		session_start(&session, pythons->items[i].path, false);
		info = hidden_info(&session.hidden);
		normal = live_debug_info(&session.hidden.binary);
		assert_false(!python_runtime_in(&info));
		/* Each search by itself says what the symbols say. */
		session.hidden.no_symbols = true;
		session.hidden.no_runtime_section = true;
		assert_false(python_runtime_in(&info));
		assert_true(python_runtime_hidden_in(&info, &session.reader));
		assert_int_equal(runtime_search_version(&info, &session.reader, &version), 0);
		assert_int_equal(version.minor, minor);
		assert_int_equal(version.micro, pythons->items[i].micro);
		assert_int_equal(
			runtime_search_types(&info, &session.reader, &code_type, &type_type), 0);
		assert_int_equal(live_symbol(normal.context, "PyCode_Type", &address, &size), 0);
		assert_int_equal(code_type, address);
		assert_int_equal(live_symbol(normal.context, "PyType_Type", &address, &size), 0);
		assert_int_equal(type_type, address);
		if (minor >= 7)
			assert_int_equal(live_symbol(normal.context, "_PyRuntime", &address, &size),
					 0);
		if (minor >= 13) {
			remote_addr found;

			assert_int_equal(
				runtime_search_cookie(&info, &session.reader, minor, &found), 0);
			assert_int_equal(found, address);
			assert_int_equal(
				runtime_search_cookie(&info, &session.reader, minor - 1, &found),
				-ENOENT);
		}
		if (minor >= 7) {
			remote_addr found;

			assert_int_equal(runtime_search_interpreters(&info, &session.reader,
								     python_layout_builtin(minor),
								     &found),
					 0);
			assert_int_equal(found, address + (uint64_t)python_layout_builtin(minor)
								  ->offsets.runtime_interpreters);
		}
		check_found(&session, "without symbols and sections of its own", minor);
		session.hidden.no_runtime_section = false;
		check_found(&session, "without symbols", minor);
		/* To 3.10 the interpreter points to its evaluation loop. */
		runtime = python_runtime_create(&info, &session.reader, &error);
		assert_non_null(runtime);
		if (minor <= 10) {
			assert_int_equal(python_runtime_eval_function(runtime, &eval), 0);
			assert_int_equal(live_symbol(normal.context, "_PyEval_EvalFrameDefault",
						     &address, &size),
					 0);
			assert_int_equal(eval.start, address);
		} else {
			assert_int_equal(python_runtime_eval_function(runtime, &eval), -ENOENT);
		}
		python_runtime_destroy(runtime);
		session_end(&session);
	}
	if (!pythons->count)
		skip();
}

/* A program that has no interpreter, searched with all means. */
static void test_none(void **state)
{
	struct hidden hidden = { .no_symbols = true };
	struct live_memory memory = { .pid = getpid() };
	struct memory_reader reader = { live_memory_read, &memory };
	struct debug_info info = hidden_info(&hidden);
	struct error error;

	(void)state;
	assert_true(open_executable(&hidden.binary, getpid()));
	assert_false(python_runtime_in(&info));
	assert_false(python_runtime_hidden_in(&info, &reader));
	assert_null(python_runtime_create(&info, &reader, &error));
	assert_int_equal(error.exit_code, EXIT_NO_TARGET);
	live_binary_close(&hidden.binary);
}

/* ---- programs made for the test ---- */

static char folder[] = "/tmp/pieprofd-test-XXXXXX";

static const char host[] =
	"#include <Python.h>\n"
	"int main(int argc, char **argv)\n"
	"{\n"
	"	Py_NoSiteFlag = 1; /* extension modules would bring libpython along */\n"
	"	Py_Initialize();\n"
	"	return PyRun_SimpleString(argv[argc - 1]);\n"
	"}\n";

static int make_folder(void **state)
{
	(void)state;
	return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
	char command[256];

	(void)state;
	snprintf(command, sizeof(command), "rm -rf %s", folder);
	return system(command);
}

/*
 * A program around the interpreter, linked with its library: shared, or static
 * and stripped, so that nothing is exported. False: there is no such library.
 */
static bool build_host(const char *python, bool shared, char *program, size_t size)
{
	char path[PATH_MAX], command[8 * PATH_MAX];
	FILE *source;

	snprintf(path, sizeof(path), "%s/host.c", folder);
	source = fopen(path, "w");
	if (!source)
		return false;
	fputs(host, source);
	fclose(source);
	snprintf(program, size, "%s/%s", folder, shared ? "server" : "server-static");
	snprintf(command, sizeof(command),
		 "set -e; set -- $('%s' -c 'import sysconfig as s; v = s.get_config_var; "
		 "print(s.get_paths()[\"include\"], v(\"LIBPL\"), v(\"LIBDIR\"), v(\"LDVERSION\"), "
		 "v(\"LIBS\"), v(\"SYSLIBS\"))'); include=$1 folder=$2 library=$3 name=python$4; "
		 "shift 4; "
		 "if [ %d = 1 ]; then test -e $library/lib$name.so; "
		 "cc -I$include -o %s %s -L$library -Wl,-rpath,$library -l$name \"$@\"; "
		 "else test -e $folder/lib$name.a; "
		 "cc -I$include -s -o %s %s $folder/lib$name.a \"$@\" -ldl -lutil -lm -lpthread; "
		 "fi >/dev/null 2>&1",
		 python, shared, program, path, program, path);
	unlink(program);
	return system(command) == 0 && access(program, X_OK) == 0;
}

/* The embedding program has to be told where the standard library is. */
static void set_home(const char *python)
{
	char command[PATH_MAX + 128], home[PATH_MAX] = "";
	FILE *pipe;

	unsetenv("PYTHONHOME");
	snprintf(command, sizeof(command), "'%s' -c 'import sys; print(sys.prefix)'", python);
	pipe = popen(command, "r");
	assert_non_null(pipe);
	assert_int_equal(fscanf(pipe, "%4095[^\n]", home), 1);
	pclose(pipe);
	setenv("PYTHONHOME", home, 1);
}

static void test_embedded_shared(void **state)
{
	const struct live_pythons *pythons = live_pythons();
	unsigned built = 0;

	(void)state;
	for (size_t i = 0; i < pythons->count; i++) {
		struct session session;
		char program[PATH_MAX];

		if (!build_host(pythons->items[i].path, true, program, sizeof(program)))
			continue;
		built++;
		set_home(pythons->items[i].path);
		session_start(&session, program, false);
		unsetenv("PYTHONHOME");
		assert_non_null(strstr(session.hidden.binary.path, "libpython"));
		check_found(&session, "in a program with libpython", pythons->items[i].minor);
		session_end(&session);
	}
	print_message("%u of %zu interpreters have a shared library\n", built, pythons->count);
	if (!built)
		skip();
}

/* Static and stripped: no symbol says anything; and the file is gone meanwhile. */
static void test_embedded_static(void **state)
{
	const struct live_pythons *pythons = live_pythons();
	unsigned built = 0;

	(void)state;
	for (size_t i = 0; i < pythons->count; i++) {
		struct session session;
		struct debug_info info;
		char program[PATH_MAX];

		if (!build_host(pythons->items[i].path, false, program, sizeof(program)))
			continue;
		built++;
		set_home(pythons->items[i].path);
		session_start(&session, program, true);
		unsetenv("PYTHONHOME");
		assert_int_equal(unlink(program), 0);
		info = hidden_info(&session.hidden);
		assert_true(python_runtime_in(&info) ||
			    python_runtime_hidden_in(&info, &session.reader));
		check_found(&session, "in a stripped program", pythons->items[i].minor);
		session_end(&session);
	}
	print_message("%u of %zu interpreters have a static library\n", built, pythons->count);
	if (!built)
		skip();
}

/* A copy under a name that says nothing, deleted while it runs; and a virtual environment. */
static void test_renamed_and_deleted(void **state)
{
	const struct live_pythons *pythons = live_pythons();
	unsigned tried = 0;

	(void)state;
	for (size_t i = 0; i < pythons->count; i++) {
		char program[PATH_MAX], command[3 * PATH_MAX];
		struct live_binary binary;
		struct session session;

		snprintf(program, sizeof(program), "%s/worker", folder);
		snprintf(command, sizeof(command), "cp '%s' %s", pythons->items[i].path, program);
		assert_int_equal(system(command), 0);
		/* Where the interpreter is in its library, nothing of it is in the copy. */
		snprintf(command, sizeof(command),
			 "test $(stat -c %%s %s) -gt 1000000 && head -c 4 %s | grep -q ELF",
			 program, program);
		if (system(command) != 0) {
			unlink(program);
			continue;
		}
		tried++;
		set_home(pythons->items[i].path);
		session_start(&session, program, true);
		unsetenv("PYTHONHOME");
		assert_int_equal(unlink(program), 0);
		live_binary_close(&session.hidden.binary);
		assert_true(open_executable(&binary, session.target.pid));
		session.hidden.binary = binary;
		check_found(&session, "renamed and deleted", pythons->items[i].minor);
		session_end(&session);
	}
	print_message("%u of %zu interpreters are programs of their own\n", tried, pythons->count);
	if (!tried)
		skip();
}

static void test_virtual_environment(void **state)
{
	const struct live_pythons *pythons = live_pythons();

	(void)state;
	for (size_t i = 0; i < pythons->count; i++) {
		char program[PATH_MAX], command[4 * PATH_MAX];
		struct session session;

		if (pythons->items[i].script) /* the environment's links lead nowhere here */
			continue;
		snprintf(program, sizeof(program), "%s/environment/bin/python", folder);
		snprintf(command, sizeof(command),
			 "rm -rf %s/environment && '%s' -m venv --without-pip %s/environment",
			 folder, pythons->items[i].path, folder);
		assert_int_equal(system(command), 0);
		session_start(&session, program, false);
		check_found(&session, "in a virtual environment", pythons->items[i].minor);
		session_end(&session);
	}
	if (!pythons->count)
		skip();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_none),
		cmocka_unit_test(test_without_symbols),
		cmocka_unit_test(test_embedded_shared),
		cmocka_unit_test(test_embedded_static),
		cmocka_unit_test(test_renamed_and_deleted),
		cmocka_unit_test(test_virtual_environment),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
