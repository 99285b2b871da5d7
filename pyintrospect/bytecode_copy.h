/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Free-threaded builds from 3.14 on give each thread a copy of the bytecode to
 * specialise, and a frame's instruction lies in that:
 *
 *   frame {tlbc_index} -> code object {co_tlbc} -> {size, entries[tlbc_index]} -> copy
 */
#ifndef PIEPROFD_PYINTROSPECT_BYTECODE_COPY_H
#define PIEPROFD_PYINTROSPECT_BYTECODE_COPY_H

#include <stddef.h>

struct python_runtime;

/*
 * Of the first count raw frames, the heads of whose code objects have been read:
 * makes instruction one of the code object's own. What cannot be found fails its
 * check later. 0 or what the reader said.
 */
__attribute__((warn_unused_result)) int bytecode_copies_find(struct python_runtime *runtime,
							     size_t count);

#endif
