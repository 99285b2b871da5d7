/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What functions read of their parameters, by code object: with these attributes alone are
 * two calls compared. Remembered, as the names are read from the target.
 */
#ifndef PIEPROFD_DAEMON_DETECT_USED_ATTRIBUTES_H
#define PIEPROFD_DAEMON_DETECT_USED_ATTRIBUTES_H

#include "daemon/bytecode/parameter_use.h"
#include "pyintrospect/runtime.h"

struct used_attributes;

struct used_parameter {
	bool whole;
	size_t count;                                /* 0: it is not read at all */
	remote_addr names[PARAMETER_ATTRIBUTES_MAX]; /* interned, as the keys of dicts are */
};

/* runtime: borrowed. NULL: no memory. */
struct used_attributes *used_attributes_create(const struct python_runtime *runtime);
void used_attributes_destroy(struct used_attributes *used);

/*
 * Of a function's parameter by number. NULL: it counts as a whole, or code is NULL, or that
 * cannot be told. Valid until the next code object is asked for.
 */
const struct used_parameter *used_parameter(struct used_attributes *used,
					    const struct python_code *code, size_t number);

#endif
