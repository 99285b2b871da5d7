/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The search table that the linker puts beside .eh_frame (LSB Core 10.5.1):
 *
 *   | 1 | encodings (3 B) | .eh_frame pointer | count | {start, FDE} x count |
 *
 * with 4-byte offsets from the table's own beginning, sorted by start. It lets
 * one find an FDE by address in the mapped file, with nothing built before.
 *
 * Bisecting touches a dozen cache lines and half as many pages, which nobody
 * else has touched for long. So the entry that each 4 KB of code begin with
 * can be noted down beforehand: 4 bytes for 4 KB.
 */
#ifndef PIEPROFD_SYMBOLIZE_EH_FRAME_HDR_H
#define PIEPROFD_SYMBOLIZE_EH_FRAME_HDR_H

#include "symbolize/elf_image.h"

/* The table of one file; entries are borrowed from its image. */
struct eh_frame_hdr {
	const uint8_t *entries; /* unaligned; NULL: no usable table */
	size_t count;
	uint64_t address; /* virtual; what the offsets count from */
	int32_t first;    /* start of the first entry */
	uint32_t *blocks; /* index of the first entry that starts in or after each block of code */
	size_t block_count; /* 0: not noted down */
};

/* -ENOTSUP: the file has no table in the one form that linkers write. */
__attribute__((warn_unused_result)) int eh_frame_hdr_open(const struct elf_image *image,
							  struct eh_frame_hdr *ret_table);

/*
 * Makes finding faster, at the price of reading the table once. Does nothing
 * when that would need more than maximum blocks, or the table is not sorted.
 */
void eh_frame_hdr_note_blocks(struct eh_frame_hdr *table, size_t maximum);
void eh_frame_hdr_deinit(struct eh_frame_hdr *table);

/*
 * Virtual address of the FDE with the greatest start not above address; the
 * caller checks that it covers the address. -ENOENT: all start above it. A
 * table that is not sorted gives some entry of it.
 */
__attribute__((warn_unused_result)) int eh_frame_hdr_find(const struct eh_frame_hdr *table,
							  uint64_t address, uint64_t *ret_fde);

#endif
