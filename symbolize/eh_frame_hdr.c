/* SPDX-License-Identifier: Apache-2.0 */
#include "symbolize/eh_frame_hdr.h"

#include <dwarf.h>
#include <errno.h>
#include <string.h>

#define ENTRY_BYTES 8

/* The table's entries, unaligned, as far as section and file hold them. */
struct search_table {
	const uint8_t *entries;
	size_t count;
};

static int32_t entry_start(const struct search_table *table, size_t index)
{
	int32_t start;

	memcpy(&start, table->entries + index * ENTRY_BYTES, sizeof(start));
	return start;
}

static int32_t entry_fde(const struct search_table *table, size_t index)
{
	int32_t fde;

	memcpy(&fde, table->entries + index * ENTRY_BYTES + 4, sizeof(fde));
	return fde;
}

static int search_table_open(const struct elf_image *image, struct search_table *ret_table)
{
	size_t available;
	const uint8_t *bytes;
	size_t header_size = 12;
	uint32_t count;

	if (!image->eh_frame_hdr_address)
		return -ENOTSUP;
	bytes = elf_image_at(image, image->eh_frame_hdr_address, &available);
	if (!bytes)
		return -ENOTSUP;
	if (available > image->eh_frame_hdr_size)
		available = image->eh_frame_hdr_size;
	if (available < header_size || bytes[0] != 1 || bytes[2] != DW_EH_PE_udata4 ||
	    bytes[3] != (DW_EH_PE_datarel | DW_EH_PE_sdata4))
		return -ENOTSUP;
	/* The .eh_frame pointer, which is of no use here, is 4 or (large files) 8 bytes long. */
	switch (bytes[1] & 0x0f) {
	case DW_EH_PE_udata4:
	case DW_EH_PE_sdata4:
		break;
	case DW_EH_PE_absptr:
	case DW_EH_PE_udata8:
	case DW_EH_PE_sdata8:
		header_size = 16;
		break;
	default:
		return -ENOTSUP;
	}
	if (available < header_size)
		return -ENOTSUP;
	memcpy(&count, bytes + header_size - 4, sizeof(count));
	if (count > (available - header_size) / ENTRY_BYTES)
		count = (uint32_t)((available - header_size) / ENTRY_BYTES);
	if (count == 0)
		return -ENOTSUP;
	*ret_table = (struct search_table){ .entries = bytes + header_size, .count = count };
	return 0;
}

bool eh_frame_hdr_is_usable(const struct elf_image *image)
{
	struct search_table table;

	return search_table_open(image, &table) == 0;
}

int eh_frame_hdr_find(const struct elf_image *image, uint64_t address, uint64_t *ret_fde)
{
	struct search_table table;
	int64_t wanted = (int64_t)(address - image->eh_frame_hdr_address);
	size_t low = 0, high;
	int error = search_table_open(image, &table);

	if (error)
		return error;
	if (wanted < entry_start(&table, 0) || wanted > INT32_MAX)
		return -ENOENT;
	/* Invariant: entry low starts at or below the address, entry high above it. */
	high = table.count;
	while (high - low > 1) {
		size_t middle = low + (high - low) / 2;

		if (entry_start(&table, middle) <= wanted)
			low = middle;
		else
			high = middle;
	}
	*ret_fde = image->eh_frame_hdr_address + (uint64_t)(int64_t)entry_fde(&table, low);
	return 0;
}
