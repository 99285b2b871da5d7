/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/bytecode/operands.h"

#include "common/text.h"

#include <string.h>

/* Larger arguments do not occur in code that people write. */
#define VALUES_MAX 255
/* Nor do longer expressions. */
#define INSTRUCTIONS_MAX 512

static char storage_of(const char *suffix)
{
	if (!strncmp(suffix, "FAST", 4))
		return 'f';
	if (!strcmp(suffix, "NAME"))
		return 'n';
	if (!strcmp(suffix, "GLOBAL"))
		return 'g';
	if (!strncmp(suffix, "DEREF", 5))
		return 'd';
	return 0;
}

/*
 * LOAD_FAST, LOAD_FAST_CHECK, LOAD_FAST_BORROW ...: one variable. 3.13's
 * LOAD_FAST_LOAD_FAST, STORE_FAST_LOAD_FAST, STORE_FAST_STORE_FAST: two, in four
 * bits each.
 */
void operands_variables(const struct python_code *code,
			const struct bytecode_instruction *instruction, bool assigned,
			struct variable ret_variables[VARIABLES_MAX])
{
	const char *verb = assigned ? "STORE_" : "LOAD_", *name = instruction->name, *second;
	struct variable *variables = ret_variables;
	size_t verb_length = strlen(verb);

	variables[0] = variables[1] = (struct variable){ 0 };
	second = strstr(name + 1, "_STORE_FAST");
	if (!second && text_starts_with(name, "STORE_"))
		second = strstr(name + 1, "_LOAD_FAST");
	if (!second && text_starts_with(name, "LOAD_FAST"))
		second = strstr(name + 1, "_LOAD_FAST");
	if (second) {
		if (!strncmp(name, verb, verb_length))
			variables[0] = (struct variable){ 'f', instruction->argument >> 4 };
		if (!strncmp(second + 1, verb, verb_length))
			variables[1] = (struct variable){ 'f', instruction->argument & 15 };
		return;
	}
	if (strncmp(name, verb, verb_length))
		return;
	variables[0].storage = storage_of(name + verb_length);
	variables[0].index = instruction->argument;
	/* 3.11+: the lowest bit of LOAD_GLOBAL says "push a NULL too". */
	if (variables[0].storage == 'g' && !assigned && code->minor >= 11)
		variables[0].index >>= 1;
}

/* How an instruction changes the evaluation stack. */
struct effect {
	unsigned pops, pushes;
};

struct fixed_effect {
	const char *name;
	struct effect effect;
};

static const struct fixed_effect fixed_effects[] = {
	{ "BINARY_SLICE", { 3, 1 } },
	{ "COMPARE_OP", { 2, 1 } },
	{ "IS_OP", { 2, 1 } },
	{ "CONTAINS_OP", { 2, 1 } },
	{ "TO_BOOL", { 1, 1 } },
	{ "PUSH_NULL", { 0, 1 } },
	{ "LOAD_METHOD", { 1, 2 } },
	{ "PRECALL", { 0, 0 } },
	{ "KW_NAMES", { 0, 0 } },
	{ "NOP", { 0, 0 } },
	{ "STORE_SUBSCR", { 3, 0 } },
	{ "FORMAT_SIMPLE", { 1, 1 } },
	{ "FORMAT_WITH_SPEC", { 2, 1 } },
	{ "CONVERT_VALUE", { 1, 1 } },
};

/* Those whose argument says how many values they take: pops more than it, pushes one. */
static const struct fixed_effect counted_effects[] = {
	{ "BUILD_TUPLE", { 0, 1 } },         { "BUILD_LIST", { 0, 1 } },
	{ "BUILD_SET", { 0, 1 } },           { "BUILD_STRING", { 0, 1 } },
	{ "BUILD_SLICE", { 0, 1 } },         { "CALL", { 2, 1 } },
	{ "CALL_FUNCTION", { 1, 1 } },       { "CALL_KW", { 3, 1 } },
	{ "CALL_METHOD", { 2, 1 } },         { "CALL_FUNCTION_KW", { 2, 1 } },
	{ "BUILD_CONST_KEY_MAP", { 1, 1 } },
};

static const struct fixed_effect *find_effect(const struct fixed_effect *effects, size_t count,
					      const char *name)
{
	for (size_t i = 0; i < count; i++)
		if (!strcmp(effects[i].name, name))
			return &effects[i];
	return NULL;
}

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

/* The names that CPython did not give yet, or that do something unusual, are refused. */
static bool load_effect(const struct python_code *code,
			const struct bytecode_instruction *instruction, struct effect *ret)
{
	struct variable read[VARIABLES_MAX];
	const char *what = instruction->name + strlen("LOAD_");
	unsigned bit = instruction->argument & 1;

	operands_variables(code, instruction, false, read);
	if (read[1].storage)
		*ret = (struct effect){ 0, 2 };
	else if (!strcmp(what, "ATTR"))
		*ret = (struct effect){ 1, 1 + (code->minor >= 12 ? bit : 0) };
	else if (!strcmp(what, "GLOBAL"))
		*ret = (struct effect){ 0, 1 + (code->minor >= 11 ? bit : 0) };
	else if (read[0].storage || !strcmp(what, "CONST") || !strcmp(what, "SMALL_INT") ||
		 !strcmp(what, "COMMON_CONSTANT") || !strcmp(what, "CLOSURE"))
		*ret = (struct effect){ 0, 1 };
	else
		return false;
	return true;
}

static bool operand_effect_of(const struct python_code *code,
			      const struct bytecode_instruction *instruction, struct effect *ret)
{
	const char *name = instruction->name;
	const struct fixed_effect *found =
		find_effect(fixed_effects, COUNT_OF(fixed_effects), name);

	if (found) {
		*ret = found->effect;
		return true;
	}
	found = find_effect(counted_effects, COUNT_OF(counted_effects), name);
	if (found) {
		if (instruction->argument > VALUES_MAX)
			return false;
		ret->pops = found->effect.pops + instruction->argument;
		ret->pushes = found->effect.pushes;
		return true;
	}
	if (text_starts_with(name, "LOAD_"))
		return load_effect(code, instruction, ret);
	/* To 3.12: with a format on the stack, or none. */
	if (!strcmp(name, "FORMAT_VALUE"))
		*ret = (struct effect){ instruction->argument & 4 ? 2 : 1, 1 };
	else if (text_starts_with(name, "UNARY_"))
		*ret = (struct effect){ 1, 1 };
	else if (text_starts_with(name, "BINARY_") || text_starts_with(name, "INPLACE_"))
		*ret = (struct effect){ 2, 1 };
	else
		return false;
	return true;
}

void operands_read(const struct bytecode *bytecode, const struct operands *operands, size_t i,
		   struct variable ret_variables[VARIABLES_MAX])
{
	operands_variables(bytecode->code, &bytecode->instructions[i], false, ret_variables);
	if (operands->surplus && i == operands->begin)
		ret_variables[0].storage = 0;
}

bool operands_on_top(const struct bytecode *bytecode, size_t index, unsigned count,
		     struct operands *ret)
{
	struct operands operands = { .begin = index, .end = index };
	unsigned needed = count;

	while (needed > 0 && needed <= VALUES_MAX) {
		struct effect effect;
		const struct bytecode_instruction *instruction;

		if (operands.begin == 0 || index - operands.begin >= INSTRUCTIONS_MAX)
			return false;
		instruction = &bytecode->instructions[--operands.begin];
		/* The last statement's end and this one's first value. */
		if (needed == 1 && text_starts_with(instruction->name, "STORE_FAST_LOAD_FAST"))
			break;
		if (!operand_effect_of(bytecode->code, instruction, &effect))
			return false;
		if (effect.pushes > needed) {
			struct variable read[VARIABLES_MAX];

			operands_variables(bytecode->code, instruction, false, read);
			if (!read[1].storage)
				return false;
			operands.surplus = true;
			break;
		}
		needed = needed - effect.pushes + effect.pops;
	}
	if (needed > VALUES_MAX)
		return false;
	*ret = operands;
	return true;
}

bool operands_of(const struct bytecode *bytecode, size_t index, struct operands *ret)
{
	struct effect effect;

	return operand_effect_of(bytecode->code, &bytecode->instructions[index], &effect) &&
	       operands_on_top(bytecode, index, effect.pops, ret);
}
