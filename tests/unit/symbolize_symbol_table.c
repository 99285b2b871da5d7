/* SPDX-License-Identifier: Apache-2.0 */
/* Symbol tables made by hand: which name an address gets, how many there may be; corrupted ones. */
#include "symbolize/symbol.h"

#include "tests/unit/image_module.h"

#include <elf.h>
#include <stddef.h>
#include <stdlib.h>

static uint32_t next_random(uint64_t *seed)
{
	*seed = *seed * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(*seed >> 33);
}

/* Bytes flipped in the symbol tables, their strings and the section table. */
static void test_corrupted_copies(void **state)
{
	static const char *const parts[] = { ".dynsym", ".dynstr", ".gnu.version" };
	struct elf_image *original = open_image("/lib64/ld-linux-x86-64.so.2");
	uint64_t seed = 4711;
	size_t named = 0, found = 0;

	(void)state;
	for (int round = 0; round < 2000; round++) {
		uint8_t *copy = malloc(original->size);
		size_t flips = 1 + next_random(&seed) % 40;
		struct symbolizer *symbolizer = symbolizer_create();
		struct elf_image *image;
		struct module module;
		remote_addr address;
		uint64_t size;

		assert_non_null(copy);
		memcpy(copy, original->bytes, original->size);
		for (size_t i = 0; i < flips; i++) {
			size_t where = original->section_table_offset,
			       room = original->section_count * 64;
			struct elf_section section;
			size_t part = next_random(&seed) % 4;

			if (part < 3) {
				assert_int_equal(
					elf_image_section_find(original, parts[part], &section), 0);
				where = section.file_offset;
				room = section.size;
			}
			copy[where + next_random(&seed) % room] =
				(uint8_t)(next_random(&seed) % 3 ? next_random(&seed) : 0xff);
		}
		if (elf_image_open_memory(copy, original->size, &image) != 0) {
			free(copy);
			symbolizer_destroy(symbolizer);
			continue;
		}
		make_module(&module, image, 0);
		for (uint64_t at = 0; at < 0x30000; at += 0x123) {
			const char *name = symbolizer_function(symbolizer, &module, at, NULL);

			if (name && strlen(name) > 0)
				named++;
		}
		found += symbolizer_find(symbolizer, &module, "__tls_get_addr", &address, &size) ==
			 0;
		symbolizer_destroy(symbolizer);
		elf_image_close(image);
	}
	assert_true(named > 1000 && found > 100);
	elf_image_close(original);
}

/* Of a shared library with one segment and four sections, whose names are in the last. */
static Elf64_Ehdr made_header(size_t segment, size_t sections)
{
	return (Elf64_Ehdr){
		.e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB,
			     EV_CURRENT },
		.e_type = ET_DYN,
		.e_machine = EM_X86_64,
		.e_phoff = segment,
		.e_phentsize = sizeof(Elf64_Phdr),
		.e_phnum = 1,
		.e_shoff = sections,
		.e_shentsize = sizeof(Elf64_Shdr),
		.e_shnum = 4,
		.e_shstrndx = 3,
	};
}

/* Nested, unsized, equal and wrapping symbols in a file made for it. */
struct made_file {
	Elf64_Ehdr header;
	Elf64_Phdr segment;
	Elf64_Shdr sections[4]; /* null, .text, .symtab, .strtab; names in .strtab too */
	Elf64_Sym symbols[10];
	char strings[192];
};

static uint32_t add_string(struct made_file *file, size_t *used, const char *text)
{
	size_t at = *used;

	strcpy(file->strings + at, text);
	*used += strlen(text) + 1;
	return (uint32_t)at;
}

static void add_symbol(struct made_file *file, size_t *count, uint32_t name, unsigned char binding,
		       uint64_t value, uint64_t size)
{
	file->symbols[++*count] = (Elf64_Sym){ .st_name = name,
					       .st_info = ELF64_ST_INFO(binding, STT_FUNC),
					       .st_shndx = 1,
					       .st_value = value,
					       .st_size = size };
}

static void test_choice_of_symbols(void **state)
{
	struct made_file *file = calloc(1, sizeof(*file));
	struct symbolizer *symbolizer = symbolizer_create();
	size_t used = 1, count = 0;
	struct elf_image *image;
	struct module module;
	remote_addr start;

	(void)state;
	assert_non_null(file);
	file->header = made_header(offsetof(struct made_file, segment),
				   offsetof(struct made_file, sections));
	file->segment =
		(Elf64_Phdr){ .p_type = PT_LOAD, .p_flags = PF_R | PF_X, .p_memsz = 0x10000 };
	file->sections[1] =
		(Elf64_Shdr){ .sh_type = SHT_NOBITS, .sh_addr = 0x1000, .sh_size = 0x1000 };
	file->sections[2] = (Elf64_Shdr){ .sh_name = add_string(file, &used, ".symtab"),
					  .sh_type = SHT_SYMTAB,
					  .sh_link = 3,
					  .sh_offset = offsetof(struct made_file, symbols),
					  .sh_size = sizeof(file->symbols),
					  .sh_entsize = sizeof(Elf64_Sym) };
	file->sections[3] = (Elf64_Shdr){ .sh_type = SHT_STRTAB,
					  .sh_offset = offsetof(struct made_file, strings),
					  .sh_size = sizeof(file->strings) };

	add_symbol(file, &count, add_string(file, &used, "outer"), STB_LOCAL, 0x1100, 0x100);
	add_symbol(file, &count, add_string(file, &used, "inner"), STB_LOCAL, 0x1140, 0x10);
	add_symbol(file, &count, add_string(file, &used, "unsized"), STB_GLOBAL, 0x1200, 0);
	add_symbol(file, &count, add_string(file, &used, "__alias"), STB_GLOBAL, 0x1300, 0x20);
	add_symbol(file, &count, add_string(file, &used, "a"), STB_LOCAL, 0x1300, 0x20);
	add_symbol(file, &count, add_string(file, &used, "alias@@V2"), STB_WEAK, 0x1300, 0x20);
	add_symbol(file, &count, add_string(file, &used, "alias64"), STB_GLOBAL, 0x1300, 0x20);
	add_symbol(file, &count, add_string(file, &used, "last"), STB_GLOBAL, 0x1f00, 0);
	add_symbol(file, &count, add_string(file, &used, "endless"), STB_GLOBAL, 0x1800,
		   UINT64_MAX);

	assert_int_equal(elf_image_open_memory(file, sizeof(*file), &image), 0);
	make_module(&module, image, 5);
	module.bias = 0x7f0000000000;
#define NAME(at) symbolizer_function(symbolizer, &module, module.bias + (at), &start)
	assert_null(NAME(0x10ff));
	assert_string_equal(NAME(0x1100), "outer");
	assert_string_equal(NAME(0x1140), "inner");
	assert_string_equal(NAME(0x114f), "inner");
	assert_string_equal(NAME(0x1150), "outer");
	assert_int_equal(start, module.bias + 0x1100);
	assert_string_equal(NAME(0x11ff), "outer");
	assert_string_equal(NAME(0x1200), "unsized");
	assert_string_equal(NAME(0x12ff), "unsized");
	assert_string_equal(NAME(0x1310), "alias");
	assert_null(NAME(0x1320));
	assert_string_equal(NAME(0x1800), "endless");
	assert_string_equal(NAME(0x1fff), "last");
	assert_null(NAME(0x2000));
#undef NAME
	symbolizer_destroy(symbolizer);
	elf_image_close(image);
}

/* Of one table, as in docs/SECURITY.md: what is behind has no name. */
static void test_too_many_symbols(void **state)
{
	const size_t most = 2097152, spacing = 16;
	struct {
		Elf64_Ehdr header;
		Elf64_Phdr segment;
		Elf64_Shdr sections[4];
		char strings[32];
		Elf64_Sym symbols[];
	} * file;
	size_t size = sizeof(*file) + (most + 1) * sizeof(file->symbols[0]);
	struct symbolizer *symbolizer = symbolizer_create();
	struct elf_image *image;
	struct module module;
	remote_addr start;

	(void)state;
	file = calloc(1, size);
	assert_non_null(file);
	file->header = made_header(offsetof(__typeof__(*file), segment),
				   offsetof(__typeof__(*file), sections));
	file->segment = (Elf64_Phdr){ .p_type = PT_LOAD,
				      .p_flags = PF_R | PF_X,
				      .p_memsz = (most + 2) * spacing };
	memcpy(file->strings, "\0.symtab\0name", 14);
	file->sections[1] = (Elf64_Shdr){ .sh_type = SHT_NOBITS,
					  .sh_addr = spacing,
					  .sh_size = (most + 1) * spacing };
	file->sections[2] = (Elf64_Shdr){ .sh_name = 1,
					  .sh_type = SHT_SYMTAB,
					  .sh_link = 3,
					  .sh_offset = sizeof(*file),
					  .sh_size = size - sizeof(*file),
					  .sh_entsize = sizeof(Elf64_Sym) };
	file->sections[3] = (Elf64_Shdr){ .sh_type = SHT_STRTAB,
					  .sh_offset = offsetof(__typeof__(*file), strings),
					  .sh_size = sizeof(file->strings) };
	/* The first one is no symbol. */
	for (size_t i = 1; i <= most; i++)
		file->symbols[i] = (Elf64_Sym){ .st_name = 9,
						.st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC),
						.st_shndx = 1,
						.st_value = i * spacing,
						.st_size = spacing };
	assert_int_equal(elf_image_open_memory(file, size, &image), 0);
	make_module(&module, image, 5);
	assert_string_equal(symbolizer_function(symbolizer, &module, spacing, &start), "name");
	assert_string_equal(symbolizer_function(symbolizer, &module, (most - 1) * spacing, &start),
			    "name");
	assert_int_equal(start, (most - 1) * spacing);
	assert_null(symbolizer_function(symbolizer, &module, most * spacing, &start));
	symbolizer_destroy(symbolizer);
	elf_image_close(image);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_corrupted_copies),
		cmocka_unit_test(test_choice_of_symbols),
		cmocka_unit_test(test_too_many_symbols),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
