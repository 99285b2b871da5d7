/* SPDX-License-Identifier: Apache-2.0 */
/* The trial on a child: what this kernel allows fires, and the child is gone afterwards. */
#include "attach/trial.h"
#include "tests/unit/under_valgrind.h"

#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/wait.h>

#include <cmocka.h>

static void test_trial(void **state)
{
	struct trial trial;

	(void)state;
	if (under_valgrind())
		skip();
	assert_int_equal(trial_run(&trial), 0);
	if (!trial.attached || trial.clock_errno)
		skip();
	assert_int_equal(trial.memory_errno, 0);
	assert_true(trial.clock_fired);
	if (trial.breakpoints) {
		assert_true(trial.execution_fired);
		if (trial.breakpoints > 1)
			assert_true(trial.data_fired);
	}
	/* Either it was seen to work, or it is said why not. */
	assert_true(trial.program_sampled || trial.program_error.cause[0]);
	print_message("%u breakpoints\n", trial.breakpoints);
	assert_int_equal(waitpid(-1, NULL, __WALL), -1);
	assert_int_equal(errno, ECHILD);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_trial) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
