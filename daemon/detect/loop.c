/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/detect/loop.h"

#include <limits.h>
#include <string.h>

/* BINARY_OP's arguments: 13 to 25 are the in-place operators (3.11), 26 is a subscript (3.14). */
#define BINARY_OP_INPLACE_FIRST 13
#define BINARY_OP_INPLACE_LAST  25
#define BINARY_OP_SUBSCRIPT     26

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

/*
 * From 3.11 on exception handlers stand at the end of the code, behind
 * everything that is reached without an exception, and jump back to where the
 * program goes on: that is no loop. INT_MAX: there are none.
 */
static int handlers_start(const struct bytecode *bytecode)
{
	for (size_t i = 0; i < bytecode->count && bytecode->code->minor >= 11; i++)
		if (IS_ANY(bytecode->instructions[i].name, "PUSH_EXC_INFO", "CLEANUP_THROW"))
			return bytecode->instructions[i].offset;
	return INT_MAX;
}

bool loop_find(const struct bytecode *bytecode, int offset, struct loop *ret_loop)
{
	struct loop loop = { .start = -1, .end = -1 };
	int handlers = handlers_start(bytecode);

	/* Of all backward jumps around offset the one to the nearest start; then the last to that
	 * start. */
	for (size_t i = 0; i < bytecode->count; i++) {
		const struct bytecode_instruction *jump = &bytecode->instructions[i];

		if (jump->target == BYTECODE_NO_TARGET || jump->target > offset ||
		    jump->end <= offset || jump->target < loop.start ||
		    (jump->offset >= handlers && jump->target < handlers))
			continue;
		loop = (struct loop){ .start = jump->target, .end = jump->end };
	}
	if (loop.start < 0)
		return false;
	*ret_loop = loop;
	return true;
}

static bool is_subscript(const struct bytecode_instruction *instruction)
{
	return IS_ANY(instruction->name, "BINARY_SUBSCR", "STORE_SUBSCR", "DELETE_SUBSCR",
		      "BINARY_SLICE", "STORE_SLICE") ||
	       (!strcmp(instruction->name, "BINARY_OP") &&
		instruction->argument == BINARY_OP_SUBSCRIPT);
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
static void variables_of(const struct python_code *code,
			 const struct bytecode_instruction *instruction, bool assigned,
			 struct variable variables[VARIABLES_MAX])
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

static bool assigned_in(const struct bytecode *bytecode, const struct loop *loop,
			struct variable wanted)
{
	for (size_t i = 0; i < bytecode->count; i++) {
		const struct bytecode_instruction *instruction = &bytecode->instructions[i];
		struct variable assigned[VARIABLES_MAX];

		if (instruction->offset < loop->start || instruction->offset >= loop->end)
			continue;
		variables_of(bytecode->code, instruction, true, assigned);
		for (size_t v = 0; v < VARIABLES_MAX; v++)
			if (assigned[v].storage == wanted.storage &&
			    assigned[v].index == wanted.index)
				return true;
	}
	return false;
}

static bool names_constant(const struct bytecode *bytecode, int line, const struct loop *loop)
{
	bool any = false;

	for (size_t i = 0; i < bytecode->count; i++) {
		const struct bytecode_instruction *instruction = &bytecode->instructions[i];
		struct variable read[VARIABLES_MAX];

		if (instruction->offset < loop->start || instruction->offset >= loop->end)
			continue;
		variables_of(bytecode->code, instruction, false, read);
		if ((!read[0].storage && !read[1].storage) ||
		    python_code_line(bytecode->code, instruction->offset) != line)
			continue;
		for (size_t v = 0; v < VARIABLES_MAX; v++)
			if (read[v].storage && assigned_in(bytecode, loop, read[v]))
				return false;
		any = true;
	}
	return any;
}

static bool starts_with(const char *text, const char *prefix)
{
	return !strncmp(text, prefix, strlen(prefix));
}

/* How many values an instruction takes from the stack to push one; -1: it is not of that kind. */
static int operand_count(const struct bytecode_instruction *instruction)
{
	const char *name = instruction->name;

	if (IS_ANY(name, "LOAD_ATTR", "LOAD_METHOD") || starts_with(name, "UNARY_"))
		return 1;
	if (starts_with(name, "LOAD_"))
		return strstr(name + 1, "_LOAD_") ? -1 : 0;
	if (IS_ANY(name, "BUILD_TUPLE", "BUILD_SLICE"))
		return instruction->argument < 16 ? (int)instruction->argument : -1;
	return starts_with(name, "BINARY_") && !strstr(name, "SLICE") ? 2 : -1;
}

/*
 * Walks back over the instructions that computed the index of a subscript: does
 * one of them read a name that the loop assigns? The walk ends where it meets
 * anything unusual, such as a call.
 */
static bool index_varies(const struct bytecode *bytecode, size_t subscript, const struct loop *loop)
{
	bool slice = strstr(bytecode->instructions[subscript].name, "_SLICE") != NULL;
	int needed = slice ? 2 : 1; /* values still to be accounted for */

	for (size_t i = subscript; i > 0 && needed > 0; i--) {
		const struct bytecode_instruction *instruction = &bytecode->instructions[i - 1];
		int operands = operand_count(instruction);
		struct variable read[VARIABLES_MAX];

		/* Between index and subscript of x[i] += ... both are duplicated. */
		if (IS_ANY(instruction->name, "COPY", "DUP_TOP_TWO"))
			continue;
		variables_of(bytecode->code, instruction, false, read);
		/* Of a double load the second is the value nearer to the top. */
		for (int v = VARIABLES_MAX - 1; v >= 0 && needed > 0; v--) {
			if (!read[v].storage)
				continue;
			if (assigned_in(bytecode, loop, read[v]))
				return true;
			needed -= operands < 0;
		}
		if (operands < 0 && !read[0].storage && !read[1].storage)
			return false;
		needed += operands < 0 ? 0 : operands - 1;
	}
	return false;
}

static bool takes_elements(const struct bytecode *bytecode, int line, const struct loop *loop)
{
	for (size_t i = 0; i < bytecode->count; i++) {
		const struct bytecode_instruction *instruction = &bytecode->instructions[i];

		if (instruction->offset >= loop->start && instruction->offset < loop->end &&
		    is_subscript(instruction) &&
		    python_code_line(bytecode->code, instruction->offset) == line &&
		    index_varies(bytecode, i, loop))
			return true;
	}
	return false;
}

static bool stores_into_objects(const struct bytecode *bytecode, const struct loop *loop)
{
	for (size_t i = 0; i < bytecode->count; i++) {
		const struct bytecode_instruction *instruction = &bytecode->instructions[i];

		if (instruction->offset >= loop->start && instruction->offset < loop->end &&
		    IS_ANY(instruction->name, "STORE_SUBSCR", "STORE_SLICE", "STORE_ATTR"))
			return true;
	}
	return false;
}

/* Is what this in-place operator computes put into a variable or an attribute? */
static bool is_accumulated(const struct bytecode *bytecode, size_t index)
{
	for (size_t i = index + 1; i < bytecode->count; i++) {
		const struct bytecode_instruction *instruction = &bytecode->instructions[i];
		struct variable assigned[VARIABLES_MAX];

		/* x.a += ... and x[i] += ... turn the stack round before they store. */
		if (!strcmp(instruction->name, "SWAP") || !strncmp(instruction->name, "ROT_", 4))
			continue;
		variables_of(bytecode->code, instruction, true, assigned);
		return assigned[0].storage || !strcmp(instruction->name, "STORE_ATTR");
	}
	return false;
}

static void look_at_line(const struct bytecode *bytecode, int line, struct loop_line *result)
{
	for (size_t i = 0; i < bytecode->count; i++) {
		const struct bytecode_instruction *instruction = &bytecode->instructions[i];
		bool call = !result->line_calls && is_call(instruction);
		bool accumulated = !result->accumulates && is_inplace(instruction) &&
				   is_accumulated(bytecode, i);

		/* The line last: it takes longest to find. */
		if ((!call && !accumulated) ||
		    python_code_line(bytecode->code, instruction->offset) != line)
			continue;
		result->line_calls |= call;
		result->accumulates |= accumulated;
	}
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
	look_at_line(bytecode, line, &result);
	if (!loop || loop->end - loop->start > LOOP_BYTES_MAX)
		return result;
	result.elementwise = takes_elements(bytecode, line, loop);
	result.names_constant = names_constant(bytecode, line, loop);
	result.operands_constant = result.names_constant && !stores_into_objects(bytecode, loop);
	return result;
}
