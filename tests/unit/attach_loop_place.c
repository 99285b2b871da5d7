/* SPDX-License-Identifier: Apache-2.0 */
/* Where an evaluation loop is entered and left: on code as compilers write it, and on what is none.
 */
#include "attach/loop_place.h"

#include "tests/must.h"
#include "tests/unit/unit_random.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#define BASE  0x400000u
#define CHECK 0x500000u

struct code {
	uint8_t bytes[512];
	size_t size;   /* of the loop: what lies behind it can be read, too */
	size_t second; /* where its second part begins; 0: it has none */
};

static int read_code(void *context, struct memory_range *ranges, size_t count)
{
	const struct code *code = context;

	for (size_t i = 0; i < count; i++) {
		uint64_t at = ranges[i].address - BASE;

		ranges[i].error =
			at > sizeof(code->bytes) || ranges[i].size > sizeof(code->bytes) - at
				? -EFAULT
				: 0;
		if (!ranges[i].error)
			memcpy(ranges[i].buffer, code->bytes + at, ranges[i].size);
	}
	return 0;
}

static int find(struct code *code, struct loop_place places[static LOOP_PLACES_MAX],
		size_t *ret_count)
{
	const struct memory_reader reader = { read_code, code };
	const struct address_ranges parts = {
		.items = { { BASE, BASE + (code->second ? code->second : code->size) },
			   { BASE + code->second, BASE + code->size } },
		.count = code->second ? 2 : 1,
	};
	const struct loop_function function = { &parts, 1, CHECK, 2 };

	return loop_places_find(&reader, &reader, &function, places, ret_count);
}

static void check_place(const struct loop_place *place, size_t offset, unsigned number,
			unsigned above, bool stepped)
{
	assert_int_equal(place->address, BASE + offset);
	assert_int_equal(place->number, number);
	assert_int_equal(place->above, above);
	assert_int_equal(place->stepped, stepped);
}

#define CODE(...)                                                                                  \
	{                                                                                          \
		.bytes = { __VA_ARGS__ }, .size = sizeof((uint8_t[]){ __VA_ARGS__ })               \
	}

#define PUSH    0x41, 0x57             /* push %r15 */
#define SUB     0x48, 0x83, 0xec, 0x18 /* sub $0x18,%rsp */
#define TEST    0x85, 0xff             /* test %edi,%edi */
#define JE(by)  0x74, by
#define JMP(by) 0xeb, by
#define ADD     0x48, 0x83, 0xc4, 0x18 /* add $0x18,%rsp */
#define POP     0x41, 0x5f
#define RET     0xc3
#define CLEAR   0x31, 0xc0      /* xor %eax,%eax */
#define BEGIN   PUSH, SUB, TEST /* 8 bytes */
#define END     ADD, POP, RET   /* 7 bytes */
#define FAR(by) (by) & 0xff, (by) >> 8 & 0xff, (by) >> 16 & 0xff, (by) >> 24 & 0xff
/* From an instruction that ends there. */
#define CALL(at) 0xe8, FAR(CHECK - BASE - (at))

/* As in pyenv's 3.6, 3.7 and 3.10: a call that fails at once comes by a jump from behind. */
static void test_call(void **state)
{
	struct code code = CODE(BEGIN, JE(12), CALL(15), END, CLEAR, JMP(0xf5));
	struct loop_place places[LOOP_PLACES_MAX];
	size_t count = 0;

	(void)state;
	assert_int_equal(find(&code, places, &count), 0);
	assert_int_equal(count, 3);
	assert_true(places[0].enters && !places[1].enters && !places[2].enters);
	check_place(&places[0], 0, REGISTER_RSI, 0, false);
	check_place(&places[1], 24, REGISTER_RAX, 0x20, false);
	check_place(&places[2], 10, REGISTER_RDX, 0x20, false);
}

/* As in 3.8 and 3.9: it falls through. */
static void test_fall(void **state)
{
	struct code code = CODE(BEGIN, JE(7), CALL(15), JMP(2), CLEAR, END);
	struct loop_place places[LOOP_PLACES_MAX];
	size_t count = 0;

	(void)state;
	assert_int_equal(find(&code, places, &count), 0);
	assert_int_equal(count, 3);
	check_place(&places[1], 15, REGISTER_RAX, 0x20, false);
	check_place(&places[2], 17, REGISTER_RSP, 0x20, true);
}

/* Through a table of pointers, and an entry that leads there. */
static void test_stub(void **state)
{
	static const uint8_t stub[] = { 0xf3, 0x0f, 0x1e, 0xfa, 0xf2, 0xff, 0x25, FAR(53) };
	struct code code = CODE(BEGIN, 0xe8, FAR(51) /* to 64 */, END);
	struct code slot = CODE(BEGIN, 0xff, 0x15, FAR(114) /* of 128 */, END);
	const uint64_t check = CHECK;
	struct loop_place places[LOOP_PLACES_MAX];
	size_t count = 0;

	(void)state;
	memcpy(code.bytes + 64, stub, sizeof(stub));
	memcpy(code.bytes + 128, &check, sizeof(check));
	memcpy(slot.bytes + 128, &check, sizeof(check));
	assert_int_equal(find(&code, places, &count), 0);
	assert_int_equal(count, 2);
	check_place(&places[1], 8, REGISTER_RDX, 0x20, false);
	/* The kernel steps calls by a pointer. */
	assert_int_equal(find(&slot, places, &count), 0);
	check_place(&places[1], 8, REGISTER_RDX, 0x20, true);
	/* What else is called there may return anything. */
	code.bytes[128] = 1;
	assert_int_equal(find(&code, places, &count), 0);
	check_place(&places[1], 19, REGISTER_RAX, 0, true);
}

/* A result that is in another register before. */
static void test_copy(void **state)
{
	struct code code = CODE(BEGIN, JE(2), JMP(0), 0x4c, 0x89, 0xe0 /* mov %r12,%rax */, END);
	struct code lost = CODE(BEGIN, JE(2), JMP(0), 0x48, 0x8b, 0x07 /* mov (%rdi),%rax */, END);
	struct loop_place places[LOOP_PLACES_MAX];
	size_t count = 0;

	(void)state;
	/* From one of the two ways it may also be gone on. */
	assert_int_equal(find(&code, places, &count), 0);
	check_place(&places[1], 21, REGISTER_RAX, 0, true);
	code.bytes[8] = lost.bytes[8] = 0x90;
	code.bytes[9] = lost.bytes[9] = 0x90;
	assert_int_equal(find(&code, places, &count), 0);
	assert_int_equal(count, 2);
	check_place(&places[1], 10, REGISTER_R12, 0x20, false);
	assert_int_equal(find(&lost, places, &count), 0);
	check_place(&places[1], 21, REGISTER_RAX, 0, true);
}

/* By a frame pointer, nobody knows by how much the stack pointer moves. */
static void test_frame_pointer(void **state)
{
	struct code code = CODE(0x55, 0x48, 0x89, 0xe5, CALL(9), 0xc9, RET);
	struct loop_place places[LOOP_PLACES_MAX];
	size_t count = 0;

	(void)state;
	assert_int_equal(find(&code, places, &count), 0);
	assert_int_equal(count, 2);
	check_place(&places[0], 0, REGISTER_RSI, 0, false);
	check_place(&places[1], 10, REGISTER_RAX, 0, true);
}

/* "jmp _Py_CheckFunctionResult" */
static void test_last_call(void **state)
{
	struct code code = CODE(BEGIN, JE(7), END, 0x90, 0x90, 0x90, 0x90, 0x90, ADD, POP, 0xe9,
				FAR(CHECK - BASE - 33));
	struct loop_place places[LOOP_PLACES_MAX];
	size_t count = 0;

	(void)state;
	assert_int_equal(find(&code, places, &count), 0);
	assert_int_equal(count, 3);
	check_place(&places[1], 16, REGISTER_RAX, 0, true);
	check_place(&places[2], 28, REGISTER_RDX, 0, false);
	/* To something else. */
	code.bytes[code.size - 4]++;
	assert_int_equal(find(&code, places, &count), -ENOENT);
}

/* Behind what the stack pointer still is the same for. */
static void test_entry(void **state)
{
	struct code marked = CODE(0xf3, 0x0f, 0x1e, 0xfa, BEGIN, END);
	struct code moved = CODE(0x48, 0x89, 0xf1 /* mov %rsi,%rcx */, 0x31, 0xf6, BEGIN, END);
	struct code stepped = CODE(SUB, ADD, RET);
	struct code again = CODE(0x90, 0xf3, 0x0f, 0x1e, 0xfa, BEGIN, JE(0xf1) /* to 0 */, END);
	struct loop_place places[LOOP_PLACES_MAX];
	size_t count = 0;

	(void)state;
	assert_int_equal(find(&marked, places, &count), 0);
	check_place(&places[0], 4, REGISTER_RSI, 0, false);
	assert_int_equal(find(&moved, places, &count), 0);
	check_place(&places[0], 5, REGISTER_RCX, 0, false);
	assert_int_equal(find(&stepped, places, &count), 0);
	check_place(&places[0], 0, REGISTER_RSI, 0, true);
	/* It is jumped to from inside. */
	assert_int_equal(find(&again, places, &count), 0);
	check_place(&places[0], 0, REGISTER_RSI, 0, true);
}

/* A cold part, which comes back or is left by itself. */
static void test_parts(void **state)
{
	struct code code = CODE(BEGIN, JE(12), CALL(15), END, /* 22 bytes */
				CLEAR, JMP(0xf5), END);
	struct loop_place places[LOOP_PLACES_MAX];
	size_t count = 0;

	(void)state;
	code.second = 22;
	assert_int_equal(find(&code, places, &count), 0);
	assert_int_equal(count, 4);
	check_place(&places[1], 24, REGISTER_RAX, 0x20, false);
	check_place(&places[2], 10, REGISTER_RDX, 0x20, false);
	check_place(&places[3], 32, REGISTER_RAX, 0, true);
	/* No jump to it: it is entered by others. */
	code.bytes[8] = code.bytes[9] = 0x90;
	assert_int_equal(find(&code, places, &count), -ENOENT);
}

static void test_none(void **state)
{
	struct code outside = CODE(BEGIN, JE(100), END);
	struct code inside = CODE(BEGIN, JE(1), END);
	struct code endless = CODE(BEGIN, JMP(0xf6));
	struct code no_code = CODE(BEGIN, 0x06, 0x06);
	struct code many = { .size = 128 };
	struct loop_place places[LOOP_PLACES_MAX];
	size_t count = 7;

	(void)state;
	assert_int_equal(find(&outside, places, &count), -ENOENT);
	assert_int_equal(find(&inside, places, &count), -EILSEQ);
	assert_int_equal(find(&endless, places, &count), -ENOENT);
	assert_int_equal(find(&no_code, places, &count), -EILSEQ);
	for (size_t i = 0; i < many.size; i += 2)
		memcpy(many.bytes + i, (uint8_t[]){ 0x90, RET }, 2);
	assert_int_equal(find(&many, places, &count), -E2BIG);
	assert_int_equal(count, 7);
}

/* Whatever there is, places lie in the code, and each is there once. */
static void test_any(void **state)
{
	static const uint8_t some[] = {
		0x90, 0xc3, 0xeb, 0x74, 0x31, 0xc0, 0x5b, 0x53, 0xe8, 0x48,
		0x83, 0xc4, 0x18, 0x02, 0xfa, 0x00, 0x04, 0xff, 0x25, 0xe9
	};
	struct unit_random random = { 20261127 };
	unsigned found = 0;

	(void)state;
	for (unsigned turn = 0; turn < 50000; turn++) {
		struct code code = { .size = 4 + unit_random_below(&random, 60) };
		struct loop_place places[LOOP_PLACES_MAX];
		size_t count = 0;

		for (size_t i = 0; i < code.size; i++)
			code.bytes[i] = some[unit_random_below(&random, sizeof(some))];
		if (turn % 3 == 0)
			code.second = 1 + unit_random_below(&random, (uint32_t)code.size - 1);
		if (find(&code, places, &count))
			continue;
		found++;
		assert_in_range(count, 2, LOOP_PLACES_MAX);
		for (size_t i = 0; i < count; i++) {
			assert_in_range(places[i].address, BASE, BASE + code.size - 1);
			assert_int_equal(places[i].enters, i == 0);
			assert_int_equal(places[i].above % 8, 0);
			for (size_t k = 1; k < i; k++)
				assert_int_not_equal(places[k].address, places[i].address);
		}
	}
	assert_true(found > 100);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_call),          cmocka_unit_test(test_fall),
		cmocka_unit_test(test_stub),          cmocka_unit_test(test_copy),
		cmocka_unit_test(test_frame_pointer), cmocka_unit_test(test_last_call),
		cmocka_unit_test(test_entry),         cmocka_unit_test(test_parts),
		cmocka_unit_test(test_none),          cmocka_unit_test(test_any),
	};

	return cmocka_run_group_tests_name("attach_loop_place", tests, NULL, NULL);
}
