/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/detect/sampled_access.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#define CODE 0x1000

static const uint8_t code[] = {
	0x48, 0x8b, 0x07,                   /* 1000: mov rax, [rdi] */
	0x48, 0x01, 0x06,                   /* 1003: add [rsi], rax */
	0xf2, 0x0f, 0x11, 0x44, 0xc8, 0x08, /* 1006: movsd [rax + rcx * 8 + 8], xmm0 */
	0xa5,                               /* 100c: movsd: loads and stores */
	0x90,                               /* 100d: nop */
};

static int read_code(void *context, struct memory_range *ranges, size_t count)
{
	(void)context;
	for (size_t i = 0; i < count; i++) {
		remote_addr offset = ranges[i].address - CODE;

		ranges[i].error = -EFAULT;
		if (offset > sizeof(code) || ranges[i].size > sizeof(code) - offset)
			continue;
		memcpy(ranges[i].buffer, code + offset, ranges[i].size);
		ranges[i].error = 0;
	}
	return 0;
}

static const struct memory_reader reader = { .read = read_code };
/* Where the thread is by now, with other values in its registers. */
static const struct registers registers = { .rip = 0x2000 };

static int find(remote_addr ip, uint8_t kinds, struct access *ret)
{
	struct event_record record = {
		.source = EVENT_MEMORY, .ip = ip, .address = 0x7f0000001238, .kinds = kinds
	};

	return sampled_access(&reader, &registers, &record, ret);
}

static void test_found(void **state)
{
	struct access access;

	(void)state;
	assert_int_equal(find(0x1000, ACCESS_LOAD, &access), 0);
	assert_int_equal(access.instruction, 0x1000);
	assert_int_equal(access.address, 0x7f0000001238);
	assert_true(access.address_known);
	assert_int_equal(access.size, 8);
	assert_int_equal(access.kinds, ACCESS_LOAD);
	/* A read-modify-write is both, whichever of them was sampled. */
	assert_int_equal(find(0x1003, ACCESS_LOAD, &access), 0);
	assert_int_equal(access.kinds, ACCESS_LOAD | ACCESS_STORE);
	assert_int_equal(find(0x1006, ACCESS_STORE, &access), 0);
	assert_int_equal(access.kinds, ACCESS_STORE);
	assert_true(access.floating_point);
	assert_int_equal(find(0x100c, ACCESS_STORE, &access), 0);
	assert_int_equal(access.kinds, ACCESS_STORE);
	assert_int_equal(access.size, 4);
	assert_int_equal(find(0x100c, ACCESS_LOAD, &access), 0);
	assert_int_equal(access.kinds, ACCESS_LOAD);
}

static void test_not_found(void **state)
{
	struct event_record nowhere = { .ip = 0x1000, .kinds = ACCESS_LOAD };
	struct access access;

	(void)state;
	assert_int_equal(find(0x1000, ACCESS_STORE, &access), -ENOENT);
	assert_int_equal(find(0x100d, ACCESS_LOAD, &access), -ENOENT);
	assert_int_equal(find(0x1000, 0, &access), -ENOENT);
	assert_int_equal(find(0x900, ACCESS_LOAD, &access), -EFAULT);
	assert_int_equal(sampled_access(&reader, &registers, &nowhere, &access), -ENOENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_found),
		cmocka_unit_test(test_not_found),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
