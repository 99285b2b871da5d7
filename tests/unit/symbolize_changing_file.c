/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ELF files that somebody truncates, grows and rewrites after they were opened,
 * and while they are read: nothing ends, and what was lost is told.
 */
#include "symbolize/cfi.h"
#include "symbolize/eh_frame_hdr.h"
#include "symbolize/line_info.h"
#include "symbolize/mini_image.h"
#include "symbolize/struct_layout.h"
#include "symbolize/symbol.h"
#include "tests/unit/built_files.h"
#include "tests/unit/unit_random.h"

#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdatomic.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <cmocka.h>

#define ROUNDS      400
#define ROUNDS_MAX  (50 * ROUNDS)
#define LINE_ROUNDS 500

static const char source[] =
	"#include <stdlib.h>\n"
	"struct point { int x; struct { long y; } inner; };\n"
	"struct point origin;\n"
	"static inline __attribute__((always_inline)) int inner(int a) { return a * atoi(\"3\"); "
	"}\n"
	"static __attribute__((noinline)) int hidden(int a) { return inner(a) + inner(a + 1); }\n"
	"int shown(int a) { return hidden(a); }\n"
	"int main(int argc, char **argv) { (void)argv; return shown(argc); }\n";

/* Larger than a page in every part that is read late. */
static const char build[] =
	"for i in $(seq 400); do echo \"int unused_$i(int a) { return a * $i + rand(); }\"; done "
	">>program.c\n"
	"gcc -g -O1 -rdynamic -Wl,--build-id=sha1 -o whole program.c\n"
	"gcc -g -O1 -gz=zlib -rdynamic -Wl,--build-id=sha1 -o compressed program.c\n"
	"cp whole changing";

struct reading {
	size_t names;
	size_t lines;
	size_t layouts;
};

static void read_all(const struct module *module, struct reading *reading)
{
	struct symbolizer *symbolizer = symbolizer_create();
	struct line_info *info = line_info_create(NULL);
	struct struct_layout *layout;
	struct debug_info debug_info;
	struct line_frame frames[8];
	struct eh_frame_hdr table;
	struct eh_frame_fde fde;
	struct elf_image *mini;
	uint64_t fde_address = module->image->eh_frame_address;
	remote_addr start;
	uint64_t size;
	size_t count;
	uint32_t offset;

	assert_true(symbolizer && info);
	layout = struct_layout_create(symbolizer, module);
	assert_non_null(layout);
	debug_info = struct_layout_debug_info(layout);
	reading->layouts +=
		debug_info.member_offset(debug_info.context, "point", "inner.y", &offset) == 0;
	reading->names += symbolizer_find(symbolizer, module, "shown", &start, &size) == 0;
	for (uint64_t at = 0x5050; at < 0x6c00; at += 0xd5) {
		reading->names += symbolizer_function(symbolizer, module, at, &start) != NULL;
		if (line_info_find(info, module, at, frames, 8, &count) == 0)
			reading->lines++;
	}
	if (mini_image_open(module->image, &mini) == 0)
		elf_image_close(mini);
	if (eh_frame_hdr_open(module->image, &table) == 0)
		eh_frame_hdr_deinit(&table);
	for (int i = 0; i < 50 && eh_frame_fde_after(module->image, fde_address, &fde) == 0; i++) {
		(void)cfi_rule_at(&fde, fde.start);
		fde_address = fde.next;
	}
	struct_layout_destroy(layout);
	line_info_destroy(info);
	symbolizer_destroy(symbolizer);
}

static uint64_t offset_of(const struct built_module *module, const char *name)
{
	struct elf_section section;

	if (elf_image_section_find(module->module.image, name, &section) != 0)
		fail_msg("no section %s", name);
	return section.file_offset;
}

/* After it was opened: at every size of it, and with every part gone. */
static void test_truncated(void **state)
{
	static const char *const parts[] = { ".symtab",    ".strtab",   ".debug_info",
					     ".debug_str", ".eh_frame", ".debug_line" };
	struct built_files *files = built_files_create();
	struct stat status;

	(void)state;
	built_files_write(files, "program.c", source);
	assert_true(built_files_run(files, build));
	for (size_t i = 0; i < 2 * sizeof(parts) / sizeof(parts[0]) + 3; i++) {
		struct built_module *module;
		struct reading reading = { 0 };
		off_t size = 0;

		assert_true(built_files_run(files, "cp whole changing"));
		module = built_module_open(built_files_path(files, "changing"));
		assert_int_equal(stat(module->path, &status), 0);
		if (i < 2 * sizeof(parts) / sizeof(parts[0]))
			size = (off_t)offset_of(module, parts[i / 2]) + (i % 2 ? 5000 : 0);
		else
			size = (off_t[]){ 0, 30, status.st_size - 1 }[i % 3];
		assert_int_equal(truncate(module->path, size < status.st_size ? size : 0), 0);
		read_all(&module->module, &reading);
		if (size + 8192 < status.st_size)
			assert_true(elf_image_has_lost(module->module.image));
		built_module_close(module);
	}
	built_files_remove(files);
}

/* Not lost: what is added behind it, and another file of its name. */
static void test_grown_and_replaced(void **state)
{
	struct built_files *files = built_files_create();
	struct reading whole = { 0 }, grown = { 0 }, replaced = { 0 };
	struct built_module *module;

	(void)state;
	built_files_write(files, "program.c", source);
	assert_true(built_files_run(files, build));
	module = built_module_open(built_files_path(files, "changing"));
	read_all(&module->module, &whole);
	assert_true(whole.names > 20 && whole.lines > 20 && whole.layouts == 1);
	assert_int_equal(truncate(module->path, 1ll << 40), 0);
	read_all(&module->module, &grown);
	built_module_close(module);
	assert_memory_equal(&grown, &whole, sizeof(whole));
	assert_true(built_files_run(files, "cp whole changing"));
	module = built_module_open(built_files_path(files, "changing"));
	assert_true(built_files_run(files, "echo text >other; mv other changing"));
	read_all(&module->module, &replaced);
	assert_false(elf_image_has_lost(module->module.image));
	built_module_close(module);
	assert_memory_equal(&replaced, &whole, sizeof(whole));
	built_files_remove(files);
}

/* A sparse terabyte is no ELF file, whatever it begins with; tens of gigabytes are read as far as
 * they must. */
static void test_sparse(void **state)
{
	struct built_files *files = built_files_create();
	struct elf_image *image;
	struct reading whole = { 0 };
	struct built_module *module;
	struct rusage usage;
	int fd;

	(void)state;
	built_files_write(files, "program.c", source);
	assert_true(built_files_run(files, build));
	assert_int_equal(truncate(built_files_path(files, "changing"), 1ll << 40), 0);
	fd = open(built_files_path(files, "changing"), O_RDONLY | O_CLOEXEC);
	assert_true(fd >= 0);
	assert_int_equal(elf_image_open(fd, &image), -ENOEXEC);
	close(fd);
	assert_int_equal(truncate(built_files_path(files, "changing"), 60ll << 30), 0);
	module = built_module_open(built_files_path(files, "changing"));
	read_all(&module->module, &whole);
	print_message("%zu names, %zu lines, %zu layouts\n", whole.names, whole.lines,
		      whole.layouts);
	assert_true(whole.names > 20 && whole.lines > 20 && whole.layouts == 1);
	built_module_close(module);
	assert_int_equal(getrusage(RUSAGE_SELF, &usage), 0);
	print_message("at most %ld KB\n", usage.ru_maxrss);
	built_files_remove(files);
}

struct writer {
	char path[PATH_MAX];
	const uint8_t *whole;
	uint64_t from;
	size_t size;
	atomic_bool ends;
	size_t changes;
};

/* Changes the file as fast as it can, and now and then makes it whole again. */
static void *change(void *context)
{
	struct writer *writer = context;
	struct unit_random random = { .state = 5 };
	int fd = open(writer->path, O_RDWR | O_CLOEXEC);

	must(fd >= 0);
	while (!atomic_load(&writer->ends)) {
		off_t at = (off_t)unit_random_below(&random, writer->size);
		uint64_t word = unit_random_below(&random, 2) ? unit_random_next(&random) : 0;

		switch (unit_random_below(&random, 16)) {
		case 0:
			must(ftruncate(fd, at) == 0);
			break;
		case 1:
		case 2:
		case 3:
		case 4:
		case 5:
			must(pwrite(fd, writer->whole, writer->size, 0) == (ssize_t)writer->size);
			break;
		default:
			must(pwrite(fd, &word, 1 + unit_random_below(&random, 8), at) > 0);
			break;
		}
		writer->changes++;
	}
	close(fd);
	return NULL;
}

static void read_changing(struct built_files *files, const char *name)
{
	struct built_module *whole = built_module_open(built_files_path(files, name));
	struct writer writer = { .whole = whole->module.image->bytes,
				 .size = whole->module.image->size };
	struct reading reading = { 0 };
	size_t opened = 0, lost = 0;
	pthread_t thread;
	int rounds;

	snprintf(writer.path, sizeof(writer.path), "%s/changing", files->folder);
	assert_int_equal(pthread_create(&thread, NULL, change, &writer), 0);
	/* On a busy machine the writer may not run in between: on until all was seen, to an end. */
	for (rounds = 0;
	     rounds < ROUNDS || (rounds < ROUNDS_MAX && !(opened && lost && reading.names));
	     rounds++) {
		struct module module = { .path = writer.path, .name = "changing" };
		int fd = open(writer.path, O_RDONLY | O_CLOEXEC);

		assert_true(fd >= 0);
		if (elf_image_open(fd, &module.image) == 0) {
			opened++;
			module.build_id_size = module.image->build_id_size;
			memcpy(module.build_id, module.image->build_id, module.build_id_size);
			read_all(&module, &reading);
			lost += elf_image_has_lost(module.image);
			elf_image_close(module.image);
		}
		close(fd);
	}
	atomic_store(&writer.ends, true);
	assert_int_equal(pthread_join(thread, NULL), 0);
	print_message("%s: %zu changes, %d times opened, %zu readable, %zu lost, %zu names, %zu "
		      "lines, %zu "
		      "layouts\n",
		      name, writer.changes, rounds, opened, lost, reading.names, reading.lines,
		      reading.layouts);
	assert_true(opened > 0 && lost > 0 && reading.names > 0);
	built_module_close(whole);
}

static void test_changing(void **state)
{
	struct built_files *files = built_files_create();

	(void)state;
	built_files_write(files, "program.c", source);
	assert_true(built_files_run(files, build));
	/* Else, where root runs the test, nobody but root may write it. */
	assert_true(built_files_run(files, "chmod 666 changing"));
	read_changing(files, "whole");
	read_changing(files, "compressed");
	built_files_remove(files);
}

/* Writes and takes back single bytes where a line table lists its folders and files. */
static void *change_line_header(void *context)
{
	struct writer *writer = context;
	struct unit_random random = { .state = 9 };
	int fd = open(writer->path, O_RDWR | O_CLOEXEC);

	must(fd >= 0);
	while (!atomic_load(&writer->ends)) {
		uint64_t at = writer->from + unit_random_below(&random, writer->size);
		uint8_t byte = unit_random_below(&random, 3) ? 'A' : 0;

		must(pwrite(fd, &byte, 1, (off_t)at) == 1);
		must(pwrite(fd, writer->whole + at, 1, (off_t)at) == 1);
		writer->changes++;
	}
	close(fd);
	return NULL;
}

/* libdw counts folders and files, and asserts that it finds as many when it reads them again. */
static void test_changing_lines(void **state)
{
	struct built_files *files = built_files_create();
	struct writer writer = { .size = 20000 };
	struct line_frame frames[8];
	struct built_module *whole;
	size_t lines = 0, count;
	pthread_t thread;

	(void)state;
	built_files_write(files, "program.c", source);
	assert_true(built_files_run(files, build));
	assert_true(built_files_run(
		files,
		"for i in $(seq 1000); do echo \"#line 1 \\\"folder_$i/file_$i.h\\\"\"; "
		"echo \"int other_$i(int a) { return a * $i + rand(); }\"; done >>program.c\n"
		"gcc -gdwarf-4 -O1 -o whole program.c; cp whole changing; chmod 666 changing"));
	whole = built_module_open(built_files_path(files, "whole"));
	writer.whole = whole->module.image->bytes;
	writer.from = offset_of(whole, ".debug_line") + 20;
	snprintf(writer.path, sizeof(writer.path), "%s/changing", files->folder);
	assert_int_equal(pthread_create(&thread, NULL, change_line_header, &writer), 0);
	for (int i = 0; i < LINE_ROUNDS; i++) {
		struct built_module *module = built_module_open(writer.path);
		struct line_info *info = line_info_create(NULL);

		assert_non_null(info);
		for (uint64_t at = 0x1050; at < 0x4000; at += 0x555)
			lines += line_info_find(info, &module->module, at, frames, 8, &count) == 0;
		line_info_destroy(info);
		built_module_close(module);
	}
	atomic_store(&writer.ends, true);
	assert_int_equal(pthread_join(thread, NULL), 0);
	print_message("%zu changes, %zu lines\n", writer.changes, lines);
	assert_true(lines > 0 && writer.changes > LINE_ROUNDS);
	built_module_close(whole);
	built_files_remove(files);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_truncated),      cmocka_unit_test(test_grown_and_replaced),
		cmocka_unit_test(test_sparse),         cmocka_unit_test(test_changing),
		cmocka_unit_test(test_changing_lines),
	};

	if (!built_have("gcc"))
		return 0;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
