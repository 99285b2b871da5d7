/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/bytecode/bytecode.h"

#include "common/text.h"
#include "pyintrospect/opcode.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define UNIT_BYTES 2

/* Where a jump backwards goes. end is behind the jump and its caches. */
static int backward_target(const struct python_code *code, const char *name, uint32_t argument,
			   int end)
{
	int64_t target;

	if (code->minor >= 11) {
		/* ..._NO_INTERRUPT closes the loops inside of `await` and `yield from`: no loop of
		 * the source. */
		if (strcmp(name, "JUMP_BACKWARD") && !text_starts_with(name, "POP_JUMP_BACKWARD_"))
			return BYTECODE_NO_TARGET;
		target = (int64_t)end - (int64_t)argument * UNIT_BYTES;
	} else {
		if (strcmp(name, "JUMP_ABSOLUTE") && strcmp(name, "CONTINUE_LOOP") &&
		    !text_starts_with(name, "POP_JUMP_IF_") && !text_starts_with(name, "JUMP_IF_"))
			return BYTECODE_NO_TARGET;
		/* 3.10 counts units, before it bytes were counted. */
		target = (int64_t)argument * (code->minor >= 10 ? UNIT_BYTES : 1);
	}
	return target >= 0 && target < end ? (int)target : BYTECODE_NO_TARGET;
}

int bytecode_forward_target(const struct bytecode *bytecode,
			    const struct bytecode_instruction *instruction)
{
	static const char *const relative[] = { "JUMP_FORWARD", "POP_JUMP_FORWARD_", "FOR_ITER",
						"SEND",         "SETUP_FINALLY",     "SETUP_EXCEPT",
						"SETUP_WITH",   "SETUP_ASYNC_WITH",  "SETUP_LOOP" };
	int minor = bytecode->code->minor, unit = minor >= 10 ? UNIT_BYTES : 1;
	const char *name = instruction->name;
	bool jumps = false;
	int64_t target;

	for (size_t i = 0; !jumps && i < sizeof(relative) / sizeof(relative[0]); i++)
		jumps = text_starts_with(name, relative[i]);
	target = (int64_t)instruction->end + (int64_t)instruction->argument * unit;
	if (!jumps && (text_starts_with(name, "POP_JUMP_IF_") ||
		       text_starts_with(name, "JUMP_IF_") || !strcmp(name, "JUMP_ABSOLUTE"))) {
		jumps = true;
		if (minor < 11)
			target = (int64_t)instruction->argument * unit;
	}
	return jumps && target >= instruction->end && target <= BYTECODE_BYTES_MAX
		       ? (int)target
		       : BYTECODE_NO_TARGET;
}

static void bytecode_decode(struct bytecode *bytecode, const struct opcode_info *table)
{
	const struct python_code *code = bytecode->code;
	int size = (int)code->bytecode_size, start = 0, offset = 0;
	uint32_t prefix = 0;

	while (offset + UNIT_BYTES <= size) {
		const struct opcode_info *info = &table[code->bytecode[offset]];
		uint32_t argument = prefix | code->bytecode[offset + 1];
		const char *name;

		if (!info->name || info->caches == OPCODE_CACHES_UNKNOWN || !table[info->base].name)
			return;
		name = table[info->base].name;
		offset += UNIT_BYTES + info->caches * UNIT_BYTES;
		if (!strcmp(name, "EXTENDED_ARG")) {
			prefix = argument << 8;
			continue;
		}
		bytecode->instructions[bytecode->count++] = (struct bytecode_instruction){
			.offset = start,
			.end = offset < size ? offset : size,
			.argument = argument,
			.target = backward_target(code, name, argument, offset),
			.name = name,
		};
		prefix = 0;
		start = offset;
	}
}

int bytecode_init(struct bytecode *bytecode, const struct python_code *code)
{
	const struct opcode_info *table = opcode_table(code->minor);

	*bytecode = (struct bytecode){ .code = code };
	if (!table || !code->bytecode || code->bytecode_size < UNIT_BYTES ||
	    code->bytecode_size > BYTECODE_BYTES_MAX)
		return 0;
	bytecode->instructions =
		calloc(code->bytecode_size / UNIT_BYTES, sizeof(bytecode->instructions[0]));
	if (!bytecode->instructions)
		return -ENOMEM;
	bytecode_decode(bytecode, table);
	return 0;
}

void bytecode_deinit(struct bytecode *bytecode)
{
	free(bytecode->instructions);
	bytecode->instructions = NULL;
	bytecode->count = 0;
}

const struct bytecode_instruction *bytecode_at(const struct bytecode *bytecode, int offset)
{
	size_t low = 0, high = bytecode->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (bytecode->instructions[middle].offset <= offset)
			low = middle + 1;
		else
			high = middle;
	}
	return low && offset < bytecode->instructions[low - 1].end
		       ? &bytecode->instructions[low - 1]
		       : NULL;
}

bool bytecode_is_subscript(const struct bytecode_instruction *instruction)
{
	return !strncmp(instruction->name, "BINARY_SUBSCR", 13) ||
	       (!strcmp(instruction->name, "BINARY_OP") && instruction->argument == 26);
}
