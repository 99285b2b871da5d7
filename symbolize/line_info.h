/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Source lines and inlined functions from DWARF, for the few addresses that a
 * report shows. The first question to a module indexes its units (8 ms for a
 * CPython), the first to a unit its functions and lines (20 ms for the largest
 * of it), later ones take 13 us: never ask while a thread is stopped.
 *
 * Only native code built with -g, or whose debug file is installed, has any.
 */
#ifndef PIEPROFD_SYMBOLIZE_LINE_INFO_H
#define PIEPROFD_SYMBOLIZE_LINE_INFO_H

#include "symbolize/debug_file.h"

#define LINE_INFO_DEPTH_MAX 64 /* functions at one address; the innermost of more are left out */

/* One function at an address. Strings live as long as the line_info. */
struct line_frame {
	const char *function; /* demangled; NULL: DWARF has none, .symtab may (symbol.h) */
	const char *file;     /* as the compiler was given it, with its folder; NULL: unknown */
	int line;             /* where the address is, or the call of the one inside; 0: unknown */
	bool is_inlined;      /* into the next frame of the list */
};

struct line_info;

/*
 * For the modules of one table, which must outlive it. search is copied; NULL:
 * debug files of our own root only. NULL when out of memory.
 */
struct line_info *line_info_create(const struct debug_search *search);
void line_info_destroy(struct line_info *info);

/* Files whose DWARF was not read, or not to its end, and units whose lines were not, as it is more
 * than is held or walked. */
uint64_t line_info_dropped(const struct line_info *info);

/*
 * What the source has at address (in the target): the innermost function first,
 * then those it was inlined into, one after the other; the last one is the
 * function that has a stack frame. A return address belongs to the
 * instruction before it: ask for it minus 1. 0 and *ret_count, at least 1,
 * frames, or -ENODATA (the module has no DWARF), -ENOENT (none for that
 * address), -ENOMEM.
 */
__attribute__((warn_unused_result)) int line_info_find(struct line_info *info,
						       const struct module *module,
						       remote_addr address,
						       struct line_frame *frames, size_t capacity,
						       size_t *ret_count);

#endif
