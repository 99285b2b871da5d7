/* SPDX-License-Identifier: Apache-2.0 */
/* The sections that libdw reads, as it has unpacked them. */
#ifndef PIEPROFD_SYMBOLIZE_DWARF_SECTION_H
#define PIEPROFD_SYMBOLIZE_DWARF_SECTION_H

#include "symbolize/byte_cursor.h"

#include <elfutils/libdw.h>

/* A LEB128 as libdw reads it: a longer one than it would read fails. */
uint64_t dwarf_read_leb128(struct byte_cursor *cursor);

/*
 * The section that is called so behind ".debug_": 0 with *ret_data, which libelf owns, or NULL when
 * there is none; -EEXIST when there are two, since libdw's choice is not known.
 */
__attribute__((warn_unused_result)) int dwarf_section_find(Dwarf *dwarf, const char *name,
							   const Elf_Data **ret_data);

#endif
