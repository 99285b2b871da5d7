/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/bytecode/stored_variables.h"

#include "common/text.h"

#include <string.h>

void stored_variables_add_one(struct stored_variables *stored, struct variable variable)
{
	if (variable.storage && stored->count < STORED_VARIABLES_MAX)
		stored->items[stored->count++] = variable;
}

bool stored_variables_has(const struct stored_variables *stored, struct variable variable)
{
	for (size_t i = 0; i < stored->count; i++)
		if (variable_is(stored->items[i], variable))
			return true;
	return false;
}

bool stored_variables_are_read(const struct stored_variables *stored,
			       const struct bytecode *bytecode, const struct operands *operands)
{
	for (size_t i = operands->begin; i < operands->end; i++) {
		struct variable read[VARIABLES_MAX];

		operands_read(bytecode, operands, i, read);
		for (size_t v = 0; v < VARIABLES_MAX; v++)
			if (read[v].storage && stored_variables_has(stored, read[v]))
				return true;
	}
	return false;
}

void stored_variables_add(struct stored_variables *stored, const struct bytecode *bytecode,
			  size_t index, unsigned above)
{
	struct variable read[VARIABLES_MAX];
	struct operands top, both;

	if (!operands_on_top(bytecode, index, above, &top) ||
	    !operands_on_top(bytecode, index, above + 1, &both))
		return;
	for (size_t i = both.begin; i < top.begin; i++) {
		operands_read(bytecode, &both, i, read);
		for (size_t v = 0; v < VARIABLES_MAX; v++)
			stored_variables_add_one(stored, read[v]);
	}
	if (top.surplus) {
		operands_variables(bytecode->code, &bytecode->instructions[top.begin], false, read);
		stored_variables_add_one(stored, read[0]);
	}
}

/* Values above x where an instruction stores into it; 0: it does not.
 *   v x i STORE_SUBSCR   v x i j STORE_SLICE (3.12+)   x v BINARY_OP += */
static unsigned values_above_target(const struct bytecode_instruction *instruction)
{
	if (text_starts_with(instruction->name, "STORE_SLICE"))
		return 2;
	if (text_starts_with(instruction->name, "STORE_SUBSCR") ||
	    text_starts_with(instruction->name, "INPLACE_"))
		return 1;
	/* BINARY_OP's arguments: 13 to 25 are the operators in place, 26 is a subscript (3.14). */
	return !strcmp(instruction->name, "BINARY_OP") && instruction->argument >= 13 &&
	       instruction->argument <= 25;
}

void stored_variables_find(struct stored_variables *stored, const struct bytecode *bytecode,
			   int start, int end, bool all)
{
	stored->count = 0;
	for (size_t i = 0; i < bytecode->count; i++) {
		const struct bytecode_instruction *instruction = &bytecode->instructions[i];
		unsigned above;

		if (instruction->offset < start || instruction->offset >= end)
			continue;
		above = values_above_target(instruction);
		if (all && !strcmp(instruction->name, "DELETE_SUBSCR"))
			above = 1;
		if (above)
			stored_variables_add(stored, bytecode, i, above);
		else if (all && (!strcmp(instruction->name, "STORE_ATTR") ||
				 !strcmp(instruction->name, "DELETE_ATTR")))
			stored_variables_add(stored, bytecode, i, 0);
	}
}
