/* SPDX-License-Identifier: Apache-2.0 */
/*
 * All objects that the garbage collector knows, for one look at a process: those
 * whose type may hold references to others. Lists of them hang on the interpreter
 * (to 3.8 on the runtime), one a generation, and one of those frozen.
 *
 *   generations[0] -> object -> object -> ... -> generations[0]     both ways
 *
 * A target that runs changes the lists meanwhile. Every link has to lead back to
 * where it came from; where one does not, the list is walked again, and at last
 * from its other end. What was not seen then is said.
 */
#ifndef PIEPROFD_PYINTROSPECT_GC_OBJECTS_H
#define PIEPROFD_PYINTROSPECT_GC_OBJECTS_H

#include "common/address.h"

struct python_runtime;

/* Looked at in all lists of one interpreter together, each time that they are. */
#define GC_OBJECTS_MAX (4u << 20)

struct gc_visitor {
	/* 0, or a negative errno that ends the walk. An object may come twice. */
	int (*visit)(void *context, remote_addr object, remote_addr type);
	void *context;
};

enum gc_objects_flag {
	GC_OBJECTS_UNKNOWN = 1,    /* this version is not read */
	GC_OBJECTS_INCOMPLETE = 2, /* the lists changed meanwhile */
	GC_OBJECTS_CUT = 4,        /* there are more than GC_OBJECTS_MAX */
};

/* 0 with flags set in *ret_flags; else what the visitor or the reader said. */
__attribute__((warn_unused_result)) int gc_objects_visit(const struct python_runtime *runtime,
							 remote_addr interpreter,
							 const struct gc_visitor *visitor,
							 uint32_t *ret_flags);

#endif
