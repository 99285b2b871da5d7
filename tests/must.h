/* SPDX-License-Identifier: Apache-2.0 */
/* For what can only fail when the test itself, or the machine, is broken: says where, and ends. */
#ifndef PIEPROFD_TESTS_MUST_H
#define PIEPROFD_TESTS_MUST_H

#include <stdio.h>
#include <stdlib.h>

#define must(condition)                                                                            \
	do {                                                                                       \
		if (!(condition)) {                                                                \
			fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);            \
			abort();                                                                   \
		}                                                                                  \
	} while (0)

#endif
