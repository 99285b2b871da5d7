/* SPDX-License-Identifier: Apache-2.0 */
/*
 * All threads that have a PyThreadState: for one look at a process, such as
 * `dump`. Reads a running target and allocates; not for the sampling path.
 *
 * Each thread is seen at a moment of its own. The lists are read again when
 * they changed meanwhile, a bounded number of times.
 */
#ifndef PIEPROFD_PYINTROSPECT_THREAD_LIST_H
#define PIEPROFD_PYINTROSPECT_THREAD_LIST_H

#include "pyintrospect/python_thread.h"
#include "pyintrospect/runtime.h"

/* 0, -ENOMEM, or what the reader said; freed by python_thread_list_deinit(). */
__attribute__((warn_unused_result)) int python_thread_list_read(
	const struct python_runtime *runtime, struct python_thread_list *ret_list);
void python_thread_list_deinit(struct python_thread_list *list);

#endif
