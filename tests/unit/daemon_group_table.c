/* SPDX-License-Identifier: Apache-2.0 */
/* Groups of ranks: whose they are, and of which it is not known. */
#include "daemon/trace/group_table.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static struct group_table table;

static void test_some(void **state)
{
	static const int32_t ranks[] = { 2, 3, 7 }, mixed[] = { 3, 2 }, twice[] = { 2, 2 },
			     negative[] = { -1, 2 };
	const struct rank_group *group;

	(void)state;
	table = (struct group_table){ 0 };
	group_table_add_whole(&table, 100, 5);
	group_table_add_some(&table, 200, 100, ranks, 3);
	group = group_table_find(&table, 200);
	assert_non_null(group);
	assert_int_equal(group->communicator, 5);
	assert_int_equal(group->first, 2);
	assert_false(group->is_whole);
	/* In another order, not at all, of one that is not known, of some of some. */
	group_table_add_some(&table, 300, 100, mixed, 2);
	group_table_add_some(&table, 301, 100, twice, 2);
	group_table_add_some(&table, 302, 100, negative, 2);
	group_table_add_some(&table, 303, 100, ranks, 0);
	group_table_add_some(&table, 304, 999, ranks, 3);
	group_table_add_some(&table, 305, 200, ranks, 3);
	for (uint64_t handle = 300; handle <= 305; handle++)
		assert_null(group_table_find(&table, handle));
	/* A handle that is used anew is the new one's, whatever that is. */
	group_table_add_some(&table, 200, 100, mixed, 2);
	assert_null(group_table_find(&table, 200));
	group_table_remove(&table, 100);
	assert_null(group_table_find(&table, 100));
	group_table_add_whole(&table, 0, 5);
	assert_null(group_table_find(&table, 0));
	assert_int_equal(table.count, 0);
}

static void test_full(void **state)
{
	(void)state;
	table = (struct group_table){ 0 };
	for (uint64_t handle = 1; handle <= 3 * GROUPS_MAX; handle++) {
		group_table_add_whole(&table, handle, 2);
		assert_non_null(group_table_find(&table, handle));
	}
	assert_int_equal(table.count, GROUPS_MAX);
	assert_null(group_table_find(&table, 1));
	assert_null(group_table_find(&table, 2 * GROUPS_MAX));
	assert_non_null(group_table_find(&table, 2 * GROUPS_MAX + 1));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_some),
		cmocka_unit_test(test_full),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
