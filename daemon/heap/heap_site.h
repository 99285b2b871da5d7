/* SPDX-License-Identifier: Apache-2.0 */
/* A place in the program that a stack of Python's was caught at, with its callers. Pure. */
#ifndef PIEPROFD_DAEMON_HEAP_HEAP_SITE_H
#define PIEPROFD_DAEMON_HEAP_HEAP_SITE_H

#include "pyintrospect/python_stack.h"

#include <stdbool.h>

#define HEAP_SITE_CALLERS_MAX 4

struct heap_site_place {
	char file[256];
	char function[128];
	int line;
};

/* A line of the program, or the innermost one where all of them are a library's. */
struct heap_site {
	struct heap_site_place place;
	struct heap_site_place through; /* a library's that it called; line 0: none */
	struct heap_site_place callers[HEAP_SITE_CALLERS_MAX];
	unsigned caller_count;
};

/* Of a stack that has frames. */
void heap_site_find(const struct python_stack *stack, struct heap_site *ret_site);

/* The same line of the program, whoever called it. */
bool heap_site_same(const struct heap_site *a, const struct heap_site *b);

#endif
