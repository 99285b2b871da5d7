/* SPDX-License-Identifier: Apache-2.0 */
/* Names of the kernel's functions: what it prints of an address, and how often it is asked. */
#include "attach/kernel_functions.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define START 0xffffffff81000000ull

static void refused(const char *text, uint64_t address)
{
	char name[KERNEL_NAME_BYTES];
	uint64_t start, end;

	if (kernel_function_parse(text, address, name, &start, &end))
		fail_msg("\"%s\" was taken", text);
}

static void test_parse(void **state)
{
	char name[KERNEL_NAME_BYTES], text[700];
	uint64_t start, end;

	(void)state;
	assert_true(kernel_function_parse("vfs_read+0x1a/0x90", START + 0x1a, name, &start, &end));
	assert_string_equal(name, "vfs_read");
	assert_int_equal(start, START);
	assert_int_equal(end, START + 0x90);
	assert_true(kernel_function_parse("f.isra.0+0x0/0x1 [ext4]", START, name, &start, &end));
	assert_string_equal(name, "f.isra.0");
	/* One that is longer than what is shown. */
	memset(text, 'r', 600);
	strcpy(text + 600, "+0x1/0x2");
	assert_true(kernel_function_parse(text, START, name, &start, &end));
	assert_int_equal(strlen(name), KERNEL_NAME_BYTES - 1);
	/* No name: the kernel prints the address, which nobody shall see. */
	refused("0xffffffff81000000", START);
	refused("0xffffffff81000000+0x1/0x2", START);
	refused("", START);
	refused("+0x1/0x2", START);
	refused("vfs_read", START);
	/* Cut, or of another form. */
	refused("vfs_read+0x1a", START);
	refused("vfs_read+0x1a/", START);
	refused("vfs_read+0x1a/0x", START);
	refused("vfs_read+1a/0x90", START);
	refused("vfs_read+0x1a/0x90]", START);
	refused("vfs_read+0x-1/0x90", START);
	refused("vfs_read+0x 1/0x90", START);
	refused("vfs_read+0x11111111111111111/0x22222222222222222", START);
	/* Not in the function; below and beyond all addresses. */
	refused("vfs_read+0x90/0x90", START);
	refused("vfs_read+0x0/0x0", START);
	refused("vfs_read+0x1a/0x90", 0x19);
	refused("vfs_read+0x1/0xffffffffffffffff", START);
	/* What a terminal would take for more than a name. */
	refused("a b+0x1/0x2", START);
	refused("\x1b[2J+0x1/0x2", START);
	refused("\xc3\xa9+0x1/0x2", START);
}

static unsigned asked;

/* Functions of 0x100 bytes, every 0x200; the third has no name. */
static int print(void *context, uint64_t address, char *ret_text, size_t size)
{
	uint64_t number = (address - START) / 0x200, offset = (address - START) % 0x200;

	asked++;
	if (context)
		return -EPERM;
	if (address < START || offset >= 0x100 || number == 3)
		snprintf(ret_text, size, "0x%llx", (unsigned long long)address);
	else
		snprintf(ret_text, size, "function_%llu+0x%llx/0x100", (unsigned long long)number,
			 (unsigned long long)offset);
	return 0;
}

static void test_asked_once(void **state)
{
	const struct kernel_symbols symbols = { print, NULL };
	struct kernel_functions functions = { 0 };
	const char *names[8];

	(void)state;
	asked = 0;
	/* In an order in which each is kept before, between and behind others. */
	for (unsigned i = 0; i < 8; i++)
		names[i * 5 % 8] =
			kernel_functions_find(&functions, &symbols, START + i * 5 % 8 * 0x200 + 7);
	assert_int_equal(asked, 8);
	for (unsigned i = 0; i < 8; i++) {
		char name[32];

		snprintf(name, sizeof(name), "function_%u", i);
		if (i == 3)
			assert_null(names[i]);
		else
			assert_string_equal(names[i], name);
	}
	for (unsigned i = 0; i < 8; i++)
		if (i != 3)
			for (unsigned at = 0; at < 0x100; at += 0xff)
				assert_ptr_equal(kernel_functions_find(&functions, &symbols,
								       START + i * 0x200 + at),
						 names[i]);
	assert_int_equal(asked, 8);
	/* Between two, and before all. */
	assert_null(kernel_functions_find(&functions, &symbols, START + 0x100));
	assert_null(kernel_functions_find(&functions, &symbols, START - 1));
	assert_int_equal(asked, 10);
	assert_ptr_equal(kernel_functions_system_call(&functions, 318),
			 kernel_functions_system_call(&functions, 318));
	assert_string_equal(kernel_functions_system_call(&functions, 0), "system call 0");
	assert_ptr_equal(kernel_functions_find(&functions, &symbols, START), names[0]);
	kernel_functions_deinit(&functions);
}

static void test_refused(void **state)
{
	const struct kernel_symbols symbols = { print, &asked };
	struct kernel_functions functions = { 0 };

	(void)state;
	assert_null(kernel_functions_find(&functions, &symbols, START));
	assert_int_equal(functions.count, 0);
	kernel_functions_deinit(&functions);
}

/* More than are held have no names, and those that are held keep theirs. */
static void test_limit(void **state)
{
	const struct kernel_symbols symbols = { print, NULL };
	struct kernel_functions functions = { 0 };
	const char *first = kernel_functions_find(&functions, &symbols, START);

	(void)state;
	for (uint64_t i = 4; functions.count < KERNEL_FUNCTIONS_MAX; i++)
		assert_non_null(kernel_functions_find(&functions, &symbols, START + i * 0x200));
	assert_null(kernel_functions_find(&functions, &symbols, START + 0x200));
	assert_null(kernel_functions_system_call(&functions, 7));
	assert_ptr_equal(kernel_functions_find(&functions, &symbols, START), first);
	kernel_functions_deinit(&functions);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_parse),
		cmocka_unit_test(test_asked_once),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_limit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
