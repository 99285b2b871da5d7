/* SPDX-License-Identifier: Apache-2.0 */
/* Where a probe goes: beginnings of functions as compilers made them. */
#include "attach/probe_place.h"

#include "tests/unit/unit_random.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define ARGUMENT(number) PROBE_ARGUMENT(number)

static void check(const char *code, size_t size, unsigned arguments, bool found, size_t offset,
		  const unsigned registers[PROBE_ARGUMENTS])
{
	struct probe_place place;

	assert_int_equal(probe_place_choose((const uint8_t *)code, size, arguments, &place), found);
	assert_int_equal(place.offset, offset);
	for (unsigned i = 0; i < PROBE_ARGUMENTS; i++)
		if (arguments & ARGUMENT(i))
			assert_int_equal(place.registers[i], registers[i]);
}

#define CHECK(code, arguments, found, offset, ...)                                                 \
	check(code, sizeof(code) - 1, arguments, found, offset,                                    \
	      (const unsigned[PROBE_ARGUMENTS]){ __VA_ARGS__ })

static void test_places(void **state)
{
	(void)state;
	/* push %rbp; mov %rsp,%rbp */
	CHECK("\x55\x48\x89\xe5", ARGUMENT(0), true, 0, 0, 1, 2);
	/* endbr64; push %rbx */
	CHECK("\xf3\x0f\x1e\xfa\x53", ARGUMENT(0), true, 4, 0, 1, 2);
	/* test %rsi,%rsi; je */
	CHECK("\x48\x85\xf6\x74\x10", ARGUMENT(1), true, 3, 0, 1, 2);
	/* mov %rsi,%rdi; jmp: 3.13t's _PyObject_MiFree; it is in both */
	CHECK("\x48\x89\xf7\xe9\xd8\xfc\xff\xff", ARGUMENT(1), true, 3, 0, 0, 2);
	/* mov %rsi,%rdx; xor %edi,%edi; mov $1,%esi; jmp: 3.6's _PyObject_Malloc */
	CHECK("\x48\x89\xf2\x31\xff\xbe\x01\x00\x00\x00\xe9\xe1\xfa\xff\xff", ARGUMENT(1), true, 10,
	      0, 2, 2);
	/* mov %rsi,%rax; mov %rdx,%rsi; xor %edx,%edx; cmp $1,%rax; je */
	CHECK("\x48\x89\xf0\x48\x89\xd6\x31\xd2\x48\x83\xf8\x01\x74\x08", ARGUMENT(1) | ARGUMENT(2),
	      true, 12, 0, 4, 1);
}

static void test_no_place(void **state)
{
	(void)state;
	/* sub $8,%rsp; push */
	CHECK("\x48\x83\xec\x08\x55", ARGUMENT(0), false, 0, 0, 1, 2);
	/* xor %edi,%edi; push: what was in rdi is gone */
	CHECK("\x31\xff\x55", ARGUMENT(0), false, 0, 0, 1, 2);
	CHECK("\x31\xff\x55", ARGUMENT(1), true, 2, 0, 1, 2);
	/* mov %edi,%eax, of four bytes, is no copy; xor %edi,%edi; push */
	CHECK("\x89\xf8\x31\xff\x55", ARGUMENT(0), false, 0, 0, 1, 2);
	/* mov %rdi,%r12; xor %edi,%edi; push: a register without a number */
	CHECK("\x49\x89\xfc\x31\xff\x55", ARGUMENT(0), false, 0, 0, 1, 2);
	/* ret; call; jmp *%rax */
	CHECK("\xc3\x55", ARGUMENT(0), false, 0, 0, 1, 2);
	CHECK("\xe8\x01\x02\x03\x04\x55", ARGUMENT(0), false, 0, 0, 1, 2);
	CHECK("\xff\xe0\x55", ARGUMENT(0), false, 0, 0, 1, 2);
	/* Half of an instruction, and nothing. */
	CHECK("\x48\x89", ARGUMENT(0), false, 0, 0, 1, 2);
	CHECK("", ARGUMENT(0), false, 0, 0, 1, 2);
}

static void test_any_bytes(void **state)
{
	struct unit_random random = { 29 };

	(void)state;
	for (unsigned i = 0; i < 20000; i++) {
		uint8_t code[24];
		struct probe_place place;
		size_t size = unit_random_below(&random, sizeof(code) + 1);

		for (size_t k = 0; k < size; k++)
			code[k] = (uint8_t)unit_random_next(&random);
		if (probe_place_choose(code, size, (unsigned)unit_random_below(&random, 8), &place))
			assert_true(place.offset < size);
		else
			assert_int_equal(place.offset, 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_places),
		cmocka_unit_test(test_no_place),
		cmocka_unit_test(test_any_bytes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
