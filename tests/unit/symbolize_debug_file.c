/* SPDX-License-Identifier: Apache-2.0 */
/* Symbols of stripped files, from wherever a distribution puts them. */
#include "symbolize/debug_file.h"

#include "common/root_file.h"
#include "symbolize/mini_image.h"
#include "symbolize/symbol.h"
#include "tests/unit/built_files.h"
#include "tests/unit/under_valgrind.h"

#include <errno.h>
#include <setjmp.h>
#include <sys/stat.h>

#include <cmocka.h>

static const char source[] =
	"static __attribute__((noinline)) int hidden_function(int a) { return a * 3 + 1; }\n"
	"__attribute__((visibility(\"default\"))) int shown(int a) { return hidden_function(a) + "
	"2; "
	"}\n"
	"int main(int argc, char **argv) { (void)argv; return shown(argc); }\n";

/* program, whole; program.debug, what is stripped off; each test strips as it needs. */
static int setup(void **state)
{
	struct built_files *files = built_files_create();

	built_files_write(files, "program.c", source);
	built_must(built_files_run(files, "gcc -g -O1 -fno-inline -rdynamic -Wl,--build-id=sha1 "
					  "-o program program.c\n"
					  "objcopy --only-keep-debug program program.debug"));
	*state = files;
	return 0;
}

static int teardown(void **state)
{
	built_files_remove(*state);
	return 0;
}

/* The name found for hidden_function in a stripped file of the folder. */
static const char *name_in(struct built_files *files, const char *stripped,
			   const struct debug_search *search, char buffer[64])
{
	uint64_t address = built_address(built_files_path(files, "program"), "hidden_function");
	struct built_module *built = built_module_open(built_files_path(files, stripped));
	struct symbolizer *symbolizer = symbolizer_create();
	const char *name;

	assert_true(address != 0);
	assert_non_null(symbolizer);
	if (search)
		symbolizer_set_search(symbolizer, search);
	name = symbolizer_function(symbolizer, &built->module, address + 1, NULL);
	if (name)
		snprintf(buffer, 64, "%s", name);
	symbolizer_destroy(symbolizer);
	built_module_close(built);
	/* Those of start-up code may enclose it without a size. */
	return name && strcmp(buffer, "hidden_function") == 0 ? buffer : NULL;
}

static void test_stripped_has_no_name(void **state)
{
	char buffer[64];

	assert_true(built_files_run(*state, "strip -o stripped program"));
	assert_non_null(name_in(*state, "program", NULL, buffer));
	assert_null(name_in(*state, "stripped", NULL, buffer));
}

static void test_debuglink(void **state)
{
	char buffer[64];

	assert_true(built_files_run(*state, "strip -o stripped program\n"
					    "objcopy --add-gnu-debuglink=program.debug stripped"));
	assert_non_null(name_in(*state, "stripped", NULL, buffer));
	assert_true(built_files_run(*state, "mkdir .debug; mv program.debug .debug"));
	assert_non_null(name_in(*state, "stripped", NULL, buffer));
	assert_true(built_files_run(*state, "rm .debug/program.debug"));
	assert_null(name_in(*state, "stripped", NULL, buffer));
	/* Nothing blocks on what somebody put in its place. */
	assert_true(built_files_run(*state, "mkfifo .debug/program.debug"));
	assert_null(name_in(*state, "stripped", NULL, buffer));
}

static void test_debug_file_of_another_build(void **state)
{
	char buffer[64];

	assert_true(built_files_run(
		*state, "strip -o stripped program\n"
			"objcopy --add-gnu-debuglink=program.debug stripped\n"
			"sed s/hidden_function/shadow_function/g program.c >other.c\n"
			"gcc -g -O1 -fno-inline -rdynamic -Wl,--build-id=sha1 -o other other.c\n"
			"objcopy --only-keep-debug other program.debug"));
	assert_null(name_in(*state, "stripped", NULL, buffer));
}

/* Without a build-id, the checksum in the link says what belongs together. */
static void test_checksum(void **state)
{
	char buffer[64];

	assert_true(built_files_run(*state, "gcc -g -O1 -fno-inline -rdynamic -Wl,--build-id=none "
					    "-o program program.c\n"
					    "objcopy --only-keep-debug program program.debug\n"
					    "strip -o stripped program\n"
					    "objcopy --add-gnu-debuglink=program.debug stripped"));
	assert_non_null(name_in(*state, "stripped", NULL, buffer));
	assert_true(built_files_run(*state, "printf x >>program.debug"));
	assert_null(name_in(*state, "stripped", NULL, buffer));
}

/* Packed as rpm's find-debuginfo does it. */
static const char add_mini_symbols[] =
	"strip -o stripped program\n"
	"nm -D program --format=posix --defined-only | awk '{ print $1 }' | sort >dynamic\n"
	"nm program --format=posix --defined-only |\n"
	"	awk '{ if ($2 == \"T\" || $2 == \"t\") print $1 }' | sort >all\n"
	"comm -13 dynamic all >keep\n"
	"objcopy -S --remove-section .comment --keep-symbols=keep program.debug mini\n"
	"xz -kf mini\n"
	"objcopy --add-section .gnu_debugdata=mini.xz stripped packed";

static void test_mini_symbols(void **state)
{
	char buffer[64];

	if (!built_have("xz"))
		skip();
	assert_true(built_files_run(*state, add_mini_symbols));
	assert_null(name_in(*state, "stripped", NULL, buffer));
	assert_non_null(name_in(*state, "packed", NULL, buffer));
}

static int open_mini(struct built_files *files, const char *name)
{
	struct built_module *built = built_module_open(built_files_path(files, name));
	struct elf_image *mini = NULL;
	int error = mini_image_open(built->module.image, &mini);

	if (!error)
		elf_image_close(mini);
	built_module_close(built);
	return error;
}

static void test_broken_mini_symbols(void **state)
{
	if (!built_have("xz"))
		skip();
	assert_true(built_files_run(*state, add_mini_symbols));
	assert_true(built_files_run(
		*state,
		"head -c 200 mini.xz >cut; objcopy --add-section .gnu_debugdata=cut stripped b1\n"
		"printf none >none; objcopy --add-section .gnu_debugdata=none stripped b2\n"
		"printf none | xz >no_elf; objcopy --add-section .gnu_debugdata=no_elf stripped "
		"b3\n"
		/* 30 KB that unpack to more than the limit. */
		"head -c 140000000 /dev/zero | xz -1 >bomb\n"
		"objcopy --add-section .gnu_debugdata=bomb stripped b4\n"
		/* Asks for 1.5 GiB of dictionary. */
		"xz -kc --lzma2=dict=1536MiB mini >greedy\n"
		"objcopy --add-section .gnu_debugdata=greedy stripped b5"));
	assert_int_equal(open_mini(*state, "b1"), -ENOEXEC);
	assert_int_equal(open_mini(*state, "b2"), -ENOEXEC);
	assert_int_equal(open_mini(*state, "b3"), -ENOEXEC);
	assert_int_equal(open_mini(*state, "b4"), -ENOEXEC);
	assert_int_equal(open_mini(*state, "b5"), -ENOEXEC);
	assert_int_equal(open_mini(*state, "program"), -ENOENT);
}

/* Puts program.debug below FOLDER/PREFIX by its build-id; $file says where. */
#define BY_BUILD_ID(prefix)                                                                        \
	"id=$(readelf -n program | sed -n 's/.*Build ID: //p')\n"                                  \
	"rest=${id#??}\n"                                                                          \
	"file=" prefix "/${id%$rest}/$rest.debug\n"                                                \
	"mkdir -p ${file%/*}\n"

static int open_folder(struct built_files *files, const char *name)
{
	int fd = open(built_files_path(files, name), O_PATH | O_DIRECTORY | O_CLOEXEC);

	assert_true(fd >= 0);
	return fd;
}

/* The target's own root, as a container's is. */
static void test_other_root(void **state)
{
	struct debug_search search = { 0 };
	char buffer[64];

	/* It has no openat2(2). */
	if (under_valgrind())
		skip();
	assert_true(built_files_run(
		*state, "strip -o stripped program\n" BY_BUILD_ID(
				"root/usr/lib/debug/.build-id") "mv program.debug $file\n"));
	search.root = open_folder(*state, "root");
	assert_null(name_in(*state, "stripped", NULL, buffer));
	assert_non_null(name_in(*state, "stripped", &search, buffer));

	/* A link is followed as the target sees it: from its own root. */
	assert_true(built_files_run(
		*state, BY_BUILD_ID("root/usr/lib/debug/.build-id") "mkdir root/else; mv $file "
								    "root/else/there; ln -s "
								    "/else/there $file"));
	assert_non_null(name_in(*state, "stripped", &search, buffer));
	/* And never out of it. */
	assert_true(built_files_run(
		*state,
		BY_BUILD_ID("root/usr/lib/debug/.build-id") "mv root/else/there outside; rm $file\n"
							    "ln -s $PWD/outside $file"));
	assert_null(name_in(*state, "stripped", &search, buffer));
	assert_true(built_files_run(
		*state,
		BY_BUILD_ID("root/usr/lib/debug/.build-id") "rm $file; ln -s "
							    "../../../../../../../outside $file"));
	assert_null(name_in(*state, "stripped", &search, buffer));
	assert_true(built_files_run(
		*state, BY_BUILD_ID("root/usr/lib/debug/.build-id") "rm $file; mkfifo $file"));
	assert_null(name_in(*state, "stripped", &search, buffer));
	close(search.root);
}

/* A server whose files are in a folder: the client takes file: addresses too. */
static int count_opening(void *context, int root, const char *path, enum root_link link)
{
	unsigned *count = context;

	(void)root, (void)path, (void)link;
	++*count;
	return -ENOENT;
}

/* What is not there is looked for once, and in one root once, by whatever descriptor. */
static void test_looked_for_once(void **state)
{
	unsigned openings = 0, more = 0;
	struct debug_search search = { .root = ROOT_OWN, .opener = { count_opening, &openings } };
	struct symbolizer *symbolizer = symbolizer_create();
	struct built_module *built;
	struct elf_image *image;

	assert_non_null(symbolizer);
	assert_true(built_files_run(*state, "strip -o stripped program\n"
					    "objcopy --add-gnu-debuglink=program.debug stripped"));
	built = built_module_open(built_files_path(*state, "stripped"));
	symbolizer_set_search(symbolizer, &search);
	assert_int_equal(symbolizer_debug_file(symbolizer, &built->module, &image), -ENOENT);
	assert_int_equal(openings, 4);
	assert_int_equal(symbolizer_debug_file(symbolizer, &built->module, &image), -ENOENT);
	assert_int_equal(openings, 4);
	search.opener.context = &more;
	search.root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	assert_true(search.root >= 0);
	/* Another search may find it. */
	symbolizer_set_search(symbolizer, &search);
	assert_int_equal(symbolizer_debug_file(symbolizer, &built->module, &image), -ENOENT);
	/* Twice as many where the kernel does not tell mounts. */
	assert_true(more == 4 || more == 8);
	close(search.root);
	symbolizer_destroy(symbolizer);
	built_module_close(built);
}

static void test_download_only_when_asked(void **state)
{
	struct debug_search search = { .root = ROOT_OWN };
	char address[PATH_MAX + 16], buffer[64];

	assert_true(built_files_run(*state,
				    "strip -o stripped program\n"
				    "id=$(readelf -n program | sed -n 's/.*Build ID: //p')\n"
				    "mkdir -p server/buildid/$id\n"
				    "mv program.debug server/buildid/$id/debuginfo"));
	snprintf(address, sizeof(address), "file://%s", built_files_path(*state, "server"));
	setenv("DEBUGINFOD_URLS", address, 1);
	setenv("DEBUGINFOD_CACHE_PATH", built_files_path(*state, "cache"), 1);
	assert_null(name_in(*state, "stripped", NULL, buffer));
	assert_null(name_in(*state, "stripped", &search, buffer));
	/* Not even the client's cache was made. */
	assert_int_not_equal(access(built_files_path(*state, "cache"), F_OK), 0);

	search.download = true;
	if (!name_in(*state, "stripped", &search, buffer)) {
		assert_true(system("ldconfig -p 2>/dev/null | grep -q libdebuginfod.so.1") != 0);
		print_message("skipped: libdebuginfod is not installed\n");
		skip();
	}
	/* What a server sends is believed no more than any other file. */
	assert_true(built_files_run(*state, "rm -rf cache; cd server/buildid/*; rm debuginfo\n"
					    "sed s/hidden_f/shadow_f/g $OLDPWD/program.c >o.c\n"
					    "gcc -g -O1 -fno-inline -o debuginfo o.c"));
	assert_null(name_in(*state, "stripped", &search, buffer));
	unsetenv("DEBUGINFOD_URLS");
	assert_null(name_in(*state, "stripped", &search, buffer));
	unsetenv("DEBUGINFOD_CACHE_PATH");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_stripped_has_no_name, setup, teardown),
		cmocka_unit_test_setup_teardown(test_debuglink, setup, teardown),
		cmocka_unit_test_setup_teardown(test_debug_file_of_another_build, setup, teardown),
		cmocka_unit_test_setup_teardown(test_checksum, setup, teardown),
		cmocka_unit_test_setup_teardown(test_mini_symbols, setup, teardown),
		cmocka_unit_test_setup_teardown(test_broken_mini_symbols, setup, teardown),
		cmocka_unit_test_setup_teardown(test_other_root, setup, teardown),
		cmocka_unit_test_setup_teardown(test_looked_for_once, setup, teardown),
		cmocka_unit_test_setup_teardown(test_download_only_when_asked, setup, teardown),
	};

	if (!built_have("objcopy") || !built_have("gcc"))
		return 0;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
