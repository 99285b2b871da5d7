/* SPDX-License-Identifier: Apache-2.0 */
/* Built files in which a section is replaced by other bytes. */
#ifndef PIEPROFD_TESTS_UNIT_FORGED_SECTION_H
#define PIEPROFD_TESTS_UNIT_FORGED_SECTION_H

#include "tests/unit/built_files.h"

#include <elf.h>
#include <sys/stat.h>

struct bytes {
	uint8_t *at;
	size_t size;
};

BUILT_UNUSED static struct bytes read_file(const char *path)
{
	struct bytes bytes;
	struct stat status;
	FILE *file = fopen(path, "re");

	built_must(file && fstat(fileno(file), &status) == 0);
	bytes.size = (size_t)status.st_size;
	bytes.at = malloc(bytes.size);
	built_must(bytes.at && fread(bytes.at, 1, bytes.size, file) == bytes.size);
	fclose(file);
	return bytes;
}

BUILT_UNUSED static void write_file(const char *path, const struct bytes *bytes)
{
	FILE *file = fopen(path, "we");

	built_must(file && fwrite(bytes->at, 1, bytes->size, file) == bytes->size);
	built_must(fclose(file) == 0);
}

/* Puts other bytes in place of the first section that is called like this. */
BUILT_UNUSED static void replace_section(struct bytes *file, const char *beginning,
					 const void *head, size_t head_size,
					 const struct bytes *rest, bool compressed)
{
	Elf64_Ehdr *header = (Elf64_Ehdr *)file->at;
	size_t offset = file->size, number = header->e_shnum;
	Elf64_Shdr *sections;

	file->size += head_size + rest->size;
	file->at = realloc(file->at, file->size);
	built_must(file->at);
	if (head)
		memcpy(file->at + offset, head, head_size);
	if (rest->size)
		memcpy(file->at + offset + head_size, rest->at, rest->size);
	header = (Elf64_Ehdr *)file->at;
	sections = (Elf64_Shdr *)(file->at + header->e_shoff);
	for (size_t i = 0; i < header->e_shnum && number == header->e_shnum; i++)
		if (strncmp((char *)file->at + sections[header->e_shstrndx].sh_offset +
				    sections[i].sh_name,
			    beginning, strlen(beginning)) == 0)
			number = i;
	built_must(number != header->e_shnum);
	sections[number].sh_offset = offset;
	sections[number].sh_size = head_size + rest->size;
	if (compressed)
		sections[number].sh_flags |= SHF_COMPRESSED;
}

#endif
