/* SPDX-License-Identifier: Apache-2.0 */
/* Names of recordings: words, and files of names. */
#include "daemon/cli/recording_list.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static int add_file(struct recording_list *list, const char *bytes, size_t size,
		    struct error *error)
{
	char path[] = "/tmp/pieprofd-list-XXXXXX", word[sizeof(path) + 1];
	int fd = mkstemp(path), result;

	assert_true(fd >= 0);
	assert_int_equal(write(fd, bytes, size), (ssize_t)size);
	close(fd);
	snprintf(word, sizeof(word), "@%s", path);
	result = recording_list_add(list, word, error);
	unlink(path);
	return result;
}

#define ADD(list, text, error) add_file(list, text, sizeof(text) - 1, error)

static void test_names(void **state)
{
	static const char *const names[] = { "one", "a b", "c", "d", "e\n", "f" };
	struct recording_list list = { 0 };
	struct error error;

	(void)state;
	assert_int_equal(recording_list_add(&list, "one", &error), 0);
	assert_int_equal(ADD(&list, "a b\n\nc\n", &error), 0);
	assert_int_equal(ADD(&list, "d", &error), 0);
	assert_int_equal(ADD(&list, "e\n\0f\0", &error), 0);
	assert_int_equal(list.count, 6);
	for (size_t i = 0; i < 6; i++)
		assert_string_equal(list.paths[i], names[i]);
	recording_list_deinit(&list);
}

static void test_refusals(void **state)
{
	struct recording_list list = { 0 };
	struct error error;

	(void)state;
	assert_int_equal(recording_list_add(&list, "@/nowhere/at-all", &error), -1);
	assert_int_equal(error.exit_code, EXIT_USAGE);
	assert_int_equal(ADD(&list, "\n\n", &error), -1);
	assert_non_null(strstr(error.cause, "names no recording"));
	assert_int_equal(ADD(&list, "", &error), -1);
	assert_int_equal(list.count, 0);
	recording_list_deinit(&list);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_refusals),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
