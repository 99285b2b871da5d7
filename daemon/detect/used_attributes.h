/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What functions read of their parameters, by code object and the class of what they are
 * given: with these attributes alone are two calls compared. What methods and properties of
 * that class read in their turn goes with it. Remembered, as all of it is read from the target.
 */
#ifndef PIEPROFD_DAEMON_DETECT_USED_ATTRIBUTES_H
#define PIEPROFD_DAEMON_DETECT_USED_ATTRIBUTES_H

#include "daemon/bytecode/parameter_use.h"
#include "pyintrospect/runtime.h"

struct used_attributes;

#define USED_ATTRIBUTES_MAX 16

struct used_parameter {
	bool whole;
	size_t count; /* 0: it is not read at all */
	/* Names, interned as the keys of dicts are; or fingerprint.h's slots. */
	remote_addr names[USED_ATTRIBUTES_MAX];
};

/* runtime: borrowed. NULL: no memory. */
struct used_attributes *used_attributes_create(struct python_runtime *runtime);
void used_attributes_destroy(struct used_attributes *used);

/*
 * Of a function's parameter by number, for which it was given the object. All counts where code
 * is NULL, or that cannot be told. For the thread that reads stacks.
 */
struct used_parameter used_parameter(struct used_attributes *used, const struct python_code *code,
				     size_t number, remote_addr object);

#endif
