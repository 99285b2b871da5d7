/* SPDX-License-Identifier: Apache-2.0 */
/* More thread states than are remembered. */
#include "pyintrospect/thread_table.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define STATES 4096 /* as in docs/SECURITY.md */

static void test_limit(void **state)
{
	struct thread_table table;

	(void)state;
	assert_int_equal(thread_table_init(&table), 0);
	for (int round = 0; round < 2; round++) {
		for (pid_t tid = 1; tid <= STATES + 2; tid++) {
			struct thread_state found = { .tid = tid, .address = 0x1000u * tid };

			assert_int_equal(thread_table_add(&table, &found),
					 tid <= STATES ? 0 : -ENOSPC);
		}
		assert_int_equal(table.count, STATES);
		for (pid_t tid = 1; tid <= STATES; tid++)
			assert_int_equal((*thread_table_slot(&table, tid))->address, 0x1000u * tid);
		assert_null(*thread_table_slot(&table, STATES + 1));
		/* Another thread may have its place then. */
		thread_table_forget(&table);
		assert_int_equal(table.count, 0);
	}
	thread_table_deinit(&table);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_limit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
