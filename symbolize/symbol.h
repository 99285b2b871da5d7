/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names of functions, from .symtab and .dynsym of a module. When the module
 * itself has no .symtab, that of its separate debug file is taken, and when
 * there is none either, that of its mini-symbols (.gnu_debugdata). Code that
 * is in no module, made by a JIT compiler, is looked up in a perf map.
 *
 * Loaded on the first question and cached; never asked while a thread is
 * stopped (the first question reads and sorts the tables: 30 ms for 100,000
 * symbols). C++ and Rust names are demangled.
 *
 * Where several symbols start at one address, one with a size goes before one
 * without, an exported one before a local, then the one with fewer leading
 * underscores, the shorter, the first in byte order: malloc, not __libc_malloc.
 */
#ifndef PIEPROFD_SYMBOLIZE_SYMBOL_H
#define PIEPROFD_SYMBOLIZE_SYMBOL_H

#include "symbolize/debug_file.h"
#include "symbolize/layout_cache.h"
#include "symbolize/perf_map.h"

struct symbolizer;

/*
 * A symbolizer serves the modules of one table and must be destroyed before
 * it. NULL when out of memory.
 */
struct symbolizer *symbolizer_create(void);
void symbolizer_destroy(struct symbolizer *symbolizer);

/*
 * The tables of all modules together take SYMBOLIZER_BYTES_MAX and those of one module at
 * most: a module that comes when they are full has no names, and counts as dropped.
 */
#define SYMBOLIZER_BYTES_MAX ((size_t)512 << 20)
/* Fewer, from the next module on: for tests. */
void symbolizer_limit(struct symbolizer *symbolizer, size_t bytes_max);
uint64_t symbolizer_dropped(const struct symbolizer *symbolizer);
/* For layouts: counts a file whose DWARF is more than is read. */
void symbolizer_drop(struct symbolizer *symbolizer);

/* Where debug files are looked for, from the next module on; our own root only unless called. */
void symbolizer_set_search(struct symbolizer *symbolizer, const struct debug_search *search);

/*
 * debug_file_find() by that search. Of a module that has none it is asked once: a search opens
 * up to eight names with somebody's rights, and a module's file is asked for again and again.
 */
__attribute__((warn_unused_result)) int symbolizer_debug_file(struct symbolizer *symbolizer,
							      const struct module *module,
							      struct elf_image **ret_image);

/* Borrowed; NULL, as before the call: no answers are kept. */
void symbolizer_set_layouts(struct symbolizer *symbolizer, struct layout_cache *layouts);
struct layout_cache *symbolizer_layouts(const struct symbolizer *symbolizer);
const struct debug_search *symbolizer_search(const struct symbolizer *symbolizer);

/* Names of generated code. The map is borrowed, and may be updated in between; NULL: none. */
void symbolizer_set_perf_map(struct symbolizer *symbolizer, const struct perf_map *map);

/* Files asked for names, whose pages were gone when they were read: names may be missing. */
size_t symbolizer_lost_files(const struct symbolizer *symbolizer);

/*
 * Name of the function that holds address (in the target), or NULL when
 * nothing has a symbol there. module is NULL for an address that is in none.
 * The string lives as long as the symbolizer and
 * the perf map. *ret_start, when not NULL, gets the function's start in the target.
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
