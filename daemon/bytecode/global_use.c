/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/bytecode/global_use.h"

#include "daemon/bytecode/operands.h"

#include <string.h>

static void add_use(struct global_uses *uses, struct global_use use)
{
	for (size_t i = 0; i < uses->count; i++)
		if (uses->items[i].global == use.global && uses->items[i].last == use.last)
			return;
	uses->cut |= uses->count == GLOBAL_USES_MAX;
	if (!uses->cut)
		uses->items[uses->count++] = use;
}

/* Of LOAD_ATTR and LOAD_METHOD. */
static bool takes_attribute(const struct bytecode *bytecode, size_t index, uint32_t *ret_name)
{
	const struct bytecode_instruction *instruction = &bytecode->instructions[index];
	bool attribute = !strcmp(instruction->name, "LOAD_ATTR");

	if (!attribute && strcmp(instruction->name, "LOAD_METHOD") != 0)
		return false;
	*ret_name = instruction->argument;
	/* 3.12+: the lowest bit says that a method is called. */
	if (attribute && bytecode->code->minor >= 12)
		*ret_name >>= 1;
	return true;
}

void global_uses_find(const struct bytecode *bytecode, struct global_uses *ret_uses)
{
	*ret_uses = (struct global_uses){ .count = 0 };
	for (size_t i = 0; i < bytecode->count; i++) {
		struct variable read[VARIABLES_MAX];
		struct global_use use;

		operands_variables(bytecode->code, &bytecode->instructions[i], false, read);
		if (read[0].storage != 'g')
			continue;
		use.global = use.last = read[0].index;
		for (size_t k = i + 1; k < bytecode->count; k++)
			if (!takes_attribute(bytecode, k, &use.last))
				break;
		add_use(ret_uses, use);
	}
}
