/* SPDX-License-Identifier: Apache-2.0 */
/* Names against dladdr, dlsym and nm. */
#include "symbolize/symbol.h"

#include "symbolize/demangle.h"
#include "symbolize/elf_image.h"
#include "tests/unit/image_module.h"
#include "tests/unit/symbolize_self.h"

#include <dlfcn.h>

struct fixture {
	struct mapping_opener opener;
	struct memory_reader reader;
	struct module_table *table;
	struct symbolizer *symbolizer;
};

static int setup(void **state)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));
	struct mapping_list list;

	fixture->opener = (struct mapping_opener){ self_open, NULL };
	fixture->reader = (struct memory_reader){ self_read, NULL };
	fixture->table = module_table_create(&fixture->opener, &fixture->reader);
	fixture->symbolizer = symbolizer_create();
	self_read_maps(&list);
	assert_int_equal(module_table_update(fixture->table, &list), 0);
	mapping_list_deinit(&list);
	*state = fixture;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *fixture = *state;

	symbolizer_destroy(fixture->symbolizer);
	module_table_destroy(fixture->table);
	free(fixture);
	return 0;
}

static remote_addr address_of(const void *pointer)
{
	return (remote_addr)(uintptr_t)pointer;
}

/* libc's own, whatever a sanitizer puts in front of it. */
static const void *libc_symbol(const char *name)
{
	void *libc = dlopen("libc.so.6", RTLD_NOLOAD | RTLD_NOW);
	const void *pointer;

	assert_non_null(libc);
	pointer = dlsym(libc, name);
	assert_non_null(pointer);
	dlclose(libc);
	return pointer;
}

/* Local on purpose: dladdr does not see it, .symtab has it. */
static __attribute__((noinline)) int local_function(int value)
{
	__asm__ volatile("" : "+r"(value));
	return value + 1;
}

/* Tables of all modules together: those that come later have no names, and are counted. */
static void test_tables_have_a_limit(void **state)
{
	struct fixture *fixture = *state;
	remote_addr own = address_of(&local_function), other = address_of(&malloc);
	const struct module *module = module_find(fixture->table, own);
	const struct module *later = module_find(fixture->table, other);

	assert_true(module && later && module != later);
	symbolizer_limit(fixture->symbolizer, 1);
	assert_non_null(symbolizer_function(fixture->symbolizer, module, own, NULL));
	assert_int_equal(symbolizer_dropped(fixture->symbolizer), 0);
	for (int i = 0; i < 2; i++)
		assert_null(symbolizer_function(fixture->symbolizer, later, other, NULL));
	assert_int_equal(symbolizer_dropped(fixture->symbolizer), 1);
	assert_non_null(symbolizer_function(fixture->symbolizer, module, own, NULL));
}

static void test_own_functions(void **state)
{
	struct fixture *fixture = *state;
	remote_addr function = address_of(&local_function), start = 0, address;
	const struct module *module = module_find(fixture->table, function);
	const char *name;
	uint64_t size;

	assert_int_equal(local_function(1), 2);
	assert_non_null(module);
	name = symbolizer_function(fixture->symbolizer, module, function + 2, &start);
	assert_non_null(name);
	assert_string_equal(name, "local_function");
	assert_int_equal(start, function);
	/* The same string again, not another copy. */
	assert_ptr_equal(symbolizer_function(fixture->symbolizer, module, function, NULL), name);
	assert_string_equal(
		symbolizer_function(fixture->symbolizer, module, address_of(&setup), NULL),
		"setup");

	assert_int_equal(
		symbolizer_find(fixture->symbolizer, module, "local_function", &address, &size), 0);
	assert_int_equal(address, function);
	assert_true(size > 0 && size < 200);
	assert_ptr_equal(
		symbolizer_function(fixture->symbolizer, module, function + size - 1, NULL), name);
	assert_ptr_not_equal(symbolizer_function(fixture->symbolizer, module, function - 1, NULL),
			     name);

	address = 7;
	size = 8;
	assert_int_equal(
		symbolizer_find(fixture->symbolizer, module, "no_such_function", &address, &size),
		-ENOENT);
	assert_int_equal(symbolizer_find(fixture->symbolizer, module, "", &address, &size),
			 -ENOENT);
	assert_int_equal(address, 7);
	assert_int_equal(size, 8);
	/* An address in the file, but in no function. */
	assert_null(symbolizer_function(fixture->symbolizer, module, module->bias, NULL));
	assert_null(symbolizer_function(fixture->symbolizer, module, 0, NULL));
	assert_null(symbolizer_function(fixture->symbolizer, module, UINT64_MAX, NULL));
}

static void test_names_equal_dladdr(void **state)
{
	static const char *const names[] = { "malloc",    "qsort",     "printf",
					     "getenv",    "fopen",     "dwarf_begin",
					     "elf_begin", "dwarf_tag", "pthread_create" };
	struct fixture *fixture = *state;
	size_t checked = 0;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		void *pointer = dlsym(RTLD_DEFAULT, names[i]);
		const struct module *module;
		remote_addr address, start;
		uint64_t size;
		const char *name;
		Dl_info info;

		if (!pointer || !dladdr(pointer, &info) || info.dli_saddr != pointer)
			continue;
		module = module_find(fixture->table, address_of(pointer));
		assert_non_null(module);
		if (!module->image)
			continue;
		name = symbolizer_function(fixture->symbolizer, module, address_of(pointer) + 1,
					   &start);
		/* Under a sanitizer some are intercepted, in the test's own file. */
		assert_non_null(name);
		assert_int_equal(start, address_of(pointer));
		assert_non_null(strstr(name, names[i]));
		assert_int_equal(
			symbolizer_find(fixture->symbolizer, module, names[i], &address, &size), 0);
		assert_int_equal(address, address_of(pointer));
		checked++;
	}
	assert_true(checked >= 5);
}

static void test_find_objects_and_versions(void **state)
{
	struct fixture *fixture = *state;
	const void *wait = libc_symbol("pthread_cond_wait");
	const struct module *libc = module_find(fixture->table, address_of(libc_symbol("qsort")));
	remote_addr address;
	uint64_t size;

	assert_non_null(libc);
	assert_int_equal(symbolizer_find(fixture->symbolizer, libc, "environ", &address, &size), 0);
	assert_int_equal(address, address_of(libc_symbol("environ")));
	assert_int_equal(size, sizeof(char **));
	/* Two versions in glibc: the one that is linked today. */
	assert_int_equal(
		symbolizer_find(fixture->symbolizer, libc, "pthread_cond_wait", &address, &size),
		0);
	assert_int_equal(address, address_of(wait));
}

static void test_vdso(void **state)
{
	struct fixture *fixture = *state;

	for (size_t i = 0; i < module_table_count(fixture->table); i++) {
		const struct module *module = module_table_get(fixture->table, i);
		remote_addr address, start;
		uint64_t size;

		if (strcmp(module->path, "[vdso]") != 0)
			continue;
		assert_int_equal(symbolizer_find(fixture->symbolizer, module, "__vdso_gettimeofday",
						 &address, &size),
				 0);
		/* The exported name without underscores is at the same address. */
		assert_string_equal(
			symbolizer_function(fixture->symbolizer, module, address + 1, &start),
			"gettimeofday");
		assert_int_equal(start, address);
		return;
	}
	skip();
}

/* Every function nm lists must be found by name, and by address under a name nm gives it. */
static void compare_with_nm(const char *path, const char *options, size_t *checked)
{
	struct symbolizer *symbolizer = symbolizer_create();
	struct elf_image *image = open_image(path);
	char command[4300], line[8192];
	struct module module;
	FILE *output;

	make_module(&module, image, 3);
	module.build_id_size = 0; /* this file alone */
	snprintf(command, sizeof(command), "LC_ALL=C nm %s --defined-only -S '%s' 2>/dev/null",
		 options, path);
	output = popen(command, "re");
	assert_non_null(output);
	while (fgets(line, sizeof(line), output)) {
		unsigned long value, value_size;
		remote_addr address, start = 0;
		char type, symbol[4096];
		const char *name;
		uint64_t size;

		if (sscanf(line, "%lx %lx %c %4095s", &value, &value_size, &type, symbol) != 4 ||
		    !strchr("TWi", type))
			continue;
		/* Old versions are no default. */
		if (strchr(symbol, '@') && !strstr(symbol, "@@"))
			continue;
		symbol[strcspn(symbol, "@")] = '\0';
		assert_int_equal(symbolizer_find(symbolizer, &module, symbol, &address, &size), 0);
		assert_int_equal(address, value);
		assert_int_equal(size, value_size);
		name = symbolizer_function(symbolizer, &module, value + value_size / 2, &start);
		assert_non_null(name);
		if (start == value) {
			if (strncmp(name, "_Z", 2) != 0 && !strchr(name, '('))
				assert_int_equal(
					symbolizer_find(symbolizer, &module, name, &address, &size),
					0);
			assert_int_equal(address, value);
		} else {
			/* A smaller function inside this one. */
			assert_true(start > value && start <= value + value_size / 2);
		}
		++*checked;
	}
	pclose(output);
	symbolizer_destroy(symbolizer);
	elf_image_close(image);
}

static void test_names_equal_nm(void **state)
{
	size_t checked = 0;
	glob_t files;

	(void)state;
	self_find_elf_files(&files);
	for (size_t i = 0; i < files.gl_pathc; i++) {
		char path[4096];
		size_t before = checked;

		assert_non_null(realpath(files.gl_pathv[i], path));
		compare_with_nm(path, "-D", &checked);
		compare_with_nm(path, "", &checked);
		assert_true(checked > before);
	}
	globfree(&files);
	print_message("%zu symbols compared\n", checked);
	assert_true(checked > 2000);
}

/* Two questions must agree whatever is asked first, and in any order. */
static void test_alias_choice(void **state)
{
	struct fixture *fixture = *state;
	const void *function = libc_symbol("getpid");
	const struct module *module = module_find(fixture->table, address_of(function));

	/* getpid and __getpid are one function. */
	assert_non_null(module);
	assert_string_equal(
		symbolizer_function(fixture->symbolizer, module, address_of(function), NULL),
		"getpid");
}

/* /usr/bin/python3.11 of Debian is stripped, its exported functions are not. */
static void test_interpreters(void **state)
{
	size_t checked = 0;
	glob_t files = { 0 };

	(void)state;
	self_glob(&files, "/usr/bin/python3.[0-9]*[0-9]", false);
	self_glob(&files, "~/.pyenv/versions/*/lib/libpython3.*.so.1.0", true);
	for (size_t i = 0; i < files.gl_pathc; i++) {
		struct symbolizer *symbolizer = symbolizer_create();
		struct elf_image *image = open_image(files.gl_pathv[i]);
		remote_addr address, start;
		struct module module;
		uint64_t size;

		make_module(&module, image, 0);
		module.bias = 0x10000;
		if (symbolizer_find(symbolizer, &module, "_PyEval_EvalFrameDefault", &address,
				    &size) == 0) {
			assert_true(size > 1000);
			assert_string_equal(symbolizer_function(symbolizer, &module,
								address + size - 1, &start),
					    "_PyEval_EvalFrameDefault");
			assert_int_equal(start, address);
			assert_int_equal(symbolizer_find(symbolizer, &module, "PyCode_Type",
							 &address, &size),
					 0);
			assert_true(size >= 400);
			checked++;
		}
		symbolizer_destroy(symbolizer);
		elf_image_close(image);
	}
	if (files.gl_pathc == 0)
		print_message("skipped: no interpreter found\n");
	else
		assert_true(checked > 0);
	globfree(&files);
}

/* With libc's debug file installed, functions it does not export have names too. */
static void test_separate_debug_file(void **state)
{
	struct fixture *fixture = *state;
	const void *function = libc_symbol("qsort");
	const struct module *libc = module_find(fixture->table, address_of(function));
	char path[128] = "/usr/lib/debug/.build-id/";
	remote_addr address;
	uint64_t size;

	assert_non_null(libc);
	for (size_t i = 0; i < libc->build_id_size; i++)
		sprintf(path + strlen(path), i == 0 ? "%02x/" : "%02x", libc->build_id[i]);
	strcat(path, ".debug");
	if (access(path, R_OK) != 0) {
		print_message("skipped: no debug file of libc installed\n");
		skip();
	}
	assert_int_equal(symbolizer_find(fixture->symbolizer, libc, "msort_with_tmp.part.0",
					 &address, &size),
			 0);
	assert_string_equal(symbolizer_function(fixture->symbolizer, libc, address + 4, NULL),
			    "msort_with_tmp.part.0");
}

static void test_demangle(void **state)
{
	char buffer[256], small[8];

	(void)state;
	/* Plain names are never touched, built with a demangler or not. */
	assert_false(demangle_name("main", buffer, sizeof(buffer)));
	assert_false(demangle_name("i", buffer, sizeof(buffer)));
	assert_false(demangle_name("", buffer, sizeof(buffer)));
	assert_false(demangle_name("_Z", buffer, sizeof(buffer)));
	assert_false(demangle_name("_Z1fi", buffer, 0));
	if (!demangle_name("_Z1fi", buffer, sizeof(buffer))) {
		print_message("skipped: built without a demangler\n");
		skip();
	}
	assert_string_equal(buffer, "f(int)");
	assert_true(demangle_name("_ZN2at6native3addERKNS_6TensorES3_", buffer, sizeof(buffer)));
	assert_string_equal(buffer, "at::native::add(at::Tensor const&, at::Tensor const&)");
	assert_true(demangle_name("_Z1fi", small, 7));
	assert_false(demangle_name("_Z1fi", small, 6));
	/* 300 bytes that stand for 2^20 bytes of text and more. */
	assert_false(demangle_name(
		"_Z1f1A1PIS_S_ES0_IS1_S1_ES0_IS2_S2_ES0_IS3_S3_ES0_IS4_S4_ES0_IS5_S5_E"
		"S0_IS6_S6_ES0_IS7_S7_ES0_IS8_S8_ES0_IS9_S9_ES0_ISA_SA_ES0_ISB_SB_E"
		"S0_ISC_SC_ES0_ISD_SD_ES0_ISE_SE_ES0_ISF_SF_ES0_ISG_SG_ES0_ISH_SH_E"
		"S0_ISI_SI_ES0_ISJ_SJ_ES0_ISK_SK_ES0_ISL_SL_ES0_ISM_SM_ES0_ISN_SN_E"
		"S0_ISO_SO_ES0_ISP_SP_ES0_ISQ_SQ_ES0_ISR_SR_ES0_ISS_SS_ES0_IST_ST_E",
		buffer, sizeof(buffer)));
}

/* Lists of functions serve several symbolizers, and name the same. */
static void test_kept_lists(void **state)
{
	struct fixture *fixture = *state;
	remote_addr address = address_of(libc_symbol("qsort")), start = 0, other_start = 1;
	const struct module *module = module_find(fixture->table, address);
	struct symbolizer *other = symbolizer_create();
	struct layout_cache *cache = layout_cache_create();
	const char *name, *other_name;

	assert_non_null(cache);
	assert_non_null(other);
	symbolizer_set_layouts(fixture->symbolizer, cache);
	symbolizer_set_layouts(other, cache);
	name = symbolizer_function(fixture->symbolizer, module, address + 1, &start);
	other_name = symbolizer_function(other, module, address + 1, &other_start);
	assert_non_null(name);
	assert_non_null(other_name);
	assert_string_equal(name, other_name);
	assert_int_equal(start, other_start);
	/* What somebody holds stays. */
	symbolizer_set_layouts(fixture->symbolizer, NULL);
	symbolizer_set_layouts(other, NULL);
	layout_cache_destroy(cache);
	assert_non_null(symbolizer_function(other, module, address_of(libc_symbol("getenv")) + 1,
					    &other_start));
	assert_int_equal(other_start, address_of(libc_symbol("getenv")));
	symbolizer_destroy(other);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_tables_have_a_limit, setup, teardown),
		cmocka_unit_test_setup_teardown(test_own_functions, setup, teardown),
		cmocka_unit_test_setup_teardown(test_names_equal_dladdr, setup, teardown),
		cmocka_unit_test_setup_teardown(test_find_objects_and_versions, setup, teardown),
		cmocka_unit_test_setup_teardown(test_vdso, setup, teardown),
		cmocka_unit_test_setup_teardown(test_alias_choice, setup, teardown),
		cmocka_unit_test_setup_teardown(test_separate_debug_file, setup, teardown),
		cmocka_unit_test_setup_teardown(test_kept_lists, setup, teardown),
		cmocka_unit_test(test_names_equal_nm),
		cmocka_unit_test(test_interpreters),
		cmocka_unit_test(test_demangle),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
