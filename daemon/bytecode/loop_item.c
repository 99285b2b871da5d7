/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/bytecode/loop_item.h"

#include "common/text.h"

#include <string.h>

/* for a, (b, c) in ... */
#define ITEMS_MAX 8

struct items {
	struct variable variables[ITEMS_MAX];
	size_t count;
};

/* What FOR_ITER's item goes to: a name, or names of which it is unpacked. */
static void find_items(const struct bytecode *bytecode, size_t index, struct items *items)
{
	for (size_t i = index + 1; i < bytecode->count; i++) {
		struct variable assigned[VARIABLES_MAX];

		if (text_starts_with(bytecode->instructions[i].name, "UNPACK_"))
			continue;
		operands_variables(bytecode->code, &bytecode->instructions[i], true, assigned);
		if (!assigned[0].storage)
			return;
		for (size_t v = 0; v < VARIABLES_MAX; v++)
			if (assigned[v].storage && items->count < ITEMS_MAX)
				items->variables[items->count++] = assigned[v];
	}
}

static bool is_item(const struct items *items, struct variable variable)
{
	for (size_t i = 0; variable.storage && i < items->count; i++)
		if (items->variables[i].storage == variable.storage &&
		    items->variables[i].index == variable.index)
			return true;
	return false;
}

/* x[i], x[i:j]: 3.14 has BINARY_OP 26 for the first. */
static bool finds(const struct bytecode_instruction *instruction)
{
	return text_starts_with(instruction->name, "BINARY_SUBSCR") ||
	       text_starts_with(instruction->name, "BINARY_SLICE") ||
	       (!strcmp(instruction->name, "BINARY_OP") && instruction->argument == 26);
}

bool loop_item_is_used(const struct bytecode *bytecode, int offset, const struct loop *loop)
{
	const struct bytecode_instruction *begin = bytecode_at(bytecode, loop->start);
	const struct bytecode_instruction *instruction = bytecode_at(bytecode, offset);
	struct items items = { .count = 0 };
	struct operands operands;
	bool used = false;
	size_t index;

	if (!begin || !instruction || strcmp(begin->name, "FOR_ITER") != 0)
		return false;
	find_items(bytecode, (size_t)(begin - bytecode->instructions), &items);
	index = (size_t)(instruction - bytecode->instructions);
	/* 3.11: a call is PRECALL and CALL, of which the second takes the operands. */
	if (text_starts_with(instruction->name, "PRECALL") && index + 1 < bytecode->count)
		index++;
	if (!operands_of(bytecode, index, &operands))
		return false;
	for (size_t i = operands.begin; i < operands.end; i++) {
		struct variable read[VARIABLES_MAX];

		operands_variables(bytecode->code, &bytecode->instructions[i], false, read);
		for (size_t v = 0; v < VARIABLES_MAX; v++)
			used |= is_item(&items, read[v]);
		if (finds(&bytecode->instructions[i]))
			return false;
	}
	return used;
}
