/* SPDX-License-Identifier: Apache-2.0 */
#include "symbolize/eh_frame_hdr.h"

#include <dwarf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define ENTRY_BYTES 8
#define BLOCK_BITS  12

static int32_t entry_start(const struct eh_frame_hdr *table, size_t index)
{
	int32_t start;

	memcpy(&start, table->entries + index * ENTRY_BYTES, sizeof(start));
	return start;
}

static int32_t entry_fde(const struct eh_frame_hdr *table, size_t index)
{
	int32_t fde;

	memcpy(&fde, table->entries + index * ENTRY_BYTES + 4, sizeof(fde));
	return fde;
}

int eh_frame_hdr_open(const struct elf_image *image, struct eh_frame_hdr *ret_table)
{
	struct eh_frame_hdr table = { .address = image->eh_frame_hdr_address };
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
	table.entries = bytes + header_size;
	table.count = count;
	table.first = entry_start(&table, 0);
	*ret_table = table;
	return 0;
}

void eh_frame_hdr_note_blocks(struct eh_frame_hdr *table, size_t maximum)
{
	int64_t first = table->first, last = entry_start(table, table->count - 1);
	size_t count, noted = 0;
	int64_t previous = first;
	uint32_t *blocks;

	if (last < first || table->blocks)
		return;
	count = ((uint64_t)(last - first) >> BLOCK_BITS) + 2;
	if (count > maximum)
		return;
	blocks = malloc(count * sizeof(*blocks));
	if (!blocks)
		return;
	for (size_t i = 0; i < table->count; i++) {
		int64_t start = entry_start(table, i);

		if (start < previous || start > last) {
			free(blocks);
			return;
		}
		previous = start;
		while (noted <= (uint64_t)(start - first) >> BLOCK_BITS)
			blocks[noted++] = (uint32_t)i;
	}
	while (noted < count)
		blocks[noted++] = (uint32_t)table->count;
	table->blocks = blocks;
	table->block_count = count;
}

void eh_frame_hdr_deinit(struct eh_frame_hdr *table)
{
	free(table->blocks);
	*table = (struct eh_frame_hdr){ .entries = NULL };
}

int eh_frame_hdr_find(const struct eh_frame_hdr *table, uint64_t address, uint64_t *ret_fde)
{
	int64_t wanted = (int64_t)(address - table->address);
	size_t low = 0, high = table->count, block;

	if (wanted < table->first || wanted > INT32_MAX)
		return -ENOENT;
	block = (uint64_t)(wanted - table->first) >> BLOCK_BITS;
	if (block + 1 < table->block_count) {
		/* The entry before the block's first covers its beginning. */
		low = table->blocks[block] ? table->blocks[block] - 1 : 0;
		high = table->blocks[block + 1];
	} else if (table->block_count) {
		low = table->blocks[table->block_count - 1] - 1;
	}
	/* Invariant: entry low starts at or below the address, entry high above it. */
	while (high - low > 1) {
		size_t middle = low + (high - low) / 2;

		if (entry_start(table, middle) <= wanted)
			low = middle;
		else
			high = middle;
	}
	*ret_fde = table->address + (uint64_t)(int64_t)entry_fde(table, low);
	return 0;
}
