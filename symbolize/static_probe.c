/* SPDX-License-Identifier: Apache-2.0 */
#include "symbolize/static_probe.h"

#include "symbolize/byte_cursor.h"

#include <elf.h>
#include <string.h>

#define SECTION   ".note.stapsdt"
#define BASE      ".stapsdt.base"
#define OWNER     "stapsdt"
#define TYPE      3
#define NOTES_MAX 4096 /* that are looked at */

/* Whether the note's next string is that one. No further than the note: the file may change
 * meanwhile. */
static bool take_text(struct byte_cursor *cursor, const char *expected)
{
	const uint8_t *begin = cursor->position;
	size_t left = byte_cursor_left(cursor), size = strlen(expected) + 1;

	if (left < size || memcmp(begin, expected, size) != 0)
		return false;
	return byte_cursor_skip(cursor, size) != NULL;
}

static uint64_t padded(uint64_t size)
{
	return (size + 3) & ~3ull;
}

/* base: where the section by which one tells that the file was moved after linking is now. */
static bool read_note(struct byte_cursor note, uint64_t base, const char *provider,
		      const char *name, struct static_probe *ret_probe)
{
	uint64_t address = byte_cursor_unsigned(&note, 8);
	uint64_t linked = byte_cursor_unsigned(&note, 8);
	uint64_t counter = byte_cursor_unsigned(&note, 8);
	uint64_t moved = base ? base - linked : 0;

	if (note.failed || !take_text(&note, provider) || !take_text(&note, name))
		return false;
	*ret_probe = (struct static_probe){ address + moved, counter ? counter + moved : 0 };
	return true;
}

size_t static_probes_find(const struct elf_image *image, const char *provider, const char *name,
			  struct static_probe *ret_probes, size_t maximum)
{
	struct elf_section section, base = { 0 };
	struct byte_cursor cursor;
	size_t count = 0;

	if (elf_image_section_find(image, SECTION, &section) || section.type != SHT_NOTE)
		return 0;
	if (elf_image_section_find(image, BASE, &base))
		base.virtual_address = 0;
	cursor = byte_cursor_over(image->bytes + section.file_offset, section.size);
	for (unsigned i = 0; i < NOTES_MAX && byte_cursor_left(&cursor) && count < maximum; i++) {
		uint64_t owner_size = byte_cursor_unsigned(&cursor, 4);
		uint64_t size = byte_cursor_unsigned(&cursor, 4);
		uint64_t type = byte_cursor_unsigned(&cursor, 4);
		const uint8_t *owner = byte_cursor_skip(&cursor, padded(owner_size));
		const uint8_t *note = byte_cursor_skip(&cursor, padded(size));

		if (cursor.failed)
			break;
		if (type == TYPE && owner_size == sizeof(OWNER) &&
		    !memcmp(owner, OWNER, sizeof(OWNER)) &&
		    read_note(byte_cursor_over(note, size), base.virtual_address, provider, name,
			      &ret_probes[count]))
			count++;
	}
	return count;
}
