/* SPDX-License-Identifier: Apache-2.0 */
#include "symbolize/dwarf_section.h"

#include <errno.h>
#include <gelf.h>
#include <stdbool.h>
#include <string.h>

#define LEB128_BYTES_MAX 10

uint64_t dwarf_read_leb128(struct byte_cursor *cursor)
{
	const uint8_t *start = cursor->position;
	uint64_t value = byte_cursor_uleb128(cursor);

	if (cursor->position - start > LEB128_BYTES_MAX)
		byte_cursor_fail(cursor);
	return value;
}

static bool is_debug_section(const char *name, const char *wanted)
{
	static const char *const beginnings[] = { ".debug_", ".zdebug_", ".gnu.debuglto_.debug_" };
	size_t length = strlen(wanted);

	for (size_t i = 0; i < sizeof(beginnings) / sizeof(beginnings[0]); i++) {
		const char *rest = name + strlen(beginnings[i]);

		if (strncmp(name, beginnings[i], strlen(beginnings[i])) == 0 &&
		    strncmp(rest, wanted, length) == 0 &&
		    (rest[length] == '\0' || strcmp(rest + length, ".dwo") == 0))
			return true;
	}
	return false;
}

int dwarf_section_find(Dwarf *dwarf, const char *name, const Elf_Data **ret_data)
{
	Elf *elf = dwarf_getelf(dwarf);
	Elf_Scn *section = NULL;
	size_t names;

	*ret_data = NULL;
	if (elf_getshdrstrndx(elf, &names) != 0)
		return 0;
	while ((section = elf_nextscn(elf, section))) {
		GElf_Shdr header;
		const char *found;

		if (!gelf_getshdr(section, &header) || header.sh_type == SHT_NOBITS)
			continue;
		found = elf_strptr(elf, names, header.sh_name);
		if (!found || !is_debug_section(found, name))
			continue;
		if (*ret_data)
			return -EEXIST;
		*ret_data = elf_getdata(section, NULL);
	}
	return 0;
}
