/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One ELF file mapped read-only into the daemon. Hostile input: every header
 * and table is checked against the file's size before use.
 */
#ifndef PIEPROFD_SYMBOLIZE_ELF_IMAGE_H
#define PIEPROFD_SYMBOLIZE_ELF_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ELF_IMAGE_SEGMENTS_MAX 16

struct elf_segment {
	uint64_t virtual_address;
	uint64_t file_offset;
	uint64_t file_size;
	uint64_t memory_size;
	uint32_t flags; /* PF_R, PF_W, PF_X */
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
	uint8_t build_id[20];
	size_t build_id_size;
	bool owns_mapping;
};

/*
 * Maps the file behind fd (not closed here). 0, -ENOEXEC (not a 64-bit
 * little-endian x86-64 ELF, or its headers lie), -ENOMEM or what mmap said.
 */
__attribute__((warn_unused_result)) int elf_image_open(int fd, struct elf_image **ret_image);
/* The same over a copy of size bytes, which the image then owns (malloc). */
__attribute__((warn_unused_result)) int elf_image_open_memory(void *bytes, size_t size,
							      struct elf_image **ret_image);
void elf_image_close(struct elf_image *image);

/*
 * The bytes at an ELF virtual address as far as the file holds them:
 * *ret_available of them follow. NULL when the address is in no segment's file
 * part.
 */
const uint8_t *elf_image_at(const struct elf_image *image, uint64_t virtual_address,
			    size_t *ret_available);

#endif
