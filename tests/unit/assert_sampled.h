/* SPDX-License-Identifier: Apache-2.0 */
/*
 * For what samples or a race give nearly always, but cannot promise: a program
 * in which nothing else fails is run once more by tests/tools/run-unit, which
 * counts it. The twin of check_sampled in tests/e2e/harness.py. cmocka.h is
 * the including file's.
 */
#ifndef PIEPROFD_TESTS_UNIT_ASSERT_SAMPLED_H
#define PIEPROFD_TESTS_UNIT_ASSERT_SAMPLED_H

#define assert_sampled(condition)                                                                  \
	do {                                                                                       \
		if (!(condition)) {                                                                \
			print_message("unlucky: %s:%d: %s\n", __FILE__, __LINE__, #condition);     \
			fail();                                                                    \
		}                                                                                  \
	} while (0)

#endif
