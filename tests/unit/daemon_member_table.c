/* SPDX-License-Identifier: Apache-2.0 */
/* A group's processes by pid, and what looking for them may cost. */
#include "daemon/look_budget.h"
#include "daemon/member_table.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define MEMBERS 3000

static void test_members(void **state)
{
	struct member_table table = { 0 };
	struct member member = { 0 };

	(void)state;
	assert_null(member_table_find(&table, 1));
	for (int i = 1; i <= MEMBERS; i++) {
		member.pid = i;
		member.start_time = (uint64_t)i;
		assert_non_null(member_table_add(&table, &member));
	}
	for (int i = 1; i <= MEMBERS; i++)
		assert_int_equal(member_table_find(&table, i)->start_time, i);
	for (int i = 1; i <= MEMBERS; i += 3)
		member_table_find(&table, i)->gone = true;
	/* Its number may be another process's at once. */
	assert_null(member_table_find(&table, 1));
	member.pid = 1;
	member.start_time = MEMBERS + 1;
	assert_non_null(member_table_add(&table, &member));
	assert_int_equal(member_table_find(&table, 1)->start_time, MEMBERS + 1);
	member_table_remove_gone(&table);
	assert_int_equal(table.count, MEMBERS - MEMBERS / 3 + 1);
	for (int i = 2; i <= MEMBERS; i++) {
		const struct member *found = member_table_find(&table, i);

		assert_int_equal(found ? found->start_time : 0, i % 3 == 1 ? 0 : i);
	}
	assert_int_equal(member_table_find(&table, 1)->start_time, MEMBERS + 1);
	assert_int_equal(table.items[0].pid, 2);
	member_table_deinit(&table);
}

static void test_budget(void **state)
{
	struct look_budget budget = { 0 };
	uint64_t spent_ns = 0, now_ns = 1;

	(void)state;
	/* Something that costs 3 ms each time, whenever there is anything left, for 100 s. */
	for (unsigned i = 0; i < 2000; i++, now_ns += 50 * NS_PER_MS) {
		look_budget_earn(&budget, now_ns);
		if (budget.left_ns <= 0)
			continue;
		look_budget_spend(&budget, 3 * NS_PER_MS);
		spent_ns += 3 * NS_PER_MS;
	}
	assert_in_range(spent_ns, 245 * NS_PER_MS, 255 * NS_PER_MS);
	/* No debt is for ever, and nothing is saved up for long. */
	look_budget_spend(&budget, UINT64_MAX);
	look_budget_earn(&budget, now_ns += 3 * NS_PER_SECOND);
	assert_true(budget.left_ns > 0);
	look_budget_earn(&budget, now_ns += 1000 * NS_PER_SECOND);
	assert_int_equal(budget.left_ns, LOOK_BUDGET_MAX_NS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_members),
		cmocka_unit_test(test_budget),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
