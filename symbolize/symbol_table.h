/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One symbol table of an ELF file, .symtab or .dynsym. What it says is the file's
 * word, and the file may change while it is read: names end where their room does.
 */
#ifndef PIEPROFD_SYMBOLIZE_SYMBOL_TABLE_H
#define PIEPROFD_SYMBOLIZE_SYMBOL_TABLE_H

#include "symbolize/demangle.h"
#include "symbolize/elf_image.h"

#include <elf.h>

#define SYMBOL_NAME_MAX DEMANGLE_NAME_MAX /* bytes; longer ones are cut */

struct symbol_table {
	const struct elf_image *image;
	const uint8_t *entries; /* Elf64_Sym, unaligned */
	size_t count;
	const char *strings;
	size_t strings_size;
	const uint8_t *versions; /* uint16_t each, unaligned; NULL: none */
};

/* The table of that type and name; false when the image has no sound one. It is borrowed. */
bool symbol_table_open(const struct elf_image *image, const char *name, uint32_t type,
		       struct symbol_table *ret_table);

Elf64_Sym symbol_table_entry(const struct symbol_table *table, size_t index);

/* A name in table's strings and how many bytes it may have; NULL: outside, or empty. */
const char *symbol_table_name(const struct symbol_table *table, const Elf64_Sym *entry,
			      size_t *ret_room);

/* Length of a name without its version: "memcpy@@GLIBC_2.14" in .symtab. */
size_t symbol_name_length(const char *name, size_t room);

/* End of the section a symbol is in, or of its segment when the section is not known. */
uint64_t symbol_container_end(const struct elf_image *image, const Elf64_Sym *entry);

bool symbol_is_function(const Elf64_Sym *entry);
/* May it be looked up by its name? */
bool symbol_is_findable(const Elf64_Sym *entry);

/*
 * How much a symbol is to be preferred among those of its name. Duplicates in
 * one module are rare: local functions of different source files, old versions.
 */
int symbol_preference(const struct symbol_table *table, size_t index, const Elf64_Sym *entry);

#endif
