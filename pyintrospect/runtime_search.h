/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An interpreter whose binary has no symbols: linked statically into a program
 * that exports nothing, and stripped. What symbols would say is searched for
 * in the live process, in the sections that strip keeps.
 *
 *   version            .rodata           the string "3.N.M" of its own
 *   type of code       .data             a type object named "code"
 *   _PyRuntime, 3.13+  .data, .bss       the cookie of _Py_DebugOffsets
 *   interpreters       .data, .bss       a pointer to an interpreter whose thread
 *                                        state points back to it
 *
 * Sections are read up to a limit. More than one answer is none.
 */
#ifndef PIEPROFD_PYINTROSPECT_RUNTIME_SEARCH_H
#define PIEPROFD_PYINTROSPECT_RUNTIME_SEARCH_H

#include "pyintrospect/offsets.h"
#include "pyintrospect/version.h"

/* All return 0; -ENOENT: not found, or more than one; -ENOMEM; or what the reader said. */

__attribute__((warn_unused_result)) int runtime_search_version(const struct debug_info *info,
							       const struct memory_reader *reader,
							       struct python_version *ret_version);

/* PyCode_Type, and PyType_Type, which is its type. */
__attribute__((warn_unused_result)) int runtime_search_types(const struct debug_info *info,
							     const struct memory_reader *reader,
							     remote_addr *ret_code_type,
							     remote_addr *ret_type_type);

/* Start of _PyRuntime, 3.13+. */
__attribute__((warn_unused_result)) int runtime_search_cookie(const struct debug_info *info,
							      const struct memory_reader *reader,
							      int minor, remote_addr *ret_runtime);

/* By the layout: address of the pointer to the first interpreter. */
__attribute__((warn_unused_result)) int runtime_search_interpreters(
	const struct debug_info *info, const struct memory_reader *reader,
	const struct python_layout *layout, remote_addr *ret_interpreters);

#endif
