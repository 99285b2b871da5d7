/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The search table that the linker puts beside .eh_frame (LSB Core 10.5.1):
 *
 *   | 1 | encodings (3 B) | .eh_frame pointer | count | {start, FDE} x count |
 *
 * with 4-byte offsets from the table's own beginning, sorted by start. It lets
 * one find an FDE by address in the mapped file, with nothing built before.
 */
#ifndef PIEPROFD_SYMBOLIZE_EH_FRAME_HDR_H
#define PIEPROFD_SYMBOLIZE_EH_FRAME_HDR_H

#include "symbolize/elf_image.h"

/* Whether the file has a table in the one form that linkers write. */
bool eh_frame_hdr_is_usable(const struct elf_image *image);

/*
 * Virtual address of the FDE with the greatest start not above address; the
 * caller checks that it covers the address. -ENOENT: all start above it;
 * -ENOTSUP: no usable table. A table that is not sorted gives some entry of it.
 */
__attribute__((warn_unused_result)) int eh_frame_hdr_find(const struct elf_image *image,
							  uint64_t address, uint64_t *ret_fde);

#endif
