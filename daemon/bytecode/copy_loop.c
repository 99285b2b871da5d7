/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/bytecode/copy_loop.h"

#include "common/text.h"
#include "daemon/bytecode/search_loop.h"

#include <string.h>

/* BINARY_OP's arguments. */
#define OPERATION_ADD      0
#define OPERATION_SUBTRACT 10

static bool is_named(const struct bytecode_instruction *instruction, const char *name)
{
	return !strcmp(instruction->name, name);
}

/* Of an index: i + 1. */
static bool is_sum(const struct bytecode_instruction *instruction)
{
	return is_named(instruction, "BINARY_ADD") || is_named(instruction, "BINARY_SUBTRACT") ||
	       (is_named(instruction, "BINARY_OP") &&
		(instruction->argument == OPERATION_ADD ||
		 instruction->argument == OPERATION_SUBTRACT));
}

static bool is_call(const struct bytecode_instruction *instruction)
{
	return text_starts_with(instruction->name, "CALL") ||
	       text_starts_with(instruction->name, "PRECALL");
}

/* What keeps the item: the number of values that it takes beside it. */
static bool is_sink(const struct bytecode_instruction *instruction)
{
	return is_named(instruction, "STORE_SUBSCR") || is_named(instruction, "LIST_APPEND") ||
	       is_named(instruction, "YIELD_VALUE") || is_call(instruction);
}

static bool is_harmless(const struct bytecode_instruction *instruction)
{
	static const char *const names[] = { "FOR_ITER", "UNPACK_SEQUENCE", "RESUME", "POP_TOP",
					     "NOP",      "PUSH_NULL",       "CACHE",  "NOT_TAKEN" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (is_named(instruction, names[i]))
			return true;
	return text_starts_with(instruction->name, "LOAD_") ||
	       text_starts_with(instruction->name, "STORE_FAST") ||
	       text_starts_with(instruction->name, "JUMP_BACKWARD") ||
	       is_named(instruction, "JUMP_ABSOLUTE") || is_sum(instruction) ||
	       bytecode_is_subscript(instruction);
}

static bool has_subscript(const struct bytecode *bytecode, const struct operands *operands)
{
	for (size_t i = operands->begin; i < operands->end; i++)
		if (bytecode_is_subscript(&bytecode->instructions[i]))
			return true;
	return false;
}

/* The last instruction that computes what the sink keeps. False: it cannot be told. */
static bool kept_value(const struct bytecode *bytecode, size_t sink, size_t *ret_last)
{
	struct operands value, target, index;

	if (!is_named(&bytecode->instructions[sink], "STORE_SUBSCR")) {
		if (!operands_on_top(bytecode, sink, 1, &value) || value.end == value.begin)
			return false;
		*ret_last = value.end - 1;
		return true;
	}
	/* out[order[i]] is no slice. */
	if (!operands_on_top(bytecode, sink, 2, &target) ||
	    !operands_on_top(bytecode, sink, 1, &index) || has_subscript(bytecode, &index) ||
	    !target.begin)
		return false;
	*ret_last = target.begin - 1;
	return true;
}

bool copy_loop_find(const struct bytecode *bytecode, const struct loop *loop, struct copy_loop *ret)
{
	size_t sink = bytecode->count, last;
	struct operands index;

	for (size_t i = 0; i < bytecode->count; i++) {
		const struct bytecode_instruction *instruction = &bytecode->instructions[i];

		if (instruction->offset < loop->start || instruction->offset >= loop->end)
			continue;
		if (is_sink(instruction)) {
			/* 3.11's PRECALL and CALL are one. */
			if (sink + 1 == i && is_call(instruction) &&
			    text_starts_with(bytecode->instructions[sink].name, "PRECALL"))
				continue;
			if (sink < bytecode->count)
				return false;
			sink = i;
		} else if (!is_harmless(instruction)) {
			return false;
		}
	}
	if (sink == bytecode->count || !kept_value(bytecode, sink, &last) ||
	    (is_call(&bytecode->instructions[sink]) && bytecode->instructions[sink].argument != 1))
		return false;
	if (!bytecode_is_subscript(&bytecode->instructions[last]) ||
	    !operands_on_top(bytecode, last, 1, &index) || has_subscript(bytecode, &index) ||
	    !search_loop_indexes(bytecode, last, loop, loop))
		return false;
	*ret = (struct copy_loop){
		.taken = bytecode->instructions[last].offset,
		.call = is_call(&bytecode->instructions[sink]) ? bytecode->instructions[sink].offset
							       : -1,
	};
	return true;
}
