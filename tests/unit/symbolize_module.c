/* SPDX-License-Identifier: Apache-2.0 */
/* The module table over this process's own map, with libraries that come and go. */
#include "symbolize/elf_image.h"
#include "tests/unit/module_fixture.h"

#include <dlfcn.h>
#include <link.h>
#include <sys/auxv.h>
#include <sys/stat.h>

static void update(struct fixture *fixture)
{
	struct mapping_list list;

	self_read_maps(&list);
	assert_int_equal(module_table_update(fixture->table, &list), 0);
	mapping_list_deinit(&list);
}

static const struct module *find(const struct fixture *fixture, const void *pointer)
{
	return module_find(fixture->table, (remote_addr)(uintptr_t)pointer);
}

static int check_object(struct dl_phdr_info *info, size_t size, void *context)
{
	const struct fixture *fixture = context;
	const struct module *module = NULL;

	(void)size;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *header = &info->dlpi_phdr[i];
		remote_addr address = info->dlpi_addr + header->p_vaddr;
		const struct module *found;

		if (header->p_type != PT_LOAD)
			continue;
		found = module_find(fixture->table, address);
		assert_non_null(found);
		assert_true(!module || module == found);
		module = found;
		assert_true(address_range_contains(module->range, address));
		assert_ptr_equal(module_find(fixture->table, address + header->p_filesz - 1),
				 module);
	}
	assert_int_equal(module->bias, info->dlpi_addr);
	assert_non_null(module->image);
	if (info->dlpi_name[0] == '/') {
		const char *slash = strrchr(info->dlpi_name, '/');
		char *real = realpath(info->dlpi_name, NULL);

		assert_non_null(slash);
		assert_string_equal(module->path, real);
		assert_string_equal(module->name, strrchr(real, '/') + 1);
		free(real);
	}
	return 0;
}

static void test_every_loaded_object(void **state)
{
	struct fixture *fixture = *state;
	size_t count;
	int opened, on_stack;

	update(fixture);
	dl_iterate_phdr(check_object, fixture);
	count = module_table_count(fixture->table);
	opened = fixture->opened;
	assert_true(count >= 4);
	for (size_t i = 0; i < count; i++)
		assert_int_equal(module_table_get(fixture->table, i)->index, i);
	assert_null(module_table_get(fixture->table, count));

	assert_null(find(fixture, &on_stack));
	assert_null(find(fixture, fixture));
	assert_null(module_find(fixture->table, 0));
	assert_null(module_find(fixture->table, UINT64_MAX));

	/* Nothing changed: nothing is opened again. */
	update(fixture);
	assert_int_equal(module_table_count(fixture->table), count);
	assert_int_equal(fixture->opened, opened);
	assert_int_equal(module_table_dropped(fixture->table), 0);
}

static void test_vdso(void **state)
{
	struct fixture *fixture = *state;
	unsigned long vdso = getauxval(AT_SYSINFO_EHDR);
	const struct module *module;

	if (!vdso) {
		print_message("skipped: this kernel gives no vdso\n");
		skip();
	}
	update(fixture);
	module = module_find(fixture->table, vdso);
	assert_non_null(module);
	assert_string_equal(module->path, "[vdso]");
	assert_string_equal(module->name, "[vdso]");
	assert_non_null(module->image);
	assert_int_equal(module->bias, vdso);
	assert_true(module->image->eh_frame_hdr_address != 0);
	assert_true(module->build_id_size > 0);
}

/* A library this test is not linked with, in a copy of its own so that its inode is ours. */
static void copy_library(char path[64])
{
	static const char *const candidates[] = { "/lib/x86_64-linux-gnu/libm.so.6",
						  "/lib64/libm.so.6" };
	char buffer[65536];
	int in = -1, out;
	ssize_t got;

	for (size_t i = 0; i < 2 && in < 0; i++)
		in = open(candidates[i], O_RDONLY | O_CLOEXEC);
	assert_true(in >= 0);
	strcpy(path, "/tmp/symbolize_moduleXXXXXX");
	out = mkstemp(path);
	assert_true(out >= 0);
	while ((got = read(in, buffer, sizeof(buffer))) > 0)
		assert_int_equal(write(out, buffer, (size_t)got), got);
	close(in);
	close(out);
}

static void test_dlopen_dlclose(void **state)
{
	struct fixture *fixture = *state;
	const struct module *first, *again;
	remote_addr function;
	char path[64];
	size_t count;
	void *handle;
	int opened;

	copy_library(path);
	update(fixture);
	count = module_table_count(fixture->table);

	handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	assert_non_null(handle);
	function = (remote_addr)(uintptr_t)dlsym(handle, "cos");
	assert_null(module_find(fixture->table, function));
	update(fixture);
	first = module_find(fixture->table, function);
	assert_non_null(first);
	assert_int_equal(module_table_count(fixture->table), count + 1);
	assert_string_equal(first->path, path);
	assert_non_null(first->image);

	/* Gone: not found, but still there for those who hold it. */
	assert_int_equal(dlclose(handle), 0);
	update(fixture);
	assert_null(module_find(fixture->table, function));
	assert_ptr_equal(module_table_get(fixture->table, first->index), first);
	assert_string_equal(first->path, path);

	/* Back: at the same place it is the same module, elsewhere a new one with the same image.
	 */
	opened = fixture->opened;
	handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	assert_non_null(handle);
	function = (remote_addr)(uintptr_t)dlsym(handle, "cos");
	update(fixture);
	again = module_find(fixture->table, function);
	assert_non_null(again);
	assert_true((again == first) == (again->bias == first->bias));
	assert_ptr_equal(again->image, first->image);
	assert_int_equal(fixture->opened, opened);
	assert_int_equal(dlclose(handle), 0);
	unlink(path);
}

/* Loading one library again and again must not fill the table. */
static void test_many_reloads(void **state)
{
	struct fixture *fixture = *state;
	size_t biases = 0;
	uint64_t bias[32];
	char path[64];
	size_t count;

	copy_library(path);
	update(fixture);
	count = module_table_count(fixture->table);
	for (int i = 0; i < 32; i++) {
		void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
		const struct module *module;
		bool seen = false;

		assert_non_null(handle);
		update(fixture);
		module = find(fixture, dlsym(handle, "cos"));
		assert_non_null(module);
		for (size_t j = 0; j < biases; j++)
			seen = seen || bias[j] == module->bias;
		if (!seen)
			bias[biases++] = module->bias;
		assert_int_equal(dlclose(handle), 0);
		update(fixture);
	}
	assert_int_equal(module_table_count(fixture->table), count + biases);
	unlink(path);
}

static void test_two_copies_at_once(void **state)
{
	struct fixture *fixture = *state;
	const struct module *first, *second;
	void *one, *two;
	char path[64];

	copy_library(path);
	one = dlmopen(LM_ID_NEWLM, path, RTLD_NOW);
	two = dlmopen(LM_ID_NEWLM, path, RTLD_NOW);
	if (!one || !two) {
		print_message("skipped: no second namespace: %s\n", dlerror());
		unlink(path);
		skip();
	}
	update(fixture);
	unlink(path);
	first = find(fixture, dlsym(one, "cos"));
	second = find(fixture, dlsym(two, "cos"));
	assert_non_null(first);
	assert_non_null(second);
	assert_ptr_not_equal(first, second);
	assert_true(first->bias != second->bias);
	assert_non_null(first->image);
	assert_ptr_equal(first->image, second->image);

	/* Unlinked: the map says so, and the modules stay what they are. */
	update(fixture);
	assert_ptr_equal(find(fixture, dlsym(one, "cos")), first);
	assert_ptr_equal(find(fixture, dlsym(two, "cos")), second);
	dlclose(one);
	dlclose(two);
}

/* The file at the path is not the one that is mapped: no image rather than wrong names. */
static void test_file_replaced_on_disk(void **state)
{
	struct fixture *fixture = *state;
	char path[64], other[64], buffer[65536];
	const struct module *module;
	void *handle;
	ssize_t got;
	int in, out;

	copy_library(path);
	handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	assert_non_null(handle);
	strcpy(other, "/tmp/symbolize_moduleXXXXXX");
	out = mkstemp(other);
	in = open(libc_path, O_RDONLY | O_CLOEXEC);
	while ((got = read(in, buffer, sizeof(buffer))) > 0)
		assert_int_equal(write(out, buffer, (size_t)got), got);
	close(in);
	close(out);
	assert_int_equal(rename(other, path), 0);
	update(fixture);
	module = find(fixture, dlsym(handle, "cos"));
	assert_non_null(module);
	assert_string_equal(module->path, path);
	assert_null(module->image);
	assert_int_equal(module->image_error, -ESTALE);
	assert_int_equal(module->build_id_size, 0);
	dlclose(handle);
	unlink(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_every_loaded_object, setup, teardown),
		cmocka_unit_test_setup_teardown(test_vdso, setup, teardown),
		cmocka_unit_test_setup_teardown(test_dlopen_dlclose, setup, teardown),
		cmocka_unit_test_setup_teardown(test_many_reloads, setup, teardown),
		cmocka_unit_test_setup_teardown(test_two_copies_at_once, setup, teardown),
		cmocka_unit_test_setup_teardown(test_file_replaced_on_disk, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
