/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a function reads that it was not given: the globals that its code names, and what it takes
 * of them, as random.random or os.path.getmtime. Pure.
 */
#ifndef PIEPROFD_DAEMON_BYTECODE_GLOBAL_USE_H
#define PIEPROFD_DAEMON_BYTECODE_GLOBAL_USE_H

#include "daemon/bytecode/bytecode.h"

#include <stdbool.h>

#define GLOBAL_USES_MAX 48

/* Indices in PYTHON_NAMES. */
struct global_use {
	uint32_t global;
	uint32_t last; /* of the attributes behind it; global itself: there is none */
};

struct global_uses {
	size_t count;
	bool cut;                                 /* there are more */
	struct global_use items[GLOBAL_USES_MAX]; /* each once */
};

void global_uses_find(const struct bytecode *bytecode, struct global_uses *ret_uses);

#endif
