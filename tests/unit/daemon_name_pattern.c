/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/session/name_pattern.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void check(const char *text, const char *command, bool expected)
{
	struct name_pattern *pattern;
	char problem[128];

	assert_int_equal(name_pattern_new(text, &pattern, problem, sizeof(problem)), 0);
	assert_int_equal(name_pattern_matches(pattern, command), expected);
	name_pattern_free(pattern);
}

static void test_what_people_write(void **state)
{
	(void)state;
	check("", "", true);
	check("worker", "python3 -m worker --queue a", true);
	check("worker$", "python3 -m worker --queue a", false);
	check("^python3(\\.[0-9]+)? .*(train|serve)\\.py", "python3.11 -u serve.py", true);
	check("^python3(\\.[0-9]+)? .*(train|serve)\\.py", "/usr/bin/python3 serve.py", false);
	check("[[:alpha:]]+-[0-9]{1,4}$", "python3 queue-17", true);
	check("-[a]", "python3 mine-a", true);
	check("one.two", "one\ntwo", true);
	check("\xff\xfe", "python3 \xff\xfe", true);
}

static void check_refused(const char *text, const char *word)
{
	struct name_pattern *pattern;
	char problem[128];

	assert_int_equal(name_pattern_new(text, &pattern, problem, sizeof(problem)), -EINVAL);
	if (!strstr(problem, word))
		fail_msg("%s: %s", text, problem);
}

static void test_refused(void **state)
{
	char text[NAME_PATTERN_MAX + 2] = "";

	(void)state;
	check_refused("[", "missing terminating ]");
	check_refused("(a", "missing closing parenthesis");
	check_refused("*", "quantifier does not follow");
	check_refused("\\", "\\ at end of pattern");
	check_refused("[[:alfa:]]", "POSIX class");
	check_refused("p{999}{999}", "quantifier does not follow");
	check_refused("((p{99}){99}){99}", "too large");
	check_refused("((((p{90}){90}){90}){90}", "missing closing parenthesis");
	check_refused("(((p{90}){90}){90})", "too large");
	memset(text, 'a', NAME_PATTERN_MAX + 1);
	check_refused(text, "longer than 500 bytes");
	memset(text, '(', NAME_PATTERN_MAX);
	text[NAME_PATTERN_MAX] = '\0';
	check_refused(text, "nested");
}

/* With glibc's regcomp() these take all memory, or many seconds. */
static void test_repetitions_of_repetitions(void **state)
{
	static const char *const patterns[] = {
		"(((((((((((((p+)+)+)+)+)+)+)+)+)+)+)+)+)$",
		"(((((((a?)?)?)?)?)?)?){60}b",
		"(a|(b(c{1,50}x){50})*)*d",
		"(x+x+)+y",
	};
	char *command = calloc(1, 1 << 17);

	(void)state;
	assert_non_null(command);
	memset(command, 'x', (1 << 17) - 1);
	for (size_t i = 0; i < sizeof(patterns) / sizeof(patterns[0]); i++)
		check(patterns[i], command, false);
	free(command);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_what_people_write),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_repetitions_of_repetitions),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
