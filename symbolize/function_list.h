/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The functions of one file by their addresses, as its symbol tables have them: what an address is
 * looked up in. It never changes once made, and names are places in the tables' strings, so that
 * it serves every process with that very file (function_cache.h).
 *
 * Where several symbols start at one address, one is kept: symbol.h says which.
 */
#ifndef PIEPROFD_SYMBOLIZE_FUNCTION_LIST_H
#define PIEPROFD_SYMBOLIZE_FUNCTION_LIST_H

#include "symbolize/symbol_table.h"

struct listed_function {
	uint64_t address; /* ELF virtual address */
	uint64_t end;     /* address + size; for size 0 where the next one or the section starts */
	uint32_t name;    /* in the strings of its table, not checked for its NUL */
	uint16_t name_room; /* bytes up to the end of those strings, at most SYMBOL_NAME_MAX */
	uint8_t table;      /* which one */
	bool is_sized : 1;
	bool is_local : 1;
};

struct function_list {
	struct listed_function *items; /* ascending, one an address */
	size_t count;
	unsigned holders;
};

/* Of these tables, held once. 0 or -ENOMEM. */
__attribute__((warn_unused_result)) int function_list_create(const struct symbol_table *tables,
							     size_t table_count,
							     struct function_list **ret_list);

/* From any thread; NULL: nothing. The last to let go destroys it. */
struct function_list *function_list_hold(struct function_list *list);
void function_list_release(struct function_list *list);

/* Index of the innermost function around an ELF virtual address, or -1. */
ptrdiff_t function_list_find(const struct function_list *list, uint64_t address);

/* A name in its table, which may be another process's mapping of the same file; NULL: outside. */
const char *function_list_name(const struct symbol_table *tables,
			       const struct listed_function *function);

#endif
