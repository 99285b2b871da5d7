/* SPDX-License-Identifier: Apache-2.0 */
/* The MPI library of this machine, if it has one, and files that are none. */
#include "daemon/trace/mpi_library.h"

#include "daemon/trace/mpi_function.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <sys/mman.h>

#include <cmocka.h>

static void test_open_mpi(void **state)
{
	struct mapping mapping = { .path = "libmpi.so.40" };
	struct mpi_library *library;
	glob_t found;
	bool waits = false;

	(void)state;
	if (glob("/usr/lib/*/libmpi.so.40", 0, NULL, &found)) {
		globfree(&found);
		skip();
	}
	assert_int_equal(
		mpi_library_open(&mapping, open(found.gl_pathv[0], O_RDONLY | O_CLOEXEC), &library),
		0);
	globfree(&found);
	assert_int_equal(library->kind, MPI_KIND_OPEN_MPI);
	assert_int_not_equal(library->layout.type_size, MPI_ABSENT);
	assert_true(library->place_count > 80);
	for (size_t i = 0; i < library->place_count; i++) {
		unsigned function = library->places[i].function;

		waits |= !strcmp(mpi_function_name(function), "MPI_Wait");
		assert_int_not_equal(library->addresses[function], 0);
		/* Wherever the library is. */
		assert_int_equal(mpi_library_world(library, function,
						   0x10000000 + library->addresses[function]),
				 0x10000000 + library->world_address);
	}
	assert_true(waits);
	mpi_library_close(library);
}

static void test_others(void **state)
{
	struct mapping mapping = { .path = "libmpi.so.40" };
	struct mpi_library *library;

	(void)state;
	assert_int_equal(
		mpi_library_open(&mapping, open("/proc/self/exe", O_RDONLY | O_CLOEXEC), &library),
		-ENOEXEC);
	assert_int_not_equal(
		mpi_library_open(&mapping, open("/dev/null", O_RDONLY | O_CLOEXEC), &library), 0);
}

static void test_find(void **state)
{
	struct mapping mappings[] = {
		{ .inode = 1, .protection = PROT_EXEC, .path = "/lib/libmpi_cxx.so.40" },
		{ .inode = 2, .protection = PROT_EXEC, .path = "/lib/libmpi_mpifh.so.40" },
		{ .inode = 0, .protection = PROT_EXEC, .path = "" },
		{ .inode = 3, .protection = PROT_READ, .path = "/lib/libmpi.so.40" },
		{ .inode = 3, .protection = PROT_EXEC, .path = "/lib/libmpi.so.40" },
	};
	struct mapping_list list = { .mappings = mappings, .count = 4 };

	(void)state;
	assert_null(mpi_library_find(&list));
	list.count = 5;
	assert_ptr_equal(mpi_library_find(&list), &mappings[4]);
	mappings[4].path = "/opt/cray/libmpich_gnu.so.12";
	assert_ptr_equal(mpi_library_find(&list), &mappings[4]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_open_mpi),
		cmocka_unit_test(test_others),
		cmocka_unit_test(test_find),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
