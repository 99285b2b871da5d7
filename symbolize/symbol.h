/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names of functions, from .symtab and .dynsym of a module, and .symtab of its
 * separate debug file when the module itself has none.
 *
 * Loaded on the first question and cached; never asked while a thread is
 * stopped (the first question reads and sorts the tables: 30 ms for 100,000
 * symbols). C++ names are demangled.
 *
 * Where several symbols start at one address, one with a size goes before one
 * without, an exported one before a local, then the one with fewer leading
 * underscores, the shorter, the first in byte order: malloc, not __libc_malloc.
 */
#ifndef PIEPROFD_SYMBOLIZE_SYMBOL_H
#define PIEPROFD_SYMBOLIZE_SYMBOL_H

#include "symbolize/module.h"

struct symbolizer;

/*
 * A symbolizer serves the modules of one table and must be destroyed before
 * it. NULL when out of memory.
 */
struct symbolizer *symbolizer_create(void);
void symbolizer_destroy(struct symbolizer *symbolizer);

/*
 * Name of the function that holds address (in the target), or NULL when the
 * module has no symbol there. The string lives as long as the symbolizer.
 * *ret_start, when not NULL, gets the function's start in the target.
 */
const char *symbolizer_function(struct symbolizer *symbolizer, const struct module *module,
				remote_addr address, remote_addr *ret_start);

/*
 * Address (in the target) and size (0: unknown) of a function or object by its
 * name as the linker knows it, without version; 0 or -ENOENT. Of several, an
 * exported one is taken before a local, and the default version before others.
 */
__attribute__((warn_unused_result)) int symbolizer_find(struct symbolizer *symbolizer,
							const struct module *module,
							const char *name, remote_addr *ret_address,
							uint64_t *ret_size);

#endif
