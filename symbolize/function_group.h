/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where the code of one function is that has become several: its cold part,
 * clones by the optimiser (NAME.cold, NAME.part.0, NAME.constprop.0,
 * NAME.lto_priv.0, NAME.llvm.123), or a family of functions that share a
 * prefix, as an interpreter's that calls from one instruction to the next.
 */
#ifndef PIEPROFD_SYMBOLIZE_FUNCTION_GROUP_H
#define PIEPROFD_SYMBOLIZE_FUNCTION_GROUP_H

#include "common/address.h"
#include "symbolize/elf_image.h"

/*
 * The code of all functions that have one of the names, or the name and a
 * suffix from a dot on; a name that ends in * stands for all that begin so.
 * From .symtab (the image may be a separate debug file's), or .dynsym where
 * there is none. Addresses are the ELF file's; what lies side by side is
 * joined. -ENOENT: there is none; -E2BIG: more than ADDRESS_RANGES_MAX pieces,
 * or too many functions; -ENOMEM. Reads a whole symbol table: never call it while a thread is
 * stopped.
 */
__attribute__((warn_unused_result)) int function_group_find(const struct elf_image *image,
							    const char *const *names, size_t count,
							    struct address_ranges *ret_code);

#endif
