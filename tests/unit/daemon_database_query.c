/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/detect/database_query.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static struct database_query parse(const char *text)
{
	return database_query_parse(text, strlen(text));
}

/* Of a query for rows: could what another one writes change them? */
static bool meets(const char *rows, const char *writes)
{
	struct database_query asking = parse(rows), writing = parse(writes);
	struct database_written written = { .count = 0 };

	assert_int_equal(asking.kind, DATABASE_QUERY_ROWS);
	assert_int_equal(writing.kind, DATABASE_QUERY_WRITES);
	assert_false(database_written_has(&written, &asking));
	database_written_add(&written, &writing);
	return database_written_has(&written, &asking);
}

static void test_kinds(void **state)
{
	static const struct {
		const char *text;
		enum database_query_kind kind;
		size_t tables;
	} cases[] = {
		{ "SELECT rate FROM rates", DATABASE_QUERY_ROWS, 1 },
		{ "\n\t  (select 1)", DATABASE_QUERY_ROWS, 0 },
		{ "SELECT x FROM a JOIN b ON a.i = b.i LEFT JOIN c", DATABASE_QUERY_ROWS, 3 },
		{ "SELECT x, y FROM a, b WHERE z IN (1, 2)", DATABASE_QUERY_ROWS, 2 },
		{ "SELECT x FROM (SELECT y FROM a) WHERE z", DATABASE_QUERY_ROWS, 1 },
		{ "INSERT INTO t VALUES (?, ?)", DATABASE_QUERY_WRITES, 1 },
		{ "insert or replace into t values (?)", DATABASE_QUERY_WRITES, 1 },
		{ "UPDATE OR IGNORE t SET a = 1", DATABASE_QUERY_WRITES, 1 },
		{ "DELETE FROM t WHERE a = 1", DATABASE_QUERY_WRITES, 1 },
		{ "DROP TABLE IF EXISTS t", DATABASE_QUERY_WRITES, 1 },
		{ "WITH old AS (SELECT 1) DELETE FROM t", DATABASE_QUERY_OTHER, 1 },
		{ "PRAGMA user_version", DATABASE_QUERY_OTHER, 0 },
		{ "", DATABASE_QUERY_OTHER, 0 },
		{ "SELECTED", DATABASE_QUERY_OTHER, 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct database_query query = parse(cases[i].text);

		if (query.kind != cases[i].kind || query.table_count != cases[i].tables ||
		    query.more)
			print_message("%s\n", cases[i].text);
		assert_int_equal(query.kind, cases[i].kind);
		assert_int_equal(query.table_count, cases[i].tables);
		assert_false(query.more);
	}
}

static void test_written(void **state)
{
	(void)state;
	assert_true(meets("SELECT a FROM lots", "UPDATE Lots SET a = 1"));
	assert_true(meets("SELECT a FROM \"lots\" l", "INSERT INTO [lots] VALUES (1)"));
	assert_true(meets("SELECT a FROM x JOIN lots", "DELETE FROM lots"));
	assert_true(meets("SELECT a FROM x, lots", "DELETE FROM lots"));
	assert_false(meets("SELECT a FROM rates", "INSERT INTO sales VALUES (?, ?)"));
	assert_false(meets("SELECT a, lots FROM rates", "INSERT INTO lots VALUES (?, ?)"));
	/* Which one is not known. */
	assert_true(meets("SELECT a FROM rates", "UPDATE"));
	/* It may be the fifth. */
	assert_true(meets("SELECT 1 FROM a, b, c, d, e", "DELETE FROM f"));
}

static void test_long_texts(void **state)
{
	char text[2 * DATABASE_QUERY_TEXT];
	struct database_query query;
	struct database_written written = { .count = 0 };

	(void)state;
	memset(text, ' ', sizeof(text));
	memcpy(text, "SELECT a FROM b", 15);
	query = database_query_parse(text, sizeof(text));
	assert_true(query.more);
	assert_int_equal(query.table_count, 1);
	assert_false(database_written_has(&written, &query));
	/* What was not seen may be of this table. */
	written.count = 1;
	assert_true(database_written_has(&written, &query));
	/* What it writes was seen. */
	memcpy(text, "INSERT INTO c (", 15);
	query = database_query_parse(text, sizeof(text));
	written.count = 0;
	database_written_add(&written, &query);
	assert_false(written.more);
	assert_int_equal(written.count, 1);
}

static void test_many_tables(void **state)
{
	struct database_written written = { .count = 0 };
	struct database_query query = parse("DELETE FROM t");

	(void)state;
	for (unsigned i = 0; i < 2 * DATABASE_WRITTEN_MAX; i++) {
		query.tables[0] = i + 1;
		database_written_add(&written, &query);
	}
	assert_int_equal(written.count, DATABASE_WRITTEN_MAX);
	assert_true(written.more);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_kinds),
		cmocka_unit_test(test_written),
		cmocka_unit_test(test_long_texts),
		cmocka_unit_test(test_many_tables),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
