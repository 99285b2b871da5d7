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
		if (variable_is(items->variables[i], variable))
			return true;
	return false;
}

/* x[i], x[i:j] */
static bool finds(const struct bytecode_instruction *instruction)
{
	return bytecode_is_subscript(instruction) ||
	       text_starts_with(instruction->name, "BINARY_SLICE");
}

/* Of the instruction that takes them: 3.11's PRECALL has a CALL behind it that does. */
static bool operands_at(const struct bytecode *bytecode, int offset, struct operands *ret)
{
	const struct bytecode_instruction *instruction = bytecode_at(bytecode, offset);
	size_t index;

	if (!instruction)
		return false;
	index = (size_t)(instruction - bytecode->instructions);
	if (text_starts_with(instruction->name, "PRECALL") && index + 1 < bytecode->count)
		index++;
	return operands_of(bytecode, index, ret);
}

bool loop_keeps_receiver(const struct bytecode *bytecode, int offset, const struct loop *loop)
{
	struct variable read[VARIABLES_MAX];
	struct operands operands;

	if (!operands_at(bytecode, offset, &operands) || operands.begin >= operands.end)
		return false;
	operands_variables(bytecode->code, &bytecode->instructions[operands.begin], false, read);
	return read[operands.surplus].storage &&
	       !loop_assigns(bytecode, loop, read[operands.surplus]);
}

bool loop_item_is_used(const struct bytecode *bytecode, int offset, const struct loop *loop)
{
	const struct bytecode_instruction *begin = bytecode_at(bytecode, loop->start);
	struct items items = { .count = 0 };
	struct operands operands;
	bool used = false;

	if (!begin || strcmp(begin->name, "FOR_ITER") != 0 ||
	    !operands_at(bytecode, offset, &operands))
		return false;
	find_items(bytecode, (size_t)(begin - bytecode->instructions), &items);
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

/* Of a statement: [begin, store), and what is assigned. */
struct statement {
	size_t begin, store;
	struct variable assigned;
};

static struct variable assigned_by(const struct bytecode *bytecode, size_t index)
{
	struct variable assigned[VARIABLES_MAX];

	operands_variables(bytecode->code, &bytecode->instructions[index], true, assigned);
	return assigned[0];
}

static bool ends_statement(const char *name)
{
	return text_starts_with(name, "STORE_") || text_starts_with(name, "POP_") ||
	       text_starts_with(name, "JUMP_") || text_starts_with(name, "RETURN_") ||
	       text_starts_with(name, "UNPACK_") || !strcmp(name, "FOR_ITER");
}

/* x = ..., without jumps. */
static bool find_statement(const struct bytecode *bytecode, size_t index, struct statement *ret)
{
	size_t begin = index, store = index + 1;

	while (begin > 0 && !ends_statement(bytecode->instructions[begin - 1].name))
		begin--;
	while (store < bytecode->count && !ends_statement(bytecode->instructions[store].name))
		store++;
	if (store == bytecode->count)
		return false;
	*ret = (struct statement){ begin, store, assigned_by(bytecode, store) };
	return ret->assigned.storage != 0;
}

/* total = total + ..., total += ...; and with a minus. */
static bool adds_up(const struct bytecode *bytecode, const struct statement *statement)
{
	const struct bytecode_instruction *last = &bytecode->instructions[statement->store - 1];
	struct variable read[VARIABLES_MAX];
	struct operands both, right;
	bool adds = text_starts_with(last->name, "BINARY_ADD") ||
		    text_starts_with(last->name, "BINARY_SUBTRACT") ||
		    text_starts_with(last->name, "INPLACE_ADD") ||
		    text_starts_with(last->name, "INPLACE_SUBTRACT") ||
		    (!strcmp(last->name, "BINARY_OP") &&
		     (last->argument == 0 || last->argument == 10 || last->argument == 13 ||
		      last->argument == 23));

	if (!adds || !operands_of(bytecode, statement->store - 1, &both) ||
	    !operands_on_top(bytecode, statement->store - 1, 1, &right))
		return false;
	operands_variables(bytecode->code, &bytecode->instructions[both.begin], false, read);
	/* A double load is both operands at once. */
	return right.begin <= both.begin + 1 && variable_is(read[0], statement->assigned);
}

/* Assigned in the loop, and not before it is read. */
static bool is_carried(const struct bytecode *bytecode, const struct loop *loop, size_t read,
		       struct variable variable)
{
	for (size_t i = 0; i < read; i++) {
		struct variable assigned[VARIABLES_MAX];

		if (bytecode->instructions[i].offset < loop->start)
			continue;
		operands_variables(bytecode->code, &bytecode->instructions[i], true, assigned);
		for (size_t v = 0; v < VARIABLES_MAX; v++)
			if (variable_is(assigned[v], variable))
				return false;
	}
	return loop_assigns(bytecode, loop, variable);
}

bool loop_item_recurs(const struct bytecode *bytecode, int offset, const struct loop *loop)
{
	const struct bytecode_instruction *instruction = bytecode_at(bytecode, offset);
	struct statement statement;

	if (!instruction ||
	    !find_statement(bytecode, (size_t)(instruction - bytecode->instructions), &statement) ||
	    adds_up(bytecode, &statement))
		return false;
	for (size_t i = statement.begin; i < statement.store; i++) {
		struct variable read[VARIABLES_MAX];

		operands_variables(bytecode->code, &bytecode->instructions[i], false, read);
		for (size_t v = 0; v < VARIABLES_MAX; v++)
			if (read[v].storage && is_carried(bytecode, loop, i, read[v]))
				return true;
	}
	return false;
}
