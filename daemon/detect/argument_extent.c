/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/detect/argument_extent.h"

#include <string.h>

static bool stores_name(const struct bytecode *bytecode, size_t index)
{
	struct variable assigned[VARIABLES_MAX];

	operands_variables(bytecode->code, &bytecode->instructions[index], true, assigned);
	return assigned[0].storage != 0;
}

/* x = ..., self.x = ...; the instruction that does so, 0: none, of what the one at index has
 * computed. */
static size_t store_of(const struct bytecode *bytecode, size_t index)
{
	struct variable read[VARIABLES_MAX];

	if (index + 1 >= bytecode->count)
		return 0;
	if (stores_name(bytecode, index + 1))
		return index + 1;
	operands_variables(bytecode->code, &bytecode->instructions[index + 1], false, read);
	return read[0].storage && index + 2 < bytecode->count &&
			       !strcmp(bytecode->instructions[index + 2].name, "STORE_ATTR")
		       ? index + 2
		       : 0;
}

struct argument_extent argument_extent_find(const struct bytecode *bytecode, int offset)
{
	const struct bytecode_instruction *instruction = bytecode_at(bytecode, offset);
	struct argument_extent extent = { offset, offset + 1, -1 };
	struct operands operands;
	size_t index, store;

	if (!instruction)
		return extent;
	extent = (struct argument_extent){ instruction->offset, instruction->end, -1 };
	index = (size_t)(instruction - bytecode->instructions);
	/* 3.11: a call is PRECALL and CALL, of which the second takes the operands. */
	if (!strncmp(instruction->name, "PRECALL", 7) && index + 1 < bytecode->count)
		extent.end = bytecode->instructions[++index].end;
	if (operands_of(bytecode, index, &operands) && operands.begin < index)
		extent.start = bytecode->instructions[operands.begin].offset;
	store = store_of(bytecode, index);
	if (store) {
		extent.store = bytecode->instructions[store].offset;
		extent.end = bytecode->instructions[store].end;
	}
	return extent;
}

/* Leaves what was computed as it is, or adds what never changes. */
static bool is_neutral(const char *name)
{
	static const char *const names[] = {
		"LOAD_ATTR", "LOAD_METHOD", "LOAD_CONST", "LOAD_SMALL_INT",      "PUSH_NULL",
		"PRECALL",   "KW_NAMES",    "NOP",        "LOAD_COMMON_CONSTANT"
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcmp(name, names[i]))
			return true;
	return false;
}

int argument_extent_origin(const struct bytecode *bytecode, int offset)
{
	const struct bytecode_instruction *instruction = bytecode_at(bytecode, offset);
	struct argument_extent extent = argument_extent_find(bytecode, offset), inner;
	size_t index;

	if (!instruction)
		return -1;
	index = (size_t)(instruction - bytecode->instructions);
	/* 3.11: the call may be made by the first of the two. */
	if (!strncmp(instruction->name, "PRECALL", 7) && index + 1 < bytecode->count)
		instruction = &bytecode->instructions[++index];
	if (strncmp(instruction->name, "CALL", 4) != 0 && !bytecode_is_subscript(instruction))
		return -1;
	while (index-- > 0) {
		instruction = &bytecode->instructions[index];
		if (instruction->offset < extent.start)
			return -1;
		if (is_neutral(instruction->name) || bytecode_is_subscript(instruction))
			continue;
		if (strncmp(instruction->name, "CALL", 4) != 0)
			return -1;
		inner = argument_extent_find(bytecode, instruction->offset);
		return inner.start <= extent.start ? instruction->offset : -1;
	}
	return -1;
}

int argument_extent_call(const struct bytecode *bytecode, int offset)
{
	const struct bytecode_instruction *instruction = bytecode_at(bytecode, offset);
	size_t index;

	if (!instruction || (strncmp(instruction->name, "CALL", 4) != 0 &&
			     strncmp(instruction->name, "PRECALL", 7) != 0))
		return -1;
	index = (size_t)(instruction - bytecode->instructions);
	while (index > 0 && (!strcmp(bytecode->instructions[index - 1].name, "PRECALL") ||
			     !strcmp(bytecode->instructions[index - 1].name, "KW_NAMES")))
		index--;
	return bytecode->instructions[index].offset;
}
