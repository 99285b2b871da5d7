/* SPDX-License-Identifier: Apache-2.0 */
/* Functions in C by their names, and what a query's text begins with. */
#include "daemon/detect/builtin_call.h"
#include "own_memory.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

struct definition {
	const char *name;
	const void *function;
};

/* A compact str of ASCII characters: head, characters, a zero. */
struct text {
	uint64_t words[6 + 64];
};

static struct database_query read_query(int minor, const char *query)
{
	struct builtin_calls calls = { .minor = minor };
	struct text text = { { 0 } };
	struct database_query result = { 0 };

	own_forge(&text, 16, strlen(query));
	strcpy((char *)&text + (minor >= 12 ? 40 : 48), query);
	assert_true(builtin_call_read_query(&calls, &own_memory, own_address(&text), &result));
	return result;
}

static void test_queries(void **state)
{
	(void)state;
	for (int minor = 6; minor <= 15; minor++) {
		assert_int_equal(read_query(minor, "SELECT 1 FROM t").kind, DATABASE_QUERY_ROWS);
		assert_int_equal(read_query(minor, "\n\t  select 1").kind, DATABASE_QUERY_ROWS);
		assert_int_equal(read_query(minor, "SELECT 1 FROM t").table_count, 1);
		assert_int_equal(read_query(minor, "UPDATE t SET a = 1").kind,
				 DATABASE_QUERY_WRITES);
	}
}

static void test_unreadable_query(void **state)
{
	struct builtin_calls calls = { .minor = 11 };
	struct database_query result;
	struct text text = { { 0 } };

	(void)state;
	assert_false(builtin_call_read_query(&calls, &own_memory, 0, &result));
	/* It has no text. */
	assert_false(builtin_call_read_query(&calls, &own_memory, own_address(&text), &result));
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
		assert_true(find(&calls, &methods[1])->queries);
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
