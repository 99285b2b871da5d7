/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Parsing by hand rather than through libelf: the few headers needed are
 * simple, and a check beside each read is easier to be sure of. Fields are
 * copied out before use, since a hostile file may put its tables at odd
 * offsets.
 */
#include "symbolize/elf_image.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define FILE_SIZE_MAX    (64ull << 30)
#define SECTIONS_MAX     65536
#define SECTION_NAME_MAX 4096
#define NOTES_MAX_BYTES  65536
#define PAGE_BYTES       4096ull
#define EH_FRAME_HDR_MIN 4 /* version and three encodings */

/* Pointer encodings of .eh_frame_hdr, LSB Core 10.5.1. */
enum {
	ENCODING_OMIT = 0xff,
	ENCODING_FORMAT = 0x0f,
	ENCODING_ABSPTR = 0x00,
	ENCODING_UDATA4 = 0x03,
	ENCODING_UDATA8 = 0x04,
	ENCODING_SDATA4 = 0x0b,
	ENCODING_SDATA8 = 0x0c,
	ENCODING_BASE = 0x70,
	ENCODING_PCREL = 0x10,
	ENCODING_DATAREL = 0x30,
	ENCODING_INDIRECT = 0x80,
};

static bool range_in_file(const struct elf_image *image, uint64_t offset, uint64_t size)
{
	return offset <= image->size && size <= image->size - offset;
}

static bool copy_out(const struct elf_image *image, uint64_t offset, void *buffer, size_t size)
{
	if (!range_in_file(image, offset, size))
		return false;
	memcpy(buffer, image->bytes + offset, size);
	return true;
}

const uint8_t *elf_image_at(const struct elf_image *image, uint64_t virtual_address,
			    size_t *ret_available)
{
	for (size_t i = 0; i < image->segment_count; i++) {
		const struct elf_segment *segment = &image->segments[i];
		uint64_t offset = virtual_address - segment->virtual_address;

		if (virtual_address < segment->virtual_address || offset >= segment->file_size)
			continue;
		*ret_available = segment->file_size - offset;
		return image->bytes + segment->file_offset + offset;
	}
	return NULL;
}

bool elf_image_file_offset(const struct elf_image *image, uint64_t virtual_address, uint32_t flags,
			   uint64_t *ret_offset)
{
	for (size_t i = 0; i < image->segment_count; i++) {
		const struct elf_segment *segment = &image->segments[i];
		uint64_t offset = virtual_address - segment->virtual_address;

		if ((segment->flags & flags) != flags ||
		    virtual_address < segment->virtual_address || offset >= segment->file_size)
			continue;
		*ret_offset = offset + segment->file_offset;
		return true;
	}
	return false;
}

int elf_image_section(const struct elf_image *image, size_t index, struct elf_section *ret_section)
{
	struct elf_section names, section;
	Elf64_Shdr header;

	if (index >= image->section_count)
		return -ENOENT;
	if (!copy_out(image, image->section_table_offset + index * sizeof(header), &header,
		      sizeof(header)))
		return -ENOENT;
	if (header.sh_type != SHT_NOBITS && !range_in_file(image, header.sh_offset, header.sh_size))
		return -ENOENT;
	section = (struct elf_section){
		.name = "",
		.type = header.sh_type,
		.link = header.sh_link,
		.flags = header.sh_flags,
		.virtual_address = header.sh_addr,
		.file_offset = header.sh_offset,
		.size = header.sh_size,
		.entry_size = header.sh_entsize,
	};
	/* The names' own name is not asked for, which also ends the recursion. */
	if (image->section_names && index != image->section_names &&
	    elf_image_section(image, image->section_names, &names) == 0 &&
	    names.type == SHT_STRTAB && header.sh_name < names.size) {
		const char *name = (const char *)image->bytes + names.file_offset + header.sh_name;
		size_t size = names.size - header.sh_name;

		if (memchr(name, '\0', size < SECTION_NAME_MAX ? size : SECTION_NAME_MAX))
			section.name = name;
	}
	*ret_section = section;
	return 0;
}

int elf_image_section_find(const struct elf_image *image, const char *name,
			   struct elf_section *ret_section)
{
	for (size_t i = 1; i < image->section_count; i++) {
		struct elf_section section;

		if (elf_image_section(image, i, &section) == 0 && strcmp(section.name, name) == 0) {
			*ret_section = section;
			return 0;
		}
	}
	return -ENOENT;
}

static void read_section_table(struct elf_image *image, const Elf64_Ehdr *header)
{
	uint64_t count = header->e_shnum;
	uint64_t names = header->e_shstrndx;
	Elf64_Shdr first;

	if (!header->e_shoff || header->e_shentsize != sizeof(Elf64_Shdr))
		return;
	if (!copy_out(image, header->e_shoff, &first, sizeof(first)))
		return;
	/* Numbers too large for the ELF header are in section 0. */
	if (count == 0)
		count = first.sh_size;
	if (names == SHN_XINDEX)
		names = first.sh_link;
	if (count > SECTIONS_MAX || !range_in_file(image, header->e_shoff, count * sizeof(first)))
		return;
	image->section_table_offset = header->e_shoff;
	image->section_count = count;
	image->section_names = names < count ? names : 0;
}

static int add_segment(struct elf_image *image, const Elf64_Phdr *header)
{
	struct elf_segment segment = {
		.virtual_address = header->p_vaddr,
		.file_offset = header->p_offset,
		.file_size = header->p_filesz,
		.memory_size = header->p_memsz,
		.flags = header->p_flags,
	};
	size_t position = image->segment_count;

	if (header->p_memsz == 0)
		return 0;
	if (image->segment_count == ELF_IMAGE_SEGMENTS_MAX)
		return -ENOEXEC;
	/* Leave room for rounding up to a page. */
	if (header->p_vaddr > UINT64_MAX - PAGE_BYTES - header->p_memsz ||
	    header->p_memsz > UINT64_MAX - PAGE_BYTES)
		return -ENOEXEC;
	if (segment.file_size > segment.memory_size)
		segment.file_size = segment.memory_size;
	if (segment.file_offset > image->size)
		segment.file_size = 0;
	else if (segment.file_size > image->size - segment.file_offset)
		segment.file_size = image->size - segment.file_offset;

	while (position > 0 &&
	       image->segments[position - 1].virtual_address > segment.virtual_address) {
		image->segments[position] = image->segments[position - 1];
		position--;
	}
	image->segments[position] = segment;
	image->segment_count++;
	return 0;
}

/* The ELF virtual address of a place in the file; 0 when it is in no segment. */
static uint64_t address_of_offset(const struct elf_image *image, uint64_t offset)
{
	for (size_t i = 0; i < image->segment_count; i++) {
		const struct elf_segment *segment = &image->segments[i];

		if (offset >= segment->file_offset &&
		    offset - segment->file_offset < segment->file_size)
			return segment->virtual_address + (offset - segment->file_offset);
	}
	return 0;
}

static uint64_t align_up(uint64_t value, uint64_t alignment)
{
	return (value + alignment - 1) & ~(alignment - 1);
}

/* Looks for the build-id among the notes in [offset, offset + size) of the file. */
static void read_notes(struct elf_image *image, uint64_t offset, uint64_t size, uint64_t alignment)
{
	uint64_t position = 0;

	if (offset > image->size)
		return;
	if (size > image->size - offset)
		size = image->size - offset;
	if (size > NOTES_MAX_BYTES)
		size = NOTES_MAX_BYTES;
	/* Notes of GNU properties are aligned to 8, all others to 4 whatever they say. */
	if (alignment != 8)
		alignment = 4;

	while (image->build_id_size == 0 && size - position >= sizeof(Elf64_Nhdr)) {
		uint64_t name, description, next;
		Elf64_Nhdr note;

		memcpy(&note, image->bytes + offset + position, sizeof(note));
		/* All 32-bit sizes: none of these sums overflows. */
		name = position + sizeof(note);
		description = align_up(name + note.n_namesz, alignment);
		next = align_up(description + note.n_descsz, alignment);
		if (description > size || note.n_descsz > size - description)
			return;
		if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == sizeof(ELF_NOTE_GNU) &&
		    memcmp(image->bytes + offset + name, ELF_NOTE_GNU, sizeof(ELF_NOTE_GNU)) == 0 &&
		    note.n_descsz > 0) {
			image->build_id_size = note.n_descsz < sizeof(image->build_id)
						       ? note.n_descsz
						       : sizeof(image->build_id);
			memcpy(image->build_id, image->bytes + offset + description,
			       image->build_id_size);
			image->build_id_address = address_of_offset(image, offset + description);
		}
		if (next > size)
			return;
		position = next;
	}
}

/* Finds .eh_frame by the pointer in .eh_frame_hdr, for files without section headers. */
static void read_eh_frame_pointer(struct elf_image *image)
{
	size_t available, width;
	const uint8_t *header = elf_image_at(image, image->eh_frame_hdr_address, &available);
	uint64_t address = 0;
	uint8_t encoding;

	if (!header || available < EH_FRAME_HDR_MIN || header[0] != 1)
		return;
	encoding = header[1];
	if (encoding == ENCODING_OMIT || encoding & ENCODING_INDIRECT)
		return;
	switch (encoding & ENCODING_FORMAT) {
	case ENCODING_UDATA4:
	case ENCODING_SDATA4:
		width = 4;
		break;
	case ENCODING_ABSPTR:
	case ENCODING_UDATA8:
	case ENCODING_SDATA8:
		width = 8;
		break;
	default:
		return;
	}
	if (available - EH_FRAME_HDR_MIN < width)
		return;
	memcpy(&address, header + EH_FRAME_HDR_MIN, width);
	if ((encoding & ENCODING_FORMAT) == ENCODING_SDATA4)
		address = (uint64_t)(int64_t)(int32_t)(uint32_t)address;
	switch (encoding & ENCODING_BASE) {
	case ENCODING_PCREL:
		address += image->eh_frame_hdr_address + EH_FRAME_HDR_MIN;
		break;
	case ENCODING_DATAREL:
		address += image->eh_frame_hdr_address;
		break;
	case 0:
		break;
	default:
		return;
	}
	/* Its length is not told; a zero length word ends it before its segment does. */
	if (elf_image_at(image, address, &available)) {
		image->eh_frame_address = address;
		image->eh_frame_size = available;
	}
}

static void read_eh_frame(struct elf_image *image)
{
	struct elf_section section;
	size_t available;

	if (image->eh_frame_hdr_address) {
		if (!elf_image_at(image, image->eh_frame_hdr_address, &available) ||
		    available < EH_FRAME_HDR_MIN) {
			image->eh_frame_hdr_address = 0;
			image->eh_frame_hdr_size = 0;
		} else if (image->eh_frame_hdr_size > available) {
			image->eh_frame_hdr_size = available;
		}
	}
	/* Since binutils 2.2x some linkers call the type SHT_X86_64_UNWIND: only NOBITS is out. */
	if (elf_image_section_find(image, ".eh_frame", &section) == 0 &&
	    section.type != SHT_NOBITS && section.flags & SHF_ALLOC && section.virtual_address &&
	    elf_image_at(image, section.virtual_address, &available)) {
		image->eh_frame_address = section.virtual_address;
		image->eh_frame_size = section.size < available ? section.size : available;
		return;
	}
	if (image->eh_frame_hdr_address)
		read_eh_frame_pointer(image);
}

static int read_headers(struct elf_image *image)
{
	struct elf_section section;
	Elf64_Ehdr header;
	Elf64_Phdr segment;

	if (!copy_out(image, 0, &header, sizeof(header)))
		return -ENOEXEC;
	if (memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
	    header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_ident[EI_DATA] != ELFDATA2LSB ||
	    header.e_ident[EI_VERSION] != EV_CURRENT || header.e_machine != EM_X86_64 ||
	    (header.e_type != ET_EXEC && header.e_type != ET_DYN))
		return -ENOEXEC;
	if (header.e_phentsize != sizeof(segment) || header.e_phnum == 0 ||
	    header.e_phnum == PN_XNUM ||
	    !range_in_file(image, header.e_phoff, header.e_phnum * sizeof(segment)))
		return -ENOEXEC;

	read_section_table(image, &header);
	for (unsigned int i = 0; i < header.e_phnum; i++) {
		memcpy(&segment, image->bytes + header.e_phoff + i * sizeof(segment),
		       sizeof(segment));
		if (segment.p_type == PT_LOAD) {
			int error = add_segment(image, &segment);

			if (error)
				return error;
		} else if (segment.p_type == PT_GNU_EH_FRAME) {
			image->eh_frame_hdr_address = segment.p_vaddr;
			image->eh_frame_hdr_size = segment.p_memsz;
		}
	}
	if (image->segment_count == 0)
		return -ENOEXEC;
	for (unsigned int i = 0; i < header.e_phnum && image->build_id_size == 0; i++) {
		memcpy(&segment, image->bytes + header.e_phoff + i * sizeof(segment),
		       sizeof(segment));
		if (segment.p_type == PT_NOTE)
			read_notes(image, segment.p_offset, segment.p_filesz, segment.p_align);
	}
	/* A separate debug file's segments are empty, but it keeps this section. */
	if (image->build_id_size == 0 &&
	    elf_image_section_find(image, ".note.gnu.build-id", &section) == 0 &&
	    section.type == SHT_NOTE)
		read_notes(image, section.file_offset, section.size, 4);
	read_eh_frame(image);
	return 0;
}

static bool find_compressed_section(const struct elf_image *image)
{
	for (size_t i = 1; i < image->section_count; i++) {
		struct elf_section section;

		/* .zdebug_info and the like: GNU's way before ELF had a flag for it. */
		if (elf_image_section(image, i, &section) == 0 &&
		    (section.flags & SHF_COMPRESSED || strncmp(section.name, ".zdebug", 7) == 0))
			return true;
	}
	return false;
}

static int open_bytes(const uint8_t *bytes, size_t size, struct elf_image **ret_image)
{
	struct elf_image *image = calloc(1, sizeof(*image));
	int error;

	if (!image)
		return -ENOMEM;
	image->bytes = bytes;
	image->size = size;
	error = read_headers(image);
	if (error) {
		free(image);
		return error;
	}
	image->needs_copies = find_compressed_section(image);
	*ret_image = image;
	return 0;
}

int elf_image_open(int fd, struct elf_image **ret_image)
{
	struct foreign_mapping mapping;
	struct elf_image *image;
	struct stat status;
	int error;

	if (fstat(fd, &status) < 0)
		return -errno;
	if (!S_ISREG(status.st_mode) || status.st_size < (off_t)sizeof(Elf64_Ehdr) ||
	    (uint64_t)status.st_size > FILE_SIZE_MAX)
		return -ENOEXEC;
	error = foreign_mapping_open(fd, (size_t)status.st_size, &mapping);
	if (error)
		return error;
	error = open_bytes(mapping.bytes, mapping.size, &image);
	if (error) {
		foreign_mapping_close(&mapping);
		return error;
	}
	image->mapping = mapping;
	image->identity = file_identity_of(fd, &status);
	if (dwarf_copy_is_needed(&status))
		image->needs_copies = true;
	*ret_image = image;
	return 0;
}

int elf_image_open_memory(void *bytes, size_t size, struct elf_image **ret_image)
{
	return open_bytes(bytes, size, ret_image);
}

bool elf_image_has_lost(const struct elf_image *image)
{
	return foreign_mapping_has_lost(&image->mapping);
}

int elf_image_writable_bytes(struct elf_image *image, char **ret_bytes)
{
	int error;

	if (image->needs_copies) {
		struct dwarf_copy *copy = &image->private_copies[image->private_copy_count];

		if (image->private_copy_count == ELF_IMAGE_PRIVATE_COPIES_MAX)
			return -ENODATA;
		error = dwarf_copy_make(image->bytes, image->size, copy);
		if (error)
			return error == -ENOEXEC ? -ENODATA : error;
		image->private_copy_count++;
		*ret_bytes = copy->bytes;
		return 0;
	}
	if (image->mapping.bytes && foreign_mapping_allow_writing(&image->mapping) != 0)
		return -ENODATA;
	*ret_bytes = (char *)(uintptr_t)image->bytes;
	return 0;
}

void elf_image_close(struct elf_image *image)
{
	if (!image)
		return;
	for (size_t i = 0; i < image->private_copy_count; i++)
		dwarf_copy_free(&image->private_copies[i]);
	if (image->mapping.bytes)
		foreign_mapping_close(&image->mapping);
	else
		free((void *)(uintptr_t)image->bytes);
	free(image);
}
