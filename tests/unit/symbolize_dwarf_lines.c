/* SPDX-License-Identifier: Apache-2.0 */
/* Tables of lines that are more than is held, counted as libdw reads them. */
#include "symbolize/dwarf_lines.h"

#include "symbolize/line_info.h"
#include "tests/unit/forged_section.h"
#include "tests/unit/unit_random.h"

#include <dwarf.h>
#include <errno.h>
#include <setjmp.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include <cmocka.h>

#define MEMORY_MAX_KIB (400 << 10)    /* of a process that does not read what is too much */
#define BYTES_MAX      (512ull << 20) /* as in docs/SECURITY.md */
#define ROWS_MAX       (BYTES_MAX / DWARF_LINES_ROW_BYTES)
#define MANY_FILES     60000 /* with a folder of 100,000 bytes before each: 6 GB */
#define LONG_FOLDER    100000

static int setup(void **state)
{
	struct built_files *files = built_files_create();

	built_files_write(files, "c.c", "int main(void) { return 0; }\n");
	built_must(built_files_run(files,
				   "gcc -gdwarf-4 -O1 -gz=none -o v4 c.c\n"
				   "gcc -gdwarf-5 -O1 -gz=none -o v5 c.c\n"
				   "far=/$(head -c 100000 /dev/zero | tr '\\0' a)\n"
				   "gcc -gdwarf-4 -O1 -gz=none -fdebug-prefix-map=\"$PWD=$far\" "
				   "-o far c.c\n"));
	*state = files;
	return 0;
}

static int teardown(void **state)
{
	built_files_remove(*state);
	return 0;
}

static size_t room_for(size_t size)
{
	size_t room = 64;

	while (room < size)
		room *= 2;
	return room;
}

/* Of bytes that were made by put() and fill() alone. */
static uint8_t *extend(struct bytes *bytes, size_t size)
{
	if (!bytes->at || bytes->size + size > room_for(bytes->size))
		bytes->at = realloc(bytes->at, room_for(bytes->size + size));
	built_must(bytes->at);
	bytes->size += size;
	return bytes->at + bytes->size - size;
}

static void put(struct bytes *bytes, const void *more, size_t size)
{
	if (size)
		memcpy(extend(bytes, size), more, size);
}

static void fill(struct bytes *bytes, int byte, size_t count)
{
	if (count)
		memset(extend(bytes, count), byte, count);
}

/* A table with these folders and files, as they stand in the file, and this program. */
static struct bytes table_of(int version, const struct bytes *entries, const struct bytes *program)
{
	/* Sizes of instructions, is_stmt, lines from -5, 14 of them, 13 opcodes. */
	static const uint8_t opcodes[] = {
		1, 1, 1, 0xfb, 14, 13, 0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1
	};
	uint32_t header_length = (uint32_t)(sizeof(opcodes) + entries->size);
	uint32_t length =
		(uint32_t)(2 + (version == 5 ? 2 : 0) + 4 + header_length + program->size);
	struct bytes table = { 0 };

	put(&table, &length, 4);
	put(&table, &(uint16_t){ (uint16_t)version }, 2);
	if (version == 5)
		put(&table, &(uint16_t){ 8 }, 2);
	put(&table, &header_length, 4);
	put(&table, opcodes, sizeof(opcodes));
	put(&table, entries->at, entries->size);
	put(&table, program->at, program->size);
	return table;
}

/* Rows from the beginning of main() on, the last of which ends the sequence. */
static struct bytes program_of(uint64_t address, size_t rows)
{
	struct bytes program = { 0 };

	put(&program, "\0\x09\x02", 3);
	put(&program, &address, sizeof(address));
	fill(&program, DW_LNS_copy, 1);
	/* One byte of code further, and in the same line. */
	fill(&program, 13 + 14 + 5, rows - 2);
	put(&program, "\0\x01\x01", 3);
	return program;
}

/* A file with another table of lines, and other texts if there are any. */
static struct bytes forge(struct built_files *files, const char *original, int version,
			  const struct bytes *entries, const struct bytes *program,
			  const struct bytes *texts)
{
	struct bytes file = read_file(built_files_path(files, original));
	struct bytes table = table_of(version, entries, program);

	if (texts)
		replace_section(&file, ".debug_line_str", NULL, 0, texts, false);
	replace_section(&file, ".debug_line", NULL, 0, &table, false);
	free(table.at);
	return file;
}

static const struct bytes one_file = { (uint8_t *)(uintptr_t) "\0a.c\0\0\0\0", 9 };

static struct bytes forge_rows(struct built_files *files, size_t rows)
{
	uint64_t address = built_address(built_files_path(files, "v4"), "main");
	struct bytes program = program_of(address, rows);
	struct bytes file = forge(files, "v4", 4, &one_file, &program, NULL);

	free(program.at);
	return file;
}

#define PLACE_FOUND 1
#define DROPPED     2

/* What is found at main() in a process of its own, and the most memory that it took. */
static int read_apart(struct built_files *files, const struct bytes *file, long *ret_kib)
{
	const char *path = built_files_path(files, "forged");
	struct rusage usage;
	uint64_t address;
	int status;
	pid_t child;

	write_file(path, file);
	address = built_address(path, "main");
	child = fork();
	built_must(child >= 0);
	if (child == 0) {
		struct built_module *built = built_module_open(path);
		struct line_info *info = line_info_create(NULL);
		struct line_frame frame;
		int result = 0;
		size_t count;

		/* Twice: it is dropped once. */
		for (int i = 0; i < 2; i++) {
			if (line_info_find(info, &built->module, address, &frame, 1, &count) != 0 ||
			    strcmp(frame.function, "main") != 0)
				_exit(99);
			if (frame.line && frame.file)
				result |= PLACE_FOUND;
		}
		built_must(line_info_dropped(info) < 2);
		result |= line_info_dropped(info) ? DROPPED : 0;
		line_info_destroy(info);
		built_module_close(built);
		_exit(result);
	}
	built_must(wait4(child, &status, 0, &usage) == child && WIFEXITED(status));
	*ret_kib = usage.ru_maxrss;
	return WEXITSTATUS(status);
}

/* The first unit of a file in memory, with libdw. */
struct opened {
	Elf *elf;
	Dwarf *dwarf;
	Dwarf_Die unit;
	struct dwarf_lines lines;
};

static void open_bytes(struct opened *opened, const struct bytes *file)
{
	Dwarf_CU *unit;

	built_must(elf_version(EV_CURRENT) != EV_NONE);
	opened->elf = elf_memory((char *)file->at, file->size);
	opened->dwarf = dwarf_begin_elf(opened->elf, DWARF_C_READ, NULL);
	built_must(opened->dwarf && dwarf_get_units(opened->dwarf, NULL, &unit, NULL, NULL,
						    &opened->unit, NULL) == 0);
	dwarf_lines_init(&opened->lines, opened->dwarf);
}

static void close_bytes(struct opened *opened)
{
	dwarf_end(opened->dwarf);
	elf_end(opened->elf);
	dwarf_lines_give_back(&opened->lines);
}

static int take_of(const struct bytes *file, struct opened *opened)
{
	open_bytes(opened, file);
	return dwarf_lines_take(&opened->lines, &opened->unit);
}

/* One row more than there may be is too much, and nothing is lost by asking. */
static void test_rows(void **state)
{
	struct opened opened;
	struct bytes file;
	size_t most;
	long kib;

	file = forge_rows(*state, 1000);
	assert_int_equal(take_of(&file, &opened), 0);
	assert_in_range(opened.lines.taken, 1000 * DWARF_LINES_ROW_BYTES,
			1000 * DWARF_LINES_ROW_BYTES + 1000);
	most = (BYTES_MAX - opened.lines.taken) / DWARF_LINES_ROW_BYTES + 1000;
	close_bytes(&opened);
	free(file.at);
	for (size_t more = 0; more < 2; more++) {
		file = forge_rows(*state, most + more);
		assert_int_equal(take_of(&file, &opened), more ? -E2BIG : 0);
		assert_int_equal(opened.lines.taken > 0, !more);
		close_bytes(&opened);
		free(file.at);
	}

	file = forge_rows(*state, 50000);
	assert_int_equal(read_apart(*state, &file, &kib), PLACE_FOUND);
	print_message("50,000 rows: at most %ld KiB\n", kib);
	free(file.at);
	file = forge_rows(*state, 2 * ROWS_MAX);
	assert_int_equal(read_apart(*state, &file, &kib), DROPPED);
	print_message("%zu rows: at most %ld KiB\n", (size_t)(2 * ROWS_MAX), kib);
	assert_true(kib < MEMORY_MAX_KIB);
	free(file.at);
}

/* All units together. */
static void test_total(void **state)
{
	struct bytes file = forge_rows(*state, ROWS_MAX * 2 / 3), again = { 0 };
	struct opened first, second;

	/* libelf may write to what it is given. */
	put(&again, file.at, file.size);
	assert_int_equal(take_of(&file, &first), 0);
	assert_int_equal(take_of(&again, &second), -E2BIG);
	assert_int_equal(second.lines.taken, 0);
	close_bytes(&first);
	assert_int_equal(dwarf_lines_take(&second.lines, &second.unit), 0);
	close_bytes(&second);
	free(file.at);
	free(again.at);
}

static struct bytes older_files(size_t folder_length, size_t count)
{
	struct bytes entries = { 0 };

	if (folder_length) {
		fill(&entries, 'f', folder_length);
		fill(&entries, 0, 1);
	}
	fill(&entries, 0, 1);
	for (size_t i = 0; i < count; i++)
		put(&entries, folder_length ? "a\0\1\0\0" : "a\0\0\0\0", 5);
	fill(&entries, 0, 1);
	return entries;
}

/* Names are in .debug_line_str: the folder's at 0, behind it the files'. */
static struct bytes newer_files(uint32_t name, size_t count)
{
	static const uint8_t folders[] = { 1, 1, 0x1f, 1, 0, 0, 0, 0 };
	static const uint8_t formats[] = { 2, 1, 0x1f, 2, 0x0b };
	struct bytes entries = { 0 };
	size_t left = count;

	put(&entries, folders, sizeof(folders));
	put(&entries, formats, sizeof(formats));
	do {
		fill(&entries, (int)(left & 0x7f) | (left >> 7 ? 0x80 : 0), 1);
		left >>= 7;
	} while (left);
	for (size_t i = 0; i < count; i++) {
		put(&entries, &name, 4);
		fill(&entries, 0, 1);
	}
	return entries;
}

static void assert_read(struct built_files *files, struct bytes file, int expected)
{
	long kib;

	assert_int_equal(read_apart(files, &file, &kib), expected);
	print_message("%s: at most %ld KiB\n", expected == DROPPED ? "dropped" : "read", kib);
	if (expected == DROPPED)
		assert_true(kib < MEMORY_MAX_KIB);
	free(file.at);
}

/* A folder's name is put before the name of each file in it. */
static void test_file_names(void **state)
{
	struct bytes entries, program, texts = { 0 }, definitions = { 0 };

	program = program_of(built_address(built_files_path(*state, "v4"), "main"), 100);
	for (int many = 0; many < 2; many++) {
		int expected = many ? DROPPED : PLACE_FOUND;
		size_t count = many ? MANY_FILES : 10;

		entries = older_files(LONG_FOLDER, count);
		assert_read(*state, forge(*state, "v4", 4, &entries, &program, NULL), expected);
		free(entries.at);
		/* The folder that the compiler ran in. */
		entries = older_files(0, count);
		assert_read(*state, forge(*state, "far", 4, &entries, &program, NULL), expected);
		assert_read(*state, forge(*state, "v4", 4, &entries, &program, NULL), PLACE_FOUND);
		free(entries.at);
	}

	/* Files that the program itself defines. */
	for (size_t i = 0; i < MANY_FILES; i++)
		put(&definitions, "\0\6\3a\0\1\0\0", 8);
	put(&definitions, program.at, program.size);
	entries = older_files(LONG_FOLDER, 1);
	assert_read(*state, forge(*state, "v4", 4, &entries, &definitions, NULL), DROPPED);
	free(entries.at);
	entries = older_files(1, 1);
	assert_read(*state, forge(*state, "v4", 4, &entries, &definitions, NULL), PLACE_FOUND);
	free(entries.at);
	free(definitions.at);
	free(program.at);

	program = program_of(built_address(built_files_path(*state, "v5"), "main"), 100);
	fill(&texts, 'f', LONG_FOLDER);
	put(&texts, "\0a", 3);
	for (int many = 0; many < 2; many++) {
		entries = newer_files(LONG_FOLDER + 1, many ? MANY_FILES : 10);
		assert_read(*state, forge(*state, "v5", 5, &entries, &program, &texts),
			    many ? DROPPED : PLACE_FOUND);
		free(entries.at);
	}
	free(texts.at);
	free(program.at);
}

/* What libdw made of a unit that has been counted is no more than that; without a table, 0. */
static uint64_t bytes_of_libdw(struct opened *opened)
{
	Dwarf_Lines *lines;
	Dwarf_Files *files;
	size_t count;
	uint64_t bytes;

	if (dwarf_getsrclines(&opened->unit, &lines, &count) != 0)
		return 0;
	bytes = count * DWARF_LINES_ROW_BYTES;
	built_must(dwarf_getsrcfiles(&opened->unit, &files, &count) == 0);
	for (size_t i = 1; i < count; i++)
		bytes += strlen(dwarf_filesrc(files, i, NULL, NULL)) + 1;
	return bytes;
}

static void test_what_compilers_write(void **state)
{
	static const char *const commands[] = {
		"gcc -gdwarf-2 -O2 -o p p.c",
		"gcc -gdwarf-3 -O2 -o p p.c",
		"gcc -gdwarf-4 -O2 -o p p.c",
		"gcc -gdwarf-5 -O2 -o p p.c",
		"gcc -gdwarf-5 -gdwarf64 -O2 -o p p.c",
		"gcc -gdwarf-5 -O2 -gz=zlib -o p p.c",
		"gcc -gdwarf-5 -O2 -gz=none -o p p.c; objcopy --compress-debug-sections=zlib-gnu p",
		"gcc -gdwarf-5 -O2 -gno-as-loc-support -gno-variable-location-views -o p p.c",
		"! command -v clang >/dev/null || clang -gdwarf-5 -O2 -o p p.c",
		"! command -v clang >/dev/null || clang -gdwarf-4 -O2 -o p p.c",
	};

	built_files_write(*state, "p.c",
			  "#include <stdio.h>\n#include <stdlib.h>\n"
			  "int main(int argc, char **argv)\n{\n"
			  "	for (int i = 0; i < argc; i++)\n"
			  "		printf(\"%d %s\\n\", atoi(argv[i]), argv[i]);\n"
			  "	return 0;\n}\n");
	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
		struct bytes file;
		struct opened opened;
		uint64_t bytes;

		assert_true(built_files_run(*state, commands[i]));
		file = read_file(built_files_path(*state, "p"));
		assert_int_equal(take_of(&file, &opened), 0);
		bytes = bytes_of_libdw(&opened);
		assert_in_range(bytes, 10 * DWARF_LINES_ROW_BYTES, opened.lines.taken);
		/* Not much more either: 20 files, of folders below 100 bytes. */
		assert_true(opened.lines.taken < bytes + 20 * 300);
		close_bytes(&opened);
		free(file.at);
	}
}

/* Whatever a table says, libdw makes no more of it than was counted. */
static void test_any_bytes(void **state)
{
	struct unit_random random = { .state = 2718 };
	size_t counted = 0, refused = 0;

	for (int round = 0; round < 4000; round++) {
		int version = unit_random_below(&random, 2) ? 5 : 4;
		struct bytes entries = { 0 }, program = { 0 }, file, copy = { 0 };
		struct opened opened, libdws;
		int error;

		if (version == 5)
			entries = newer_files(0, 3);
		else
			entries = older_files(4, 3);
		for (size_t i = unit_random_below(&random, 60); i > 0; i--)
			switch (unit_random_below(&random, 8)) {
			case 0:
				put(&program, "\0\x09\x02\0\x10\0\0\0\0\0\0", 11);
				break;
			case 1:
				put(&program, "\0\x02\x04\x01", 4);
				break;
			case 2:
				put(&program, "\0\6\3a\0\1\0\0", 8);
				break;
			case 3:
				fill(&program, (int)unit_random_below(&random, 14), 1);
				break;
			default:
				fill(&program, (int)unit_random_below(&random, 256), 1);
				break;
			}
		file = forge(*state, version == 5 ? "v5" : "v4", version, &entries, &program, NULL);
		/* In the header, or anywhere. The table is at the end of the file. */
		for (size_t i = unit_random_below(&random, 3); i > 0; i--) {
			size_t size = 30 + entries.size + program.size;

			file.at[file.size - 1 - unit_random_below(&random, size)] =
				(uint8_t)unit_random_below(&random, 1 + (1u << (round % 9)));
		}
		put(&copy, file.at, file.size);
		error = take_of(&file, &opened);
		open_bytes(&libdws, &copy);
		if (error) {
			assert_int_equal(error, -ENODATA);
			assert_int_equal(opened.lines.taken, 0);
			refused++;
		} else {
			assert_true(bytes_of_libdw(&libdws) <= opened.lines.taken);
			counted++;
		}
		close_bytes(&opened);
		close_bytes(&libdws);
		free(entries.at);
		free(program.at);
		free(file.at);
		free(copy.at);
	}
	print_message("%zu counted, %zu refused\n", counted, refused);
	assert_true(counted > 500 && refused > 500);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rows),       cmocka_unit_test(test_total),
		cmocka_unit_test(test_file_names), cmocka_unit_test(test_what_compilers_write),
		cmocka_unit_test(test_any_bytes),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
