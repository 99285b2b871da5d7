/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/bytecode/parameter_use.h"

#include "common/text.h"
#include "daemon/bytecode/operands.h"

#include <string.h>

static const struct parameter_use whole = { .whole = true };

static bool is_named(const struct bytecode *bytecode, size_t index, const char *name)
{
	return index < bytecode->count && !strcmp(bytecode->instructions[index].name, name);
}

/* super(), locals(): they look at the frame's variables without naming them. */
static bool calls_without_arguments(const struct bytecode *bytecode, size_t index)
{
	const struct bytecode_instruction *next = &bytecode->instructions[index + 1];

	return is_named(bytecode, index, "LOAD_GLOBAL") && index + 1 < bytecode->count &&
	       (text_starts_with(next->name, "CALL") || !strcmp(next->name, "PRECALL")) &&
	       !next->argument;
}

/* Inner functions may have it: captured here, or where these variables come from. */
static bool shares_variables(const struct bytecode *bytecode, size_t index)
{
	return is_named(bytecode, index, "MAKE_CELL") ||
	       is_named(bytecode, index, "LOAD_CLOSURE") ||
	       is_named(bytecode, index, "COPY_FREE_VARS");
}

static bool is_it(struct variable variable, unsigned parameter)
{
	return variable.storage == 'f' && variable.index == parameter;
}

/* False: the instruction does something else with what was loaded before it. */
static bool add_attribute(const struct bytecode *bytecode, size_t index, struct parameter_use *use)
{
	uint32_t name;

	if (!is_named(bytecode, index, "LOAD_ATTR") && !is_named(bytecode, index, "LOAD_METHOD"))
		return false;
	name = bytecode->instructions[index].argument;
	/* 3.12+: the lowest bit says that a method is called. */
	if (bytecode->code->minor >= 12)
		name >>= 1;
	for (uint32_t i = 0; i < use->count; i++)
		if (use->names[i] == name)
			return true;
	if (use->count == PARAMETER_ATTRIBUTES_MAX)
		return false;
	use->names[use->count++] = name;
	return true;
}

struct parameter_use parameter_use_of(const struct bytecode *bytecode, unsigned parameter)
{
	struct parameter_use use = { 0 };

	if (!bytecode->count)
		return whole;
	for (size_t i = 0; i < bytecode->count; i++) {
		const struct bytecode_instruction *instruction = &bytecode->instructions[i];
		struct variable read[VARIABLES_MAX], assigned[VARIABLES_MAX];
		bool on_top;

		if (calls_without_arguments(bytecode, i) || shares_variables(bytecode, i))
			return whole;
		if (!strstr(instruction->name, "_FAST"))
			continue;
		if (text_starts_with(instruction->name, "DELETE_FAST")) {
			if (instruction->argument == parameter)
				return whole;
			continue;
		}
		operands_variables(bytecode->code, instruction, false, read);
		operands_variables(bytecode->code, instruction, true, assigned);
		/* Of two that are loaded the second one is what the next instruction takes. */
		on_top = is_it(read[1], parameter) ||
			 (is_it(read[0], parameter) && !read[1].storage);
		if (is_it(assigned[0], parameter) || is_it(assigned[1], parameter) ||
		    (is_it(read[0], parameter) && read[1].storage) ||
		    (on_top && !add_attribute(bytecode, i + 1, &use)))
			return whole;
	}
	return use;
}
