/* SPDX-License-Identifier: Apache-2.0 */
/* A machine with more Python processes than are listed. */
#include "daemon/inspect/list_writer.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static pid_t start_python(void)
{
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		execlp("python3", "python3", "-c", "import time; time.sleep(600)", NULL);
		_exit(127);
	}
	return pid;
}

static void test_limit(void **state)
{
	pid_t pids[2] = { start_python(), start_python() };
	struct process_list *list = NULL;
	struct error error;

	(void)state;
	/* Until both have begun. */
	for (int i = 0; i < 50; i++) {
		size_t mine = 0;

		process_list_destroy(list);
		list = process_list_take(&error);
		assert_non_null(list);
		assert_false(list->cut);
		for (size_t k = 0; k < list->count; k++)
			mine += list->items[k].pid == pids[0] || list->items[k].pid == pids[1];
		if (mine == 2)
			break;
	}
	assert_true(list->count >= 2);
	process_list_destroy(list);
	list = process_list_take_some(1, &error);
	assert_non_null(list);
	assert_int_equal(list->count, 1);
	assert_true(list->cut);
	process_list_destroy(list);
	for (int i = 0; i < 2; i++) {
		kill(pids[i], SIGKILL);
		waitpid(pids[i], NULL, 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_limit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
