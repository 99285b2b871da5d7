/* SPDX-License-Identifier: Apache-2.0 */
#include "symbolize/indirect_function.h"

#include "symbolize/symbol_table.h"

#include <elf.h>
#include <string.h>

/* Names have versions, and libc two for some. */
#define CHOOSERS_MAX    16
#define RELOCATIONS_MAX (1u << 20) /* of one section; libc has 1,500 */

struct choosers {
	uint64_t addresses[CHOOSERS_MAX];
	size_t count;
};

static bool has_name(const struct symbol_table *table, const Elf64_Sym *entry,
		     const char *const *names, size_t name_count)
{
	size_t room, length;
	const char *name = symbol_table_name(table, entry, &room);

	if (!name)
		return false;
	length = symbol_name_length(name, room);
	for (size_t i = 0; i < name_count; i++)
		if (strlen(names[i]) == length && !memcmp(name, names[i], length))
			return true;
	return false;
}

static void find_choosers(const struct elf_image *image, const char *const *names,
			  size_t name_count, struct choosers *choosers)
{
	struct symbol_table table;

	if (!symbol_table_open(image, ".dynsym", SHT_DYNSYM, &table))
		return;
	for (size_t i = 0; i < table.count && choosers->count < CHOOSERS_MAX; i++) {
		Elf64_Sym entry = symbol_table_entry(&table, i);

		if (ELF64_ST_TYPE(entry.st_info) == STT_GNU_IFUNC && symbol_is_function(&entry) &&
		    has_name(&table, &entry, names, name_count))
			choosers->addresses[choosers->count++] = entry.st_value;
	}
}

static bool is_chooser(const struct choosers *choosers, uint64_t address)
{
	for (size_t i = 0; i < choosers->count; i++)
		if (choosers->addresses[i] == address)
			return true;
	return false;
}

static size_t find_slots(const struct elf_image *image, const struct elf_section *section,
			 const struct choosers *choosers, uint64_t *slots, size_t maximum)
{
	size_t relocations = section->size / sizeof(Elf64_Rela), count = 0;

	if (relocations > RELOCATIONS_MAX)
		relocations = RELOCATIONS_MAX;
	for (size_t i = 0; i < relocations && count < maximum; i++) {
		Elf64_Rela rela;

		memcpy(&rela, image->bytes + section->file_offset + i * sizeof(rela), sizeof(rela));
		if (ELF64_R_TYPE(rela.r_info) == R_X86_64_IRELATIVE &&
		    is_chooser(choosers, (uint64_t)rela.r_addend))
			slots[count++] = rela.r_offset;
	}
	return count;
}

size_t indirect_function_slots(const struct elf_image *image, const char *const *names,
			       size_t name_count, uint64_t *ret_slots, size_t maximum)
{
	struct choosers choosers = { .count = 0 };
	size_t count = 0;

	find_choosers(image, names, name_count, &choosers);
	for (size_t i = 0; choosers.count && i < image->section_count && count < maximum; i++) {
		struct elf_section section;

		if (!elf_image_section(image, i, &section) && section.type == SHT_RELA &&
		    section.entry_size == sizeof(Elf64_Rela))
			count += find_slots(image, &section, &choosers, ret_slots + count,
					    maximum - count);
	}
	return count;
}
