/* SPDX-License-Identifier: Apache-2.0 */
/*
 * C++ and Rust names as people write them. Rust's legacy names (_ZN...17h<hash>E)
 * lose their hash, both its styles (v0: _R...) the disambiguators.
 */
#ifndef PIEPROFD_SYMBOLIZE_DEMANGLE_H
#define PIEPROFD_SYMBOLIZE_DEMANGLE_H

#include <stdbool.h>
#include <stddef.h>

#define DEMANGLE_NAME_MAX 4096 /* bytes of a mangled name; longer ones stay as they are */

/*
 * Writes the demangled name and a NUL into buffer. False, with buffer
 * undefined, when name is not mangled, is invalid, does not fit into size, or
 * the program is built without a demangler.
 */
bool demangle_name(const char *name, char *buffer, size_t size);

#endif
