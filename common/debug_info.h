/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the interpreter's own binary says of itself: symbols, sections and,
 * when it was built with DWARF, the layout of its structures.
 *
 * symbolize/ implements it over ELF and libdw, pyintrospect/ asks it; they
 * meet here so that neither includes the other.
 */
#ifndef PIEPROFD_COMMON_DEBUG_INFO_H
#define PIEPROFD_COMMON_DEBUG_INFO_H

#include "common/address.h"

struct debug_info {
	/* Address in the target and size (0: unknown) of a symbol of .dynsym or .symtab; -ENOENT.
	 */
	int (*symbol)(void *context, const char *name, remote_addr *ret_address,
		      uint64_t *ret_size);
	/* Address in the target and size of a section by name; -ENOENT. */
	int (*section)(void *context, const char *name, remote_addr *ret_address,
		       uint64_t *ret_size);
	/*
	 * Byte offset of a member in a structure, by struct tag or typedef name:
	 * ("PyThreadState", "cframe"). member may be a path through nested
	 * structures: "interpreters.head". Anonymous members are looked through.
	 * -ENOENT: no such type or member; -ENODATA: the binary has no DWARF.
	 */
	int (*member_offset)(void *context, const char *type, const char *member,
			     uint32_t *ret_offset);
	/* Size of a structure in bytes; the same errors. */
	int (*type_size)(void *context, const char *type, uint32_t *ret_size);
	void *context;
};

#endif
