/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Depths of the evaluation stack in any code, and the operations in it.
 *
 *   u8 minor version, less 6; u16 size of the exception table; the exception
 *   table; the bytecode.
 */
#include "pyintrospect/offsets.h"
#include "pyintrospect/operation.h"
#include "tests/fuzz/fuzz.h"

static void check_instruction(const struct stack_depths *depths,
			      const struct stack_instruction *instruction)
{
	struct stack_loop loops[STACK_LOOPS_MAX];
	struct operation operation;
	size_t count = stack_depths_loops(depths, instruction, loops);

	fuzz_must(stack_depths_at(depths, (int)instruction->offset) == instruction);
	fuzz_must(instruction->depth >= STACK_DEPTH_UNKNOWN);
	fuzz_must(instruction->depth <= STACK_DEPTH_MAX);
	fuzz_must(count <= STACK_LOOPS_MAX);
	/* Innermost first, and each below the top. */
	for (size_t i = 0; i < count; i++) {
		fuzz_must(loops[i].slot < instruction->depth);
		fuzz_must(i == 0 || loops[i].slot < loops[i - 1].slot);
		fuzz_must(stack_depths_at(depths, (int)loops[i].head));
	}
	if (!operation_of(depths, instruction, &operation))
		return;
	fuzz_must(instruction->depth != STACK_DEPTH_UNKNOWN);
	fuzz_must(operation.kind <= OPERATION_LAST);
	fuzz_must(operation.count <= OPERANDS_MAX && operation.count <= operation.total);
	for (size_t i = 0; i < operation.count; i++)
		fuzz_must(operation.places[i].slot < instruction->depth);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_input input = { data, size }, table;
	struct python_code code = { 0 };
	struct stack_depths depths;
	uint8_t *exceptions, *bytecode;

	code.minor = PYTHON_MINOR_MIN +
		     (int)(fuzz_number(&input, 1) % (PYTHON_MINOR_MAX - PYTHON_MINOR_MIN + 1));
	table.at = fuzz_take(&input, (size_t)fuzz_number(&input, 2), &table.left);
	code.exception_table = exceptions = fuzz_copy(&table);
	code.exception_table_size = (uint32_t)table.left;
	code.bytecode = bytecode = fuzz_copy(&input);
	code.bytecode_size = (uint32_t)input.left;
	if (!stack_depths_init(&depths, &code)) {
		for (size_t i = 0; i < depths.count; i++)
			check_instruction(&depths, &depths.instructions[i]);
		stack_depths_deinit(&depths);
	}
	free(exceptions);
	free(bytecode);
	return 0;
}
