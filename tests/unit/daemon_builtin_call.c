/* SPDX-License-Identifier: Apache-2.0 */
/* Functions in C by their names, and what a query's text begins with. */
#include "daemon/detect/builtin_call.h"
#include "own_memory.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

struct definition {
	const char *name;
	const void *function;
};

/* A compact str of ASCII characters: head, characters, a zero. */
struct text {
	char bytes[48 + 64];
};

static bool asks(int minor, const char *query)
{
	struct builtin_calls calls = { .minor = minor };
	struct text text = { { 0 } };

	strcpy(text.bytes + (minor >= 12 ? 40 : 48), query);
	return builtin_call_asks_for_rows(&calls, &own_memory, own_address(&text));
}

static void test_queries(void **state)
{
	(void)state;
	for (int minor = 6; minor <= 15; minor++) {
		assert_true(asks(minor, "SELECT 1"));
		assert_true(asks(minor, "select rate from rates"));
		assert_true(asks(minor, "\n\t    (Select 1)"));
		assert_false(asks(minor, ""));
		assert_false(asks(minor, "SELEC"));
		assert_false(asks(minor, "INSERT INTO t SELECT 1"));
		assert_false(asks(minor, "UPDATE t SET a = (SELECT 1)"));
		/* It may end in DELETE. */
		assert_false(asks(minor, "WITH old AS (SELECT 1) DELETE FROM t"));
		assert_false(asks(minor, "                                        SELECT 1"));
	}
}

static void test_unreadable_query(void **state)
{
	struct builtin_calls calls = { .minor = 11 };

	(void)state;
	assert_false(builtin_call_asks_for_rows(&calls, &own_memory, 0));
}

static const struct builtin_call *find(struct builtin_calls *calls, const struct definition *method)
{
	struct fingerprint print = { .kind = CONTENT_CALLABLE, .definition = own_address(method) };

	return builtin_call_find(calls, &own_memory, &print);
}

static void test_names(void **state)
{
	static const char execute[32] = "execute", many[32] = "executemany", random[32] = "random";
	const struct definition methods[] = { { execute, NULL }, { many, NULL }, { random, NULL } };
	struct builtin_calls calls = { .minor = 11 };

	(void)state;
	/* The second time it is remembered. */
	for (int i = 0; i < 2; i++) {
		assert_true(find(&calls, &methods[0])->queries);
		assert_false(find(&calls, &methods[0])->asks);
		assert_false(find(&calls, &methods[1])->queries);
		assert_false(find(&calls, &methods[2])->queries);
		assert_true(find(&calls, &methods[2])->asks);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_queries),
		cmocka_unit_test(test_unreadable_query),
		cmocka_unit_test(test_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
