/* SPDX-License-Identifier: Apache-2.0 */
/* Frames of the kernel from the addresses of a sample. */
#include "daemon/sample/kernel_stack.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define KERNEL 0xffffffff81000000ull
#define FRAMES 80

/* By number; each has 0x100 bytes. */
static const char *const names[] = {
	"chacha_block_generic", "get_random_bytes_user", "__x64_sys_getrandom",
	"x64_sys_call",         "do_syscall_64",         "entry_SYSCALL_64_after_hwframe",
	"asm_exc_page_fault",
};

static int print(void *context, uint64_t address, char *ret_text, size_t size)
{
	uint64_t number = (address - KERNEL) / 0x100;

	(void)context;
	if (address < KERNEL || number >= sizeof(names) / sizeof(names[0]))
		snprintf(ret_text, size, "0x%llx", (unsigned long long)address);
	else
		snprintf(ret_text, size, "%s+0x%llx/0x100", names[number],
			 (unsigned long long)(address - KERNEL) % 0x100);
	return 0;
}

static struct kernel_functions functions;
static struct losses losses;
static struct frame frames[FRAMES];

/* Of addresses, innermost first, behind one frame that is there. */
static size_t append(const uint64_t *addresses, size_t count, long system_call, size_t maximum)
{
	const struct kernel_symbols symbols = { print, NULL };
	struct clock_sample *sample = calloc(1, sizeof(*sample));
	size_t appended;

	assert_non_null(sample);
	sample->kernel = (const uint8_t *)addresses;
	sample->kernel_count = count;
	sample->system_call = system_call;
	losses = (struct losses){ 0 };
	appended = kernel_stack_append(&functions, &symbols, sample, &losses, frames, 1, maximum);
	free(sample);
	return appended;
}

static void check_name(size_t index, const char *name)
{
	assert_true(frame_is_kernel(&frames[index]));
	assert_string_equal(frames[index].native.name, name);
	/* No address of the kernel's may be in what reports are made of. */
	assert_int_equal(frames[index].native.function, 0);
	assert_int_equal(frames[index].native.pc, 0);
}

/* A return address at a function's very end is the function's before it. */
static void test_stack(void **state)
{
	const uint64_t stack[] = { KERNEL,         KERNEL + 0x200, KERNEL + 0x250,
				   KERNEL + 0x310, KERNEL + 0x420, KERNEL + 0x5ff };

	(void)state;
	assert_int_equal(append(stack, 6, 318, FRAMES), 4);
	check_name(1, "__x64_sys_getrandom");
	check_name(2, "get_random_bytes_user");
	check_name(3, "chacha_block_generic");
	assert_int_equal(losses.counts[LOSS_KERNEL_UNNAMED], 0);
	/* The same function is the same frame. */
	assert_true(frame_equal(&frames[1], &frames[1]));
	assert_false(frame_equal(&frames[1], &frames[2]));
	assert_int_equal(append(stack, 6, 318, 3), 3);
	check_name(2, "get_random_bytes_user");
	assert_int_equal(append(stack, 6, 318, 1), 1);
}

static void test_on_the_way_in(void **state)
{
	const uint64_t stack[] = { KERNEL + 0x310, KERNEL + 0x420, KERNEL + 0x520 };
	const uint64_t entry = KERNEL + 0x510, fault = KERNEL + 0x601;

	(void)state;
	assert_int_equal(append(stack, 3, 318, FRAMES), 2);
	check_name(1, "x64_sys_call");
	assert_int_equal(append(&entry, 1, -1, FRAMES), 2);
	check_name(1, "entry_SYSCALL_64_after_hwframe");
	assert_int_equal(append(&fault, 1, -1, FRAMES), 2);
	check_name(1, "asm_exc_page_fault");
}

/* Addresses without names, of user space, none at all. */
static void test_unknown(void **state)
{
	const uint64_t some[] = { KERNEL + 0x9900, KERNEL + 0x110, KERNEL + 0x210 };
	const uint64_t none[] = { KERNEL + 0x9900, 0x401000, 0, UINT64_MAX };

	(void)state;
	assert_int_equal(append(some, 3, -1, FRAMES), 3);
	check_name(1, "__x64_sys_getrandom");
	check_name(2, "get_random_bytes_user");
	assert_int_equal(losses.counts[LOSS_KERNEL_UNNAMED], 0);
	assert_int_equal(append(none, 4, 318, FRAMES), 2);
	check_name(1, "system call 318");
	assert_int_equal(losses.counts[LOSS_KERNEL_UNNAMED], 1);
	assert_int_equal(append(none, 4, -1, FRAMES), 1);
	assert_int_equal(losses.counts[LOSS_KERNEL_UNNAMED], 1);
	assert_int_equal(append(NULL, 0, -1, FRAMES), 1);
	assert_int_equal(losses.counts[LOSS_KERNEL_UNNAMED], 1);
}

static int forget(void **state)
{
	(void)state;
	kernel_functions_deinit(&functions);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_stack),
		cmocka_unit_test(test_on_the_way_in),
		cmocka_unit_test(test_unknown),
	};

	return cmocka_run_group_tests(tests, NULL, forget);
}
