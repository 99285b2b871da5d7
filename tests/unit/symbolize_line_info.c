/* SPDX-License-Identifier: Apache-2.0 */
/* Lines and inlined functions of programs made for it, and of corrupted DWARF. */
#include "symbolize/line_info.h"

#include "tests/unit/line_sources.h"
#include "tests/unit/unit_random.h"

#include <errno.h>
#include <setjmp.h>

#include <cmocka.h>

/* The chain itself, spelled out. */
static void test_chain(void **state)
{
	struct built_files *files = *state;
	struct line_info *info = line_info_create(NULL);
	struct line_frame frames[LINE_INFO_DEPTH_MAX];
	bool seen_inner = false, seen_line_11 = false;
	struct built_module *built;
	const char *program;
	uint64_t outer;
	size_t count;

	assert_true(built_files_run(files, "gcc -g -O2 -o c c.c"));
	program = built_files_path(files, "c");
	outer = built_address(program, "outer");
	built = built_module_open(program);
	assert_true(outer != 0);
	for (uint64_t at = outer; at < outer + 200; at++) {
		if (line_info_find(info, &built->module, at, frames, LINE_INFO_DEPTH_MAX, &count) !=
			    0 ||
		    strcmp(frames[0].function, "inner") != 0)
			continue;
		assert_int_equal(count, 3);
		assert_string_equal(frames[1].function, "middle");
		assert_string_equal(frames[2].function, "outer");
		assert_true(frames[0].is_inlined && frames[1].is_inlined && !frames[2].is_inlined);
		assert_true(frames[0].line == 2 || frames[0].line == 4);
		assert_true(frames[1].line == 10 || frames[1].line == 11);
		assert_int_equal(frames[2].line, 17);
		assert_non_null(strstr(frames[2].file, "c.c"));
		seen_inner = true;
		seen_line_11 = seen_line_11 || frames[1].line == 11;
		/* Room for one only: the innermost. */
		assert_int_equal(line_info_find(info, &built->module, at, frames, 1, &count), 0);
		assert_int_equal(count, 1);
		assert_string_equal(frames[0].function, "inner");
		assert_true(frames[0].is_inlined);
	}
	assert_true(seen_inner && seen_line_11);
	count = 77;
	assert_int_equal(line_info_find(info, &built->module, 0, frames, 1, &count), -ENOENT);
	assert_int_equal(line_info_find(info, &built->module, UINT64_MAX, frames, 1, &count),
			 -ENOENT);
	assert_int_equal(count, 77);
	line_info_destroy(info);
	built_module_close(built);
}

static void test_no_dwarf(void **state)
{
	struct built_files *files = *state;
	struct line_info *info = line_info_create(NULL);
	struct line_frame frame;
	struct built_module *built;
	size_t count;

	assert_true(built_files_run(files, "gcc -O2 -s -o c c.c"));
	built = built_module_open(built_files_path(files, "c"));
	for (int i = 0; i < 2; i++)
		assert_int_equal(line_info_find(info, &built->module, 0x1100, &frame, 1, &count),
				 -ENODATA);
	line_info_destroy(info);
	built_module_close(built);
}

/* Nothing but the sections of the DWARF is changed: libdw and we must come to an end. */
static void test_corrupted_dwarf(void **state)
{
	static const char *const parts[] = { ".debug_info",     ".debug_abbrev", ".debug_line",
					     ".debug_rnglists", ".debug_str",    ".debug_line_str",
					     ".debug_addr" };
	struct unit_random random = { .state = 99 };
	struct built_files *files = *state;
	struct built_module *original;
	size_t answered = 0, refused = 0;

	assert_true(built_files_run(files, "gcc -g -O2 -o c c.c"));
	original = built_module_open(built_files_path(files, "c"));
	for (int round = 0; round < 3000; round++) {
		const struct elf_image *image = original->module.image;
		struct line_info *info = line_info_create(NULL);
		struct module module = original->module;
		struct line_frame frames[LINE_INFO_DEPTH_MAX];
		uint8_t *bytes = malloc(image->size);
		size_t flips = 1 + unit_random_below(&random, 8), count;

		assert_non_null(info);
		assert_non_null(bytes);
		memcpy(bytes, image->bytes, image->size);
		for (size_t i = 0; i < flips; i++) {
			const char *part = parts[unit_random_below(&random, 7)];
			struct elf_section section;

			if (elf_image_section_find(image, part, &section) != 0)
				continue;
			bytes[section.file_offset + unit_random_below(&random, section.size)] =
				(uint8_t)unit_random_next(&random);
		}
		assert_int_equal(elf_image_open_memory(bytes, image->size, &module.image), 0);
		for (uint64_t at = 0x1000; at < 0x1400; at += 17) {
			if (line_info_find(info, &module, at, frames, LINE_INFO_DEPTH_MAX,
					   &count) != 0) {
				refused++;
				continue;
			}
			answered++;
			for (size_t i = 0; i < count; i++) {
				/* Read, so that a sanitizer sees where they are. */
				assert_true(!frames[i].function ||
					    strlen(frames[i].function) < image->size);
				assert_true(!frames[i].file ||
					    strlen(frames[i].file) < 4 * image->size);
				assert_true(frames[i].line >= 0);
			}
		}
		line_info_destroy(info);
		elf_image_close(module.image);
	}
	print_message("%zu answered, %zu not\n", answered, refused);
	assert_true(answered > 1000 && refused > 1000);
	built_module_close(original);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_chain, setup, teardown),
		cmocka_unit_test_setup_teardown(test_no_dwarf, setup, teardown),
		cmocka_unit_test_setup_teardown(test_corrupted_dwarf, setup, teardown),
	};

	if (!built_have("gcc"))
		return 0;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
