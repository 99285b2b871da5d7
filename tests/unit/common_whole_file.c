/* SPDX-License-Identifier: Apache-2.0 */
/* Files whose size is known, unknown, at the limit and beyond it. */
#include "common/whole_file.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static void test_sizes(void **state)
{
	static const size_t sizes[] = { 0, 1, 4094, 4095, 4096, 4097, 8191, 8192, 100000 };
	char path[] = "/tmp/whole_fileXXXXXX", *bytes = malloc(100000), *text;
	int fd = mkstemp(path);
	size_t size;

	(void)state;
	assert_true(fd >= 0);
	for (size_t i = 0; i < 100000; i++)
		bytes[i] = (char)('a' + i % 26);
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		assert_int_equal(ftruncate(fd, 0), 0);
		assert_int_equal(pwrite(fd, bytes, sizes[i], 0), sizes[i]);
		for (size_t limit = sizes[i] ? sizes[i] - 1 : 0; limit <= sizes[i] + 1; limit++) {
			size_t expected = sizes[i] < limit ? sizes[i] : limit;

			assert_int_equal(whole_file_read(path, limit, &text, &size), 0);
			assert_int_equal(size, expected);
			assert_memory_equal(text, bytes, expected);
			assert_int_equal(text[size], 0);
			free(text);
		}
	}
	close(fd);
	unlink(path);
	assert_int_equal(whole_file_read(path, 10, &text, &size), -ENOENT);
	assert_int_equal(whole_file_read("/tmp", 10, &text, &size), -EISDIR);
	assert_int_equal(whole_file_read("/proc/self/status", 1 << 20, &text, &size), 0);
	assert_true(size > 100 && !strncmp(text, "Name:", 5));
	free(text);
	free(bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_sizes) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
