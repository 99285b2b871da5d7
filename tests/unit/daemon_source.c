/* SPDX-License-Identifier: Apache-2.0 */
/* Source lines out of real files, ordinary and hostile, and what makes strings fit to print. */
#include "common/printable.h"
#include "daemon/report/model/source.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static char folder[] = "/tmp/pieprofd-source-XXXXXX";
static unsigned opened;

static int open_file(void *context, const char *path)
{
	int fd;

	assert_ptr_equal(context, folder);
	opened++;
	/* As the daemon must: a FIFO does not block. */
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	return fd < 0 ? -errno : fd;
}

static const char *path_of(const char *name)
{
	static char path[128];

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	return path;
}

static const char *write_file(const char *name, const char *bytes, size_t size)
{
	const char *path = path_of(name);
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	assert_int_equal(fwrite(bytes, 1, size, file), size);
	assert_int_equal(fclose(file), 0);
	return path;
}

static int set_up(void **state)
{
	*state = source_cache_create(open_file, folder);
	opened = 0;
	return *state ? 0 : -1;
}

static int tear_down(void **state)
{
	source_cache_destroy(*state);
	return 0;
}

static int make_folder(void **state)
{
	(void)state;
	return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
	char command[160];

	(void)state;
	snprintf(command, sizeof(command), "rm -r '%s'", folder);
	return system(command);
}

static void test_lines(void **state)
{
	static const char text[] =
		"import numpy\n\n    g[f] += d[i, j, f] * r  \t\r\n\tx\ty\rlast \xc3\xa4";
	const char *path = write_file("lines.py", text, sizeof(text) - 1);
	const char *third;

	assert_string_equal(source_cache_line(*state, path, 1), "import numpy");
	assert_string_equal(source_cache_line(*state, path, 2), "");
	third = source_cache_line(*state, path, 3);
	assert_string_equal(third, "g[f] += d[i, j, f] * r");
	assert_string_equal(source_cache_line(*state, path, 4), "x y");
	assert_string_equal(source_cache_line(*state, path, 5), "last \xc3\xa4");
	assert_null(source_cache_line(*state, path, 6));
	assert_null(source_cache_line(*state, path, 0));
	assert_null(source_cache_line(*state, path, -1));
	assert_null(source_cache_line(*state, path, 0x7fffffff));
	/* Lives as long as the cache, and is the same when asked again. */
	assert_ptr_equal(source_cache_line(*state, path, 3), third);
	assert_string_equal(third, "g[f] += d[i, j, f] * r");
	assert_int_equal(opened, 1);
}

static void test_unreadable(void **state)
{
	const char *fifo;

	assert_null(source_cache_line(*state, NULL, 1));
	assert_null(source_cache_line(*state, path_of("missing.py"), 1));
	assert_null(source_cache_line(*state, path_of("missing.py"), 1));
	assert_int_equal(opened, 1);
	assert_null(source_cache_line(*state, "", 1));
	assert_null(source_cache_line(*state, "<string>", 1));
	assert_int_equal(opened, 1);
	assert_null(source_cache_line(*state, folder, 1));
	assert_null(source_cache_line(*state, "/dev/zero", 1));
	fifo = path_of("fifo.py");
	assert_int_equal(mkfifo(fifo, 0600), 0);
	assert_null(source_cache_line(*state, fifo, 1));
	assert_string_equal(source_cache_line(*state, write_file("empty.py", "", 0), 1), "");
}

static void test_no_opener(void **state)
{
	struct source_cache *cache = source_cache_create(NULL, NULL);

	(void)state;
	assert_null(source_cache_line(cache, write_file("there.py", "x", 1), 1));
	source_cache_destroy(cache);
	source_cache_destroy(NULL);
}

static void test_hostile_bytes(void **state)
{
	static const char text[] = "\xef\xbb\xbf"
				   "first\n"
				   "a\0b\x1b[31mc\x7f\n"
				   "latin \xe4 cut \xe2\x82\n"
				   "csi \xc2\x9b"
				   "31m bidi \xe2\x80\xae end\n"
				   "surrogate \xed\xa0\x80 overlong \xc0\xaf\n";
	const char *path = write_file("hostile.py", text, sizeof(text) - 1);

	assert_string_equal(source_cache_line(*state, path, 1), "first");
	assert_string_equal(source_cache_line(*state, path, 2), "a?b?[31mc?");
	assert_string_equal(source_cache_line(*state, path, 3), "latin ? cut ??");
	assert_string_equal(source_cache_line(*state, path, 4), "csi ??31m bidi ??? end");
	assert_string_equal(source_cache_line(*state, path, 5), "surrogate ??? overlong ??");
	/* Once more: making it fit is done in place. */
	assert_string_equal(source_cache_line(*state, path, 2), "a?b?[31mc?");
	/* Written in some other encoding: the compiler's columns are others. */
	assert_null(source_cache_columns(*state, path, 1));
	assert_int_equal(source_cache_indent(*state, path, 1), -1);
}

static void test_columns(void **state)
{
	static const char text[] = "\xef\xbb\xbf"
				   "\tx = 1  \n"
				   "  \xc3\xa4\xe2\x80\xae\tb\n"
				   "   \n";
	const char *path = write_file("columns.py", text, sizeof(text) - 1);

	assert_string_equal(source_cache_columns(*state, path, 1), "\tx = 1");
	assert_string_equal(source_cache_line(*state, path, 1), "x = 1");
	/* What cannot be shown leaves the columns behind it where they are. */
	assert_string_equal(source_cache_line(*state, path, 2), "\xc3\xa4??? b");
	assert_string_equal(source_cache_columns(*state, path, 2), "  \xc3\xa4??? b");
	assert_string_equal(source_cache_columns(*state, path, 3), "   ");
	assert_int_equal(source_cache_indent(*state, path, 1), 1);
	assert_int_equal(source_cache_indent(*state, path, 2), 2);
	assert_int_equal(source_cache_indent(*state, path, 3), 3);
	assert_int_equal(source_cache_indent(*state, path, 5), -1);
	assert_null(source_cache_columns(*state, path, 5));
	assert_null(source_cache_columns(*state, path_of("missing.py"), 1));
}

static void test_long_lines_are_cut(void **state)
{
	char text[1000];
	const char *line;

	/* A character of three bytes across the limit. */
	for (size_t i = 0; i + 3 <= sizeof(text); i += 3)
		memcpy(text + i, "\xe2\x82\xac", 3);
	line = source_cache_line(*state, write_file("long.py", text, 999), 1);
	assert_int_equal(strlen(line), SOURCE_LINE_BYTES_MAX / 3 * 3);
	memset(text, '\x80', sizeof(text));
	assert_string_equal(source_cache_line(*state, write_file("tail.py", text, 999), 1), "");
}

static void test_large_files_are_cut(void **state)
{
	size_t size = SOURCE_FILE_BYTES_MAX + 100;
	char *text = malloc(size);
	const char *path;
	int lines = (int)(SOURCE_FILE_BYTES_MAX / 8);

	for (size_t i = 0; i < size; i++)
		text[i] = i % 8 == 7 ? '\n' : 'x';
	memcpy(text + SOURCE_FILE_BYTES_MAX - 2, "yyyy", 4); /* a line across the limit */
	path = write_file("large.py", text, size);
	assert_string_equal(source_cache_line(*state, path, 1), "xxxxxxx");
	assert_string_equal(source_cache_line(*state, path, lines - 1), "xxxxxxx");
	assert_null(source_cache_line(*state, path, lines));
	assert_null(source_cache_line(*state, path, lines + 1));
	free(text);
}

static void test_number_of_files_is_capped(void **state)
{
	char path[64];

	for (int i = 0; i < SOURCE_FILES_MAX + 50; i++) {
		snprintf(path, sizeof(path), "/nonexistent/%d.py", i);
		assert_null(source_cache_line(*state, path, 1));
	}
	assert_int_equal(opened, SOURCE_FILES_MAX);
}

static void test_bytes_of_all_files_are_capped(void **state)
{
	size_t size = SOURCE_FILE_BYTES_MAX, readable = 0, files = 24;
	char *text = malloc(size), name[32];

	memset(text, 'x', size);
	text[1] = '\n';
	for (size_t i = 0; i < files; i++) {
		snprintf(name, sizeof(name), "many%zu.py", i);
		if (source_cache_line(*state, write_file(name, text, size), 1))
			readable++;
		unlink(path_of(name));
	}
	free(text);
	assert_in_range(readable, SOURCE_BYTES_MAX / SOURCE_FILE_BYTES_MAX - 1,
			SOURCE_BYTES_MAX / SOURCE_FILE_BYTES_MAX);
}

static void check_fit(const char *text, unsigned columns, bool keep_end, const char *expected,
		      unsigned expected_columns)
{
	char buffer[256];

	assert_int_equal(printable_fit(buffer, sizeof(buffer), text, columns, keep_end),
			 expected_columns);
	assert_string_equal(buffer, expected);
}

static void test_printable_fit(void **state)
{
	char small[6];

	(void)state;
	check_fit("array_subscript", 20, false, "array_subscript", 15);
	check_fit("array_subscript", 15, false, "array_subscript", 15);
	check_fit("array_subscript", 10, false, "array_s...", 10);
	check_fit("array_subscript", 10, true, "...bscript", 10);
	check_fit("array_subscript", 5, false, "array", 5);
	check_fit("array_subscript", 0, false, "", 0);
	check_fit("", 10, true, "", 0);
	check_fit("a\x1b[2Jb\r\n", 40, false, "a\\u001b[2Jb\\u000d\\n", 19);
	check_fit("\x9b bad \xff", 40, false, "\\x9b bad \\xff", 13);
	check_fit("\xc2\x9b", 40, false, "\\u009b", 6);
	check_fit("\xe2\x80\xae", 40, false, "\\u202e", 6);
	check_fit("\xf3\xa0\x80\x81", 40, false, "\\ue0001", 7);
	/* An escape is whole or not there. */
	check_fit("abcdefg\x1b", 10, false, "abcdefg...", 10);
	/* Wide and combining characters. */
	check_fit("\xe6\xbc\xa2\xe5\xad\x97", 4, false, "\xe6\xbc\xa2\xe5\xad\x97", 4);
	check_fit("\xe6\xbc\xa2\xe5\xad\x97", 3, false, "\xe6\xbc\xa2", 2);
	check_fit("e\xcc\x81x", 2, false, "e\xcc\x81x", 2);
	/* The buffer is the limit when it is the smaller one. */
	assert_int_equal(printable_fit(small, sizeof(small), "abcdefghij", 100, false), 5);
	assert_string_equal(small, "ab...");
	assert_int_equal(printable_fit(small, sizeof(small), "abcdefghij", 100, true), 5);
	assert_int_equal(printable_fit(small, 1, "abcdefghij", 100, false), 0);
	assert_string_equal(small, "");
}

static void test_utf8_decode(void **state)
{
	static const char *const invalid[] = { "\x80",
					       "\xc0\x80",
					       "\xc1\xbf",
					       "\xe0\x80\x80",
					       "\xed\xa0\x80",
					       "\xf0\x80\x80\x80",
					       "\xc3",
					       "\xc3(",
					       "\xf4\x90\x80\x80",
					       "\xf5\x80\x80\x80",
					       "\xff" };
	uint32_t code_point = 7;

	(void)state;
	for (size_t i = 0; i < sizeof(invalid) / sizeof(invalid[0]); i++)
		assert_int_equal(utf8_decode(invalid[i], strlen(invalid[i]), &code_point), 0);
	assert_int_equal(utf8_decode("x", 0, &code_point), 0);
	assert_int_equal(utf8_decode("\xe2\x82\xac", 2, &code_point), 0);
	assert_int_equal(code_point, 7);
	assert_int_equal(utf8_decode("\xe2\x82\xac", 3, &code_point), 3);
	assert_int_equal(code_point, 0x20ac);
	assert_int_equal(utf8_decode("\xf4\x8f\xbf\xbf", 4, &code_point), 4);
	assert_int_equal(code_point, 0x10ffff);
	assert_int_equal(utf8_decode("", 1, &code_point), 1);
	assert_int_equal(code_point, 0);
}

#define with_cache(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		with_cache(test_lines),
		with_cache(test_unreadable),
		cmocka_unit_test(test_no_opener),
		with_cache(test_hostile_bytes),
		with_cache(test_columns),
		with_cache(test_long_lines_are_cut),
		with_cache(test_large_files_are_cut),
		with_cache(test_number_of_files_is_capped),
		with_cache(test_bytes_of_all_files_are_capped),
		cmocka_unit_test(test_printable_fit),
		cmocka_unit_test(test_utf8_decode),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
