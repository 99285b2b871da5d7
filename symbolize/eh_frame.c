/* SPDX-License-Identifier: Apache-2.0 */
#include "symbolize/eh_frame.h"

#include <dwarf.h>
#include <errno.h>

/* A CIE of GCC or clang is some 20 bytes; of assembly with many rules below 100. */
#define CIE_BYTES_MAX 4096
/* CPython's and glibc's longest are below 1 KB. */
#define FDE_BYTES_MAX (1u << 20)
/* CIEs and unreadable entries passed over in the search of the next FDE. */
#define SKIPPED_ENTRIES_MAX 64

/* One entry, not yet told apart: the length and the id field are behind us. */
struct entry {
	uint64_t next;
	uint64_t id_address;
	uint32_t id; /* 0: a CIE; else how far before id_address the CIE begins */
	const uint8_t *body;
	size_t body_size;
};

static int entry_at(const struct elf_image *image, uint64_t address, struct entry *ret_entry)
{
	size_t available;
	const uint8_t *bytes = elf_image_at(image, address, &available);
	struct byte_cursor cursor;
	uint64_t length;
	struct entry entry;

	if (!bytes)
		return -EINVAL;
	cursor = byte_cursor_over(bytes, available);
	length = byte_cursor_unsigned(&cursor, 4);
	if (length == 0xffffffff)
		length = byte_cursor_unsigned(&cursor, 8);
	if (cursor.failed)
		return -EINVAL;
	if (length == 0)
		return -ENOENT;
	if (length < 4 || length > byte_cursor_left(&cursor))
		return -EINVAL;
	entry.id_address = address + (uint64_t)(cursor.position - bytes);
	entry.next = entry.id_address + length;
	entry.id = (uint32_t)byte_cursor_unsigned(&cursor, 4);
	entry.body = cursor.position;
	entry.body_size = length - 4;
	*ret_entry = entry;
	return 0;
}

uint64_t eh_frame_pointer(struct byte_cursor *cursor, uint8_t encoding, uint64_t address)
{
	uint64_t value;

	switch (encoding & 0x0f) {
	case DW_EH_PE_absptr:
	case DW_EH_PE_udata8:
	case DW_EH_PE_sdata8:
		value = byte_cursor_unsigned(cursor, 8);
		break;
	case DW_EH_PE_udata4:
		value = byte_cursor_unsigned(cursor, 4);
		break;
	case DW_EH_PE_sdata4:
		value = (uint64_t)byte_cursor_signed(cursor, 4);
		break;
	case DW_EH_PE_udata2:
		value = byte_cursor_unsigned(cursor, 2);
		break;
	case DW_EH_PE_sdata2:
		value = (uint64_t)byte_cursor_signed(cursor, 2);
		break;
	case DW_EH_PE_uleb128:
		value = byte_cursor_uleb128(cursor);
		break;
	case DW_EH_PE_sleb128:
		value = (uint64_t)byte_cursor_sleb128(cursor);
		break;
	default:
		byte_cursor_fail(cursor);
		return 0;
	}
	switch (encoding & 0xf0) {
	case 0:
		return value;
	case DW_EH_PE_pcrel:
		return value + address;
	default: /* relative to text, data or a function, aligned, indirect */
		byte_cursor_fail(cursor);
		return 0;
	}
}

/* The 'z' augmentation: its letters say what its data hold. */
static int parse_augmentation(struct byte_cursor data, const char *letters,
			      struct eh_frame_cie *cie)
{
	for (; *letters; letters++) {
		switch (*letters) {
		case 'R':
			cie->pointer_encoding = byte_cursor_u8(&data);
			break;
		case 'P': {
			uint8_t encoding = byte_cursor_u8(&data);

			/* Only its size matters here. */
			(void)eh_frame_pointer(&data, encoding & 0x0f, 0);
			break;
		}
		case 'L':
			(void)byte_cursor_u8(&data);
			break;
		case 'S':
			cie->is_signal_frame = true;
			break;
		default:
			return -ENOTSUP;
		}
	}
	return data.failed ? -EINVAL : 0;
}

static int parse_cie(const struct entry *entry, struct eh_frame_cie *ret_cie)
{
	struct byte_cursor cursor = byte_cursor_over(entry->body, entry->body_size);
	struct eh_frame_cie cie = { .pointer_encoding = DW_EH_PE_absptr };
	uint8_t version = byte_cursor_u8(&cursor);
	const char *augmentation = (const char *)cursor.position;

	if (version != 1 && version != 3 && version != 4)
		return -ENOTSUP;
	while (byte_cursor_u8(&cursor) != 0)
		;
	if (cursor.failed)
		return -EINVAL;
	if (version == 4)
		(void)byte_cursor_skip(&cursor, 2); /* sizes of addresses and segment selectors */
	cie.code_alignment = byte_cursor_uleb128(&cursor);
	cie.data_alignment = byte_cursor_sleb128(&cursor);
	cie.return_register = version == 1 ? byte_cursor_u8(&cursor) : byte_cursor_uleb128(&cursor);
	if (augmentation[0] == 'z') {
		uint64_t size = byte_cursor_uleb128(&cursor);
		const uint8_t *data = byte_cursor_skip(&cursor, size);
		int error;

		if (cursor.failed)
			return -EINVAL;
		error = parse_augmentation(byte_cursor_over(data, size), augmentation + 1, &cie);
		if (error)
			return error;
		cie.has_augmentation_size = true;
	} else if (augmentation[0] != '\0') {
		return -ENOTSUP;
	}
	if (cursor.failed)
		return -EINVAL;
	cie.program = cursor.position;
	cie.program_size = byte_cursor_left(&cursor);
	*ret_cie = cie;
	return 0;
}

static int parse_fde(const struct elf_image *image, uint64_t address, const struct entry *entry,
		     struct eh_frame_fde *ret_fde)
{
	struct eh_frame_fde fde = { .address = address, .next = entry->next };
	uint64_t body_address = entry->id_address + 4;
	struct byte_cursor cursor;
	struct entry cie;
	int error;

	if (entry->id == 0)
		return -ENOENT;
	if (entry->body_size > FDE_BYTES_MAX)
		return -EINVAL;
	error = entry_at(image, entry->id_address - entry->id, &cie);
	if (error || cie.id != 0 || cie.body_size > CIE_BYTES_MAX)
		return -EINVAL;
	error = parse_cie(&cie, &fde.cie);
	if (error)
		return error;

	cursor = byte_cursor_over(entry->body, entry->body_size);
	fde.start = eh_frame_pointer(&cursor, fde.cie.pointer_encoding, body_address);
	fde.end = fde.start + eh_frame_pointer(&cursor, fde.cie.pointer_encoding & 0x0f, 0);
	if (fde.cie.has_augmentation_size)
		(void)byte_cursor_skip(&cursor, byte_cursor_uleb128(&cursor));
	if (cursor.failed)
		return -EINVAL;
	if (fde.end <= fde.start)
		return -ENOENT;
	fde.program = cursor.position;
	fde.program_size = byte_cursor_left(&cursor);
	fde.program_address = body_address + (uint64_t)(cursor.position - entry->body);
	*ret_fde = fde;
	return 0;
}

int eh_frame_fde_at(const struct elf_image *image, uint64_t address, uint64_t *ret_next,
		    struct eh_frame_fde *ret_fde)
{
	struct entry entry = { 0 };
	int error = entry_at(image, address, &entry);

	if (ret_next)
		*ret_next = entry.next;
	return error ? error : parse_fde(image, address, &entry, ret_fde);
}

int eh_frame_fde_after(const struct elf_image *image, uint64_t address,
		       struct eh_frame_fde *ret_fde)
{
	for (unsigned int skipped = 0; skipped < SKIPPED_ENTRIES_MAX; skipped++) {
		uint64_t next;

		if (eh_frame_fde_at(image, address, &next, ret_fde) == 0)
			return 0;
		if (next <= address)
			break;
		address = next;
	}
	return -ENOENT;
}
