/* SPDX-License-Identifier: Apache-2.0 */
/* Forged frames of a free-threaded 3.14: each thread runs a copy of the bytecode. */
#include "pyintrospect/python_stack.h"

#include "pyintrospect/code_cache.h"
#include "pyintrospect/runtime_internal.h"
#include "tests/unit/own_memory.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#define UNITS      10
#define CODE_BYTES (2 * UNITS)
#define COPIES     3
#define COPIES_MAX 1048576 /* as in docs/SECURITY.md */
/* Of the state of a str: kind 1, compact, ascii. */
#define ASCII_STATE (1 << 8 | 1 << 11 | 1 << 12)
/* A tag of 3.14, for a reference that is not counted. */
#define TAG 1

struct forged {
	struct python_runtime *runtime;
	uint8_t type[64], code[512], name[128], file[128], bytes[128];
	uint8_t copy[CODE_BYTES];
	uint64_t copies[1 + COPIES]; /* _PyCodeArray */
	uint8_t inner[128], outer[128];
};

static void forge_string(uint8_t *object, const struct python_offsets *offsets, const char *text)
{
	own_forge(object, (size_t)offsets->string_length, strlen(text));
	own_forge(object, (size_t)offsets->string_state, ASCII_STATE);
	memcpy(object + offsets->string_ascii_data, text, strlen(text));
}

static void forge_frame(uint8_t *frame, const struct forged *forged, remote_addr previous,
			remote_addr instruction, uint64_t copy)
{
	const struct python_offsets *offsets = &forged->runtime->layout.offsets;

	own_forge(frame, (size_t)offsets->frame_code, own_address(forged->code) | TAG);
	own_forge(frame, (size_t)offsets->frame_previous, previous);
	own_forge(frame, (size_t)offsets->frame_instruction, instruction);
	own_forge(frame, (size_t)offsets->frame_tlbc, copy);
}

static struct forged *forge(void)
{
	struct forged *forged = calloc(1, sizeof(*forged));
	const struct python_offsets *offsets;
	struct python_runtime *runtime;

	assert_non_null(forged);
	runtime = forged->runtime = calloc(1, sizeof(*runtime));
	assert_non_null(runtime);
	runtime->reader = &own_memory;
	runtime->layout = *python_layout_free_threaded(14);
	runtime->codes = code_cache_create();
	assert_non_null(runtime->codes);
	assert_int_equal(remote_copy_init(&runtime->copy, &own_memory), 0);
	runtime->code_type = own_address(forged->type);
	offsets = &runtime->layout.offsets;
	runtime->sizes.frame = sizeof(forged->inner);
	runtime->sizes.code = (size_t)offsets->code_bytecode;
	forge_string(forged->name, offsets, "work");
	forge_string(forged->file, offsets, "/work.py");
	own_forge(forged->code, (size_t)offsets->object_type, own_address(forged->type));
	own_forge(forged->code, (size_t)offsets->variable_size, UNITS);
	own_forge(forged->code, (size_t)offsets->code_name, own_address(forged->name));
	own_forge(forged->code, (size_t)offsets->code_qualname, own_address(forged->name));
	own_forge(forged->code, (size_t)offsets->code_filename, own_address(forged->file));
	own_forge(forged->code, (size_t)offsets->code_line_table, own_address(forged->bytes));
	own_forge(forged->code, (size_t)offsets->code_exceptions, own_address(forged->bytes));
	own_forge(forged->code, (size_t)offsets->code_tlbc, own_address(forged->copies));
	/* Traceable from its first instruction on. */
	forged->copies[0] = COPIES;
	forged->copies[1] = own_address(forged->code) + (uint64_t)offsets->code_bytecode;
	forged->copies[COPIES] = own_address(forged->copy);
	return forged;
}

static void forged_destroy(struct forged *forged)
{
	remote_copy_deinit(&forged->runtime->copy);
	code_cache_destroy(forged->runtime->codes);
	free(forged->runtime);
	free(forged);
}

/* The caller is in the code object's own bytecode, as a main thread is, the callee in a copy. */
static void test_copy(void **state)
{
	static struct python_stack stack;
	struct forged *forged = forge();

	(void)state;
	forge_frame(forged->outer, forged, 0, forged->copies[1] + 4, 0);
	forge_frame(forged->inner, forged, own_address(forged->outer),
		    own_address(forged->copy) + 6, COPIES - 1);
	assert_int_equal(
		python_stack_read_suspended(forged->runtime, own_address(forged->inner), &stack),
		0);
	assert_int_equal(stack.flags, 0);
	assert_int_equal(stack.count, 2);
	assert_int_equal(stack.frames[0].instruction_offset, 6);
	assert_int_equal(stack.frames[1].instruction_offset, 4);
	assert_string_equal(stack.frames[0].code->function, "work");
	assert_string_equal(stack.frames[0].code->file, "/work.py");
	forged_destroy(forged);
}

/* One that is none of the function's, no copy there, an array that cannot be read: no guess. */
static void test_wrong_copies(void **state)
{
	static const uint64_t copies[] = { 1, COPIES_MAX + 1, UINT32_MAX };
	static struct python_stack stack;

	(void)state;
	for (size_t i = 0; i <= sizeof(copies) / sizeof(copies[0]); i++) {
		struct forged *forged = forge();
		bool unreadable = i == sizeof(copies) / sizeof(copies[0]);

		forge_frame(forged->inner, forged, 0, own_address(forged->copy) + 6,
			    unreadable ? COPIES - 1 : copies[i]);
		if (unreadable)
			own_forge(forged->code, (size_t)forged->runtime->layout.offsets.code_tlbc,
				  0);
		assert_int_equal(python_stack_read_suspended(forged->runtime,
							     own_address(forged->inner), &stack),
				 0);
		assert_int_equal(stack.count, 0);
		assert_int_equal(stack.flags, PYTHON_STACK_INVALID);
		forged_destroy(forged);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_copy),
		cmocka_unit_test(test_wrong_copies),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
