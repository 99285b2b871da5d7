/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names of functions, from .symtab and .dynsym of a module.
 *
 * Loaded on the first question and cached; never asked while a thread is
 * stopped. C++ and Rust names are demangled.
 */
#ifndef PIEPROFD_SYMBOLIZE_SYMBOL_H
#define PIEPROFD_SYMBOLIZE_SYMBOL_H

#include "symbolize/module.h"

struct symbolizer;

struct symbolizer *symbolizer_create(void);
void symbolizer_destroy(struct symbolizer *symbolizer);

/*
 * Name of the function that holds address (in the target), or NULL when the
 * module has no symbol there. The string lives as long as the symbolizer.
 * *ret_start, when not NULL, gets the function's start in the target.
 */
const char *symbolizer_function(struct symbolizer *symbolizer, const struct module *module,
				remote_addr address, remote_addr *ret_start);

/* Address (in the target) and size of a symbol by name; 0 or -ENOENT. */
__attribute__((warn_unused_result)) int symbolizer_find(struct symbolizer *symbolizer,
							const struct module *module, const char *name,
							remote_addr *ret_address, uint64_t *ret_size);

#endif
