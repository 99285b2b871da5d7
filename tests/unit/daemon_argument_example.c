/* SPDX-License-Identifier: Apache-2.0 */
/* What the change looks like that a finding asks for. */
#include "daemon/detect/slow_call.h"
#include "daemon/report/model/argument_example.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static uint8_t slow_number(const char *function, const char *file)
{
	const struct python_code code = { .function = function, .file = file };

	return file ? slow_call_find(&code) : slow_call_find_builtin(function, false);
}

static const char *example(struct arena *arena, const struct argument_site *site,
			   enum argument_verdict verdict)
{
	const char *text = argument_example(arena, site, verdict, "f(m)");

	assert_non_null(text);
	return text;
}

/* Every kind of finding has one, and nothing else has. */
static void test_every_verdict(void **state)
{
	struct argument_site site = { .slow = slow_number("iterrows", "/x/pandas/core/frame.py") };
	struct arena arena;

	(void)state;
	assert_true(site.slow);
	arena_init(&arena, 1 << 16);
	for (unsigned v = 0; v < ARGUMENT_VERDICT_COUNT; v++)
		if (v == ARGUMENT_UNKNOWN || v == ARGUMENT_NEEDED)
			assert_null(argument_example(&arena, &site, v, "f(m)"));
		else
			assert_true(strlen(example(&arena, &site, v)) < 100);
	arena_deinit(&arena);
}

/* What stays as it is, and is made elsewhere. */
static void test_expression(void **state)
{
	static const char long_one[] = "function_of_a_long_name(argument_one, argument_two, "
				       "argument_three)";
	struct argument_site site = { 0 };
	struct arena arena;

	(void)state;
	arena_init(&arena, 1 << 16);
	assert_string_equal(example(&arena, &site, ARGUMENT_INVARIANT),
			    "kept = f(m), before the loop; in it kept");
	assert_string_equal(argument_example(&arena, &site, ARGUMENT_INVARIANT, long_one),
			    "kept = ..., before the loop; in it kept");
	assert_string_equal(argument_example(&arena, &site, ARGUMENT_INVARIANT, NULL),
			    "kept = ..., before the loop; in it kept");
	arena_deinit(&arena);
}

/* By what is called: no set helps who goes on with a copy. */
static void test_calls(void **state)
{
	struct argument_site deepcopy = { .slow = slow_number("deepcopy", "/lib/copy.py") };
	struct argument_site pop = { .slow = slow_number("pop", NULL) };
	struct argument_site contains = { .kind = OPERATION_CONTAINS };
	struct argument_site text = { .kind = OPERATION_BINARY,
				      .operand_count = 1,
				      .operands = { { .kind = CONTENT_STR } } };
	struct arena arena;

	(void)state;
	arena_init(&arena, 1 << 16);
	assert_non_null(strstr(example(&arena, &deepcopy, ARGUMENT_REPEATED), "replace("));
	assert_non_null(strstr(example(&arena, &pop, ARGUMENT_CUT), "deque"));
	assert_non_null(strstr(example(&arena, &contains, ARGUMENT_SEARCHED), "set("));
	assert_non_null(strstr(example(&arena, &text, ARGUMENT_GROWING), "join("));
	arena_deinit(&arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_verdict),
		cmocka_unit_test(test_expression),
		cmocka_unit_test(test_calls),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
