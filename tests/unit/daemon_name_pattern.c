/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/sample/name_pattern.h"

#include <regex.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void test_what_people_write(void **state)
{
	static const char *const patterns[] = {
		"",
		"worker",
		"^python3(\\.[0-9]+)? .*(train|serve)\\.py",
		"[]+*{}(]+[^]]{2,3}",
		"[[:alpha:]]+-[0-9]{1,4}$",
		"(a+)+b",
		"((a|b)+c){20}",
		"p{400}",
		"\\+\\+\\+\\+\\+\\+\\+\\+\\+\\+\\+\\+",
		"[+][+][++++++++++++++++++++++++]",
		"++++",
		"****",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(patterns) / sizeof(patterns[0]); i++) {
		regex_t expression;

		assert_true(name_pattern_fits(patterns[i]));
		if (regcomp(&expression, patterns[i], REG_EXTENDED | REG_NOSUB) == 0)
			regfree(&expression);
	}
}

static void test_what_takes_all_memory(void **state)
{
	static const char *const patterns[] = {
		"p++++++++++++++++++++++++++++++++",
		"p{200}{200}",
		"((((((((((((p+)+)+)+)+)+)+)+)+)+)+)+",
		"(((p{,60}){60,}){,60})",
		"a|(b(c{1,50}x){50})*",
		"[x](p++++++++++++",
		"p{99999999999999999999}",
		/* Takes long. */
		"a??????????????+++++",
		"a??????????????????????????????????????????????????????????????+++",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(patterns) / sizeof(patterns[0]); i++)
		assert_false(name_pattern_fits(patterns[i]));
}

/* regcomp() calls itself for each parenthesis. */
static void test_depth(void **state)
{
	char *pattern = calloc(1, 1 << 20);

	(void)state;
	assert_non_null(pattern);
	memset(pattern, '(', NAME_PATTERN_MAX / 2);
	assert_true(name_pattern_fits(pattern));
	memset(pattern, '(', (1 << 20) - 1);
	assert_false(name_pattern_fits(pattern));
	memset(pattern, ')', NAME_PATTERN_MAX);
	pattern[NAME_PATTERN_MAX] = '\0';
	assert_true(name_pattern_fits(pattern));
	free(pattern);
}

/* Ends in the middle of something. */
static void test_cut_off(void **state)
{
	static const char *const patterns[] = { "[",  "[^",  "[]",   "[[:", "[[.a", "\\",
						"a{", "a{1", "a{1,", "a{,", "(",    "[[:alpha:" };

	(void)state;
	for (size_t i = 0; i < sizeof(patterns) / sizeof(patterns[0]); i++) {
		/* Of its own size: a sanitizer sees one byte too far. */
		char *copy = strdup(patterns[i]);

		assert_non_null(copy);
		assert_true(name_pattern_fits(copy));
		free(copy);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_what_people_write),
		cmocka_unit_test(test_what_takes_all_memory),
		cmocka_unit_test(test_depth),
		cmocka_unit_test(test_cut_off),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
