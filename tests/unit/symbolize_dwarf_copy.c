/* SPDX-License-Identifier: Apache-2.0 */
/* Files whose DWARF is more than is held: compressed sections that grow, large copies, many units,
 * many abbreviations. */
#include "symbolize/dwarf_copy.h"

#include "symbolize/dwarf_abbreviations.h"
#include "symbolize/dwarf_file.h"
#include "symbolize/line_info.h"
#include "symbolize/struct_layout.h"
#include "tests/unit/forged_section.h"

#include <dwarf.h>
#include <endian.h>
#include <errno.h>
#include <setjmp.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <zlib.h>

#include <cmocka.h>

#define PIECE (1u << 20)
#define MEMORY_MAX                                                                                 \
	(100 << 10) /* KiB that a process may have which reads no more than it should              \
		     */

static int setup(void **state)
{
	struct built_files *files = built_files_create();

	built_files_write(files, "c.c",
			  "struct pair { int first; long second; } pair;\n"
			  "int main(void) { return pair.first; }\n");
	built_must(built_files_run(files,
				   "gcc -g -O1 -gz=none -o plain c.c\n"
				   "objcopy --compress-debug-sections=zlib-gnu plain gnu\n"));
	*state = files;
	return 0;
}

static int teardown(void **state)
{
	built_files_remove(*state);
	return 0;
}

/* A zlib stream of zeros, so many MiB, made of one piece over and over. */
static struct bytes zeros_packed(size_t pieces)
{
	uint8_t *zeros = calloc(1, PIECE), packed[8192];
	uLong check = adler32(0, NULL, 0), piece_check;
	struct bytes all = { 0 };
	size_t piece_size;
	z_stream stream = {
		.next_in = zeros, .avail_in = PIECE, .next_out = packed, .avail_out = sizeof(packed)
	};

	built_must(zeros &&
		   deflateInit2(&stream, 9, Z_DEFLATED, -15, 9, Z_DEFAULT_STRATEGY) == Z_OK);
	built_must(deflate(&stream, Z_FULL_FLUSH) == Z_OK && stream.avail_in == 0);
	piece_size = sizeof(packed) - stream.avail_out;
	deflateEnd(&stream);
	piece_check = adler32(check, zeros, PIECE);
	all.at = malloc(2 + pieces * piece_size + 5 + 4);
	built_must(all.at);
	memcpy(all.at, "\x78\xda", 2);
	all.size = 2;
	for (size_t i = 0; i < pieces; i++) {
		memcpy(all.at + all.size, packed, piece_size);
		all.size += piece_size;
		check = adler32_combine(check, piece_check, PIECE);
	}
	/* The last block, with nothing in it. */
	memcpy(all.at + all.size, "\x01\x00\x00\xff\xff", 5);
	all.size += 5;
	for (int shift = 24; shift >= 0; shift -= 8)
		all.at[all.size++] = (uint8_t)(check >> shift);
	free(zeros);
	return all;
}

/* .debug_str, or the first section compressed GNU's way, is zeros and says that it has `claimed`.
 */
static void make_bomb(struct built_files *files, const char *name, bool gnu, size_t pieces,
		      uint64_t claimed)
{
	struct bytes file = read_file(built_files_path(files, gnu ? "gnu" : "plain"));
	struct bytes packed = zeros_packed(pieces);

	if (gnu) {
		uint8_t head[12] = "ZLIB";
		uint64_t size = htobe64(claimed);

		memcpy(head + 4, &size, sizeof(size));
		replace_section(&file, ".zdebug_", head, sizeof(head), &packed, false);
	} else {
		Elf64_Chdr head = { .ch_type = ELFCOMPRESS_ZLIB,
				    .ch_size = claimed,
				    .ch_addralign = 1 };

		replace_section(&file, ".debug_str", &head, sizeof(head), &packed, true);
	}
	write_file(built_files_path(files, name), &file);
	free(packed.at);
	free(file.at);
}

#define LAYOUT_READ    1
#define LINES_READ     2
#define LAYOUT_DROPPED 4
#define LINES_DROPPED  8

/* What both readers make of a file, and the most memory that they took. */
static int read_apart(struct built_files *files, const char *name, long *ret_kib)
{
	const char *path = built_files_path(files, name);
	uint64_t address = built_address(path, "main");
	struct rusage usage;
	int status;
	pid_t child = fork();

	built_must(child >= 0);
	if (child == 0) {
		struct built_module *built = built_module_open(path);
		struct symbolizer *symbolizer = symbolizer_create();
		struct struct_layout *layout = struct_layout_create(symbolizer, &built->module);
		struct debug_info info = struct_layout_debug_info(layout);
		struct line_info *lines = line_info_create(NULL);
		struct line_frame frames[4];
		size_t count;
		uint32_t offset;
		int result = 0;

		/* Twice: it is dropped once. */
		for (int i = 0; i < 2; i++) {
			if (!info.member_offset(info.context, "pair", "second", &offset))
				result |= LAYOUT_READ;
			if (!line_info_find(lines, &built->module, address, frames, 4, &count))
				result |= LINES_READ;
		}
		built_must(symbolizer_dropped(symbolizer) < 2 && line_info_dropped(lines) < 2);
		result |= symbolizer_dropped(symbolizer) ? LAYOUT_DROPPED : 0;
		result |= line_info_dropped(lines) ? LINES_DROPPED : 0;
		line_info_destroy(lines);
		struct_layout_destroy(layout);
		symbolizer_destroy(symbolizer);
		built_module_close(built);
		_exit(result);
	}
	built_must(wait4(child, &status, 0, &usage) == child && WIFEXITED(status));
	*ret_kib = usage.ru_maxrss;
	return WEXITSTATUS(status);
}

static void test_bomb(void **state)
{
	struct built_files *files = *state;
	long kib;

	make_bomb(files, "bomb", false, 1024, 1ull << 30);
	assert_int_equal(read_apart(files, "bomb", &kib), LAYOUT_DROPPED | LINES_DROPPED);
	print_message("1 GiB of zeros: at most %ld KiB\n", kib);
	assert_true(kib < MEMORY_MAX);
	/* Layouts are not read from sections compressed GNU's way. */
	make_bomb(files, "bomb", true, 1024, 1ull << 30);
	assert_int_equal(read_apart(files, "bomb", &kib), LINES_DROPPED);
	print_message("GNU's way: at most %ld KiB\n", kib);
	assert_true(kib < MEMORY_MAX);
	make_bomb(files, "bomb", false, 1, UINT64_MAX);
	assert_int_equal(read_apart(files, "bomb", &kib), LAYOUT_DROPPED | LINES_DROPPED);
}

/* One that is large, but not too large, is read. */
static void test_compressed(void **state)
{
	struct built_files *files = *state;
	long kib;

	assert_int_equal(read_apart(files, "plain", &kib), LAYOUT_READ | LINES_READ);
	print_message("without: at most %ld KiB\n", kib);
	assert_int_equal(read_apart(files, "gnu", &kib), LINES_READ);
	/* Names are empty; lines are there. */
	make_bomb(files, "large", false, 40, 40 * PIECE);
	assert_int_equal(read_apart(files, "large", &kib), LINES_READ);
}

static void test_many_units(void **state)
{
	/* The layout and the lines have half of all each; of a last one without entries libdw says
	 * nothing. */
	/* Without a single entry: its length, the version, abbreviations at 0, 8-byte addresses. */
	static const uint8_t unit[11] = { 7, 0, 0, 0, 4, 0, 0, 0, 0, 0, 8 };
	struct built_files *files = *state;
	long kib;

	for (size_t more = 0; more < 2; more++) {
		struct bytes file = read_file(built_files_path(files, "plain"));
		struct bytes units = { .size = sizeof(unit) * (DWARF_UNITS_MAX / 2 + 1 + more) };

		units.at = malloc(units.size);
		built_must(units.at);
		for (size_t i = 0; i < units.size; i++)
			units.at[i] = unit[i % sizeof(unit)];
		replace_section(&file, ".debug_info", NULL, 0, &units, false);
		write_file(built_files_path(files, "units"), &file);
		free(units.at);
		free(file.at);
		assert_int_equal(read_apart(files, "units", &kib), more ? LINES_DROPPED : 0);
		print_message("%zu units: at most %ld KiB\n",
			      (2 - more) * (DWARF_UNITS_MAX / 2 + more), kib);
	}
}

#define FILLER_BYTES 8
#define FILLER_CODE  0x200000 /* and greater ones, of four bytes each */

/* The file's own abbreviations, which libdw finds behind so many others. */
static void bury_abbreviations(struct bytes *file, size_t fillers)
{
	const Elf64_Ehdr *header = (const Elf64_Ehdr *)file->at;
	const Elf64_Shdr *section = (const Elf64_Shdr *)(file->at + header->e_shoff);
	const char *names = (const char *)file->at + section[header->e_shstrndx].sh_offset;
	struct bytes table;

	while (strcmp(names + section->sh_name, ".debug_abbrev") != 0)
		section++;
	table.size = FILLER_BYTES * fillers + section->sh_size;
	table.at = malloc(table.size);
	built_must(table.at);
	for (size_t i = 0; i < fillers; i++) {
		uint8_t *filler = table.at + FILLER_BYTES * i;
		size_t code = FILLER_CODE + i;

		for (size_t byte = 0; byte < 4; byte++)
			filler[byte] = (uint8_t)((code >> 7 * byte & 0x7f) | (byte < 3 ? 0x80 : 0));
		memcpy(filler + 4, (uint8_t[]){ DW_TAG_base_type, 0, 0, 0 }, 4);
	}
	memcpy(table.at + FILLER_BYTES * fillers, file->at + section->sh_offset, section->sh_size);
	replace_section(file, ".debug_abbrev", NULL, 0, &table, false);
	free(table.at);
}

static void test_many_abbreviations(void **state)
{
	/* A third each: neither the layout nor the lines are all. */
	static const size_t each =
		DWARF_ABBREVIATIONS_MAX_BYTES / (DWARF_ABBREVIATION_BYTES + FILLER_BYTES);
	struct built_files *files = *state;
	long kib;

	for (size_t more = 0; more < 2; more++) {
		struct bytes file = read_file(built_files_path(files, "plain"));
		size_t fillers = more ? each : each / 3;

		bury_abbreviations(&file, fillers);
		write_file(built_files_path(files, "abbreviations"), &file);
		assert_int_equal(read_apart(files, "abbreviations", &kib),
				 more ? LAYOUT_DROPPED | LINES_DROPPED : LAYOUT_READ | LINES_READ);
		print_message("%zu abbreviations: at most %ld KiB, of a file of %zu KiB\n", fillers,
			      kib, file.size >> 10);
		/* What is counted is no less than what is taken. */
		assert_true((uint64_t)kib << 10 < (more ? 0 : DWARF_ABBREVIATIONS_MAX_BYTES) +
							  3 * file.size +
							  ((uint64_t)MEMORY_MAX << 10));
		free(file.at);
	}
}

/* Of many units, each of which libdw reads the same table for. */
static void test_shared_abbreviations(void **state)
{
	static const uint8_t unit[] = { 8, 0, 0, 0, 4, 0, 0, 0, 0, 0, 8, 1 };
	static const size_t fillers = 100000;
	struct built_files *files = *state;
	long kib;

	for (size_t more = 0; more < 2; more++) {
		struct bytes file = read_file(built_files_path(files, "plain"));
		struct bytes units = { .size = sizeof(unit) * (more ? 80 : 20) };

		units.at = malloc(units.size);
		built_must(units.at);
		for (size_t i = 0; i < units.size; i++)
			units.at[i] = unit[i % sizeof(unit)];
		replace_section(&file, ".debug_info", NULL, 0, &units, false);
		bury_abbreviations(&file, fillers);
		write_file(built_files_path(files, "shared"), &file);
		free(units.at);
		free(file.at);
		assert_int_equal(read_apart(files, "shared", &kib),
				 more ? LAYOUT_DROPPED | LINES_DROPPED : 0);
		print_message("%d units: at most %ld KiB\n", more ? 80 : 20, kib);
	}
}

/* All copies together, and what is unpacked from them. */
static void test_copies_have_a_limit(void **state)
{
	struct built_files *files = *state;
	struct dwarf_copy first, second;
	struct bytes file;
	uint8_t *huge;
	size_t size;

	make_bomb(files, "half", false, 1, DWARF_COPIES_MAX_BYTES / 2);
	file = read_file(built_files_path(files, "half"));
	assert_int_equal(dwarf_copy_make(file.at, file.size, &first), 0);
	assert_int_equal(dwarf_copy_make(file.at, file.size, &second), -E2BIG);
	dwarf_copy_free(&first);
	assert_int_equal(dwarf_copy_make(file.at, file.size, &second), 0);
	dwarf_copy_free(&second);
	free(file.at);

	/* A section that is not compressed, of 512 MiB. */
	file = read_file(built_files_path(files, "plain"));
	replace_section(&file, ".debug_str", "", 1, &(struct bytes){ NULL, 0 }, false);
	size = file.size + DWARF_COPIES_MAX_BYTES;
	huge = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
		    -1, 0);
	assert_ptr_not_equal(huge, MAP_FAILED);
	for (size_t i = 0; i < ((Elf64_Ehdr *)file.at)->e_shnum; i++) {
		Elf64_Shdr *section =
			(Elf64_Shdr *)(file.at + ((Elf64_Ehdr *)file.at)->e_shoff) + i;

		if (section->sh_offset == file.size - 1)
			section->sh_size = DWARF_COPIES_MAX_BYTES;
	}
	memcpy(huge, file.at, file.size);
	assert_int_equal(dwarf_copy_make(huge, size, &first), -E2BIG);
	munmap(huge, size);
	/* What was refused takes nothing. */
	assert_int_equal(dwarf_copy_make(file.at, file.size, &first), 0);
	assert_true(first.taken > 0 && first.taken < file.size);
	dwarf_copy_free(&first);
	free(file.at);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bomb),
		cmocka_unit_test(test_compressed),
		cmocka_unit_test(test_many_units),
		cmocka_unit_test(test_many_abbreviations),
		cmocka_unit_test(test_shared_abbreviations),
		cmocka_unit_test(test_copies_have_a_limit),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
