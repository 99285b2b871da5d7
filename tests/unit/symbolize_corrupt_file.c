/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Thousands of damaged ELF files, each through everything that reads one:
 * headers, notes, symbol tables, the links to separate debug files, packed
 * mini-symbols, DWARF. Made to run under sanitizers: each copy is its own
 * allocation, so that one byte too far is seen. The same files every time.
 */
#include "symbolize/line_info.h"
#include "symbolize/mini_image.h"
#include "symbolize/perf_map.h"
#include "symbolize/symbol.h"
#include "tests/unit/built_files.h"
#include "tests/unit/unit_random.h"

#include <elf.h>
#include <errno.h>
#include <setjmp.h>
#include <sys/mman.h>

#include <cmocka.h>

#define ROUNDS 24000

static const char source[] =
	"#include <stdlib.h>\n"
	"static inline __attribute__((always_inline)) int inner(int a) { return a * atoi(\"3\"); "
	"}\n"
	"static __attribute__((noinline)) int hidden(int a) { return inner(a) + inner(a + 1); }\n"
	"int shown(int a) { return hidden(a); }\n"
	"int _ZN3foo3barEi(int a) { return shown(a) + 1; }\n"
	"int _RNvC7mycrate3foo(int a) { return shown(a) + 2; }\n"
	"int main(int argc, char **argv) { (void)argv; return shown(argc) + _ZN3foo3barEi(1) +\n"
	"	_RNvC7mycrate3foo(2); }\n";

/* Small files: 24,000 copies are made. */
static const char build[] =
	"gcc -g -O1 -rdynamic -Wl,--build-id=sha1,-z,noseparate-code -o whole program.c\n"
	"objcopy --only-keep-debug whole whole.debug\n"
	"strip -o linked whole\n"
	"objcopy --add-gnu-debuglink=whole.debug linked\n"
	"gcc -g -O1 -rdynamic -Wl,--build-id=none,-z,noseparate-code -o unnamed program.c\n"
	"objcopy --only-keep-debug unnamed unnamed.debug\n"
	"strip unnamed; objcopy --add-gnu-debuglink=unnamed.debug unnamed\n"
	"strip -o packed whole\n"
	"if command -v xz >/dev/null; then\n"
	"	objcopy -S --strip-unneeded -K hidden -K shown whole.debug mini; xz -0 -k mini\n"
	"	objcopy --add-section .gnu_debugdata=mini.xz packed\n"
	"fi\n"
	"cp whole shared1; sed s/inner/within/g program.c >other.c\n"
	"gcc -g -O1 -rdynamic -Wl,-z,noseparate-code -o shared2 other.c\n"
	"if command -v dwz >/dev/null; then\n"
	"	dwz -m \"$PWD/shared.debug\" -M \"$PWD/shared.debug\" shared1 shared2 || true\n"
	"fi\n"
	"gcc -g -O1 -gz=zlib -rdynamic -Wl,-z,noseparate-code -o compressed program.c";

static const char *const seeds[] = {
	"whole", "linked", "unnamed", "packed", "shared1", "compressed"
};

#define SEEDS (sizeof(seeds) / sizeof(seeds[0]))

/* Where to damage: the parts of a file that somebody parses. */
static const char *const parts[] = {
	".dynsym",
	".dynstr",
	".symtab",
	".strtab",
	".gnu.version",
	".gnu_debugdata",
	".gnu_debuglink",
	".gnu_debugaltlink",
	".shstrtab",
	".note.gnu.build-id",
	".note.gnu.property",
};

#define PARTS (sizeof(parts) / sizeof(parts[0]))

static void pick_place(struct unit_random *random, const struct elf_image *image,
		       uint64_t *ret_offset, uint64_t *ret_size)
{
	struct elf_section section;
	uint64_t choice = unit_random_below(random, 8);

	*ret_offset = 0;
	*ret_size = 64 + 56 * 13; /* the ELF header and the program headers */
	if (choice == 1) {
		*ret_offset = image->section_table_offset;
		*ret_size = image->section_count * sizeof(Elf64_Shdr);
	} else if (choice > 1) {
		const char *part = parts[unit_random_below(random, PARTS)];

		if (elf_image_section_find(image, part, &section) == 0 && section.size) {
			*ret_offset = section.file_offset;
			*ret_size = section.size;
		}
	}
}

static void damage(struct unit_random *random, const struct elf_image *image, uint8_t *bytes,
		   size_t *size)
{
	size_t changes = 1 + unit_random_below(random, 12);

	for (size_t i = 0; i < changes; i++) {
		static const uint64_t words[] = {
			0, 1, UINT64_MAX, UINT32_MAX, INT64_MAX, 1 << 20
		};
		uint64_t offset, room, at, word;

		pick_place(random, image, &offset, &room);
		at = offset + unit_random_below(random, room);
		switch (unit_random_below(random, 4)) {
		case 0:
			bytes[at] = (uint8_t)unit_random_next(random);
			break;
		case 1:
			bytes[at] ^= (uint8_t)(1u << unit_random_below(random, 8));
			break;
		case 2:
			bytes[at] = 0xff;
			break;
		case 3:
			/* A whole field of a number that is likely to hurt. */
			word = words[unit_random_below(random, 6)];
			at &= ~(uint64_t)7;
			if (at + sizeof(word) <= *size)
				memcpy(bytes + at, &word, sizeof(word));
			break;
		}
	}
	if (unit_random_below(random, 8) == 0)
		*size = unit_random_below(random, *size);
}

static uint64_t string_sum(const char *text)
{
	uint64_t sum = 0;

	for (; text && *text; text++)
		sum += (uint8_t)*text;
	return sum;
}

struct totals {
	size_t opened;
	size_t refused;
	size_t named;
	size_t found;
	size_t debug_files;
	size_t mini_images;
	size_t lines;
	uint64_t sum;
};

static void read_symbols(const struct module *module, struct totals *totals)
{
	static const char *const names[] = { "shown", "hidden", "main", "", "_ZN3foo3barEi" };
	struct symbolizer *symbolizer = symbolizer_create();
	remote_addr start;
	uint64_t size;

	assert_non_null(symbolizer);
	for (uint64_t at = 0x0; at < 0x1400; at += 0x35) {
		const char *name = symbolizer_function(symbolizer, module, at, &start);

		totals->named += name != NULL;
		totals->sum += string_sum(name);
	}
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		totals->found += symbolizer_find(symbolizer, module, names[i], &start, &size) == 0;
	symbolizer_destroy(symbolizer);
}

static void read_links(const struct module *module, struct totals *totals)
{
	struct elf_image *other;

	if (debug_file_find(module, NULL, &other) == 0) {
		totals->debug_files++;
		elf_image_close(other);
	}
	if (mini_image_open(module->image, &other) == 0) {
		totals->mini_images++;
		elf_image_close(other);
	}
}

static void read_lines(const struct module *module, struct totals *totals)
{
	struct line_info *info = line_info_create(NULL);
	struct line_frame frames[8];
	size_t count;

	assert_non_null(info);
	for (uint64_t at = 0x600; at < 0x1400; at += 0x51) {
		if (line_info_find(info, module, at, frames, 8, &count) != 0)
			continue;
		for (size_t i = 0; i < count; i++)
			totals->sum += string_sum(frames[i].function) + string_sum(frames[i].file);
		totals->lines++;
	}
	line_info_destroy(info);
}

static void try_copy(struct unit_random *random, const struct built_module *seed,
		     struct totals *totals)
{
	const struct elf_image *original = seed->module.image;
	struct module module = seed->module;
	size_t size = original->size;
	uint8_t *bytes = malloc(size), *copy;

	assert_non_null(bytes);
	memcpy(bytes, original->bytes, size);
	damage(random, original, bytes, &size);
	/* Exactly as large as the file. */
	copy = malloc(size ? size : 1);
	assert_non_null(copy);
	memcpy(copy, bytes, size);
	free(bytes);
	if (elf_image_open_memory(copy, size, &module.image) != 0) {
		totals->refused++;
		free(copy);
		return;
	}
	totals->opened++;
	module.build_id_size = module.image->build_id_size;
	memcpy(module.build_id, module.image->build_id, sizeof(module.build_id));
	read_symbols(&module, totals);
	read_links(&module, totals);
	if (unit_random_below(random, 4) == 0)
		read_lines(&module, totals);
	elf_image_close(module.image);
}

static void test_damaged_files(void **state)
{
	struct built_files *files = built_files_create();
	struct unit_random random = { .state = 20240614 };
	struct built_module *modules[SEEDS];
	struct totals totals = { 0 };

	(void)state;
	built_files_write(files, "program.c", source);
	assert_true(built_files_run(files, build));
	for (size_t i = 0; i < SEEDS; i++)
		modules[i] = built_module_open(built_files_path(files, seeds[i]));
	for (size_t round = 0; round < ROUNDS; round++)
		try_copy(&random, modules[round % SEEDS], &totals);
	print_message("%d files: %zu opened, %zu refused; %zu names, %zu found, %zu debug files, "
		      "%zu packed, %zu lines\n",
		      ROUNDS, totals.opened, totals.refused, totals.named, totals.found,
		      totals.debug_files, totals.mini_images, totals.lines);
	assert_int_equal(totals.opened + totals.refused, ROUNDS);
	assert_true(totals.opened > ROUNDS / 4 && totals.refused > 100);
	assert_true(totals.named > 10000 && totals.found > 1000);
	assert_true(totals.debug_files > 100 && totals.lines > 1000);
	for (size_t i = 0; i < SEEDS; i++)
		built_module_close(modules[i]);
	built_files_remove(files);
}

/* Perf maps: lines of a real one with bytes changed, lines cut and joined. */
static void test_damaged_perf_maps(void **state)
{
	static const char original[] = "7f3c4a001000 5c py::function:/folder/file.py\n"
				       "7f3c4a00105c 12a py::<module>:/folder/file.py\n"
				       "0x7f3c4a002000 0x40 LazyCompile:~main native node:1:1\n"
				       "ffffffffffffff00 ff high\n"
				       "7f3c4a001010 8 inside\n";
	struct unit_random random = { .state = 11 };
	size_t entries = 0, named = 0;
	int fd = memfd_create("perf_map", MFD_CLOEXEC);

	(void)state;
	assert_true(fd >= 0);
	for (int round = 0; round < 20000; round++) {
		struct perf_map *map = perf_map_create();
		char text[sizeof(original)];
		size_t changes = 1 + unit_random_below(&random, 10), size = sizeof(text) - 1;

		assert_non_null(map);
		memcpy(text, original, sizeof(text));
		for (size_t i = 0; i < changes; i++)
			text[unit_random_below(&random, size)] =
				unit_random_below(&random, 3)
					? "0123456789abcdefx \n\n-+"[unit_random_below(&random, 22)]
					: (char)unit_random_next(&random);
		size -= unit_random_below(&random, 20);
		assert_int_equal(ftruncate(fd, 0), 0);
		/* In two parts, cut anywhere. */
		changes = unit_random_below(&random, size);
		assert_int_equal(pwrite(fd, text, changes, 0), changes);
		assert_int_equal(perf_map_update(map, fd), 0);
		assert_int_equal(pwrite(fd, text + changes, size - changes, (off_t)changes),
				 size - changes);
		assert_int_equal(perf_map_update(map, fd), 0);
		entries += perf_map_count(map);
		assert_true(perf_map_count(map) <= 16);
		for (uint64_t at = 0x7f3c4a000ff0; at < 0x7f3c4a002080; at += 0x21) {
			remote_addr start = 0;
			const char *name = perf_map_find(map, at, &start);

			named += name && string_sum(name) > 0;
			assert_true(!name || start <= at);
		}
		(void)perf_map_find(map, UINT64_MAX, NULL);
		perf_map_destroy(map);
	}
	close(fd);
	assert_true(entries > 20000 && named > 20000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_damaged_files),
		cmocka_unit_test(test_damaged_perf_maps),
	};

	if (!built_have("gcc") || !built_have("objcopy"))
		return 0;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
