/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names of threads, from the dict threading._active of the target:
 *
 *   interpreter.modules["threading"]._active = { ident: Thread }, Thread._name
 */
#ifndef PIEPROFD_PYINTROSPECT_THREAD_NAME_H
#define PIEPROFD_PYINTROSPECT_THREAD_NAME_H

#include "pyintrospect/python_thread.h"

struct python_runtime;

/*
 * Names the interpreter's threads among those of the list. 0; -ENOENT:
 * threading is not imported; -EBADMSG and others: it could not be read, or not
 * all of it.
 */
__attribute__((warn_unused_result)) int thread_name_read(const struct python_runtime *runtime,
							 remote_addr interpreter,
							 struct python_thread_list *list);

#endif
