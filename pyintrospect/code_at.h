/* SPDX-License-Identifier: Apache-2.0 */
/* A code object that no frame has led to: a coroutine's, a function's. */
#ifndef PIEPROFD_PYINTROSPECT_CODE_AT_H
#define PIEPROFD_PYINTROSPECT_CODE_AT_H

#include "pyintrospect/code_object.h"
#include "pyintrospect/runtime.h"

/*
 * For the thread that reads stacks. 0, -EBADMSG (there is none at this address), -EFAULT,
 * -ENOMEM or what the reader said.
 */
__attribute__((warn_unused_result)) int code_at(struct python_runtime *runtime, remote_addr address,
						const struct python_code **ret_code);

#endif
