/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Layouts read from DWARF against what the compiler says of this very program,
 * against known offsets of CPython, and from corrupted copies of a small file.
 */
#include "symbolize/struct_layout.h"

#include "symbolize/elf_image.h"
#include "tests/unit/symbolize_self.h"

#include <dlfcn.h>
#include <elf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <sys/stat.h>

#include <cmocka.h>

/* One of everything that a member path can run through. */
struct layout_inner {
	char pad[3];
	struct {
		int before;
		long deep;
	} nested;
};

typedef struct {
	int only;
	short by_typedef;
} layout_alias;

typedef const volatile layout_alias layout_qualified;

struct layout_sample {
	char first;
	union {
		int in_union;
		struct {
			short low;
			short in_anonymous;
		};
	};
	struct layout_inner inner;
	layout_qualified alias;
	struct layout_sample *next;
	unsigned int bit : 3;
	unsigned int after_bit : 7;
	int array[5];
};

union layout_union {
	char small;
	double large;
};

/* Keeps the types in the debug information. */
struct layout_sample layout_sample_object = { .bit = 1 };
union layout_union layout_union_object;

struct fixture {
	struct symbolizer *symbolizer;
	struct struct_layout *layout;
	struct elf_image *image;
	struct module module;
	struct debug_info info;
};

static void open_fixture(struct fixture *fixture, struct elf_image *image)
{
	fixture->image = image;
	fixture->module = (struct module){ .image = image, .path = "", .name = "" };
	fixture->module.build_id_size = image->build_id_size;
	memcpy(fixture->module.build_id, image->build_id, image->build_id_size);
	fixture->symbolizer = symbolizer_create();
	fixture->layout = struct_layout_create(fixture->symbolizer, &fixture->module);
	assert_non_null(fixture->layout);
	fixture->info = struct_layout_debug_info(fixture->layout);
}

static void open_file(struct fixture *fixture, const char *path)
{
	struct elf_image *image;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(elf_image_open(fd, &image), 0);
	close(fd);
	open_fixture(fixture, image);
}

static void close_fixture(struct fixture *fixture)
{
	struct_layout_destroy(fixture->layout);
	symbolizer_destroy(fixture->symbolizer);
	elf_image_close(fixture->image);
}

static void expect_offset(const struct fixture *fixture, const char *type, const char *member,
			  size_t expected)
{
	uint32_t offset = UINT32_MAX;
	int error = fixture->info.member_offset(fixture->info.context, type, member, &offset);

	if (error || offset != expected)
		print_message("%s.%s: %d, %u\n", type, member, error, offset);
	assert_int_equal(error, 0);
	assert_int_equal(offset, expected);
}

static void expect_missing(const struct fixture *fixture, const char *type, const char *member,
			   int expected)
{
	uint32_t offset = 12345;

	assert_int_equal(fixture->info.member_offset(fixture->info.context, type, member, &offset),
			 expected);
	assert_int_equal(offset, 12345);
}

static void expect_size(const struct fixture *fixture, const char *type, size_t expected)
{
	uint32_t size = UINT32_MAX;

	assert_int_equal(fixture->info.type_size(fixture->info.context, type, &size), 0);
	assert_int_equal(size, expected);
}

static void test_own_types(void **state)
{
	struct fixture fixture;

	(void)state;
	open_file(&fixture, "/proc/self/exe");
#define SAMPLE(member)                                                                             \
	expect_offset(&fixture, "layout_sample", #member, offsetof(struct layout_sample, member))
	SAMPLE(first);
	SAMPLE(in_union);
	SAMPLE(low);
	SAMPLE(in_anonymous);
	SAMPLE(inner);
	SAMPLE(inner.nested);
	SAMPLE(inner.nested.deep);
	SAMPLE(alias);
	SAMPLE(alias.by_typedef);
	SAMPLE(next);
	SAMPLE(array);
#undef SAMPLE
	expect_offset(&fixture, "layout_sample", "bit",
		      offsetof(struct layout_sample, next) + sizeof(void *));
	expect_offset(&fixture, "layout_alias", "by_typedef", offsetof(layout_alias, by_typedef));
	expect_offset(&fixture, "layout_qualified", "by_typedef",
		      offsetof(layout_alias, by_typedef));
	expect_offset(&fixture, "layout_union", "large", 0);
	expect_size(&fixture, "layout_sample", sizeof(struct layout_sample));
	expect_size(&fixture, "layout_alias", sizeof(layout_alias));
	expect_size(&fixture, "layout_union", sizeof(union layout_union));
	/* Only declared where this test sees it, defined in another unit. */
	expect_offset(&fixture, "struct_layout", "symbolizer", 0);

	expect_missing(&fixture, "layout_sample", "absent", -ENOENT);
	expect_missing(&fixture, "layout_sample", "next.first", -ENOENT); /* not through pointers */
	expect_missing(&fixture, "layout_sample", "first.x", -ENOENT);
	expect_missing(&fixture, "layout_sample", "", -ENOENT);
	expect_missing(&fixture, "layout_sample", ".first", -ENOENT);
	expect_missing(&fixture, "layout_sample", "inner.", -ENOENT);
	expect_missing(&fixture, "layout_sample", "inner..nested", -ENOENT);
	expect_missing(&fixture, "no_such_type", "first", -ENOENT);
	expect_missing(&fixture, "", "first", -ENOENT);
	expect_missing(&fixture, "int", "first", -ENOENT);
	close_fixture(&fixture);
}

static void test_own_symbols_and_sections(void **state)
{
	struct mapping_opener opener = { self_open, NULL };
	struct module_table *table = module_table_create(&opener, NULL);
	struct symbolizer *symbolizer = symbolizer_create();
	const struct module *module;
	struct struct_layout *layout;
	struct mapping_list list;
	struct debug_info info;
	remote_addr address;
	uint64_t size;

	(void)state;
	self_read_maps(&list);
	assert_int_equal(module_table_update(table, &list), 0);
	module = module_find(table, (remote_addr)(uintptr_t)&test_own_types);
	assert_non_null(module);
	layout = struct_layout_create(symbolizer, module);
	info = struct_layout_debug_info(layout);
	assert_int_equal(info.symbol(info.context, "layout_sample_object", &address, &size), 0);
	assert_int_equal(address, (uintptr_t)&layout_sample_object);
	assert_int_equal(size, sizeof(layout_sample_object));
	assert_int_equal(info.symbol(info.context, "nothing", &address, &size), -ENOENT);
	assert_int_equal(info.section(info.context, ".data", &address, &size), 0);
	assert_true((uintptr_t)&layout_sample_object >= address &&
		    (uintptr_t)&layout_sample_object < address + size);
	assert_int_equal(info.section(info.context, ".bss", &address, &size), 0);
	assert_true((uintptr_t)&layout_union_object >= address &&
		    (uintptr_t)&layout_union_object < address + size);
	/* Not in the target's memory, and not there at all. */
	assert_int_equal(info.section(info.context, ".debug_info", &address, &size), -ENOENT);
	assert_int_equal(info.section(info.context, ".nothing", &address, &size), -ENOENT);
	struct_layout_destroy(layout);
	symbolizer_destroy(symbolizer);
	module_table_destroy(table);
	mapping_list_deinit(&list);
}

static void test_without_dwarf(void **state)
{
	static const char *const stripped[] = { "/usr/lib/python3/dist-packages/numpy/core/"
						"_multiarray_umath*.so",
						"/lib/x86_64-linux-gnu/libjansson.so.4",
						"/lib/x86_64-linux-gnu/libz.so.1" };
	size_t checked = 0;

	(void)state;
	for (size_t i = 0; i < sizeof(stripped) / sizeof(stripped[0]); i++) {
		struct elf_section section;
		struct fixture fixture;
		glob_t files = { 0 };

		self_glob(&files, stripped[i], false);
		if (files.gl_pathc > 0) {
			open_file(&fixture, files.gl_pathv[0]);
			fixture.module.build_id_size = 0; /* no debug file either */
			if (elf_image_section_find(fixture.image, ".debug_info", &section) != 0) {
				uint32_t size;

				for (int again = 0; again < 2; again++) {
					expect_missing(&fixture, "PyObject", "ob_type", -ENODATA);
					assert_int_equal(
						fixture.info.type_size(fixture.info.context,
								       "PyObject", &size),
						-ENODATA);
				}
				checked++;
			}
			close_fixture(&fixture);
		}
		globfree(&files);
	}
	assert_true(checked > 0);
}

/* What the interpreters' own debug information must say; 0 where that version has none. */
struct known_offset {
	const char *type;
	const char *member;
	int offsets[8]; /* 3.6 to 3.13; -1: not asked */
};

static const struct known_offset known_offsets[] = {
	{ "PyThreadState", "interp", { 16, 16, 16, 16, 16, 16, 16, 16 } },
	{ "PyThreadState", "frame", { 24, 24, 24, 24, 24, -1, -1, -1 } },
	{ "PyThreadState", "cframe", { -1, -1, -1, -1, -1, 56, 56, -1 } },
	{ "PyThreadState", "current_frame", { -1, -1, -1, -1, -1, -1, -1, 72 } },
	{ "PyThreadState", "thread_id", { 152, 176, 176, 176, 176, 152, 136, 152 } },
	{ "PyThreadState", "native_thread_id", { -1, -1, -1, -1, -1, 160, 144, 160 } },
	{ "PyThreadState", "datastack_chunk", { -1, -1, -1, -1, -1, 296, 232, 232 } },
	{ "PyThreadState", "datastack_top", { -1, -1, -1, -1, -1, 304, 240, 240 } },
	{ "_PyCFrame", "current_frame", { -1, -1, -1, -1, -1, 8, 0, -1 } },
	{ "_PyCFrame", "previous", { -1, -1, -1, -1, -1, 16, 8, -1 } },
	{ "_PyInterpreterFrame", "f_code", { -1, -1, -1, -1, -1, 32, 0, -1 } },
	{ "_PyInterpreterFrame", "previous", { -1, -1, -1, -1, -1, 48, 8, 8 } },
	{ "_PyInterpreterFrame", "owner", { -1, -1, -1, -1, -1, 69, 70, 70 } },
	{ "PyFrameObject", "f_code", { 32, 32, 32, 32, 32, -1, -1, -1 } },
	{ "_frame", "f_lasti", { 120, 104, 104, 104, 96, -1, -1, -1 } },
	{ "PyCodeObject", "co_filename", { 96, 96, 104, 104, 104, 112, 112, 112 } },
	{ "PyCodeObject", "co_name", { 104, 104, 112, 112, 112, 120, 120, 120 } },
	{ "PyCodeObject", "co_firstlineno", { 36, 36, 40, 40, 40, 72, 68, 68 } },
	{ "PyCodeObject", "co_code_adaptive", { -1, -1, -1, -1, -1, 184, 192, 200 } },
	{ "PyCodeObject", "_co_firsttraceable", { -1, -1, -1, -1, -1, 168, 176, 184 } },
	{ "_PyRuntimeState", "interpreters.head", { -1, 24, 32, 32, 32, 40, 40, 632 } },
	{ "_PyRuntimeState", "gilstate.tstate_current", { -1, -1, 1368, 568, 568, 576, -1, -1 } },
	{ "PyInterpreterState", "eval_frame", { 112, 464, 568, 1400, 1368, 1424, 1744, 8472 } },
	{ "PyInterpreterState", "ceval.gil", { -1, -1, -1, -1, -1, -1, 384, 16 } },
	{ "PyInterpreterState", "threads.head", { -1, -1, -1, -1, -1, 16, 72, 7344 } },
	{ "_is", "next", { 0, 0, 0, 0, 0, 0, 0, 7264 } },
	{ "PyObject", "ob_type", { 8, 8, 8, 8, 8, 8, 8, 8 } },
	{ "PyASCIIObject", "length", { 16, 16, 16, 16, 16, 16, 16, 16 } },
	{ "PyBytesObject", "ob_sval", { 32, 32, 32, 32, 32, 32, 32, 32 } },
	{ "_PyStackChunk", "previous", { -1, -1, -1, -1, -1, 0, 0, 0 } },
	{ "_gil_runtime_state", "locked", { -1, -1, 16, 16, 16, 16, 16, 16 } },
};

static void test_interpreters(void **state)
{
	const size_t rows = sizeof(known_offsets) / sizeof(known_offsets[0]);
	glob_t files = { 0 };
	size_t checked = 0;

	(void)state;
	self_glob(&files, "~/.pyenv/versions/3.*/lib/libpython3.*.so.1.0", false);
	for (size_t i = 0; i < files.gl_pathc; i++) {
		int minor =
			atoi(strstr(files.gl_pathv[i], "/libpython3.") + strlen("/libpython3."));
		struct elf_section section;
		struct fixture fixture;

		if (minor < 6 || minor > 13)
			continue;
		open_file(&fixture, files.gl_pathv[i]);
		/* 3.7.0 to 3.7.3 differ in what is asked here of 3.7, and none is at hand. */
		if (elf_image_section_find(fixture.image, ".debug_info", &section) == 0) {
			for (size_t j = 0; j < rows; j++)
				if (known_offsets[j].offsets[minor - 6] >= 0)
					expect_offset(&fixture, known_offsets[j].type,
						      known_offsets[j].member,
						      (size_t)known_offsets[j].offsets[minor - 6]);
			expect_size(&fixture, "PyObject", 16);
			expect_size(&fixture, "PyVarObject", 24);
			expect_missing(&fixture, "PyThreadState", "nothing", -ENOENT);
			checked++;
		}
		close_fixture(&fixture);
	}
	if (checked == 0)
		print_message("skipped: no interpreter with DWARF found\n");
	else
		print_message("%zu interpreters\n", checked);
	globfree(&files);
	if (checked == 0)
		skip();
}

/*
 * libc's debug file (separate, its sections compressed) against what libc
 * itself tells debuggers: _thread_db_pthread_tid is {bits, count, offset}.
 */
static void test_separate_debug_file(void **state)
{
	struct fixture fixture;
	uint32_t descriptor[3], offset;
	const uint8_t *bytes;
	remote_addr address;
	size_t available;
	uint64_t size;

	(void)state;
	open_file(&fixture, "/lib/x86_64-linux-gnu/libc.so.6");
	if (fixture.info.member_offset(fixture.info.context, "pthread", "tid", &offset) != 0) {
		print_message("skipped: no debug file of libc installed\n");
		close_fixture(&fixture);
		skip();
	}
	assert_int_equal(fixture.info.symbol(fixture.info.context, "_thread_db_pthread_tid",
					     &address, &size),
			 0);
	assert_int_equal(size, sizeof(descriptor));
	bytes = elf_image_at(fixture.image, address, &available);
	assert_true(bytes && available >= sizeof(descriptor));
	memcpy(descriptor, bytes, sizeof(descriptor));
	assert_int_equal(offset, descriptor[2]);
	close_fixture(&fixture);
}

static uint32_t next_random(uint64_t *seed)
{
	*seed = *seed * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(*seed >> 33);
}

/* This program's own DWARF with bytes flipped in it. */
static void test_corrupted_copies(void **state)
{
	static const char *const parts[] = { ".debug_info", ".debug_abbrev", ".debug_str" };
	struct elf_image *original;
	uint64_t seed = 815;
	size_t answered = 0;
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);

	(void)state;
	assert_int_equal(elf_image_open(fd, &original), 0);
	close(fd);
	for (int round = 0; round < 500; round++) {
		size_t flips = 1 + next_random(&seed) % 30;
		uint8_t *copy = malloc(original->size);
		struct elf_image *image;
		struct fixture fixture;
		uint32_t offset;

		assert_non_null(copy);
		memcpy(copy, original->bytes, original->size);
		for (size_t i = 0; i < flips; i++) {
			struct elf_section section;
			size_t where = original->section_table_offset;
			size_t room = original->section_count * sizeof(Elf64_Shdr);

			if (next_random(&seed) % 16 != 0) {
				assert_int_equal(
					elf_image_section_find(
						original, parts[next_random(&seed) % 3], &section),
					0);
				where = section.file_offset;
				room = section.size;
			}
			copy[where + next_random(&seed) % room] =
				(uint8_t)(next_random(&seed) % 3 ? next_random(&seed) : 0xff);
		}
		if (elf_image_open_memory(copy, original->size, &image) != 0) {
			free(copy);
			continue;
		}
		open_fixture(&fixture, image);
		for (size_t i = 0; i < 4; i++) {
			static const char *const members[] = { "alias.by_typedef", "in_anonymous",
							       "array", "inner.nested.deep" };

			if (fixture.info.member_offset(fixture.info.context, "layout_sample",
						       members[i], &offset) == 0)
				answered++;
		}
		(void)fixture.info.type_size(fixture.info.context, "struct_layout", &offset);
		close_fixture(&fixture);
	}
	assert_true(answered > 100);
	elf_image_close(original);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_own_types),
		cmocka_unit_test(test_own_symbols_and_sections),
		cmocka_unit_test(test_without_dwarf),
		cmocka_unit_test(test_interpreters),
		cmocka_unit_test(test_separate_debug_file),
		cmocka_unit_test(test_corrupted_copies),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
