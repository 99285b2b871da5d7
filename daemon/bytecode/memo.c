/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/bytecode/memo.h"

#include "common/text.h"

#include <string.h>

/* To 3.8 COMPARE_OP's arguments 6 and 7 are "in" and "not in". */
static bool asks_whether_in(const struct bytecode *bytecode,
			    const struct bytecode_instruction *instruction)
{
	return !strcmp(instruction->name, "CONTAINS_OP") ||
	       (bytecode->code->minor <= 8 && !strcmp(instruction->name, "COMPARE_OP") &&
		(instruction->argument == 6 || instruction->argument == 7));
}

bool memo_is_kept(const struct bytecode *bytecode)
{
	bool asks = false, keeps = false;

	for (size_t i = 0; i < bytecode->count; i++) {
		const struct bytecode_instruction *instruction = &bytecode->instructions[i];

		if (instruction->target != BYTECODE_NO_TARGET)
			return false;
		asks |= asks_whether_in(bytecode, instruction);
		keeps |= asks && text_starts_with(instruction->name, "STORE_SUBSCR");
	}
	return keeps;
}
