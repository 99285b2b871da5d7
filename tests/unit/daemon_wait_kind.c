/* SPDX-License-Identifier: Apache-2.0 */
/* System calls and what sleeping in them waits for. */
#include "daemon/sample/wait_kind.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/syscall.h>

#include <cmocka.h>

static const struct address_ranges gil = { .items = { { 0x1000, 0x10d0 } }, .count = 1 };
static const struct address_ranges unknown = { .count = 0 };

static enum wait_kind kind_of(long call, uint64_t first, uint64_t second)
{
	const struct process_sleep sleep = { .system_call = call, .arguments = { first, second } };

	return wait_kind_of(&sleep, &gil);
}

static void test_kinds(void **state)
{
	const struct process_sleep futex = { .system_call = SYS_futex, .arguments = { 0x1028 } };

	(void)state;
	assert_int_equal(kind_of(SYS_futex, 0x1000, 0), WAIT_GIL);
	assert_int_equal(kind_of(SYS_futex, 0x10cf, 0), WAIT_GIL);
	assert_int_equal(kind_of(SYS_futex, 0x10d0, 0), WAIT_LOCK);
	assert_int_equal(kind_of(SYS_futex, 0xfff, 0), WAIT_LOCK);
	assert_int_equal(wait_kind_of(&futex, &unknown), WAIT_LOCK);
	assert_int_equal(kind_of(SYS_read, 3, 0), WAIT_IO);
	assert_int_equal(kind_of(SYS_epoll_wait, 3, 0), WAIT_IO);
	assert_int_equal(kind_of(SYS_clock_nanosleep, 1, 0), WAIT_SLEEP);
	assert_int_equal(kind_of(SYS_wait4, 1, 0), WAIT_CHILD);
	assert_int_equal(kind_of(SYS_pause, 0, 0), WAIT_OTHER);
	assert_int_equal(kind_of(-1, 0, 0), WAIT_OTHER);
}

/* select() and poll() without files are how programs sleep. */
static void test_files(void **state)
{
	(void)state;
	assert_int_equal(kind_of(SYS_select, 0, 0), WAIT_SLEEP);
	assert_int_equal(kind_of(SYS_select, 4, 0), WAIT_IO);
	assert_int_equal(kind_of(SYS_poll, 0x7000, 0), WAIT_SLEEP);
	assert_int_equal(kind_of(SYS_poll, 0x7000, 1), WAIT_IO);
	assert_int_equal(kind_of(SYS_fcntl, 3, F_SETLKW), WAIT_LOCK);
	assert_int_equal(kind_of(SYS_fcntl, 3, F_SETFL), WAIT_IO);
}

static void test_names(void **state)
{
	(void)state;
	for (unsigned i = 0; i < WAIT_KIND_COUNT; i++)
		assert_non_null(wait_kind_name((enum wait_kind)i));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_kinds),
		cmocka_unit_test(test_files),
		cmocka_unit_test(test_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
