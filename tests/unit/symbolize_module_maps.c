/* SPDX-License-Identifier: Apache-2.0 */
/* The module table over made-up maps of real files, for what ld.so does not do on demand. */
#include "tests/unit/image_module.h"
#include "tests/unit/module_fixture.h"

#include <elf.h>
#include <sys/stat.h>

#define PAGE 4096ull

static void set_mapping(struct mapping *mapping, remote_addr start,
			const struct elf_segment *segment, const char *path, uint64_t inode)
{
	uint64_t first_page = segment->file_offset & ~(PAGE - 1);
	uint64_t last_page = (segment->file_offset + segment->file_size + PAGE - 1) & ~(PAGE - 1);

	*mapping = (struct mapping){
		.start = start,
		.end = start + last_page - first_page,
		.file_offset = first_page,
		.device = 1,
		.inode = inode,
		.path = path,
		.protection = (segment->flags & PF_R ? PROT_READ : 0) |
			      (segment->flags & PF_W ? PROT_WRITE : 0) |
			      (segment->flags & PF_X ? PROT_EXEC : 0),
	};
}

/* Lays a file's segments out at bias; returns how many mappings that are. */
static size_t lay_out(struct mapping *mappings, const struct elf_image *image, uint64_t bias,
		      const char *path, uint64_t inode)
{
	for (size_t i = 0; i < image->segment_count; i++) {
		uint64_t page = image->segments[i].virtual_address & ~(PAGE - 1);

		set_mapping(&mappings[i], bias + page, &image->segments[i], path, inode);
	}
	return image->segment_count;
}

static const char loader_path[] = "/lib64/ld-linux-x86-64.so.2";

static void test_addresses_reused_by_another_file(void **state)
{
	struct fixture *fixture = *state;
	struct elf_image *libc = open_image(libc_path), *loader = open_image(loader_path);
	struct mapping mappings[16];
	struct mapping_list list = { .mappings = mappings };
	struct module_table *table = module_table_create(&fixture->opener, NULL);
	const struct module *old, *new;
	const uint64_t bias = 0x7f0000000000;

	list.count = lay_out(mappings, libc, bias, libc_path, 10);
	assert_int_equal(module_table_update(table, &list), 0);
	old = module_find(table, bias);
	assert_non_null(old);
	assert_int_equal(old->bias, bias);

	list.count = lay_out(mappings, loader, bias, loader_path, 11);
	assert_int_equal(module_table_update(table, &list), 0);
	new = module_find(table, bias);
	assert_non_null(new);
	assert_ptr_not_equal(old, new);
	assert_string_equal(new->path, loader_path);
	assert_string_equal(old->path, libc_path);
	assert_memory_equal(new->build_id, loader->build_id, loader->build_id_size);

	/* Two copies side by side, the second right behind the first. */
	list.count = lay_out(mappings, libc, bias, libc_path, 10);
	list.count +=
		lay_out(mappings + list.count, libc,
			mappings[list.count - 1].end - (mappings[0].start - bias), libc_path, 10);
	assert_int_equal(module_table_update(table, &list), 0);
	assert_ptr_equal(module_find(table, bias), old);
	new = module_find(table, mappings[list.count - 1].start);
	assert_non_null(new);
	assert_ptr_not_equal(new, old);
	assert_ptr_equal(new->image, old->image);
	assert_int_equal(old->range.end, new->range.start);
	assert_int_equal(module_table_count(table), 3);
	module_table_destroy(table);
	elf_image_close(libc);
	elf_image_close(loader);
}

/* Data mappings of an executed file, files never executed, code that is no file. */
static void test_what_belongs(void **state)
{
	struct fixture *fixture = *state;
	struct elf_image *libc = open_image(libc_path), *loader = open_image(loader_path);
	struct mapping mappings[32];
	struct mapping_list list = { .mappings = mappings };
	struct module_table *table = module_table_create(&fixture->opener, NULL);
	const uint64_t bias = 0x7f0000000000, data = 0x7e0000000000;
	const struct module *module;
	size_t count;

	/* The whole file mapped for reading, as mmap.mmap would. */
	mappings[0] = (struct mapping){ .start = data,
					.end = data + (16 << 20),
					.device = 1,
					.inode = 10,
					.protection = PROT_READ,
					.path = libc_path };
	mappings[1] = mappings[0];
	mappings[1].start += 32 << 20;
	mappings[1].end += 32 << 20;
	mappings[1].inode = 12;
	mappings[1].path = "/usr/share/nothing";
	list.count = 2 + lay_out(mappings + 2, libc, bias, libc_path, 10);

	count = lay_out(mappings + list.count, loader, bias + (1ull << 30), loader_path, 11);
	list.count += count;
	mappings[list.count] = (struct mapping){ .start = bias + (2ull << 30),
						 .end = bias + (2ull << 30) + PAGE,
						 .protection = PROT_READ | PROT_EXEC,
						 .path = "" };
	mappings[list.count + 1] = (struct mapping){ .start = 0xffffffffff600000,
						     .end = 0xffffffffff601000,
						     .protection = PROT_EXEC,
						     .path = "[vsyscall]" };
	list.count += 2;
	assert_int_equal(module_table_update(table, &list), 0);
	assert_int_equal(module_table_count(table), 2);
	assert_null(module_find(table, data));
	assert_null(module_find(table, mappings[1].start));
	assert_null(module_find(table, bias + (2ull << 30)));
	assert_null(module_find(table, 0xffffffffff600000));
	module = module_find(table, bias);
	assert_non_null(module);
	assert_string_equal(module->path, libc_path);
	module = module_find(table, bias + (1ull << 30));
	assert_non_null(module);
	assert_string_equal(module->path, loader_path);
	assert_int_equal(module->bias, bias + (1ull << 30));
	/* Between the two, and in front of the first. */
	assert_null(module_find(table, bias + (1ull << 29)));
	assert_null(module_find(table, bias - 1));

	/* Nothing mapped at all. */
	list.count = 0;
	assert_int_equal(module_table_update(table, &list), 0);
	assert_null(module_find(table, bias));
	assert_int_equal(module_table_count(table), 2);
	module_table_destroy(table);
	elf_image_close(libc);
	elf_image_close(loader);
}

/* A file that lies where another one has a hole. */
static void test_file_in_a_hole(void **state)
{
	struct fixture *fixture = *state;
	struct elf_image *libc = open_image(libc_path), *loader = open_image(loader_path);
	struct module_table *table = module_table_create(&fixture->opener, NULL);
	const struct module *outer, *inner;
	struct mapping mappings[16];
	struct mapping_list list = { .mappings = mappings };
	const uint64_t bias = 0x7f0000000000;
	size_t text = 0;

	list.count = lay_out(mappings, libc, bias, libc_path, 10);
	assert_true(list.count >= 4 && !(libc->segments[2].flags & PF_X));
	while (!(loader->segments[text].flags & PF_X))
		text++;
	set_mapping(&mappings[2], mappings[2].start, &loader->segments[text], loader_path, 11);
	assert_true(mappings[2].end <= mappings[3].start);
	assert_int_equal(module_table_update(table, &list), 0);
	outer = module_find(table, mappings[1].start);
	inner = module_find(table, mappings[2].start);
	assert_non_null(outer);
	assert_non_null(inner);
	assert_string_equal(outer->path, libc_path);
	assert_string_equal(inner->path, loader_path);
	assert_ptr_equal(module_find(table, mappings[3].start), outer);
	assert_null(module_find(table, mappings[2].end));
	assert_int_equal(outer->range.start, mappings[0].start);
	assert_int_equal(outer->range.end, mappings[3].end);
	module_table_destroy(table);
	elf_image_close(libc);
	elf_image_close(loader);
}

static int open_nothing(void *context, const struct mapping *mapping)
{
	(void)context;
	(void)mapping;
	return -EACCES;
}

static void test_files_that_cannot_be_opened(void **state)
{
	struct fixture *fixture = *state;
	struct mapping_opener opener = { open_nothing, NULL };
	struct module_table *table = module_table_create(&opener, &fixture->reader);
	const struct module *module;
	struct mapping_list list;
	size_t count;

	self_read_maps(&list);
	assert_int_equal(module_table_update(table, &list), 0);
	count = module_table_count(table);
	module = module_find(table, (remote_addr)(uintptr_t)&test_files_that_cannot_be_opened);
	assert_non_null(module);
	assert_null(module->image);
	assert_int_equal(module->image_error, -EACCES);
	assert_string_equal(module_image_problem(module), "no permission to read the file");
	assert_int_equal(module_table_update(table, &list), 0);
	assert_int_equal(module_table_count(table), count);
	mapping_list_deinit(&list);
	module_table_destroy(table);
}

/* More files than the table takes: the rest is counted, nothing else breaks. */
/* So many files, a page of each. */
static struct mapping *map_files(size_t count)
{
	struct mapping *mappings = calloc(count, sizeof(*mappings));

	assert_non_null(mappings);
	for (size_t i = 0; i < count; i++)
		mappings[i] = (struct mapping){ .start = 0x10000 + 2 * i * PAGE,
						.end = 0x10000 + (2 * i + 1) * PAGE,
						.device = 1,
						.inode = i + 1,
						.protection = PROT_READ | PROT_EXEC,
						.path = "/some/file" };
	return mappings;
}

static int open_itself(void *context, const struct mapping *mapping)
{
	(void)context;
	(void)mapping;
	return open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
}

/* One target's files leave room for those of others. */
static void test_too_many_images(void **state)
{
	const size_t count = MODULE_IMAGES_MAX + 3;
	struct mapping_opener opener = { open_itself, NULL };
	struct module_table *table = module_table_create(&opener, NULL);
	struct mapping *mappings = map_files(count);
	struct mapping_list list = { .mappings = mappings, .count = count };

	(void)state;
	assert_int_equal(module_table_update(table, &list), 0);
	assert_int_equal(module_table_dropped(table), 3);
	assert_non_null(module_find(table, mappings[MODULE_IMAGES_MAX - 1].start)->image);
	assert_int_equal(module_find(table, mappings[MODULE_IMAGES_MAX].start)->image_error,
			 -EMFILE);
	assert_int_equal(module_table_update(table, &list), 0);
	assert_int_equal(module_table_dropped(table), 3);
	module_table_destroy(table);
	free(mappings);
}

static void test_too_many_files(void **state)
{
	const size_t count = MODULES_MAX + 100;
	struct mapping_opener opener = { open_nothing, NULL };
	struct module_table *table = module_table_create(&opener, NULL);
	struct mapping *mappings = map_files(count);
	struct mapping_list list = { .mappings = mappings, .count = count };

	(void)state;
	assert_int_equal(module_table_update(table, &list), 0);
	assert_int_equal(module_table_count(table), MODULES_MAX);
	assert_int_equal(module_table_dropped(table), 100);
	assert_non_null(module_find(table, mappings[MODULES_MAX - 1].start));
	assert_null(module_find(table, mappings[MODULES_MAX].start));
	for (size_t i = 0; i < MODULES_MAX; i += 37) {
		const struct module *module = module_find(table, mappings[i].start + 1);

		assert_non_null(module);
		assert_int_equal(module->index, i);
		assert_null(module_find(table, mappings[i].end));
	}
	module_table_destroy(table);
	free(mappings);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_addresses_reused_by_another_file, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_what_belongs, setup, teardown),
		cmocka_unit_test_setup_teardown(test_file_in_a_hole, setup, teardown),
		cmocka_unit_test_setup_teardown(test_files_that_cannot_be_opened, setup, teardown),
		cmocka_unit_test(test_too_many_files),
		cmocka_unit_test(test_too_many_images),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
