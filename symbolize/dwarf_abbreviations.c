/* SPDX-License-Identifier: Apache-2.0 */
#include "symbolize/dwarf_abbreviations.h"

#include "symbolize/dwarf_section.h"

#include <dwarf.h>
#include <errno.h>
#include <stdatomic.h>

static atomic_ullong abbreviations_in_all;

int dwarf_abbreviations_init(struct dwarf_abbreviations *abbreviations, Dwarf *dwarf)
{
	*abbreviations = (struct dwarf_abbreviations){ 0 };
	return dwarf_section_find(dwarf, "abbrev", &abbreviations->section);
}

/* code, tag, whether it has children, then pairs of attribute and form up to a pair of zeros. */
static void pass_abbreviation(struct byte_cursor *cursor)
{
	uint64_t attribute, form;

	(void)dwarf_read_leb128(cursor);
	(void)byte_cursor_u8(cursor);
	do {
		attribute = dwarf_read_leb128(cursor);
		form = dwarf_read_leb128(cursor);
		if (form == DW_FORM_implicit_const)
			(void)dwarf_read_leb128(cursor);
	} while ((attribute || form) && !cursor->failed);
}

/* Up to most; 0: broken. */
static uint64_t count_abbreviations(const Elf_Data *section, uint64_t offset, uint64_t most)
{
	struct byte_cursor cursor;
	const uint8_t *start;
	uint64_t count = 0, bytes;

	if (!section || !section->d_buf || offset >= section->d_size)
		return 0;
	start = (const uint8_t *)section->d_buf + offset;
	cursor = byte_cursor_over(start, section->d_size - offset);
	do {
		bytes = (uint64_t)(cursor.position - start) + DWARF_ABBREVIATION_BYTES * count++;
		if (!dwarf_read_leb128(&cursor))
			break;
		pass_abbreviation(&cursor);
	} while (!cursor.failed && bytes <= most);
	return cursor.failed ? 0 : bytes + 1;
}

int dwarf_abbreviations_take(struct dwarf_abbreviations *abbreviations, uint64_t offset)
{
	size_t slot = offset % DWARF_TABLES_REMEMBERED;
	uint64_t bytes = 0, before;

	if (abbreviations->tables[slot].offset == offset)
		bytes = abbreviations->tables[slot].bytes;
	if (!bytes)
		bytes = count_abbreviations(abbreviations->section, offset,
					    DWARF_ABBREVIATIONS_MAX_BYTES);
	if (!bytes)
		return -ENODATA;
	abbreviations->tables[slot].offset = offset;
	abbreviations->tables[slot].bytes = bytes;
	abbreviations->taken += bytes;
	before = atomic_fetch_add(&abbreviations_in_all, bytes);
	return before + bytes > DWARF_ABBREVIATIONS_MAX_BYTES ? -E2BIG : 0;
}

void dwarf_abbreviations_give_back(uint64_t *taken)
{
	atomic_fetch_sub(&abbreviations_in_all, *taken);
	*taken = 0;
}
