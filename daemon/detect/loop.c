/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/detect/loop.h"

#include <string.h>

/* BINARY_OP's arguments: 13 to 25 are the in-place operators (3.11), 26 is a subscript (3.14). */
#define BINARY_OP_INPLACE_FIRST 13
#define BINARY_OP_INPLACE_LAST	25
#define BINARY_OP_SUBSCRIPT	26

bool loop_find(const struct bytecode *bytecode, int offset, struct loop *ret_loop)
{
	struct loop loop = { .start = -1, .end = -1 };

	/* Of all backward jumps around offset the one to the nearest start; then the last to that start. */
	for (size_t i = 0; i < bytecode->count; i++) {
		const struct bytecode_instruction *jump = &bytecode->instructions[i];

		if (jump->target == BYTECODE_NO_TARGET || jump->target > offset || jump->end <= offset ||
		    jump->target < loop.start)
			continue;
		loop = (struct loop){ .start = jump->target, .end = jump->end };
	}
	if (loop.start < 0)
		return false;
	*ret_loop = loop;
	return true;
}

static bool is_any(const char *name, const char *const *names, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (!strcmp(name, names[i]))
			return true;
	return false;
}

#define IS_ANY(name, ...)                                                                          \
	is_any((name), (const char *const[]){ __VA_ARGS__ },                                       \
	       sizeof((const char *const[]){ __VA_ARGS__ }) / sizeof(const char *))

static bool is_subscript(const struct bytecode_instruction *instruction)
{
	return IS_ANY(instruction->name, "BINARY_SUBSCR", "STORE_SUBSCR", "DELETE_SUBSCR",
		      "BINARY_SLICE", "STORE_SLICE") ||
	       (!strcmp(instruction->name, "BINARY_OP") && instruction->argument == BINARY_OP_SUBSCRIPT);
}

static bool is_call(const struct bytecode_instruction *instruction)
{
	return !strncmp(instruction->name, "CALL", 4) || !strcmp(instruction->name, "PRECALL");
}

static bool is_inplace(const struct bytecode_instruction *instruction)
{
	if (!strcmp(instruction->name, "BINARY_OP"))
		return instruction->argument >= BINARY_OP_INPLACE_FIRST &&
		       instruction->argument <= BINARY_OP_INPLACE_LAST;
	return !strncmp(instruction->name, "INPLACE_", 8);
}

/* A variable that an instruction reads or assigns: the kind of its storage and its index there. */
struct variable {
	char storage; /* 'f' fast local, 'n' name, 'g' global, 'd' cell; 0: none */
	uint32_t index;
};

#define VARIABLES_MAX 2 /* 3.13's double instructions have two */

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
static void variables_of(const struct python_code *code, const struct bytecode_instruction *instruction,
			 bool assigned, struct variable variables[VARIABLES_MAX])
{
	const char *verb = assigned ? "STORE_" : "LOAD_", *name = instruction->name, *second;
	size_t verb_length = strlen(verb);

	variables[0] = variables[1] = (struct variable){ 0 };
	second = strstr(name + 1, "_STORE_FAST");
	if (!second && !strncmp(name, "STORE_", 6))
		second = strstr(name + 1, "_LOAD_FAST");
	if (!second && !strncmp(name, "LOAD_FAST", 9))
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

static bool stores_into_object(const struct bytecode_instruction *instruction)
{
	return IS_ANY(instruction->name, "STORE_SUBSCR", "STORE_SLICE", "STORE_ATTR");
}

static bool assigned_in(const struct bytecode *bytecode, const struct loop *loop, struct variable wanted)
{
	for (size_t i = 0; i < bytecode->count; i++) {
		const struct bytecode_instruction *instruction = &bytecode->instructions[i];
		struct variable assigned[VARIABLES_MAX];

		if (instruction->offset < loop->start || instruction->offset >= loop->end)
			continue;
		variables_of(bytecode->code, instruction, true, assigned);
		for (size_t v = 0; v < VARIABLES_MAX; v++)
			if (assigned[v].storage == wanted.storage && assigned[v].index == wanted.index)
				return true;
	}
	return false;
}

static bool operands_constant(const struct bytecode *bytecode, int line, const struct loop *loop)
{
	bool any = false;

	if (loop->end - loop->start > LOOP_BYTES_MAX)
		return false;
	for (size_t i = 0; i < bytecode->count; i++) {
		const struct bytecode_instruction *instruction = &bytecode->instructions[i];
		struct variable read[VARIABLES_MAX];

		if (instruction->offset < loop->start || instruction->offset >= loop->end)
			continue;
		/* An array may be an operand here and be written to there, under another name. */
		if (stores_into_object(instruction))
			return false;
		if (python_code_line(bytecode->code, instruction->offset) != line)
			continue;
		variables_of(bytecode->code, instruction, false, read);
		for (size_t v = 0; v < VARIABLES_MAX; v++) {
			if (!read[v].storage)
				continue;
			if (assigned_in(bytecode, loop, read[v]))
				return false;
			any = true;
		}
	}
	return any;
}

struct loop_line loop_line_at(const struct bytecode *bytecode, int offset, const struct loop *loop)
{
	const struct bytecode_instruction *at = bytecode_at(bytecode, offset);
	struct loop_line result = { 0 };
	int line;

	if (!at)
		return result;
	result.subscript = is_subscript(at);
	result.call = is_call(at);
	line = python_code_line(bytecode->code, offset);
	if (line <= 0)
		return result;
	for (size_t i = 0; i < bytecode->count && !result.accumulates; i++)
		result.accumulates =
			is_inplace(&bytecode->instructions[i]) &&
			python_code_line(bytecode->code, bytecode->instructions[i].offset) == line;
	if (loop)
		result.operands_constant = operands_constant(bytecode, line, loop);
	return result;
}
