/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where the search for holders begins, the most telling roots first:
 *
 *   variables of the program's own modules, then their classes and functions
 *   local variables of frames
 *   variables of all other modules
 *   -- and when all of that is followed --
 *   thread states, values on evaluation stacks, the interpreter, static data of libraries,
 *   C stacks
 */
#ifndef PIEPROFD_PYINTROSPECT_HEAP_HEAP_ROOTS_H
#define PIEPROFD_PYINTROSPECT_HEAP_HEAP_ROOTS_H

#include "pyintrospect/heap/heap_walk.h"
#include "pyintrospect/runtime.h"

#define HEAP_INTERPRETERS_MAX 64

/*
 * Is the dict of sys.modules an object of the copy? If not, an allocator was in use that is not
 * read.
 */
bool heap_roots_are_known(const struct heap_walk *walk, const struct python_runtime *runtime);

/* All of the above is in the queue, or followed, then. 0, -ENOMEM, or what the reader said. */
__attribute__((warn_unused_result)) int heap_roots_follow(struct heap_walk *walk,
							  struct python_runtime *runtime);

#endif
