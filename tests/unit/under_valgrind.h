/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether valgrind runs the test. It runs translated code there, at other
 * addresses and on a stack that is not the kernel's, with all signals blocked:
 * no clock stops such a process, nor a child of it, and no breakpoint on an
 * instruction does.
 */
#ifndef PIEPROFD_TESTS_UNIT_UNDER_VALGRIND_H
#define PIEPROFD_TESTS_UNIT_UNDER_VALGRIND_H

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static inline bool under_valgrind(void)
{
	const char *preloaded = getenv("LD_PRELOAD");

	return preloaded && strstr(preloaded, "vgpreload");
}

#endif
