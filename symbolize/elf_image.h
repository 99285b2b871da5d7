/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One ELF file mapped read-only into the daemon. Hostile input: every header
 * and table is checked against the file's size before use; what points outside
 * is cut off (segments, notes) or ignored (the section table).
 *
 * Others may go on writing the file: pages that are lost read as zeros from
 * then on (common/foreign_mapping.h), and what is read twice may differ.
 */
#ifndef PIEPROFD_SYMBOLIZE_ELF_IMAGE_H
#define PIEPROFD_SYMBOLIZE_ELF_IMAGE_H

#include "common/file_identity.h"
#include "common/foreign_mapping.h"
#include "symbolize/dwarf_copy.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ELF_IMAGE_SEGMENTS_MAX 32
/* Users that patch one image: structure layouts, line numbers, and room for tests. */
#define ELF_IMAGE_PRIVATE_COPIES_MAX 4

struct elf_segment {
	uint64_t virtual_address;
	uint64_t file_offset;
	uint64_t file_size; /* as far as the file holds it */
	uint64_t memory_size;
	uint32_t flags; /* PF_R, PF_W, PF_X */
};

struct elf_section {
	const char *name; /* in the image */
	uint32_t type;    /* SHT_... */
	uint32_t link;
	uint64_t flags; /* SHF_... */
	uint64_t virtual_address;
	uint64_t file_offset;
	uint64_t size; /* its bytes are all in the file, unless type is SHT_NOBITS */
	uint64_t entry_size;
};

struct elf_image {
	const uint8_t *bytes; /* the whole file (or memory image of the vdso) */
	size_t size;
	struct elf_segment segments[ELF_IMAGE_SEGMENTS_MAX]; /* PT_LOAD, ascending */
	size_t segment_count;
	uint64_t eh_frame_hdr_address; /* ELF virtual address of PT_GNU_EH_FRAME; 0: none */
	uint64_t eh_frame_hdr_size;
	uint64_t eh_frame_address; /* ELF virtual address of .eh_frame; 0: none */
	uint64_t eh_frame_size;
	uint8_t build_id[20]; /* a longer one is cut off */
	size_t build_id_size;
	uint64_t build_id_address; /* ELF virtual address of these bytes; 0: in no segment */
	uint64_t section_table_offset;
	size_t section_count; /* 0: no section headers, or they do not fit into the file */
	size_t section_names; /* index of the section with the names; 0: none */
	struct foreign_mapping mapping; /* bytes NULL: bytes are from malloc */
	struct file_identity identity;  /* of the file; of other bytes none is known */
	bool needs_copies;              /* see elf_image_writable_bytes() */
	struct dwarf_copy private_copies[ELF_IMAGE_PRIVATE_COPIES_MAX];
	size_t private_copy_count;
};

/*
 * Maps the file behind fd (not closed here). 0, -ENOEXEC (not a 64-bit
 * little-endian x86-64 ELF, or its headers lie), -ENOMEM or what
 * foreign_mapping_open() said.
 */
__attribute__((warn_unused_result)) int elf_image_open(int fd, struct elf_image **ret_image);
/* The same over size bytes from malloc, which the image owns from then on; on failure the caller
 * does. */
__attribute__((warn_unused_result)) int elf_image_open_memory(void *bytes, size_t size,
							      struct elf_image **ret_image);
void elf_image_close(struct elf_image *image);

/* Whether pages of the file were gone when they were read: it was truncated meanwhile. */
bool elf_image_has_lost(const struct elf_image *image);

/*
 * The bytes for libdw, which may patch them in place. Of a file that somebody
 * other than root may write, or one with compressed sections, every call gives
 * a copy (symbolize/dwarf_copy.h), at most ELF_IMAGE_PRIVATE_COPIES_MAX, so
 * that none sees what others change; else it is image->bytes. All live as long
 * as the image, and what is written stays in this process. 0, -E2BIG (see
 * dwarf_copy_make()), -ENODATA (no room for more copies, or none can be made) or -ENOMEM.
 */
__attribute__((warn_unused_result)) int elf_image_writable_bytes(struct elf_image *image,
								 char **ret_bytes);

/*
 * The bytes at an ELF virtual address as far as the file holds them:
 * *ret_available of them follow. NULL when the address is in no segment's file
 * part.
 */
const uint8_t *elf_image_at(const struct elf_image *image, uint64_t virtual_address,
			    size_t *ret_available);

/*
 * Where in the file an ELF virtual address lies, as probes of the kernel want it: in a segment with
 * these flags (PF_X: code). False: in none.
 */
bool elf_image_file_offset(const struct elf_image *image, uint64_t virtual_address, uint32_t flags,
			   uint64_t *ret_offset);

/* Section by its index; -ENOENT when there is none or its bytes are not all in the file. */
__attribute__((warn_unused_result)) int elf_image_section(const struct elf_image *image,
							  size_t index,
							  struct elf_section *ret_section);
/* The first section of that name; -ENOENT. */
__attribute__((warn_unused_result)) int elf_image_section_find(const struct elf_image *image,
							       const char *name,
							       struct elf_section *ret_section);

#endif
