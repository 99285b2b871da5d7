/* SPDX-License-Identifier: Apache-2.0 */
/* C++ names as people write them. */
#ifndef PIEPROFD_SYMBOLIZE_DEMANGLE_H
#define PIEPROFD_SYMBOLIZE_DEMANGLE_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Writes the demangled name and a NUL into buffer. False, with buffer
 * undefined, when name is not mangled, is invalid, does not fit into size, or
 * the program is built without a demangler.
 */
bool demangle_name(const char *name, char *buffer, size_t size);

#endif
