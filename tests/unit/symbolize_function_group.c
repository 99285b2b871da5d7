/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Functions in pieces, in made files with just the symbols in question, as a
 * tail-calling interpreter's are, and in the interpreters found.
 */
#include "symbolize/function_group.h"
#include "tests/unit/live_process.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#define SYMBOLS_MAX 64

struct made_symbol {
	const char *name;
	uint64_t start, size;
	unsigned char type; /* 0: a function */
};

struct made_file {
	Elf64_Ehdr header;
	Elf64_Phdr segment;
	Elf64_Shdr sections[4];
	Elf64_Sym symbols[SYMBOLS_MAX];
	char strings[4096];
};

static struct elf_image *make_image(const struct made_symbol *symbols, size_t count, uint32_t type)
{
	static const char section_names[] = "\0.symtab\0.strtab";
	struct made_file *file = calloc(1, sizeof(*file));
	struct elf_image *image;
	size_t strings = sizeof(section_names);

	assert_true(count < SYMBOLS_MAX);
	file->header = (Elf64_Ehdr){
		.e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB,
			     EV_CURRENT },
		.e_type = ET_DYN,
		.e_machine = EM_X86_64,
		.e_version = EV_CURRENT,
		.e_phoff = offsetof(struct made_file, segment),
		.e_shoff = offsetof(struct made_file, sections),
		.e_ehsize = sizeof(Elf64_Ehdr),
		.e_phentsize = sizeof(Elf64_Phdr),
		.e_phnum = 1,
		.e_shentsize = sizeof(Elf64_Shdr),
		.e_shnum = 3,
		.e_shstrndx = 2,
	};
	file->segment = (Elf64_Phdr){ .p_type = PT_LOAD,
				      .p_flags = PF_R | PF_X,
				      .p_filesz = sizeof(*file),
				      .p_memsz = sizeof(*file) };
	file->sections[1] = (Elf64_Shdr){ .sh_name = 1,
					  .sh_type = type,
					  .sh_offset = offsetof(struct made_file, symbols),
					  .sh_size = (count + 1) * sizeof(Elf64_Sym),
					  .sh_link = 2,
					  .sh_entsize = sizeof(Elf64_Sym) };
	file->sections[2] = (Elf64_Shdr){ .sh_name = 9,
					  .sh_type = SHT_STRTAB,
					  .sh_offset = offsetof(struct made_file, strings),
					  .sh_size = sizeof(file->strings) };
	memcpy(file->strings, section_names, sizeof(section_names));
	for (size_t i = 0; i < count; i++) {
		unsigned char kind = symbols[i].type ? symbols[i].type : STT_FUNC;

		file->symbols[i + 1] = (Elf64_Sym){ .st_name = (Elf64_Word)strings,
						    .st_info = ELF64_ST_INFO(STB_LOCAL, kind),
						    .st_shndx = 1,
						    .st_value = symbols[i].start,
						    .st_size = symbols[i].size };
		strings +=
			(size_t)snprintf(file->strings + strings, sizeof(file->strings) - strings,
					 "%s", symbols[i].name) +
			1;
		assert_true(strings < sizeof(file->strings));
	}
	assert_int_equal(elf_image_open_memory(file, sizeof(*file), &image), 0);
	return image;
}

#define MAKE(type, ...)                                                                            \
	make_image((const struct made_symbol[]){ __VA_ARGS__ },                                    \
		   sizeof((const struct made_symbol[]){ __VA_ARGS__ }) /                           \
			   sizeof(struct made_symbol),                                             \
		   type)

static const char *const eval_names[] = { "_PyEval_EvalFrameDefault", "_TAIL_CALL_*" };

static void assert_code(const struct address_ranges *code, size_t index, uint64_t start,
			uint64_t end)
{
	assert_true(index < code->count);
	assert_int_equal(code->items[index].start, start);
	assert_int_equal(code->items[index].end, end);
}

/* One function an instruction, side by side, with others before, between and behind. */
static void test_tail_calls(void **state)
{
	struct elf_image *image = MAKE(
		SHT_SYMTAB, { "_TAIL_CALL_BINARY_OP", 0x2000, 0x71, 0 },
		{ "_TAIL_CALL_LOAD_FAST", 0x2080, 0x40, 0 },
		{ "_TAIL_CALL_start_frame", 0x20c0, 0x40, 0 },
		{ "helper", 0x2100, 0x20, 0 }, /* among them, but none of them */
		{ "_TAIL_CALL_CALL.llvm.1234", 0x2120, 0x60, 0 },
		{ "_TAIL_CALL_CALL.cold", 0x1000, 0x10, 0 },
		{ "_TAIL_CALL_SEND.cold", 0x1010, 0x10, 0 },
		{ "_PyEval_EvalFrameDefault", 0x3000, 0x100, 0 },
		{ "_PyEval_EvalFrameDefaultish", 0x3100, 0x100, 0 },
		{ "_PyEval_EvalFrame", 0x3200, 0x100, 0 },
		{ "_TAIL_CALL_TABLE", 0x9000, 0x800, STT_OBJECT }, { "_TAIL_CALL_", 0x5000, 0, 0 });
	struct address_ranges code;

	(void)state;
	assert_int_equal(function_group_find(image, eval_names, 2, &code), 0);
	assert_int_equal(code.count, 4);
	assert_code(&code, 0, 0x1000, 0x1020);
	assert_code(&code, 1, 0x2000, 0x2100);
	assert_code(&code, 2, 0x2120, 0x2180);
	assert_code(&code, 3, 0x3000, 0x3100);
	/* The handlers alone. */
	assert_int_equal(function_group_find(image, eval_names + 1, 1, &code), 0);
	assert_int_equal(code.count, 3);
	elf_image_close(image);
}

static void test_names(void **state)
{
	struct elf_image *image =
		MAKE(SHT_DYNSYM, { "_PyEval_EvalFrameDefault.lto_priv.0", 0x2000, 0x100, 0 },
		     { "_PyEval_EvalFrameDefault.cold", 0x1000, 0x80, 0 },
		     { "_PyEval_EvalFrameDefault.part.0", 0x4000, 0x80, 0 },
		     { "alias", 0x2000, 0x100, 0 }, { "__PyEval_EvalFrameDefault", 0x6000, 8, 0 });
	struct address_ranges code = { .count = 77 };
	static const char *const others[] = { "nothing", "*" };

	(void)state;
	assert_int_equal(function_group_find(image, eval_names, 1, &code), 0);
	assert_int_equal(code.count, 3);
	assert_code(&code, 0, 0x1000, 0x1080);
	assert_code(&code, 1, 0x2000, 0x2100);
	assert_code(&code, 2, 0x4000, 0x4080);
	code.count = 77;
	assert_int_equal(function_group_find(image, others, 1, &code), -ENOENT);
	assert_int_equal(function_group_find(image, others, 0, &code), -ENOENT);
	assert_int_equal(code.count, 77);
	assert_int_equal(function_group_find(image, others, 2, &code), 0);
	assert_int_equal(code.count, 4);
	elf_image_close(image);
}

static void test_limits(void **state)
{
	struct made_symbol symbols[ADDRESS_RANGES_MAX + 1];
	struct address_ranges code;
	struct elf_image *image;

	(void)state;
	for (size_t i = 0; i < ADDRESS_RANGES_MAX + 1; i++)
		symbols[i] = (struct made_symbol){ "piece", 0x1000 * (i + 1), 16, 0 };
	image = make_image(symbols, ADDRESS_RANGES_MAX + 1, SHT_SYMTAB);
	assert_int_equal(function_group_find(image, (const char *[]){ "piece" }, 1, &code), -E2BIG);
	elf_image_close(image);
	/* Overlapping, and up to the end of all addresses. */
	image = MAKE(SHT_SYMTAB, { "piece", 0x1000, 0x100, 0 }, { "piece", 0x1000, 0x200, 0 },
		     { "piece", 0x1180, 0x100, 0 }, { "piece", UINT64_MAX - 4, 16, 0 },
		     { "piece", UINT64_MAX - 32, 16, 0 });
	assert_int_equal(function_group_find(image, (const char *[]){ "piece" }, 1, &code), 0);
	assert_int_equal(code.count, 2);
	assert_code(&code, 0, 0x1000, 0x1280);
	assert_code(&code, 1, UINT64_MAX - 32, UINT64_MAX - 16);
	elf_image_close(image);
}

/* Bytes changed at random anywhere: an answer or an error. */
static void test_damaged(void **state)
{
	struct elf_image *good = MAKE(SHT_SYMTAB, { "_TAIL_CALL_A", 0x2000, 0x10, 0 },
				      { "_TAIL_CALL_B", 0x2010, 0x10, 0 },
				      { "_PyEval_EvalFrameDefault", 0x3000, 0x100, 0 });
	unsigned int opened = 0;

	(void)state;
	srand(8);
	for (unsigned int round = 0; round < 20000; round++) {
		uint8_t *bytes = malloc(good->size);
		struct address_ranges code;
		struct elf_image *image;

		memcpy(bytes, good->bytes, good->size);
		for (int i = rand() % 8; i >= 0; i--) {
			/* Of the 7 KB most are zeros behind the last symbol. */
			size_t at = (size_t)rand() % (rand() % 8 ? 512 : good->size);

			bytes[at] = (uint8_t)(rand() % 2 ? rand() : 0xff);
		}
		if (elf_image_open_memory(bytes, good->size, &image)) {
			free(bytes);
			continue;
		}
		opened++;
		if (function_group_find(image, eval_names, 2, &code) == 0)
			assert_in_range(code.count, 1, ADDRESS_RANGES_MAX);
		elf_image_close(image);
	}
	assert_true(opened > 1000);
	elf_image_close(good);
}

/* Every interpreter has an evaluation loop, the library or the executable. */
static void test_interpreters(void **state)
{
	struct live_interpreters found = live_interpreters_find();
	unsigned int with_eval = 0;

	(void)state;
	for (size_t i = 0; i < found.count; i++) {
		struct address_ranges code;
		struct elf_image *image;
		int fd = open(found.paths[i], O_RDONLY | O_CLOEXEC);

		assert_true(fd >= 0);
		if (elf_image_open(fd, &image) == 0) {
			if (function_group_find(image, eval_names, 2, &code) == 0) {
				with_eval++;
				print_message("%s: %zu parts\n", found.paths[i], code.count);
				assert_in_range(code.count, 1, 3);
			}
			elf_image_close(image);
		}
		close(fd);
	}
	print_message("%u of %zu executables hold one\n", with_eval, found.count);
	live_interpreters_free(&found);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_tail_calls),   cmocka_unit_test(test_names),
		cmocka_unit_test(test_limits),       cmocka_unit_test(test_damaged),
		cmocka_unit_test(test_interpreters),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
