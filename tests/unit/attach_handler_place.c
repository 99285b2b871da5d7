/* SPDX-License-Identifier: Apache-2.0 */
/* Where a probe is to be in a handler: on code as compilers write it, and on what is none. */
#include "attach/handler_place.h"

#include "tests/must.h"
#include "tests/unit/unit_random.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#define BASE  0x400000u
#define STORE 0x38

struct code {
	uint8_t bytes[512];
	size_t size;
};

static int read_code(void *context, struct memory_range *ranges, size_t count)
{
	const struct code *code = context;

	for (size_t i = 0; i < count; i++) {
		uint64_t at = ranges[i].address - BASE;

		ranges[i].error = at > code->size || ranges[i].size > code->size - at ? -EFAULT : 0;
		if (!ranges[i].error)
			memcpy(ranges[i].buffer, code->bytes + at, ranges[i].size);
	}
	return 0;
}

static int find(struct code *code, size_t handler, struct handler_place *ret_place)
{
	const struct memory_reader reader = { read_code, code };
	const struct address_ranges function = { .items = { { BASE, BASE + code->size } },
						 .count = 1 };

	*ret_place = (struct handler_place){ .handler = BASE + handler };
	return handler_places_find(&reader, &function, STORE, ret_place, 1);
}

#define CODE(...)                                                                                  \
	{                                                                                          \
		.bytes = { __VA_ARGS__ }, .size = sizeof((uint8_t[]){ __VA_ARGS__ })               \
	}

/* Debian's RETURN_VALUE of 3.11, to its first jump; in front, a nop. */
#define LOAD    0x4d, 0x8b, 0x75, 0xf8       /* mov -0x8(%r13),%r14 */
#define NOTE    0x4c, 0x89, 0x7b, 0x38       /* mov %r15,0x38(%rbx) */
#define COMPARE 0x80, 0x7c, 0x24, 0x10, 0x00 /* cmpb $0,0x10(%rsp) */
#define JUMP    0x75, 0x05                   /* jne over 5 bytes */
#define REST    0x0f, 0x1f, 0x44, 0x00, 0x00 /* nop of 5 bytes */

static void test_jump(void **state)
{
	struct code code = CODE(0x90, LOAD, NOTE, COMPARE, JUMP, REST, 0xc3);
	struct handler_place place;

	(void)state;
	assert_int_equal(find(&code, 1, &place), 0);
	assert_int_equal(place.address, BASE + 1 + 4 + 4 + 5);
	assert_int_equal(place.frame_register, REGISTER_RBX);
	assert_false(place.stepped);
}

/* "jmp *%rdx" is none that the kernel runs itself. */
static void test_step(void **state)
{
	struct code code = CODE(LOAD, NOTE, COMPARE, 0xff, 0xe2);
	struct handler_place place;

	(void)state;
	assert_int_equal(find(&code, 0, &place), 0);
	assert_int_equal(place.address, BASE + 13);
	assert_true(place.stepped);
}

/* Others come to the jump by way of one from behind, and not to the first byte. */
static void test_shared(void **state)
{
	struct code code = CODE(LOAD, NOTE, COMPARE, JUMP, REST, 0xeb, 0xf2 /* to COMPARE */);
	struct code to_first = CODE(LOAD, NOTE, COMPARE, JUMP, REST, 0xeb, 0xea /* to LOAD */);
	struct handler_place place;

	(void)state;
	assert_int_equal(find(&code, 0, &place), 0);
	assert_int_equal(place.address, BASE);
	assert_true(place.stepped);
	assert_int_equal(find(&to_first, 0, &place), 0);
	assert_int_equal(place.address, BASE + 13);
}

/* Before the frame's register gets another value, and before the stack pointer does. */
static void test_changed(void **state)
{
	struct code frame = CODE(NOTE, 0x48, 0x89, 0xc3 /* mov %rax,%rbx */, JUMP, REST, 0xc3);
	struct code stack = CODE(NOTE, 0x50 /* push %rax */, JUMP, REST, 0xc3);
	struct code early = CODE(0x48, 0x89, 0xc3, NOTE, JUMP, REST, 0xc3);
	struct handler_place place;

	(void)state;
	assert_int_equal(find(&frame, 0, &place), 0);
	assert_int_equal(place.address, BASE + 4);
	assert_int_equal(find(&stack, 0, &place), 0);
	assert_int_equal(place.address, BASE + 4);
	assert_int_equal(find(&early, 0, &place), -ENOENT);
}

/* One notes its instruction behind its first jump: the others say where the frame is. */
static void test_common(void **state)
{
	static const uint8_t with_r12[] = { 0x4d, 0x89, 0x7c, 0x24,
					    0x38 }; /* mov %r15,0x38(%r12) */
	struct code code = CODE(LOAD, NOTE, JUMP, REST, LOAD, JUMP, NOTE, REST, /* 32 bytes */
				0x4c, 0x89, 0x7b, 0x38, 0x90, JUMP, REST, 0xc3);
	const struct memory_reader reader = { read_code, &code };
	const struct address_ranges function = { .items = { { BASE, BASE + code.size } },
						 .count = 1 };
	struct handler_place places[] = { { .handler = BASE + 15 },
					  { .handler = BASE },
					  { .handler = BASE + 30 } };

	(void)state;
	assert_int_equal(handler_places_find(&reader, &function, STORE, places, 3), 0);
	assert_int_equal(places[0].address, BASE + 15 + 4);
	assert_int_equal(places[0].frame_register, REGISTER_RBX);
	assert_false(places[0].stepped);
	assert_int_equal(places[1].address, BASE + 8);
	/* They do not agree. */
	memcpy(code.bytes + 30, with_r12, sizeof(with_r12));
	assert_int_equal(handler_places_find(&reader, &function, STORE, places, 3), -ENOENT);
	/* Nobody says it. */
	assert_int_equal(handler_places_find(&reader, &function, STORE, places, 1), -ENOENT);
}

static void test_none(void **state)
{
	struct code jumps = CODE(JUMP, NOTE, REST, 0xc3);
	struct code elsewhere = CODE(0x4c, 0x89, 0x7b, 0x40, JUMP, REST, 0xc3);
	/* From a register that calls do not keep. */
	struct code lost = CODE(0x4c, 0x89, 0x79, 0x38, JUMP, REST, 0xc3);
	struct code no_code = CODE(0x06, 0x06, 0x06);
	struct handler_place place;

	(void)state;
	assert_int_equal(find(&jumps, 0, &place), -ENOENT);
	assert_int_equal(find(&elsewhere, 0, &place), -ENOENT);
	assert_int_equal(find(&lost, 0, &place), -ENOENT);
	assert_int_equal(find(&no_code, 0, &place), -EILSEQ);
	assert_int_equal(find(&jumps, 100, &place), -ENOENT);
}

/* Where nothing is looked at behind it. */
static void test_last(void **state)
{
	static const uint8_t note[] = { NOTE };
	struct handler_place place;

	(void)state;
	for (size_t nops = 30; nops <= 32; nops++) {
		struct code code = { .size = nops + sizeof(note) + 8 };

		memset(code.bytes, 0x90, code.size);
		memcpy(code.bytes + nops, note, sizeof(note));
		assert_int_equal(find(&code, 0, &place), nops == 30 ? 0 : -ENOENT);
		assert_int_equal(place.address, nops == 30 ? BASE + nops + sizeof(note) : 0);
	}
}

/* Whatever there is, a place lies in the code. */
static void test_any(void **state)
{
	struct unit_random random = { 20261127 };

	(void)state;
	for (unsigned turn = 0; turn < 20000; turn++) {
		static const uint8_t note[] = { NOTE };
		struct code code = { .size = 64 + unit_random_below(&random, 440) };
		struct handler_place place;
		size_t at = unit_random_below(&random, 32);

		for (size_t i = 0; i < code.size; i++)
			code.bytes[i] = (uint8_t)unit_random_below(&random, 256);
		memcpy(code.bytes + at, note, sizeof(note));
		if (find(&code, at, &place))
			continue;
		assert_in_range(place.address, BASE + at, BASE + code.size - 1);
		assert_int_equal(place.frame_register, REGISTER_RBX);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_jump),   cmocka_unit_test(test_step),
		cmocka_unit_test(test_shared), cmocka_unit_test(test_changed),
		cmocka_unit_test(test_common), cmocka_unit_test(test_none),
		cmocka_unit_test(test_last),   cmocka_unit_test(test_any),
	};

	return cmocka_run_group_tests_name("attach_handler_place", tests, NULL, NULL);
}
