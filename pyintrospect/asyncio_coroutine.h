/* SPDX-License-Identifier: Apache-2.0 */
/* Coroutines that are suspended: where, and what they wait for. */
#ifndef PIEPROFD_PYINTROSPECT_ASYNCIO_COROUTINE_H
#define PIEPROFD_PYINTROSPECT_ASYNCIO_COROUTINE_H

#include "pyintrospect/python_stack.h"

/*
 * Follows a coroutine to the innermost one that it waits for, at most maximum
 * of them; outermost first. *ret_awaited is what that one waits for, such as a
 * future, or 0. It stops at a coroutine that runs, or that is none. 0, -ENOMEM,
 * or what the reader said.
 */
__attribute__((warn_unused_result)) int asyncio_coroutine_read(struct python_runtime *runtime,
							       remote_addr coroutine,
							       struct python_frame *frames,
							       size_t maximum, size_t *ret_count,
							       remote_addr *ret_awaited);

#endif
