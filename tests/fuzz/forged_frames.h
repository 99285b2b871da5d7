/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A process of which there is nothing but a few frames of one code object, and memory:
 *
 *   u8 minor version less 6; u8 arguments; u8 locals
 *   u8 frames, less 1; 4: their codes have one place; 16 and up: which have gone on
 *   4 times u16, where a frame lies
 *   u8 stores, each u16 where, u8 size, 128: it is known, u8 value
 *   u16 size of the exception table, the table
 *   u16 size of the bytecode, the bytecode
 *   memory from FORGED_ADDRESS on
 */
#ifndef PIEPROFD_TESTS_FUZZ_FORGED_FRAMES_H
#define PIEPROFD_TESTS_FUZZ_FORGED_FRAMES_H

#include "pyintrospect/frame_walk.h"
#include "pyintrospect/operand_reader.h"
#include "pyintrospect/runtime_internal.h"
#include "tests/fuzz/fuzz.h"

#include <errno.h>

#define FORGED_ADDRESS   0x100000ull
#define FORGED_STORES    4
#define FORGED_TABLE_MAX 256

struct forged_memory {
	struct fuzz_input bytes; /* exactly as large: reading beyond is seen */
	uint8_t garbage;         /* what is left in a buffer that could not be filled */
	bool gone;
	unsigned calls;
};

struct forged_frames {
	struct forged_memory memory;
	struct memory_reader reader;
	struct python_code codes[2]; /* the same; the reader may have one place for both */
	size_t frames[OPERAND_FRAMES_MAX];
	struct operand_store stores[FORGED_STORES];
	size_t store_count;
	uint8_t *copies[3];
	/* Large: of these, what is used is set each time. */
	struct python_runtime runtime;
	struct python_stack stack;
};

FUZZ_UNUSED int forged_memory_read(void *context, struct memory_range *ranges, size_t count)
{
	struct forged_memory *memory = context;

	memory->calls++;
	if (memory->gone)
		return -ESRCH;
	for (size_t i = 0; i < count; i++) {
		uint64_t offset = ranges[i].address - FORGED_ADDRESS;
		bool there = offset <= memory->bytes.left &&
			     ranges[i].size <= memory->bytes.left - offset;

		ranges[i].error = there ? 0 : -EFAULT;
		if (there)
			memcpy(ranges[i].buffer, memory->bytes.at + offset, ranges[i].size);
		else
			memset(ranges[i].buffer, memory->garbage, ranges[i].size);
	}
	return 0;
}

FUZZ_UNUSED size_t forged_end(size_t end, int32_t offset)
{
	return offset != OFFSET_ABSENT && (size_t)offset + 8 > end ? (size_t)offset + 8 : end;
}

/* As runtime.c measures it: not with f_valuestack, which lies before f_lasti. */
FUZZ_UNUSED void forged_runtime_init(struct python_runtime *runtime,
				     const struct memory_reader *reader, int minor)
{
	const struct python_offsets *offsets = &runtime->layout.offsets;

	runtime->reader = reader;
	runtime->layout = *python_layout_builtin(minor);
	runtime->sizes.frame = forged_end(0, offsets->frame_code);
	runtime->sizes.frame = forged_end(runtime->sizes.frame, offsets->frame_previous);
	runtime->sizes.frame = forged_end(runtime->sizes.frame, offsets->frame_instruction);
}

/* A frame is where its memory says that it is, or has gone on since. */
FUZZ_UNUSED void forged_frame_init(struct forged_frames *forged, size_t index, remote_addr address,
				   bool gone_on)
{
	struct python_runtime *runtime = &forged->runtime;
	uint8_t fixed[OFFSET_BLOCK_MAX];
	int64_t at = 0;

	if (memory_read(runtime->reader, address, fixed, runtime->sizes.frame) == 0)
		at = frame_instruction(&runtime->layout, fixed);
	forged->frames[index] = index;
	forged->stack.frames[index] = (struct python_frame){
		.code = &forged->codes[index % 2],
		.instruction_offset = (int)(at % (1 << 20)) + 2 * gone_on,
		.entry = index == 1,
		.address = address,
	};
}

FUZZ_UNUSED void forged_stores_parse(struct forged_frames *forged, struct fuzz_input *input)
{
	forged->store_count = (size_t)fuzz_number(input, 1) % (FORGED_STORES + 1);
	for (size_t i = 0; i < forged->store_count; i++) {
		struct operand_store *store = &forged->stores[i];
		uint64_t how;

		store->address = FORGED_ADDRESS + fuzz_number(input, 2);
		how = fuzz_number(input, 1);
		store->size = how % 128;
		store->known = how >= 128;
		store->value = FORGED_ADDRESS + 8 * fuzz_number(input, 1);
	}
}

FUZZ_UNUSED uint8_t *forged_table(struct fuzz_input *input, uint32_t *ret_size)
{
	struct fuzz_input table;

	/* Long code takes long, and has a target of its own. */
	table.left = (size_t)fuzz_number(input, 2) % FORGED_TABLE_MAX;
	table.at = fuzz_take(input, table.left, &table.left);
	*ret_size = (uint32_t)table.left;
	return fuzz_copy(&table);
}

FUZZ_UNUSED void forged_frames_init(struct forged_frames *forged, struct fuzz_input input)
{
	struct python_code *code = &forged->codes[0];
	uint64_t frames, places[OPERAND_FRAMES_MAX];

	/* For the reader of locks. */
	*code = (struct python_code){
		.function = "Thread.join",
		.file = "/usr/lib/python3/threading.py",
		.minor = PYTHON_MINOR_MIN +
			 (int)(fuzz_number(&input, 1) % (PYTHON_MINOR_MAX - PYTHON_MINOR_MIN + 1)),
	};
	code->argument_count = (uint32_t)fuzz_number(&input, 1);
	code->local_count = (uint32_t)fuzz_number(&input, 1);
	frames = fuzz_number(&input, 1);
	for (size_t i = 0; i < OPERAND_FRAMES_MAX; i++)
		places[i] = fuzz_number(&input, 2);
	forged_stores_parse(forged, &input);
	code->exception_table = forged->copies[0] =
		forged_table(&input, &code->exception_table_size);
	code->bytecode = forged->copies[1] = forged_table(&input, &code->bytecode_size);
	forged->codes[1] = *code;
	forged->codes[1].id = frames & 4 ? 64 : 1;
	forged->memory = (struct forged_memory){ .bytes = input };
	forged->memory.bytes.at = forged->copies[2] = fuzz_copy(&input);
	forged->reader = (struct memory_reader){ forged_memory_read, &forged->memory };
	forged_runtime_init(&forged->runtime, &forged->reader, code->minor);
	forged->stack.count = 1 + frames % OPERAND_FRAMES_MAX;
	for (size_t i = 0; i < forged->stack.count; i++)
		forged_frame_init(forged, i, FORGED_ADDRESS + places[i], frames >> (4 + i) & 1);
}

FUZZ_UNUSED void forged_frames_deinit(struct forged_frames *forged)
{
	for (size_t i = 0; i < sizeof(forged->copies) / sizeof(forged->copies[0]); i++)
		free(forged->copies[i]);
}

#endif
