/* SPDX-License-Identifier: Apache-2.0 */
/* Files with more unwind information than is indexed: one of them, and all together. */
#include "symbolize/fde_table.h"

#include "tests/must.h"
#include "tests/unit/under_valgrind.h"

#include <dwarf.h>
#include <elf.h>
#include <errno.h>
#include <malloc.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

/* As in docs/SECURITY.md. */
#define FDES_OF_A_FILE (1u << 18)
#define FDES_IN_ALL    (1u << 20)
#define BLOCKS_IN_ALL  (1u << 20)

#define PAGE      4096u
#define TABLE     PAGE       /* where the table is, in the file and in memory */
#define CODE      0x1000000u /* behind it */
#define FUNCTION  16u        /* bytes of code for each FDE */
#define FILE_SPAN 0x7f000000u
#define LOAD      0x7f0000000000ull

/* A file that is mapped several times, each time as another one. */
struct forged {
	int fd;
	struct mapping_opener opener;
	struct module_table *modules;
	struct mapping mappings[8];
	size_t count;
};

static void add(FILE *file, const void *bytes, size_t size)
{
	must(fwrite(bytes, 1, size, file) == size);
}

static void add_number(FILE *file, uint64_t number)
{
	add(file, &(uint32_t){ (uint32_t)number }, 4);
}

static void add_headers(FILE *file, bool has_search_table)
{
	static const char names[] = "\0.eh_frame\0.names";
	uint64_t size = (uint64_t)ftell(file);
	Elf64_Ehdr header = {
		.e_type = ET_DYN,
		.e_machine = EM_X86_64,
		.e_version = EV_CURRENT,
		.e_phoff = sizeof(header),
		.e_ehsize = sizeof(header),
		.e_phentsize = sizeof(Elf64_Phdr),
		.e_phnum = has_search_table ? 2 : 1,
		.e_shoff = has_search_table ? 0 : 1024,
		.e_shentsize = sizeof(Elf64_Shdr),
		.e_shnum = 3,
		.e_shstrndx = 2,
	};
	Elf64_Phdr segments[] = {
		{ .p_type = PT_LOAD,
		  .p_flags = PF_R | PF_X,
		  .p_filesz = size,
		  .p_memsz = FILE_SPAN },
		{ .p_type = PT_GNU_EH_FRAME, .p_vaddr = TABLE, .p_memsz = size - TABLE },
	};
	Elf64_Shdr sections[] = {
		{ .sh_type = SHT_NULL },
		{ .sh_name = 1,
		  .sh_type = SHT_PROGBITS,
		  .sh_flags = SHF_ALLOC,
		  .sh_addr = TABLE,
		  .sh_offset = TABLE,
		  .sh_size = size - TABLE },
		{ .sh_name = 11,
		  .sh_type = SHT_STRTAB,
		  .sh_offset = 2048,
		  .sh_size = sizeof(names) },
	};

	memcpy(header.e_ident, ELFMAG, SELFMAG);
	header.e_ident[EI_CLASS] = ELFCLASS64;
	header.e_ident[EI_DATA] = ELFDATA2LSB;
	header.e_ident[EI_VERSION] = EV_CURRENT;
	rewind(file);
	add(file, &header, sizeof(header));
	add(file, segments, sizeof(segments));
	must(fseek(file, 1024, SEEK_SET) == 0);
	add(file, sections, sizeof(sections));
	must(fseek(file, 2048, SEEK_SET) == 0);
	add(file, names, sizeof(names));
}

/* GCC's CIE, and FDEs of functions that are `step` bytes apart. */
static void add_entries(FILE *file, size_t count, uint64_t step)
{
	static const uint8_t cie[] = {
		1, 'z', 'R', 0, 1, 0x78, 16, 1, DW_EH_PE_pcrel | DW_EH_PE_sdata4, DW_CFA_def_cfa,
		7, 8
	};
	uint64_t cie_at = (uint64_t)ftell(file), at = cie_at + 8 + sizeof(cie);

	add_number(file, sizeof(cie) + 4);
	add_number(file, 0);
	add(file, cie, sizeof(cie));
	for (size_t i = 0; i < count; i++, at += 20) {
		add_number(file, 16);
		add_number(file, at + 4 - cie_at);
		add_number(file, CODE + i * step - (at + 8));
		add_number(file, FUNCTION);
		add_number(file, 0);
	}
	add_number(file, 0);
}

/* With a search table whose two entries are the first function and the last. */
static void add_search_table(FILE *file, uint64_t step)
{
	static const uint8_t encodings[] = { 1, DW_EH_PE_pcrel | DW_EH_PE_sdata4, DW_EH_PE_udata4,
					     DW_EH_PE_datarel | DW_EH_PE_sdata4 };

	add(file, encodings, sizeof(encodings));
	add_number(file, 12 + 2 * 8 - 4);
	add_number(file, 2);
	for (uint64_t i = 0; i < 2; i++) {
		add_number(file, CODE + i * step - TABLE);
		add_number(file, 12 + 2 * 8 + 20 + i * 20);
	}
	add_entries(file, 2, step);
}

static int open_forged(void *context, const struct mapping *mapping)
{
	(void)mapping;
	return dup(*(int *)context);
}

/* So many functions; when they are two, with a search table. */
static void forged_init(struct forged *forged, size_t functions, uint64_t step)
{
	FILE *file;

	*forged = (struct forged){ .fd = memfd_create("forged", MFD_CLOEXEC) };
	file = fdopen(dup(forged->fd), "w");
	must(file && fseek(file, TABLE, SEEK_SET) == 0);
	if (functions == 2)
		add_search_table(file, step);
	else
		add_entries(file, functions, step);
	add_headers(file, functions == 2);
	must(fclose(file) == 0);
	forged->opener = (struct mapping_opener){ open_forged, &forged->fd };
	forged->modules = module_table_create(&forged->opener, NULL);
	must(forged->modules);
}

static void forged_deinit(struct forged *forged)
{
	module_table_destroy(forged->modules);
	close(forged->fd);
}

/* Maps it once more. */
static void forged_map(struct forged *forged, struct fde_table *fdes)
{
	struct mapping_list list = { .mappings = forged->mappings, .count = forged->count + 1 };
	remote_addr start = LOAD + forged->count * 2 * FILE_SPAN;

	forged->mappings[forged->count] = (struct mapping){
		.start = start,
		.end = start + FILE_SPAN,
		.device = 1,
		.inode = forged->count + 1,
		.protection = PROT_READ | PROT_EXEC,
		.path = "/forged",
	};
	forged->count++;
	must(module_table_update(forged->modules, &list) == 0);
	fde_table_prepare(fdes);
}

static int find(const struct forged *forged, const struct fde_table *fdes, size_t mapped,
		uint64_t offset)
{
	remote_addr address = forged->mappings[mapped].start + CODE + offset;
	const struct module *module = module_find(forged->modules, address);
	struct eh_frame_fde fde;
	int error;

	assert_true(module && module->image && module->bias == forged->mappings[mapped].start);
	error = fde_table_find(fdes, module, address, &fde);
	assert_true(error || fde.start == CODE + offset - offset % FUNCTION);
	return error;
}

/* Everything, or nothing: half an index would say that there is no function. */
static void test_one_file(void **state)
{
	(void)state;
	for (size_t more = 0; more < 2; more++) {
		struct forged forged;
		struct fde_table *fdes;

		forged_init(&forged, FDES_OF_A_FILE + more, FUNCTION);
		fdes = fde_table_create(forged.modules);
		forged_map(&forged, fdes);
		for (uint64_t offset = 1; offset < FDES_OF_A_FILE * FUNCTION; offset += 54321)
			assert_int_equal(find(&forged, fdes, 0, offset), more ? -ENOENT : 0);
		assert_int_equal(find(&forged, fdes, 0, FDES_OF_A_FILE * FUNCTION), -ENOENT);
		fde_table_destroy(fdes);
		forged_deinit(&forged);
	}
}

static void test_all_files(void **state)
{
	/* The last one has room for one less than it needs. */
	const size_t functions = FDES_IN_ALL / 5 + 1;
	struct forged forged;
	struct fde_table *fdes;

	(void)state;
	forged_init(&forged, functions, FUNCTION);
	fdes = fde_table_create(forged.modules);
	for (size_t i = 0; i < 6; i++) {
		forged_map(&forged, fdes);
		for (size_t k = 0; k <= i; k++) {
			assert_int_equal(find(&forged, fdes, k, 0), k < 4 ? 0 : -ENOENT);
			assert_int_equal(find(&forged, fdes, k, (functions - 1) * FUNCTION),
					 k < 4 ? 0 : -ENOENT);
		}
	}
	fde_table_destroy(fdes);
	forged_deinit(&forged);
}

/* However long it may take, what is found is the same, and so is what is kept. */
static void test_await(void **state)
{
	static const uint64_t limits_ns[] = { 0, 1, 10000000000ull };
	struct forged forged;
	struct fde_table *fdes;

	(void)state;
	forged_init(&forged, 1000, FUNCTION);
	fdes = fde_table_create(forged.modules);
	fde_table_await(fdes, limits_ns[2]);
	for (size_t i = 0; i < 2; i++)
		forged_map(&forged, fdes);
	for (size_t i = 0; i < 3; i++) {
		fde_table_await(fdes, limits_ns[i]);
		assert_int_equal(find(&forged, fdes, 0, 0), 0);
		assert_int_equal(find(&forged, fdes, 1, 999 * FUNCTION), 0);
	}
	fde_table_destroy(fdes);
	forged_deinit(&forged);
}

static size_t allocated_bytes(void)
{
	struct mallinfo2 now = mallinfo2();

	return now.uordblks + now.hblkhd;
}

/* Blocks only make a search shorter: files beyond the limit are searched without. */
static void test_blocks(void **state)
{
#if defined(__SANITIZE_ADDRESS__)
	(void)state;
	skip(); /* its allocator does not tell */
#else
	const uint64_t step = FILE_SPAN - CODE - PAGE;
	const size_t of_a_file = step / 4096 * sizeof(uint32_t);
	struct forged forged;
	struct fde_table *fdes;
	size_t before;

	(void)state;
	if (under_valgrind())
		skip(); /* nor does its allocator */
	must(of_a_file < BLOCKS_IN_ALL * sizeof(uint32_t) / 2);
	must(of_a_file > BLOCKS_IN_ALL * sizeof(uint32_t) / 3);
	forged_init(&forged, 2, step);
	fdes = fde_table_create(forged.modules);
	before = allocated_bytes();
	for (size_t i = 0; i < 6; i++) {
		size_t expected = of_a_file * (i < 2 ? i + 1 : 2);

		forged_map(&forged, fdes);
		assert_in_range(allocated_bytes() - before, expected, expected + of_a_file / 2);
		assert_int_equal(find(&forged, fdes, i, 0), 0);
		assert_int_equal(find(&forged, fdes, i, FUNCTION), -ENOENT);
		assert_int_equal(find(&forged, fdes, i, step), 0);
	}
	fde_table_destroy(fdes);
	forged_deinit(&forged);
#endif
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_one_file),
		cmocka_unit_test(test_all_files),
		cmocka_unit_test(test_await),
		cmocka_unit_test(test_blocks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
