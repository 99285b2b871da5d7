/* SPDX-License-Identifier: Apache-2.0 */
/* Files as runtimes write them, one of a real interpreter, and nonsense. */
#include "symbolize/perf_map.h"

#include "symbolize/symbol.h"
#include "tests/unit/built_files.h"
#include "tests/unit/symbolize_self.h"
#include "tests/unit/under_valgrind.h"

#include <setjmp.h>
#include <stdarg.h>
#include <sys/wait.h>

#include <cmocka.h>

struct fixture {
	struct perf_map *map;
	int fd;
};

static int setup(void **state)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));
	char path[] = "/tmp/symbolize_perf_mapXXXXXX";

	fixture->map = perf_map_create();
	fixture->fd = mkstemp(path);
	unlink(path);
	*state = fixture;
	return fixture->map && fixture->fd >= 0 ? 0 : -1;
}

static int teardown(void **state)
{
	struct fixture *fixture = *state;

	perf_map_destroy(fixture->map);
	close(fixture->fd);
	free(fixture);
	return 0;
}

static void append(struct fixture *fixture, const char *text)
{
	lseek(fixture->fd, 0, SEEK_END);
	assert_int_equal(write(fixture->fd, text, strlen(text)), strlen(text));
}

static void update(struct fixture *fixture)
{
	assert_int_equal(perf_map_update(fixture->map, fixture->fd), 0);
}

static void test_look_up(void **state)
{
	struct fixture *fixture = *state;
	remote_addr start = 1;

	assert_null(perf_map_find(fixture->map, 0x1000, NULL));
	update(fixture);
	assert_int_equal(perf_map_count(fixture->map), 0);
	append(fixture, "7f0000002000 10 py::second:/some where/file.py\n"
			"7f0000001000 100 LazyCompile:~first a b\n"
			"0x7f0000003000 0x8 third\n");
	update(fixture);
	assert_int_equal(perf_map_count(fixture->map), 3);
	assert_string_equal(perf_map_find(fixture->map, 0x7f00000010ff, &start),
			    "LazyCompile:~first a b");
	assert_int_equal(start, 0x7f0000001000);
	assert_null(perf_map_find(fixture->map, 0x7f0000001100, &start));
	assert_null(perf_map_find(fixture->map, 0x7f0000000fff, &start));
	assert_int_equal(start, 0x7f0000001000);
	assert_string_equal(perf_map_find(fixture->map, 0x7f0000002000, NULL),
			    "py::second:/some where/file.py");
	assert_string_equal(perf_map_find(fixture->map, 0x7f0000003007, NULL), "third");
	assert_null(perf_map_find(fixture->map, UINT64_MAX, NULL));
}

static void test_appended_later(void **state)
{
	struct fixture *fixture = *state;
	const char *first;

	append(fixture, "1000 10 one\n2000 10 tw");
	update(fixture);
	first = perf_map_find(fixture->map, 0x1000, NULL);
	assert_string_equal(first, "one");
	assert_null(perf_map_find(fixture->map, 0x2000, NULL));
	append(fixture, "o\n1000 8 again\n");
	update(fixture);
	assert_string_equal(perf_map_find(fixture->map, 0x2000, NULL), "two");
	assert_string_equal(perf_map_find(fixture->map, 0x1000, NULL), "again");
	/* The shorter code took the longer one's place. */
	assert_null(perf_map_find(fixture->map, 0x1008, NULL));
	assert_string_equal(first, "one");
	update(fixture);
	assert_int_equal(perf_map_count(fixture->map), 2);

	/* Started anew. */
	assert_int_equal(ftruncate(fixture->fd, 0), 0);
	append(fixture, "3000 1 x\n");
	update(fixture);
	assert_null(perf_map_find(fixture->map, 0x2000, NULL));
	assert_string_equal(perf_map_find(fixture->map, 0x3000, NULL), "x");
}

static void test_newest_wins(void **state)
{
	struct fixture *fixture = *state;

	append(fixture, "1000 100 old\n1040 10 inner\n2040 10 inner old\n2000 100 outer new\n");
	update(fixture);
	assert_string_equal(perf_map_find(fixture->map, 0x1045, NULL), "inner");
	assert_string_equal(perf_map_find(fixture->map, 0x1050, NULL), "old");
	assert_string_equal(perf_map_find(fixture->map, 0x2045, NULL), "outer new");
}

static void test_nonsense(void **state)
{
	struct fixture *fixture = *state;
	char *text = malloc(300000);
	remote_addr start;

	append(fixture, "\n \n1000\n1000 \n1000 10\n1000 10 \nxyz 10 name\n1000 0 empty\n"
			"-1 10 negative\n10000000000000000 1 long\nffffffffffffffff 2 wraps\n"
			"1000 -5 negative\n1000  10 two spaces\n");
	update(fixture);
	assert_int_equal(perf_map_count(fixture->map), 0);
	append(fixture, "ffffffffffffffff 0 none\nfffffffffffffffe 1 high\n");
	update(fixture);
	assert_string_equal(perf_map_find(fixture->map, UINT64_MAX - 1, &start), "high");

	/* A line without end, longer than any buffer; then a name that is cut. */
	memset(text, 'a', 300000);
	memcpy(text, "5000 10 ", 8);
	text[200000] = '\n';
	memcpy(text + 200001, "6000 10 b", 9);
	text[299998] = '\n';
	text[299999] = '\0';
	memset(text + 210000, '\0', 1);
	lseek(fixture->fd, 0, SEEK_END);
	assert_int_equal(write(fixture->fd, text, 299999), 299999);
	append(fixture, "7000 10 after\n");
	update(fixture);
	assert_null(perf_map_find(fixture->map, 0x5000, NULL));
	assert_string_equal(perf_map_find(fixture->map, 0x7000, NULL), "after");
	free(text);
}

static void test_not_a_file(void **state)
{
	struct fixture *fixture = *state;
	int null = open("/dev/null", O_RDONLY | O_CLOEXEC);

	assert_int_equal(perf_map_update(fixture->map, null), -EINVAL);
	assert_int_equal(perf_map_update(fixture->map, -1), -EBADF);
	close(null);
}

static void test_too_many(void **state)
{
	struct fixture *fixture = *state;
	FILE *file = fdopen(dup(fixture->fd), "w");

	assert_non_null(file);
	for (unsigned long i = 0; i < PERF_MAP_ENTRIES_MAX + 5; i++)
		fprintf(file, "%lx 10 f%lu\n", 0x1000 + i * 0x10, i);
	fclose(file);
	update(fixture);
	assert_int_equal(perf_map_count(fixture->map), PERF_MAP_ENTRIES_MAX);
	assert_int_equal(perf_map_dropped(fixture->map), 5);
	assert_string_equal(perf_map_find(fixture->map, 0x1000 + 0x10 * 54321, NULL), "f54321");
}

/* Numbers as in docs/SECURITY.md. Between the two lines is a hole of zeros. */
static void test_too_many_bytes(void **state)
{
	struct fixture *fixture = *state;
	const off_t most = 128 << 20;

	append(fixture, "1000 10 early\n");
	assert_int_equal(ftruncate(fixture->fd, most + (1 << 20)), 0);
	append(fixture, "\n2000 10 late\n");
	update(fixture);
	assert_string_equal(perf_map_find(fixture->map, 0x1000, NULL), "early");
	assert_null(perf_map_find(fixture->map, 0x2000, NULL));
	assert_int_equal(perf_map_dropped(fixture->map), 1);
}

static void test_long_name(void **state)
{
	struct fixture *fixture = *state;
	char line[5000] = "1000 10 ";

	memset(line + strlen(line), 'n', sizeof(line) - strlen(line) - 2);
	line[sizeof(line) - 2] = '\n';
	line[sizeof(line) - 1] = '\0';
	append(fixture, line);
	append(fixture, "2000 10 next\n");
	update(fixture);
	assert_int_equal(strlen(perf_map_find(fixture->map, 0x1000, NULL)), 1024);
	assert_string_equal(perf_map_find(fixture->map, 0x2000, NULL), "next");
}

static void test_random_bytes(void **state)
{
	struct fixture *fixture = *state;
	uint64_t seed = 99;
	char text[4096];

	for (int round = 0; round < 2000; round++) {
		for (size_t i = 0; i < sizeof(text); i++) {
			seed = seed * 6364136223846793005u + 1442695040888963407u;
			text[i] = "0123456789abcdef  \n\n"[(seed >> 33) % 20];
			if ((seed >> 50) % 50 == 0)
				text[i] = (char)(seed >> 33);
		}
		if (round % 16 == 0)
			assert_int_equal(ftruncate(fixture->fd, 0), 0);
		lseek(fixture->fd, 0, SEEK_END);
		assert_int_equal(write(fixture->fd, text, sizeof(text)), sizeof(text));
		update(fixture);
		(void)perf_map_find(fixture->map, seed >> (seed & 63), NULL);
	}
	assert_true(perf_map_count(fixture->map) > 0);
}

/* CPython 3.12 and later write one with -X perf. */
static void test_real_interpreter(void **state)
{
	struct fixture *fixture = *state;
	bool tried = false, found = false;
	glob_t files = { 0 };

	self_glob(&files, "/usr/bin/python3.1[2-9]", false);
	self_glob(&files, "~/.pyenv/versions/3.1[2-9]*/bin/python3", true);
	for (size_t i = 0; i < files.gl_pathc; i++) {
		char command[4400], line[64], path[64];
		FILE *output;
		int pid = 0, fd;

		snprintf(command, sizeof(command),
			 "'%s' -X perf -c 'import os\ndef marker(): return os.getpid()\n"
			 "print(marker())' 2>/dev/null",
			 files.gl_pathv[i]);
		output = popen(command, "re");
		assert_non_null(output);
		if (fgets(line, sizeof(line), output))
			pid = atoi(line);
		pclose(output);
		if (pid <= 0)
			continue; /* built without it */
		snprintf(path, sizeof(path), "/tmp/perf-%d.map", pid);
		fd = open(path, O_RDONLY | O_CLOEXEC);
		if (fd < 0)
			continue;
		tried = true;
		assert_int_equal(perf_map_update(fixture->map, fd), 0);
		assert_true(perf_map_count(fixture->map) > 10);
		lseek(fd, 0, SEEK_SET);
		output = fdopen(fd, "r");
		while (fgets(command, sizeof(command), output)) {
			unsigned long start;
			const char *name;

			if (!strstr(command, "py::marker:") || sscanf(command, "%lx", &start) != 1)
				continue;
			name = perf_map_find(fixture->map, start + 4, NULL);
			assert_non_null(name);
			assert_non_null(strstr(name, "py::marker:<string>"));
			found = true;
		}
		fclose(output);
		unlink(path);
	}
	globfree(&files);
	if (!tried) {
		print_message("skipped: no interpreter with -X perf\n");
		skip();
	}
	assert_true(found);
}

/* In the target's own root and pid namespace, and only when it is the target's. */
static void test_open(void **state)
{
	struct built_files *files;
	const uid_t self = geteuid();
	int root, fd;

	/* It has no openat2(2). */
	if (under_valgrind())
		skip();
	files = built_files_create();
	(void)state;
	assert_true(built_files_run(files, "mkdir -p root/tmp; cd root/tmp\n"
					   "echo 1000 10 jitted >perf-7.map; chmod 644 perf-7.map\n"
					   "ln -s perf-7.map perf-8.map; mkfifo perf-9.map"));
	root = open(built_files_path(files, "root"), O_PATH | O_DIRECTORY | O_CLOEXEC);
	assert_true(root >= 0);
	fd = perf_map_open(NULL, root, 7, self);
	assert_true(fd >= 0);
	close(fd);
	assert_int_equal(perf_map_open(NULL, root, 6, self), -ENOENT);
	assert_int_equal(perf_map_open(NULL, root, 8, self), -ELOOP);
	assert_int_equal(perf_map_open(NULL, root, 9, self), -EINVAL);
	if (self == 0) {
		/* Root's is believed whatever the target runs as; another user's is not. */
		fd = perf_map_open(NULL, root, 7, 4321);
		assert_true(fd >= 0);
		close(fd);
		assert_int_equal(chown(built_files_path(files, "root/tmp/perf-7.map"), 1234, 0), 0);
		assert_int_equal(perf_map_open(NULL, root, 7, 4321), -EPERM);
		assert_int_equal(perf_map_open(NULL, root, 7, 0), -EPERM);
		fd = perf_map_open(NULL, root, 7, 1234);
		assert_true(fd >= 0);
		close(fd);
	} else {
		assert_int_equal(perf_map_open(NULL, root, 7, self + 1), -EPERM);
	}
	close(root);
	built_files_remove(files);
}

static void test_through_symbolizer(void **state)
{
	struct fixture *fixture = *state;
	struct symbolizer *symbolizer = symbolizer_create();
	remote_addr start = 0;

	assert_non_null(symbolizer);
	append(fixture, "7f0000001000 100 py::function:/file.py\n");
	assert_null(symbolizer_function(symbolizer, NULL, 0x7f0000001004, &start));
	symbolizer_set_perf_map(symbolizer, fixture->map);
	assert_null(symbolizer_function(symbolizer, NULL, 0x7f0000001004, &start));
	/* It may grow while the symbolizer has it. */
	update(fixture);
	assert_string_equal(symbolizer_function(symbolizer, NULL, 0x7f0000001004, &start),
			    "py::function:/file.py");
	assert_int_equal(start, 0x7f0000001000);
	assert_null(symbolizer_function(symbolizer, NULL, 0x7f0000001100, &start));
	symbolizer_destroy(symbolizer);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_look_up, setup, teardown),
		cmocka_unit_test_setup_teardown(test_appended_later, setup, teardown),
		cmocka_unit_test_setup_teardown(test_newest_wins, setup, teardown),
		cmocka_unit_test_setup_teardown(test_nonsense, setup, teardown),
		cmocka_unit_test_setup_teardown(test_not_a_file, setup, teardown),
		cmocka_unit_test_setup_teardown(test_too_many, setup, teardown),
		cmocka_unit_test_setup_teardown(test_too_many_bytes, setup, teardown),
		cmocka_unit_test_setup_teardown(test_long_name, setup, teardown),
		cmocka_unit_test_setup_teardown(test_random_bytes, setup, teardown),
		cmocka_unit_test_setup_teardown(test_real_interpreter, setup, teardown),
		cmocka_unit_test_setup_teardown(test_through_symbolizer, setup, teardown),
		cmocka_unit_test(test_open),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
