/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The Python frames of a thread that runs on while they are read: Python's alone, for
 * samples that stop nobody. Functions that end meanwhile are left out, and counted.
 */
#ifndef PIEPROFD_DAEMON_SAMPLE_PASSING_STACK_H
#define PIEPROFD_DAEMON_SAMPLE_PASSING_STACK_H

#include "daemon/capture/loss.h"
#include "daemon/capture/target.h"
#include "daemon/cct/cct.h"
#include "pyintrospect/python_stack.h"

/* Reads it; none where that fails, or where the target's interpreter is not read. */
void passing_stack_read(const struct target *target, pid_t inner_tid, struct python_stack *stack,
			struct losses *losses);

/*
 * Its node, the root when the tree is full. frames is room for PYTHON_STACK_FRAMES_MAX.
 * Never NULL.
 */
struct cct_node *passing_stack_insert(const struct python_stack *stack, struct cct *cct,
				      struct frame *frames, struct losses *losses);

#endif
