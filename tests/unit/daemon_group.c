/* SPDX-License-Identifier: Apache-2.0 */
/* A group that has found more processes than it watches. */
#include "daemon/session/group_parts.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define WATCHED 16384 /* as in docs/SECURITY.md */
#define LATER   3

static void test_too_many_members(void **state)
{
	struct group group = { .sessions = 0 };
	pid_t pids[LATER];

	(void)state;
	for (size_t i = 0; i < LATER; i++) {
		pids[i] = fork();
		assert_true(pids[i] >= 0);
		if (!pids[i])
			for (;;)
				pause();
	}
	/* The table does not ask whether one is there already. */
	for (size_t i = 0; i < WATCHED; i++)
		assert_non_null(group_add_member(&group, getppid(), 0));
	assert_null(group.notes);
	/* Each counts once, however often it is met. */
	for (size_t i = 0; i < 2 * LATER; i++) {
		assert_null(group_add_member(&group, pids[i % LATER], 0));
		assert_int_equal(group.losses.counts[LOSS_PROCESS_REFUSED],
				 i < LATER ? i + 1 : LATER);
	}
	assert_int_equal(group.members.count, WATCHED);
	assert_string_equal(group.notes, "too many processes: new ones are left out\n");
	for (size_t i = 0; i < LATER; i++) {
		kill(pids[i], SIGKILL);
		assert_int_equal(waitpid(pids[i], NULL, 0), pids[i]);
	}
	member_table_deinit(&group.members);
	free(group.left_out);
	free(group.notes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_too_many_members),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
