/* SPDX-License-Identifier: Apache-2.0 */
/* DWARF with more entries, ranges and types than are walked or kept. */
#include "symbolize/line_info.h"
#include "symbolize/struct_layout.h"
#include "tests/unit/forged_section.h"
#include "tests/unit/under_valgrind.h"

#include <dwarf.h>
#include <errno.h>
#include <setjmp.h>

#include <cmocka.h>

/* As in docs/SECURITY.md. */
#define RANGES         (1u << 20)
#define UNIT_ENTRIES   (4u << 20)
#define FILE_ENTRIES   (1u << 28)
#define NAMES          (1u << 20)
#define TYPES          (1u << 16)
#define LAYOUT_ENTRIES (1u << 26)
#define FUNCTION       0x5000u
#define FUNCTION_BYTES 16u

enum {
	UNIT = 1,
	UNIT_OF_RANGES,
	FILLER, /* one byte */
	SUBPROGRAM,
	SUBPROGRAM_WITH_CHILDREN,
	STRUCTURE,
	MANGLED,
	MANGLED_INLINED,
};

/* Code, tag, whether it has children, attributes and forms. */
static const uint8_t unit_abbreviation[] = {
	UNIT, DW_TAG_compile_unit, 1, DW_AT_low_pc, DW_FORM_addr, DW_AT_high_pc, DW_FORM_data4, 0, 0
};
static const uint8_t ranges_abbreviation[] = { UNIT_OF_RANGES,
					       DW_TAG_compile_unit,
					       1,
					       DW_AT_low_pc,
					       DW_FORM_addr,
					       DW_AT_ranges,
					       DW_FORM_sec_offset,
					       0,
					       0 };
static const uint8_t filler_abbreviation[] = { FILLER, DW_TAG_base_type, 0, 0, 0 };
static const uint8_t function_abbreviation[] = {
	DW_AT_name, DW_FORM_string, DW_AT_low_pc, DW_FORM_addr, DW_AT_high_pc, DW_FORM_data4, 0, 0
};
static const uint8_t structure_abbreviation[] = {
	STRUCTURE,       DW_TAG_structure_type, 0, DW_AT_name, DW_FORM_string,
	DW_AT_byte_size, DW_FORM_data1,         0, 0,          0
};

/* A function with another one inlined into it, both with mangled names. */
static const uint8_t mangled_abbreviations[] = {
	MANGLED,
	DW_TAG_subprogram,
	1,
	DW_AT_linkage_name,
	DW_FORM_string,
	DW_AT_low_pc,
	DW_FORM_addr,
	DW_AT_high_pc,
	DW_FORM_data1,
	0,
	0,
	MANGLED_INLINED,
	DW_TAG_inlined_subroutine,
	0,
	DW_AT_linkage_name,
	DW_FORM_string,
	DW_AT_low_pc,
	DW_FORM_addr,
	DW_AT_high_pc,
	DW_FORM_data1,
	0,
	0,
};

static int setup(void **state)
{
	struct built_files *files = built_files_create();

	built_files_write(files, "c.c",
			  "__attribute__((section(\".other\"))) int other(void) { return 0; }\n"
			  "int main(void) { return 0; }\n");
	/* A unit in two sections has a table of ranges. */
	built_must(built_files_run(files, "gcc -gdwarf-4 -O1 -gz=none -o original c.c\n"
					  "readelf -S original | grep -q debug_ranges"));
	*state = files;
	return 0;
}

static int teardown(void **state)
{
	built_files_remove(*state);
	return 0;
}

static void add(FILE *stream, const void *bytes, size_t size)
{
	built_must(fwrite(bytes, 1, size, stream) == size);
}

static void add_byte(FILE *stream, int byte)
{
	built_must(fputc(byte, stream) != EOF);
}

static void add_fillers(FILE *stream, size_t count)
{
	for (size_t i = 0; i < count; i++)
		built_must(putc_unlocked(FILLER, stream) != EOF);
}

static void add_function(FILE *stream, int code, const char *name, uint64_t address)
{
	add_byte(stream, code);
	add(stream, name, strlen(name) + 1);
	add(stream, &address, sizeof(address));
	add(stream, &(uint32_t){ FUNCTION_BYTES }, 4);
}

static void add_structure(FILE *stream, const char *name)
{
	add_byte(stream, STRUCTURE);
	add(stream, name, strlen(name) + 1);
	add_byte(stream, 8);
}

static struct bytes make_abbreviations(void)
{
	struct bytes bytes;
	FILE *stream = open_memstream((char **)&bytes.at, &bytes.size);

	built_must(stream);
	add(stream, unit_abbreviation, sizeof(unit_abbreviation));
	add(stream, ranges_abbreviation, sizeof(ranges_abbreviation));
	add(stream, filler_abbreviation, sizeof(filler_abbreviation));
	for (int has_children = 0; has_children < 2; has_children++) {
		add_byte(stream, has_children ? SUBPROGRAM_WITH_CHILDREN : SUBPROGRAM);
		add_byte(stream, DW_TAG_subprogram);
		add_byte(stream, has_children);
		add(stream, function_abbreviation, sizeof(function_abbreviation));
	}
	add(stream, mangled_abbreviations, sizeof(mangled_abbreviations));
	/* With what ends them all. */
	add(stream, structure_abbreviation, sizeof(structure_abbreviation));
	built_must(fclose(stream) == 0);
	return bytes;
}

/* Begins .debug_info with one unit; finish_units() ends it. */
static FILE *begin_units(struct bytes *units, bool has_ranges)
{
	FILE *stream = open_memstream((char **)&units->at, &units->size);
	const uint64_t start = has_ranges ? 0 : 0x1000;
	const uint32_t length = has_ranges ? 0 : 0x10000;

	built_must(stream);
	add(stream, "\0\0\0\0\4\0\0\0\0\0\10", 11);
	add_byte(stream, has_ranges ? UNIT_OF_RANGES : UNIT);
	add(stream, &start, 8);
	add(stream, &length, 4);
	return stream;
}

/* The module of a file with these entries instead of its own. */
static struct built_module *finish_units(struct built_files *files, FILE *stream,
					 struct bytes *units, const struct bytes *ranges)
{
	struct bytes file = read_file(built_files_path(files, "original"));
	struct bytes abbreviations = make_abbreviations();
	uint32_t length;

	add_byte(stream, 0);
	built_must(fclose(stream) == 0);
	length = (uint32_t)units->size - 4;
	memcpy(units->at, &length, sizeof(length));
	replace_section(&file, ".debug_info", NULL, 0, units, false);
	replace_section(&file, ".debug_abbrev", NULL, 0, &abbreviations, false);
	if (ranges)
		replace_section(&file, ".debug_ranges", NULL, 0, ranges, false);
	write_file(built_files_path(files, "forged"), &file);
	free(file.at);
	free(abbreviations.at);
	free(units->at);
	return built_module_open(built_files_path(files, "forged"));
}

/* 1 when the function at address is called so, 0 when there is none. */
static int finds(struct line_info *info, const struct built_module *built, uint64_t address,
		 const char *name)
{
	struct line_frame frame;
	size_t count;
	int error = line_info_find(info, &built->module, address, &frame, 1, &count);

	if (error) {
		assert_int_equal(error, -ENOENT);
		return 0;
	}
	assert_string_equal(frame.function, name);
	return 1;
}

/* What comes behind as many entries of a unit as are walked is not found. */
static void test_entries_of_a_unit(void **state)
{
	for (size_t more = 0; more < 2; more++) {
		struct line_info *info = line_info_create(NULL);
		struct built_module *built;
		struct bytes units;
		FILE *stream = begin_units(&units, false);

		add_function(stream, SUBPROGRAM, "early", FUNCTION - FUNCTION_BYTES);
		add_fillers(stream, UNIT_ENTRIES - 3 + more);
		add_function(stream, SUBPROGRAM, "late", FUNCTION);
		built = finish_units(*state, stream, &units, NULL);
		assert_int_equal(finds(info, built, FUNCTION - 1, "early"), 1);
		assert_int_equal(finds(info, built, FUNCTION, "late"), !more);
		line_info_destroy(info);
		built_module_close(built);
	}
}

/* However often it is asked for, a file costs no more than this. */
static void test_entries_of_a_file(void **state)
{
	struct line_info *info;
	struct built_module *built;
	struct bytes units;
	FILE *stream;
	size_t found = 0;

	if (under_valgrind())
		skip(); /* takes minutes */
	info = line_info_create(NULL);
	stream = begin_units(&units, false);
	add_function(stream, SUBPROGRAM_WITH_CHILDREN, "deep", FUNCTION);
	add_fillers(stream, UNIT_ENTRIES);
	add_byte(stream, 0);
	built = finish_units(*state, stream, &units, NULL);
	while (finds(info, built, FUNCTION, "deep")) {
		found++;
		/* The last question is answered: it was not known to be one. */
		assert_int_equal(line_info_dropped(info), found >= FILE_ENTRIES / UNIT_ENTRIES - 1);
		assert_true(found <= FILE_ENTRIES / UNIT_ENTRIES);
	}
	assert_true(found >= FILE_ENTRIES / UNIT_ENTRIES - 1);
	assert_int_equal(finds(info, built, FUNCTION, "deep"), 0);
	assert_int_equal(line_info_dropped(info), 1);
	line_info_destroy(info);
	built_module_close(built);
}

static void test_ranges(void **state)
{
	struct bytes ranges = { .size = (RANGES + 2) * 16 };
	struct line_info *info = line_info_create(NULL);
	struct built_module *built;
	struct bytes units;
	FILE *stream = begin_units(&units, true);
	uint64_t *pairs = calloc(1, ranges.size);

	built_must(pairs);
	/* Of one byte each, 0x10 apart; zeros end the list. */
	for (uint64_t i = 0; i <= RANGES; i++) {
		pairs[2 * i] = 0x10000 + 0x10 * i;
		pairs[2 * i + 1] = pairs[2 * i] + 1;
	}
	ranges.at = (uint8_t *)pairs;
	add_function(stream, SUBPROGRAM, "last", 0x10000 + 0x10 * (RANGES - 1));
	add_function(stream, SUBPROGRAM, "beyond", 0x10000 + 0x10 * RANGES);
	built = finish_units(*state, stream, &units, &ranges);
	assert_int_equal(finds(info, built, pairs[2 * (RANGES - 1)], "last"), 1);
	assert_int_equal(finds(info, built, pairs[2 * RANGES], "beyond"), 0);
	line_info_destroy(info);
	built_module_close(built);
	free(ranges.at);
}

static void test_demangled_names(void **state)
{
	/* Two names each. */
	static const uint64_t functions = NAMES / 2 + 1;
	uint64_t pairs[4] = { 0x10000, 0x10000 + functions };
	struct bytes ranges = { .at = (uint8_t *)pairs, .size = sizeof(pairs) };
	struct line_info *info;
	struct built_module *built;
	struct bytes units;
	FILE *stream;

	if (under_valgrind())
		skip(); /* takes minutes */
	info = line_info_create(NULL);
	stream = begin_units(&units, true);
	for (uint64_t i = 0; i < functions; i++) {
		uint64_t address = pairs[0] + i;

		for (int inlined = 0; inlined < 2; inlined++) {
			add_byte(stream, inlined ? MANGLED_INLINED : MANGLED);
			add(stream, inlined ? "_Z1iv" : "_Z1fv", 6);
			add(stream, &address, sizeof(address));
			add_byte(stream, 1);
		}
		add_byte(stream, 0);
	}
	built = finish_units(*state, stream, &units, &ranges);
	for (uint64_t i = 0; i < functions; i++) {
		bool beyond = i == functions - 1;
		struct line_frame frames[2];
		size_t count;

		assert_int_equal(
			line_info_find(info, &built->module, pairs[0] + i, frames, 2, &count), 0);
		assert_int_equal(count, 2);
		assert_string_equal(frames[0].function, beyond ? "_Z1iv" : "i()");
		assert_string_equal(frames[1].function, beyond ? "_Z1fv" : "f()");
	}
	line_info_destroy(info);
	built_module_close(built);
}

static bool has_type(struct struct_layout *layout, const char *name)
{
	struct debug_info info = struct_layout_debug_info(layout);
	uint32_t size = 0;
	int error = info.type_size(info.context, name, &size);

	assert_true(error || size == 8);
	return !error;
}

static void test_types(void **state)
{
	struct symbolizer *symbolizer = symbolizer_create();
	struct struct_layout *layout;
	struct built_module *built;
	struct bytes units;
	FILE *stream = begin_units(&units, false);

	for (unsigned int i = 0; i <= TYPES; i++) {
		char name[16];

		snprintf(name, sizeof(name), "type%u", i);
		add_structure(stream, name);
	}
	built = finish_units(*state, stream, &units, NULL);
	layout = struct_layout_create(symbolizer, &built->module);
	assert_true(has_type(layout, "type0"));
	assert_true(has_type(layout, "type65535"));
	assert_false(has_type(layout, "type65536"));
	struct_layout_destroy(layout);
	symbolizer_destroy(symbolizer);
	built_module_close(built);
}

static void test_entries_of_a_layout(void **state)
{
	if (under_valgrind())
		skip(); /* takes minutes */
	for (size_t more = 0; more < 2; more++) {
		struct symbolizer *symbolizer = symbolizer_create();
		struct struct_layout *layout;
		struct built_module *built;
		struct bytes units;
		FILE *stream = begin_units(&units, false);

		add_structure(stream, "early");
		add_fillers(stream, LAYOUT_ENTRIES - 3 + 2 * more);
		add_structure(stream, "late");
		built = finish_units(*state, stream, &units, NULL);
		layout = struct_layout_create(symbolizer, &built->module);
		assert_true(has_type(layout, "early"));
		assert_int_equal(has_type(layout, "late"), !more);
		assert_int_equal(symbolizer_dropped(symbolizer), more);
		struct_layout_destroy(layout);
		symbolizer_destroy(symbolizer);
		built_module_close(built);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_entries_of_a_unit),
		cmocka_unit_test(test_entries_of_a_file),
		cmocka_unit_test(test_ranges),
		cmocka_unit_test(test_demangled_names),
		cmocka_unit_test(test_types),
		cmocka_unit_test(test_entries_of_a_layout),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
