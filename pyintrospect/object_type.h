/* SPDX-License-Identifier: Apache-2.0 */
/* Of which type an object in the target is, by the type's name. */
#ifndef PIEPROFD_PYINTROSPECT_OBJECT_TYPE_H
#define PIEPROFD_PYINTROSPECT_OBJECT_TYPE_H

#include "common/address.h"

#include <stdbool.h>

struct python_runtime;

/* Is this an instance of the type of this name, and of no subclass? */
bool python_object_is(const struct python_runtime *runtime, remote_addr object, const char *type);

/* Is the type at this address of that name? */
bool python_type_is(const struct python_runtime *runtime, remote_addr type, const char *name);

#endif
