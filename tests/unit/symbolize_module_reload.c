/* SPDX-License-Identifier: Apache-2.0 */
/* A process that loads and unloads libraries, so that addresses change hands. */
#include "symbolize/module.h"

#include "symbolize/symbol.h"
#include "tests/unit/built_files.h"
#include "tests/unit/live_process.h"
#include "tests/unit/unit_random.h"

#include <dlfcn.h>
#include <setjmp.h>

#include <cmocka.h>

#define LIBRARIES 3

/* Between the test and the process; the pipe says when the other side has done its part. */
struct shared {
	char path[PATH_MAX]; /* to load next; empty: unload */
	uint64_t function;   /* where it came to lie, 0: not loaded */
};

struct loader {
	struct shared *shared;
	int commands[2];
};

static void load_and_unload(void *context)
{
	struct loader *loader = context;
	void *handle = NULL;
	char command;

	close(loader->commands[1]);
	while (read(loader->commands[0], &command, 1) == 1) {
		loader->shared->function = 0;
		if (handle)
			dlclose(handle);
		handle = NULL;
		if (loader->shared->path[0])
			handle = dlopen(loader->shared->path, RTLD_NOW | RTLD_LOCAL);
		if (handle)
			loader->shared->function =
				(uint64_t)(uintptr_t)dlsym(handle, "exported_function");
		if (write(STDOUT_FILENO, "\n", 1) != 1)
			break;
	}
	_exit(0);
}

struct fixture {
	struct built_files *files;
	struct loader loader;
	struct live_process *process;
	struct module_table *table;
	struct symbolizer *symbolizer;
};

/* Libraries of one size whose functions have different names. */
static const char build[] =
	"for i in 0 1 2; do\n"
	"	echo \"static __attribute__((noinline)) int inner_$i(int a) { return a + 10$i; }\n"
	"	int exported_function(int a) { return inner_$i(a) * 2; }\" >lib$i.c\n"
	"	gcc -g -O1 -fno-inline -fPIC -shared -Wl,--build-id=sha1 -o lib$i.so lib$i.c\n"
	"done";

static int setup(void **state)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));

	built_must(fixture);
	fixture->files = built_files_create();
	built_must(built_files_run(fixture->files, build));
	fixture->loader.shared = mmap(NULL, sizeof(struct shared), PROT_READ | PROT_WRITE,
				      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	built_must(fixture->loader.shared != MAP_FAILED);
	built_must(pipe2(fixture->loader.commands, O_CLOEXEC) == 0);
	fixture->process = live_process_start(NULL, load_and_unload, &fixture->loader);
	built_must(fixture->process);
	close(fixture->loader.commands[0]);
	fixture->table = module_table_create(&fixture->process->opener, &fixture->process->reader);
	fixture->symbolizer = symbolizer_create();
	built_must(fixture->table && fixture->symbolizer);
	*state = fixture;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *fixture = *state;

	symbolizer_destroy(fixture->symbolizer);
	module_table_destroy(fixture->table);
	close(fixture->loader.commands[1]);
	live_process_end(fixture->process);
	munmap(fixture->loader.shared, sizeof(struct shared));
	built_files_remove(fixture->files);
	free(fixture);
	return 0;
}

/* Has the process load a file, or unload what it has; where the function lies. */
static uint64_t load(struct fixture *fixture, const char *name)
{
	struct shared *shared = fixture->loader.shared;

	if (name)
		strcpy(shared->path, built_files_path(fixture->files, name));
	else
		shared->path[0] = '\0';
	built_must(write(fixture->loader.commands[1], "x", 1) == 1);
	built_must(live_process_wait_line(fixture->process));
	built_must((shared->function != 0) == (name != NULL));
	return shared->function;
}

static void update(struct fixture *fixture)
{
	live_process_read_mappings(fixture->process);
	assert_int_equal(module_table_update(fixture->table, &fixture->process->mappings), 0);
}

static const char *name_before(struct fixture *fixture, const struct module *module,
			       uint64_t address)
{
	remote_addr inner;
	uint64_t size;

	/* The static function lies in front of the exported one. */
	for (int i = 0; i < LIBRARIES; i++) {
		char name[16];

		snprintf(name, sizeof(name), "inner_%d", i);
		if (symbolizer_find(fixture->symbolizer, module, name, &inner, &size) == 0 &&
		    inner < address)
			return symbolizer_function(fixture->symbolizer, module, inner + 1, NULL);
	}
	return NULL;
}

static void test_loop_of_loads(void **state)
{
	struct fixture *fixture = *state;
	struct unit_random random = { .state = 3 };
	struct {
		uint64_t function;
		unsigned int libraries; /* bit i: library i was there */
	} places[64] = { 0 };
	size_t place_count = 0, pairs = 0, reused = 0, before;

	update(fixture);
	before = module_table_count(fixture->table);
	for (int round = 0; round < 300; round++) {
		unsigned int library = (unsigned int)unit_random_below(&random, LIBRARIES);
		char name[16], inner[16];
		const struct module *module;
		uint64_t function;
		size_t place;

		snprintf(name, sizeof(name), "lib%u.so", library);
		snprintf(inner, sizeof(inner), "inner_%u", library);
		function = load(fixture, name);
		/* With and without an update in between. */
		update(fixture);
		module = module_find(fixture->table, function);
		assert_non_null(module);
		assert_string_equal(module->name, name);
		assert_non_null(module->image);
		assert_int_equal(module->image_error, 0);
		assert_null(module_image_problem(module));
		assert_string_equal(
			symbolizer_function(fixture->symbolizer, module, function, NULL),
			"exported_function");
		assert_string_equal(name_before(fixture, module, function), inner);

		for (place = 0; place < place_count; place++)
			if (places[place].function == function)
				break;
		if (place == place_count) {
			assert_true(place_count < 64);
			places[place_count++].function = function;
		}
		reused += places[place].libraries & ~(1u << library) ? 1 : 0;
		pairs += !(places[place].libraries & 1u << library);
		places[place].libraries |= 1u << library;

		if (unit_random_below(&random, 3) == 0) {
			load(fixture, NULL);
			update(fixture);
			assert_null(module_find(fixture->table, function));
		}
	}
	print_message("%zu places, %zu loads where another library was before\n", place_count,
		      reused);
	assert_true(reused > 50);
	/* One module for each library at each place, however often it came. */
	assert_int_equal(module_table_count(fixture->table), before + pairs);
}

/* The same path, inode, size and address, and other code: only the build-id tells. */
static void test_file_rewritten_in_place(void **state)
{
	struct fixture *fixture = *state;
	const struct module *old, *new;
	uint64_t first, second;
	size_t count;

	assert_true(built_files_run(fixture->files, "cp lib0.so x.so"));
	first = load(fixture, "x.so");
	update(fixture);
	old = module_find(fixture->table, first);
	assert_non_null(old);
	assert_string_equal(name_before(fixture, old, first), "inner_0");
	count = module_table_count(fixture->table);

	load(fixture, NULL);
	assert_true(built_files_run(fixture->files, "cat lib1.so >x.so"));
	second = load(fixture, "x.so");
	if (second != first) {
		print_message("skipped: loaded at another address\n");
		skip();
	}
	update(fixture);
	new = module_find(fixture->table, second);
	assert_non_null(new);
	assert_ptr_not_equal(new, old);
	assert_int_equal(module_table_count(fixture->table), count + 1);
	assert_true(memcmp(new->build_id, old->build_id, old->build_id_size) != 0);
	assert_string_equal(name_before(fixture, new, second), "inner_1");
	/* And it stays so. */
	update(fixture);
	assert_ptr_equal(module_find(fixture->table, second), new);
	assert_int_equal(module_table_count(fixture->table), count + 1);
}

/* Replaced by rename, as package managers do: the new file's symbols are not used. */
static void test_file_replaced(void **state)
{
	struct fixture *fixture = *state;
	const struct module *module;
	uint64_t function;

	assert_true(built_files_run(fixture->files, "cp lib0.so x.so"));
	function = load(fixture, "x.so");
	assert_true(built_files_run(fixture->files, "cp lib1.so y.so; mv y.so x.so"));
	update(fixture);
	module = module_find(fixture->table, function);
	assert_non_null(module);
	assert_null(module->image);
	assert_int_equal(module->image_error, -ESTALE);
	assert_string_equal(module_image_problem(module),
			    "the file has been replaced since it was loaded");
	assert_null(symbolizer_function(fixture->symbolizer, module, function, NULL));
}

static int open_mapped(void *context, const struct mapping *mapping)
{
	const struct live_process *process = context;
	char path[128];
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/map_files/%" PRIx64 "-%" PRIx64, process->pid,
		 mapping->start, mapping->end);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

static void test_file_deleted(void **state)
{
	struct fixture *fixture = *state;
	struct mapping_opener opener = { open_mapped, fixture->process };
	const struct module *module;
	struct module_table *table;
	uint64_t function;

	assert_true(built_files_run(fixture->files, "cp lib2.so x.so"));
	function = load(fixture, "x.so");
	assert_true(built_files_run(fixture->files, "rm x.so"));
	update(fixture);
	module = module_find(fixture->table, function);
	assert_non_null(module);
	assert_null(module->image);
	assert_int_equal(module->image_error, -ENOENT);
	assert_string_equal(module_image_problem(module), "the file is gone");

	/* Behind the mapping it is still there, for who may open that. */
	table = module_table_create(&opener, &fixture->process->reader);
	assert_int_equal(module_table_update(table, &fixture->process->mappings), 0);
	module = module_find(table, function);
	assert_non_null(module);
	if (module->image_error == -EPERM) {
		module_table_destroy(table);
		print_message("skipped: map_files cannot be opened\n");
		skip();
	}
	assert_non_null(module->image);
	assert_string_equal(name_before(fixture, module, function), "inner_2");
	/* The symbols refer to the image. */
	symbolizer_destroy(fixture->symbolizer);
	fixture->symbolizer = symbolizer_create();
	module_table_destroy(table);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_loop_of_loads, setup, teardown),
		cmocka_unit_test_setup_teardown(test_file_rewritten_in_place, setup, teardown),
		cmocka_unit_test_setup_teardown(test_file_replaced, setup, teardown),
		cmocka_unit_test_setup_teardown(test_file_deleted, setup, teardown),
	};

	if (!built_have("gcc"))
		return 0;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
