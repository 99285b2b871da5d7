/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/bytecode/loop.h"

#include "daemon/bytecode/operands.h"

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

bool loop_is_call(const struct bytecode_instruction *instruction)
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

bool loop_assigns(const struct bytecode *bytecode, const struct loop *loop, struct variable wanted)
{
	for (size_t i = 0; i < bytecode->count; i++) {
		const struct bytecode_instruction *instruction = &bytecode->instructions[i];
		struct variable assigned[VARIABLES_MAX];

		if (instruction->offset < loop->start || instruction->offset >= loop->end)
			continue;
		operands_variables(bytecode->code, instruction, true, assigned);
		for (size_t v = 0; v < VARIABLES_MAX; v++)
			if (assigned[v].storage == wanted.storage &&
			    assigned[v].index == wanted.index)
				return true;
	}
	return false;
}

bool loop_keeps(const struct bytecode *bytecode, const struct operands *operands,
		const struct loop *loop)
{
	for (size_t i = operands->begin; i < operands->end; i++) {
		struct variable read[VARIABLES_MAX];

		if (loop_is_call(&bytecode->instructions[i]))
			return false;
		operands_variables(bytecode->code, &bytecode->instructions[i], false, read);
		for (size_t v = i == operands->begin && operands->surplus; v < VARIABLES_MAX; v++)
			if (read[v].storage && loop_assigns(bytecode, loop, read[v]))
				return false;
	}
	return true;
}

/*
 * Does any of an instruction's variables, from the given one on, change in the
 * loop? Counts those it reads.
 */
static bool reads_assigned(const struct bytecode *bytecode, size_t index, size_t from,
			   const struct loop *loop, unsigned *reads)
{
	struct variable read[VARIABLES_MAX];

	operands_variables(bytecode->code, &bytecode->instructions[index], false, read);
	for (size_t v = from; v < VARIABLES_MAX; v++) {
		if (!read[v].storage)
			continue;
		(*reads)++;
		if (loop_assigns(bytecode, loop, read[v]))
			return true;
	}
	return false;
}

static bool line_constant(const struct bytecode *bytecode, int line, const struct loop *loop)
{
	unsigned reads = 0;

	for (size_t i = 0; i < bytecode->count; i++) {
		const struct bytecode_instruction *instruction = &bytecode->instructions[i];

		if (instruction->offset >= loop->start && instruction->offset < loop->end &&
		    python_code_line(bytecode->code, instruction->offset) == line &&
		    reads_assigned(bytecode, i, 0, loop, &reads))
			return false;
	}
	return reads > 0;
}

/*
 * Of the instruction's own operands, where they can be told, as other parts of
 * the line may well change: y[i] = x.dot(x). Else of the whole line.
 */
static bool names_constant(const struct bytecode *bytecode, size_t index, int line,
			   const struct loop *loop)
{
	struct operands operands;
	unsigned reads = 0;

	/* 3.11's PRECALL takes no operands itself: the CALL behind it does. */
	if (!strcmp(bytecode->instructions[index].name, "PRECALL") && index + 1 < bytecode->count)
		index++;
	if (!operands_of(bytecode, index, &operands))
		return line_constant(bytecode, line, loop);
	for (size_t i = operands.begin; i < operands.end; i++)
		if (reads_assigned(bytecode, i, i == operands.begin && operands.surplus, loop,
				   &reads))
			return false;
	return reads > 0;
}

/*
 * Does the index of a subscript read a name that the loop assigns? What only
 * says where a slice begins or ends does not count: x[i, 0:n] takes a row, and
 * x[:, :n] takes no elements at all.
 */
static bool index_varies(const struct bytecode *bytecode, size_t subscript, const struct loop *loop)
{
	struct operands index, slice;
	size_t end = subscript;
	unsigned reads = 0;

	if (strstr(bytecode->instructions[subscript].name, "_SLICE"))
		return false;
	/* Between index and subscript of x[i] += ... both are duplicated, then turned round. */
	while (end > 0 && IS_ANY(bytecode->instructions[end - 1].name, "COPY", "DUP_TOP_TWO"))
		end--;
	if (!operands_on_top(bytecode, end, 1, &index))
		return false;
	while (end > index.begin) {
		end--;
		if (!strcmp(bytecode->instructions[end].name, "BUILD_SLICE")) {
			if (!operands_of(bytecode, end, &slice) || slice.surplus)
				return false;
			end = slice.begin;
		} else if (reads_assigned(bytecode, end, end == index.begin && index.surplus, loop,
					  &reads)) {
			return true;
		}
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

/* Two elements or more are read, and two or more are written: x[i], x[j] = x[j], x[i]. */
static bool exchanges(const struct bytecode *bytecode, int line, const struct loop *loop)
{
	unsigned reads = 0, stores = 0;

	for (size_t i = 0; i < bytecode->count; i++) {
		const struct bytecode_instruction *instruction = &bytecode->instructions[i];

		if (instruction->offset < loop->start || instruction->offset >= loop->end ||
		    !is_subscript(instruction) ||
		    python_code_line(bytecode->code, instruction->offset) != line ||
		    !index_varies(bytecode, i, loop))
			continue;
		if (!strcmp(instruction->name, "STORE_SUBSCR"))
			stores++;
		else
			reads++;
	}
	return reads >= 2 && stores >= 2;
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
		operands_variables(bytecode->code, instruction, true, assigned);
		return assigned[0].storage || !strcmp(instruction->name, "STORE_ATTR");
	}
	return false;
}

static void look_at_line(const struct bytecode *bytecode, int line, struct loop_line *result)
{
	for (size_t i = 0; i < bytecode->count; i++) {
		const struct bytecode_instruction *instruction = &bytecode->instructions[i];
		bool call = !result->line_calls && loop_is_call(instruction);
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
	result.call = loop_is_call(at);
	line = python_code_line(bytecode->code, offset);
	if (line <= 0)
		return result;
	look_at_line(bytecode, line, &result);
	if (!loop || loop->end - loop->start > LOOP_BYTES_MAX)
		return result;
	result.elementwise = takes_elements(bytecode, line, loop);
	result.exchanges = exchanges(bytecode, line, loop);
	result.names_constant =
		names_constant(bytecode, (size_t)(at - bytecode->instructions), line, loop);
	result.operands_constant = result.names_constant && !stores_into_objects(bytecode, loop);
	return result;
}
