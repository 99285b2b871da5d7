/* SPDX-License-Identifier: Apache-2.0 */
/* What a refusal says may be sent to a terminal, whatever names are in it. */
#include "common/error.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void test_words(void **state)
{
	struct error error;

	(void)state;
	error_set(&error, EXIT_NO_TARGET, "process %d (%s) does not run CPython", 12,
		  "/usr/bin/caf\xc3\xa9");
	assert_int_equal(error.exit_code, EXIT_NO_TARGET);
	assert_string_equal(error.cause, "process 12 (/usr/bin/caf\xc3\xa9) does not run CPython");
	assert_string_equal(error.cure, "");
	error_set_cure(&error, "End it: kill %d.", 12);
	assert_string_equal(error.cure, "End it: kill 12.");
}

/* Of a program's name: escape sequences, a second line, the direction of text, what is no UTF-8. */
static void test_control_characters(void **state)
{
	static const char name[] = "a\033]0;b\007\nc\xe2\x80\xae\xc2\x9b\xff";
	struct error error;

	(void)state;
	error_set(&error, EXIT_PERMISSION, "traced by %s", name);
	assert_string_equal(error.cause, "traced by a\\u001b]0;b\\u0007\\nc\\u202e\\u009b\\xff");
	error_set_cure(&error, "End %s.", name);
	assert_string_equal(error.cure, "End a\\u001b]0;b\\u0007\\nc\\u202e\\u009b\\xff.");
}

static void test_long_names(void **state)
{
	char name[4096];
	struct error error;

	(void)state;
	memset(name, '\033', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	error_set(&error, EXIT_INTERNAL, "%s", name);
	error_set_cure(&error, "%s", name);
	assert_in_range(strlen(error.cause), 370, sizeof(error.cause) - 1);
	assert_in_range(strlen(error.cure), 500, sizeof(error.cure) - 1);
	assert_null(strchr(error.cause, '\033'));
	assert_null(strchr(error.cure, '\033'));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_words),
		cmocka_unit_test(test_control_characters),
		cmocka_unit_test(test_long_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
