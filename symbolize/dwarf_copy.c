/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Headers are copied first, and sections chosen by the copied headers, so that
 * what is copied and what libelf finds are told by the same bytes.
 */
#include "symbolize/dwarf_copy.h"

#include <elf.h>
#include <endian.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>

#define SECTIONS_MAX 65536

static atomic_size_t taken_in_all;

bool dwarf_copy_is_needed(const struct stat *status)
{
	/* With an access control list, the group's bits are the most that it gives to anybody. */
	return status->st_uid != 0 || status->st_mode & (S_IWGRP | S_IWOTH);
}

struct copying {
	const uint8_t *from;
	struct dwarf_copy copy;
};

static int count_bytes(struct dwarf_copy *copy, uint64_t size)
{
	if (size > DWARF_COPIES_MAX_BYTES)
		return -E2BIG;
	if (atomic_fetch_add(&taken_in_all, size) > DWARF_COPIES_MAX_BYTES - size) {
		atomic_fetch_sub(&taken_in_all, size);
		return -E2BIG;
	}
	copy->taken += size;
	return 0;
}

/* Copies one part of the file; one that is not all in it is left out. */
static int copy_part(struct copying *copying, uint64_t offset, uint64_t size)
{
	struct dwarf_copy *copy = &copying->copy;
	int error;

	if (offset > copy->size || size > copy->size - offset)
		return 0;
	error = count_bytes(copy, size);
	if (!error)
		memcpy(copy->bytes + offset, copying->from + offset, size);
	return error;
}

/*
 * What libelf makes room for when it unpacks a section: what the section says,
 * once all is copied, since sections may overlap. Those that libdw never asks
 * for count too; the names of sections are unpacked as well.
 */
static uint64_t unpacked_size(const struct dwarf_copy *copy, const Elf64_Shdr *section,
			      const char *names, size_t names_size)
{
	static const char gnu_name[] = ".zdebug", gnu_magic[] = "ZLIB";
	const char *start;
	Elf64_Chdr header;
	uint64_t size;

	if (section->sh_type == SHT_NOBITS || section->sh_offset > copy->size ||
	    section->sh_size > copy->size - section->sh_offset)
		return 0;
	start = copy->bytes + section->sh_offset;
	if (section->sh_flags & SHF_COMPRESSED && section->sh_size >= sizeof(header)) {
		memcpy(&header, start, sizeof(header));
		return header.ch_size;
	}
	if (section->sh_name >= names_size || section->sh_size < 4 + sizeof(size) ||
	    strncmp(names + section->sh_name, gnu_name, strlen(gnu_name)) != 0 ||
	    memcmp(start, gnu_magic, strlen(gnu_magic)) != 0)
		return 0;
	memcpy(&size, start + strlen(gnu_magic), sizeof(size));
	return be64toh(size);
}

static bool is_read(const Elf64_Shdr *section, const char *names, size_t names_size)
{
	static const char *const beginnings[] = { ".debug_", ".zdebug_", ".gnu_debug" };
	const char *name = names + section->sh_name;

	if (section->sh_type == SHT_NOTE)
		return true;
	if (section->sh_type == SHT_NOBITS || section->sh_name >= names_size)
		return false;
	/* Behind the names is the copy's own zero page at the least. */
	for (size_t i = 0; i < sizeof(beginnings) / sizeof(beginnings[0]); i++)
		if (strncmp(name, beginnings[i], strlen(beginnings[i])) == 0)
			return true;
	return false;
}

static int take_sections(struct copying *copying, const Elf64_Ehdr *header)
{
	const char *bytes = copying->copy.bytes;
	uint64_t count = header->e_shnum, names_index = header->e_shstrndx;
	Elf64_Shdr section, names;
	int error;

	error = copy_part(copying, header->e_shoff, sizeof(section));
	if (error)
		return error;
	/* Numbers too large for the ELF header are in section 0. */
	memcpy(&section, bytes + header->e_shoff, sizeof(section));
	if (count == 0)
		count = section.sh_size;
	if (names_index == SHN_XINDEX)
		names_index = section.sh_link;
	if (count > SECTIONS_MAX || names_index >= count ||
	    count * sizeof(section) > copying->copy.size - header->e_shoff)
		return -ENOEXEC;
	error = copy_part(copying, header->e_shoff + sizeof(section),
			  (count - 1) * sizeof(section));
	if (error)
		return error;
	memcpy(&names, bytes + header->e_shoff + names_index * sizeof(names), sizeof(names));
	if (names.sh_offset > copying->copy.size ||
	    names.sh_size > copying->copy.size - names.sh_offset)
		return -ENOEXEC;
	error = copy_part(copying, names.sh_offset, names.sh_size);
	for (uint64_t i = 1; i < count && !error; i++) {
		memcpy(&section, bytes + header->e_shoff + i * sizeof(section), sizeof(section));
		if (is_read(&section, bytes + names.sh_offset, names.sh_size))
			error = copy_part(copying, section.sh_offset, section.sh_size);
	}
	for (uint64_t i = 1; i < count && !error; i++) {
		memcpy(&section, bytes + header->e_shoff + i * sizeof(section), sizeof(section));
		error = count_bytes(&copying->copy,
				    unpacked_size(&copying->copy, &section, bytes + names.sh_offset,
						  names.sh_size));
	}
	return error;
}

int dwarf_copy_make(const uint8_t *bytes, size_t size, struct dwarf_copy *ret_copy)
{
	struct copying copying = { .from = bytes, .copy = { .size = size } };
	Elf64_Ehdr header;
	char *room;
	int error;

	if (size < sizeof(header) || size > SIZE_MAX / 2)
		return -ENOEXEC;
	/* A byte more: text ends there at the latest. */
	room = mmap(NULL, size + 1, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (room == MAP_FAILED)
		return -ENOMEM;
	copying.copy.bytes = room;
	error = copy_part(&copying, 0, sizeof(header));
	if (!error) {
		memcpy(&header, room, sizeof(header));
		if (memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
		    header.e_ident[EI_CLASS] != ELFCLASS64 ||
		    header.e_ident[EI_DATA] != ELFDATA2LSB || header.e_shoff == 0 ||
		    header.e_shoff > size - sizeof(Elf64_Shdr) ||
		    header.e_shentsize != sizeof(Elf64_Shdr))
			error = -ENOEXEC;
	}
	if (!error)
		error = copy_part(&copying, header.e_phoff,
				  (uint64_t)header.e_phnum * sizeof(Elf64_Phdr));
	if (!error)
		error = take_sections(&copying, &header);
	if (error) {
		dwarf_copy_free(&copying.copy);
		return error;
	}
	*ret_copy = copying.copy;
	return 0;
}

void dwarf_copy_free(struct dwarf_copy *copy)
{
	if (!copy->bytes)
		return;
	(void)munmap(copy->bytes, copy->size + 1);
	atomic_fetch_sub(&taken_in_all, copy->taken);
	*copy = (struct dwarf_copy){ 0 };
}
