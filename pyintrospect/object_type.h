/* SPDX-License-Identifier: Apache-2.0 */
/* Of which type an object in the target is, by the type's name. */
#ifndef PIEPROFD_PYINTROSPECT_OBJECT_TYPE_H
#define PIEPROFD_PYINTROSPECT_OBJECT_TYPE_H

#include "common/address.h"

#include <stdbool.h>

struct python_runtime;

/* Where an object's type lies; 0 or what the reader said. */
__attribute__((warn_unused_result)) int python_object_type(const struct python_runtime *runtime,
							   remote_addr object,
							   remote_addr *ret_type);

/* Is this an instance of the type of this name, and of no subclass? */
bool python_object_is(const struct python_runtime *runtime, remote_addr object, const char *type);

/* Is the type at this address of that name? */
bool python_type_is(const struct python_runtime *runtime, remote_addr type, const char *name);

/* The type that a type is derived from first, 0: none; 0 or what the reader said. */
__attribute__((warn_unused_result)) int python_type_base(const struct python_runtime *runtime,
							 remote_addr type, remote_addr *ret_base);

/* Types on the way from one to `object`, more than which are not looked at. */
#define PYTHON_TYPE_BASES_MAX 16

/*
 * A type's name as C has it, cut to what fits: "module.Name", and of a class
 * written in Python "Name". 0 or what the reader said.
 */
__attribute__((warn_unused_result)) int python_type_name(const struct python_runtime *runtime,
							 remote_addr type, char *name, size_t size);

#endif
