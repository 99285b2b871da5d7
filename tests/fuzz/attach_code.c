/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Instructions of the target: decoded, run ahead on paper, to the next access and to
 * the next jump of an interpreter, looked back at from a trap, and searched for a place
 * for a probe. What the emulated code reads is the input, too.
 *
 *   16 general registers and flags, 4 bytes each, which count from the memory's
 *   beginning where their lowest bit is set; then the code
 */
#include "attach/emulator.h"
#include "attach/lookahead.h"
#include "attach/probe_place.h"
#include "attach/trap_instruction.h"
#include "tests/fuzz/fuzz.h"

#include <errno.h>

#define CODE_ADDRESS  0x400000
#define STACK_ADDRESS 0x7ffe00000000ull
#define STACK_BYTES   512

static int read_code(void *context, struct memory_range *ranges, size_t count)
{
	const struct fuzz_input *code = context;

	for (size_t i = 0; i < count; i++) {
		uint64_t offset = ranges[i].address - CODE_ADDRESS;

		ranges[i].error = -EFAULT;
		if (offset > code->left || ranges[i].size > code->left - offset)
			continue;
		memcpy(ranges[i].buffer, code->at + offset, ranges[i].size);
		ranges[i].error = 0;
	}
	return 0;
}

/* Those at odd addresses count; of the others it tells the number. */
static bool count_odd(void *context, const struct access *access)
{
	unsigned *passed = context;

	*passed += !(access->address & 1);
	return access->address & 1;
}

static void look_ahead(const struct registers *registers, const struct memory_reader *code,
		       const struct stack_snapshot *stack)
{
	unsigned passed = 0;
	const struct lookahead_filter filter = { count_odd, &passed };
	struct lookahead ahead;

	for (unsigned skip = 0; skip < 3; skip++)
		for (unsigned kind = ACCESS_LOAD; kind <= ACCESS_STORE; kind++) {
			passed = 0;
			lookahead_next(registers, (enum access_kind)kind, skip, code, stack,
				       skip == 1 ? NULL : code, skip == 2 ? &filter : NULL, &ahead);
			fuzz_must(ahead.end < LOOKAHEAD_END_COUNT);
			fuzz_must(ahead.instructions <= LOOKAHEAD_INSTRUCTIONS_MAX);
			if (ahead.end == LOOKAHEAD_FOUND)
				fuzz_must(ahead.access.size >= 1 && ahead.access.size <= 64);
			if (ahead.end == LOOKAHEAD_RUN_TO)
				fuzz_must(ahead.run_to != registers->rip &&
					  ahead.skipped <= skip + passed);
		}
}

struct counted_reader {
	const struct memory_reader *code;
	unsigned reads;
};

static int read_counted(void *context, struct memory_range *ranges, size_t count)
{
	struct counted_reader *counted = context;

	fuzz_must(++counted->reads <= EMULATOR_READS_MAX);
	fuzz_must(count == 1 && ranges->size >= 1 && ranges->size <= 8);
	return memory_read_ranges(counted->code, ranges, count);
}

/* What is foreseen by the registers alone is so when more is known. */
static void check_stores(const struct lookahead_store *blind, size_t blind_count,
			 const struct lookahead_store *stores, size_t count)
{
	fuzz_must(blind_count == count);
	for (size_t i = 0; i < count; i++) {
		fuzz_must(blind[i].address == stores[i].address && blind[i].size == stores[i].size);
		fuzz_must(!blind[i].known ||
			  (stores[i].known && blind[i].value == stores[i].value));
	}
}

static void foresee_stores(const struct registers *registers, const struct memory_reader *code,
			   const struct stack_snapshot *stack)
{
	struct lookahead_store blind[LOOKAHEAD_STORES_MAX], stores[LOOKAHEAD_STORES_MAX];
	struct counted_reader counted = { code, 0 };
	const struct memory_reader memory = { read_counted, &counted };
	size_t blind_count, count;
	int error = lookahead_stores(registers, code, stack, &memory, stores, &count);
	int blind_error = lookahead_stores(registers, code, NULL, NULL, blind, &blind_count);

	fuzz_must(!error || error == -ENOTSUP);
	fuzz_must(blind_error == -ENOTSUP || (!blind_error && !error));
	if (error)
		return;
	fuzz_must(count <= LOOKAHEAD_STORES_MAX);
	for (size_t i = 0; i < count; i++)
		fuzz_must(!stores[i].known ||
			  (stores[i].size >= 1 && stores[i].size <= 8 &&
			   !(stores[i].value & ~value_mask(8 * (unsigned)stores[i].size))));
	if (!blind_error)
		check_stores(blind, blind_count, stores, count);
}

static void look_back(const struct registers *registers, const struct memory_reader *code,
		      size_t code_bytes)
{
	struct trap_decoder *decoder = trap_decoder_create(code);
	const struct address_range function = { CODE_ADDRESS, CODE_ADDRESS + code_bytes };
	struct registers trapped = *registers;
	struct trap_instruction trap;

	fuzz_must(decoder);
	for (size_t at = 0; at < code_bytes && at < 64; at++) {
		const struct address_range watched = { trapped.general[REGISTER_RAX],
						       trapped.general[REGISTER_RAX] + 8 };

		trapped.rip = CODE_ADDRESS + at;
		if (trap_decode(decoder, &trapped, function, watched, &trap) == 0)
			fuzz_must(trap.address <= trapped.rip && trap.address >= function.start);
	}
	trap_decoder_destroy(decoder);
}

/* Where functions begin, a file of the target's says: any bytes may be there. */
static void choose_places(const uint8_t *code, size_t size)
{
	const unsigned all = PROBE_ARGUMENT(0) | PROBE_ARGUMENT(1) | PROBE_ARGUMENT(2);

	for (unsigned arguments = 0; arguments <= all; arguments++) {
		struct probe_place place;
		bool chosen = probe_place_choose(code, size, arguments, &place);

		fuzz_must(chosen ? place.offset < size : !place.offset);
		for (unsigned i = 0; i < PROBE_ARGUMENTS; i++)
			fuzz_must(place.registers[i] < 5 && (chosen || place.registers[i] == i));
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_input input = { data, size };
	uint8_t stack_bytes[STACK_BYTES];
	const struct stack_snapshot stack = { STACK_ADDRESS, STACK_BYTES, stack_bytes };
	struct registers registers = { .rip = CODE_ADDRESS };
	struct instruction instruction;
	struct memory_reader code;
	uint8_t *copy;

	for (size_t i = 0; i < REGISTER_COUNT; i++) {
		uint64_t number = fuzz_number(&input, 4);

		registers.general[i] = number & 1 ? CODE_ADDRESS + (number >> 1)
						  : (uint64_t)(int64_t)(int32_t)(uint32_t)number;
	}
	registers.general[REGISTER_RSP] = STACK_ADDRESS + 128;
	registers.rflags = fuzz_number(&input, 4);
	for (size_t i = 0; i < STACK_BYTES; i++)
		stack_bytes[i] = (uint8_t)(i * 7);
	/* Exactly as large: reading beyond is seen. */
	copy = fuzz_copy(&input);
	input.at = copy;
	code = (struct memory_reader){ read_code, &input };
	for (size_t at = 0; at < input.left && at < 64; at++)
		if (instruction_decode(&registers, copy + at,
				       input.left - at < INSTRUCTION_BYTES_MAX
					       ? input.left - at
					       : INSTRUCTION_BYTES_MAX,
				       &instruction) == 0)
			fuzz_must(instruction.length && instruction.length <= input.left - at &&
				  instruction.access_count <= INSTRUCTION_ACCESSES_MAX);
	look_ahead(&registers, &code, &stack);
	foresee_stores(&registers, &code, &stack);
	look_back(&registers, &code, input.left);
	choose_places(copy, input.left);
	free(copy);
	return 0;
}
