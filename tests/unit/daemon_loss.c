/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/capture/loss.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static void test_every_reason_has_a_name_of_its_own(void **state)
{
	(void)state;
	for (int a = 0; a < LOSS_COUNT; a++) {
		assert_non_null(loss_name(a));
		assert_true(strlen(loss_words(a)) > 0);
		/* Keys of the JSON report. */
		assert_int_equal(strspn(loss_name(a), "abcdefghijklmnopqrstuvwxyz_"),
				 strlen(loss_name(a)));
		for (int b = 0; b < a; b++) {
			assert_string_not_equal(loss_name(a), loss_name(b));
			assert_string_not_equal(loss_words(a), loss_words(b));
		}
	}
	assert_string_equal(loss_name(LOSS_FILTER_COLLECTOR), "filter_collector");
}

static void test_unknown_reason(void **state)
{
	(void)state;
	assert_string_equal(loss_name(LOSS_COUNT), "unknown");
	assert_string_equal(loss_words((enum loss) - 1), "unknown");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_reason_has_a_name_of_its_own),
		cmocka_unit_test(test_unknown_reason),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
