/* SPDX-License-Identifier: Apache-2.0 */
/* What is traced beside MPI: what the user says, and where it is in our own files and a live one.
 */
#include "daemon/trace/span_site.h"

#include "attach/procfs.h"
#include "symbolize/elf_image.h"
#include "symbolize/static_probe.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static void test_words(void **state)
{
	struct span_list list = { .count = 0 };
	char text[64];

	(void)state;
	assert_int_equal(span_list_add_function(&list, "fsync"), -EINVAL);
	assert_int_equal(span_list_add_function(&list, ":fsync"), -EINVAL);
	assert_int_equal(span_list_add_function(&list, "libc:"), -EINVAL);
	assert_int_equal(span_list_add_function(&list, "/a:b/libc.so.6:fsync"), 0);
	assert_string_equal(list.items[0].library, "/a:b/libc.so.6");
	assert_string_equal(list.items[0].name, "libc.so.6:fsync");
	assert_int_equal(span_list_add(&list, SPAN_GIL), 0);
	assert_int_equal(list.items[1].least_ns, SPAN_GIL_LEAST_NS);
	assert_int_equal(span_list_add(&list, SPAN_GIL), -EEXIST);
	for (unsigned i = list.count; i < SPANS_MAX; i++) {
		snprintf(text, sizeof(text), "libc:f%u", i);
		assert_int_equal(span_list_add_function(&list, text), 0);
	}
	assert_int_equal(span_list_add_function(&list, "libc:more"), -E2BIG);
}

static void test_libraries(void **state)
{
	(void)state;
	assert_true(span_library_is("libm", "/usr/lib/libm.so.6"));
	assert_true(span_library_is("libm.so.6", "/usr/lib/libm.so.6"));
	assert_true(span_library_is("/usr/lib/libm.so.6", "/usr/lib/libm.so.6"));
	assert_false(span_library_is("lib", "/usr/lib/libm.so.6"));
	assert_false(span_library_is("/lib/libm.so.6", "/usr/lib/libm.so.6"));
}

static int find(const char *text, struct span_site *ret_site, struct error *error)
{
	struct span_list list = { .count = 0 };
	struct mapping_list mappings = { 0 };
	int failure;

	assert_int_equal(span_list_add_function(&list, text), 0);
	assert_int_equal(procfs_read_mappings(getpid(), &mappings), 0);
	failure = span_site_find(&list.items[0], getpid(), NULL, &mappings, ret_site, error);
	mapping_list_deinit(&mappings);
	return failure;
}

static void check_refusal(const char *text, int failure, const char *reason)
{
	struct span_site site;
	struct error error;

	assert_int_equal(find(text, &site, &error), failure);
	if (!strstr(error.cause, reason))
		fail_msg("%s: %s", text, error.cause);
}

/* In the C library that we have loaded. */
static void test_functions(void **state)
{
	struct span_site site;
	struct error error;

	(void)state;
	assert_int_equal(find("libc:fsync", &site, &error), 0);
	assert_int_equal(site.count, 1);
	assert_false(site.places[0].between);
	assert_int_not_equal(site.places[0].begin, 0);
	span_site_deinit(&site);
	check_refusal("libc:no_such_function", -ENOENT, "no function no_such_function");
	check_refusal("libc:environ", -EINVAL, "is no function");
	check_refusal("libc:memcpy", -EINVAL, "IFUNC");
	check_refusal("libc:vfork", -EINVAL, "twice");
	check_refusal("libc:_ZSt9terminatev", -EINVAL, "C++");
	check_refusal("libnone:f", -ENODATA, "has not loaded libnone");
}

/* We are no interpreter. */
static void test_no_interpreter(void **state)
{
	const struct span gil = { .kind = SPAN_GIL }, collection = { .kind = SPAN_COLLECTION };
	struct span_site site = { .fd = -1 };
	struct elf_image *image;
	struct error error;
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);

	(void)state;
	assert_int_equal(elf_image_open(fd, &image), 0);
	assert_int_equal(span_places_find(&gil, image, &site, &error), -ENOENT);
	assert_non_null(strstr(error.cause, "take_gil"));
	assert_int_equal(span_places_find(&collection, image, &site, &error), -ENOENT);
	assert_non_null(strstr(error.cause, "gc_collect_main"));
	elf_image_close(image);
	close(fd);
}

/* Debian's, which is stripped, and has static probes. */
static void test_stripped_interpreter(void **state)
{
	const struct span gil = { .kind = SPAN_GIL }, collection = { .kind = SPAN_COLLECTION };
	struct span_site site = { .fd = -1 };
	struct static_probe probe;
	struct elf_image *image;
	struct error error;
	int fd = open("/usr/bin/python3.11", O_RDONLY | O_CLOEXEC);

	(void)state;
	if (fd < 0)
		skip();
	assert_int_equal(elf_image_open(fd, &image), 0);
	if (static_probes_find(image, "python", "gc__start", &probe, 1) != 1)
		skip();
	assert_int_not_equal(probe.counter, 0);
	assert_int_equal(static_probes_find(image, "python", "gc__", &probe, 1), 0);
	assert_int_equal(span_places_find(&collection, image, &site, &error), 0);
	assert_int_equal(site.count, 1);
	assert_true(site.places[0].between);
	assert_int_not_equal(site.places[0].counters[0], 0);
	site.count = 0;
	assert_int_equal(span_places_find(&gil, image, &site, &error), 0);
	assert_int_equal(site.count, 1);
	assert_null(site.limit);
	elf_image_close(image);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_words),
		cmocka_unit_test(test_libraries),
		cmocka_unit_test(test_functions),
		cmocka_unit_test(test_no_interpreter),
		cmocka_unit_test(test_stripped_interpreter),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
