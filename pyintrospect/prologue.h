/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Recovery from a state of 3.11 and 3.12 that exists even in a stopped thread:
 * the evaluation loop's prologue publishes the address of its _PyCFrame (and
 * with it the top of the Python stack) before it has filled it in.
 */
#ifndef PIEPROFD_PYINTROSPECT_PROLOGUE_H
#define PIEPROFD_PYINTROSPECT_PROLOGUE_H

#include "common/stack_snapshot.h"
#include "pyintrospect/frame_walk.h"

/*
 * Finds the _PyCFrame of the caller's evaluation loop and lets *start begin
 * there. -ENOENT: it could not be told for certain.
 */
__attribute__((warn_unused_result)) int prologue_recover(struct python_runtime *runtime,
							 const struct stack_snapshot *stack,
							 struct frame_walk_start *start);

#endif
