/* SPDX-License-Identifier: Apache-2.0 */
/* Threads that come and go, against an array that says which are there. */
#include "attach/tracee_table.h"

#include "tests/unit/unit_random.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define TIDS 600 /* so that some share a bucket */

/* Each of them once, and nothing else. */
static void check_each(const struct tracee_table *table, const bool *there)
{
	static unsigned seen[TIDS];
	size_t count = 0;

	memset(seen, 0, sizeof(seen));
	tracee_table_each (table, tracee) {
		assert_in_range(tracee->id.tid, 0, TIDS - 1);
		seen[tracee->id.tid]++;
		count++;
	}
	assert_int_equal(count, table->count);
	for (size_t i = 0; i < TIDS; i++)
		assert_int_equal(seen[i], there[i]);
}

static void test_comes_and_goes(void **state)
{
	static struct tracee tracees[TIDS];
	static bool there[TIDS];
	struct tracee_table table = { 0 };
	struct unit_random random = { 1 };

	(void)state;
	check_each(&table, there);
	for (unsigned i = 0; i < TIDS; i++)
		tracees[i].id.tid = (pid_t)i;
	for (unsigned round = 0; round < 5000; round++) {
		unsigned i = (unsigned)unit_random_below(&random, TIDS);

		assert_ptr_equal(tracee_table_find(&table, (pid_t)i),
				 there[i] ? &tracees[i] : NULL);
		if (there[i])
			tracee_table_remove(&table, &tracees[i]);
		else
			tracee_table_add(&table, &tracees[i]);
		there[i] = !there[i];
		if (round % 100 == 0)
			check_each(&table, there);
	}
	check_each(&table, there);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_comes_and_goes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
