/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loops that do nothing but to keep items of a sequence as they are, one by one, at other places: a
 * slice would. Read from bytecode. Pure.
 *
 *   for i in range(a, b):
 *       out.append(items[i])          or  out[k + i] = items[i], [items[i] for i in ...]
 */
#ifndef PIEPROFD_DAEMON_BYTECODE_COPY_LOOP_H
#define PIEPROFD_DAEMON_BYTECODE_COPY_LOOP_H

#include "daemon/bytecode/loop.h"

struct copy_loop {
	int taken; /* offset of what takes an item out */
	int call;  /* and of the call that it is given to; -1: there is none */
};

/* Is the loop one? That it counts, and which function it calls, is not told by bytecode. */
bool copy_loop_find(const struct bytecode *bytecode, const struct loop *loop,
		    struct copy_loop *ret);

#endif
