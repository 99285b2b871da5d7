/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Entries of an ELF file's .eh_frame (LSB Core 10.6): CIEs, which hold what
 * many functions share, and FDEs, one for each piece of code.
 *
 * Addresses are the ELF file's virtual addresses. Everything returned borrows
 * from the image. Nothing is believed that lies outside the file.
 */
#ifndef PIEPROFD_SYMBOLIZE_EH_FRAME_H
#define PIEPROFD_SYMBOLIZE_EH_FRAME_H

#include "symbolize/byte_cursor.h"
#include "symbolize/elf_image.h"

struct eh_frame_cie {
	uint64_t code_alignment;
	int64_t data_alignment;
	uint64_t return_register; /* DWARF number */
	uint8_t pointer_encoding; /* DW_EH_PE_... of addresses in the FDE */
	bool has_augmentation_size;
	bool is_signal_frame;
	const uint8_t *program;
	size_t program_size;
};

struct eh_frame_fde {
	uint64_t address; /* of the FDE itself */
	uint64_t next;    /* of the entry after it */
	uint64_t start;   /* code covered: [start, end), never empty */
	uint64_t end;
	struct eh_frame_cie cie;
	const uint8_t *program;
	size_t program_size;
	uint64_t program_address;
};

/*
 * Reads the FDE at an address. -ENOENT: the table's end, a CIE, or an FDE
 * that covers nothing; -ENOTSUP: a form that no compiler for x86-64 Linux
 * emits; -EINVAL: does not fit into the file. When ret_next is not NULL it gets
 * the address of the next entry, 0 at the table's end; it is set on failure too.
 */
__attribute__((warn_unused_result)) int eh_frame_fde_at(const struct elf_image *image,
							uint64_t address, uint64_t *ret_next,
							struct eh_frame_fde *ret_fde);

/* The first FDE at or after address, CIEs passed over; -ENOENT: none. */
__attribute__((warn_unused_result)) int eh_frame_fde_after(const struct elf_image *image,
							   uint64_t address,
							   struct eh_frame_fde *ret_fde);

/*
 * An encoded pointer (DW_EH_PE_...) at the cursor, which stands at the virtual
 * address `address`. Fails the cursor on a form that makes no sense there.
 */
uint64_t eh_frame_pointer(struct byte_cursor *cursor, uint8_t encoding, uint64_t address);

#endif
