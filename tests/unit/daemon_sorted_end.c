/* SPDX-License-Identifier: Apache-2.0 */
/* Which item of what was sorted a line of source takes. */
#include "daemon/report/model/sorted_end.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void test_ends(void **state)
{
	static const char *const taken[] = {
		"best = sorted(bids)[0]",
		"amount, farm = sorted((a, f) for f, a in self.bids.items())[-1]",
		"x = sorted(names, key=lambda n: n[1])[0].title()",
		"y = sorted(sorted(a) + ['(', \"\\\")\"])[-1]",
		"z = sorted(a)[5], sorted(b)[0]",
		"least = np.sort(prices)[0]",
	};
	static const char *const others[] = {
		"median = sorted(self.sales)[1000]",
		"third = numpy.sort(a)[3]",
		"top = sorted(bids)[:3]",
		"middle = sorted(x)[len(x) // 2]",
		"all = sorted(bids)",
		"low = sorted(a)[-2]",
		"middle = sorted((a, b, c))[1]",
		"row = sorted(a)[0:2]",
		"cut = sorted(a, key=f(",
		"b = sorted(a # )[0]",
		"c = sorted('",
		"d = sorted(a)['0']",
		"e = sorted(a)[",
		"",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(taken) / sizeof(taken[0]); i++)
		assert_true(sorted_end_is_taken(taken[i]));
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		assert_false(sorted_end_is_taken(others[i]));
	assert_false(sorted_end_is_taken(NULL));
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_ends) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
