/* SPDX-License-Identifier: Apache-2.0 */
#include "symbolize/symbol_table.h"

#include <string.h>

#define SYMBOLS_MAX    (2u << 20) /* of one table */
#define VERSION_HIDDEN 0x8000

bool symbol_table_open(const struct elf_image *image, const char *name, uint32_t type,
		       struct symbol_table *ret_table)
{
	struct elf_section section, strings, versions;
	struct symbol_table table;

	if (elf_image_section_find(image, name, &section) != 0 || section.type != type ||
	    section.entry_size != sizeof(Elf64_Sym) ||
	    elf_image_section(image, section.link, &strings) != 0 || strings.type != SHT_STRTAB)
		return false;
	table = (struct symbol_table){
		.image = image,
		.entries = image->bytes + section.file_offset,
		.count = section.size / sizeof(Elf64_Sym),
		.strings = (const char *)image->bytes + strings.file_offset,
		.strings_size = strings.size,
	};
	if (table.count > SYMBOLS_MAX)
		table.count = SYMBOLS_MAX;
	if (type == SHT_DYNSYM && elf_image_section_find(image, ".gnu.version", &versions) == 0 &&
	    versions.type == SHT_GNU_versym &&
	    versions.size / sizeof(uint16_t) >= section.size / sizeof(Elf64_Sym))
		table.versions = image->bytes + versions.file_offset;
	*ret_table = table;
	return true;
}

Elf64_Sym symbol_table_entry(const struct symbol_table *table, size_t index)
{
	Elf64_Sym entry;

	memcpy(&entry, table->entries + index * sizeof(entry), sizeof(entry));
	return entry;
}

const char *symbol_table_name(const struct symbol_table *table, const Elf64_Sym *entry,
			      size_t *ret_room)
{
	size_t room;

	if (entry->st_name >= table->strings_size)
		return NULL;
	room = table->strings_size - entry->st_name;
	if (table->strings[entry->st_name] == '\0')
		return NULL;
	*ret_room = room < SYMBOL_NAME_MAX ? room : SYMBOL_NAME_MAX;
	return table->strings + entry->st_name;
}

size_t symbol_name_length(const char *name, size_t room)
{
	size_t length = strnlen(name, room);
	const char *at = length > 1 ? memchr(name + 1, '@', length - 1) : NULL;

	return at ? (size_t)(at - name) : length;
}

bool symbol_is_function(const Elf64_Sym *entry)
{
	unsigned int type = ELF64_ST_TYPE(entry->st_info);

	return (type == STT_FUNC || type == STT_GNU_IFUNC) && entry->st_shndx != SHN_UNDEF &&
	       entry->st_shndx != SHN_ABS && entry->st_value != 0;
}

uint64_t symbol_container_end(const struct elf_image *image, const Elf64_Sym *entry)
{
	struct elf_section section;

	if (entry->st_shndx < SHN_LORESERVE &&
	    elf_image_section(image, entry->st_shndx, &section) == 0 &&
	    entry->st_value >= section.virtual_address &&
	    entry->st_value - section.virtual_address < section.size)
		return section.virtual_address + section.size;
	for (size_t i = 0; i < image->segment_count; i++) {
		const struct elf_segment *segment = &image->segments[i];

		if (entry->st_value >= segment->virtual_address &&
		    entry->st_value - segment->virtual_address < segment->memory_size)
			return segment->virtual_address + segment->memory_size;
	}
	return entry->st_value;
}

bool symbol_is_findable(const Elf64_Sym *entry)
{
	unsigned int type = ELF64_ST_TYPE(entry->st_info);

	return (type == STT_FUNC || type == STT_GNU_IFUNC || type == STT_OBJECT ||
		type == STT_NOTYPE) &&
	       entry->st_shndx != SHN_UNDEF && entry->st_shndx != SHN_ABS;
}

int symbol_preference(const struct symbol_table *table, size_t index, const Elf64_Sym *entry)
{
	uint16_t version = 0;

	if (table->versions)
		memcpy(&version, table->versions + index * sizeof(version), sizeof(version));
	return (ELF64_ST_BIND(entry->st_info) != STB_LOCAL ? 4 : 0) +
	       (version & VERSION_HIDDEN ? 0 : 2) +
	       (ELF64_ST_TYPE(entry->st_info) != STT_NOTYPE ? 1 : 0);
}
