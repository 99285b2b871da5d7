/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/detect/argument_veto.h"

#include "common/text.h"
#include "daemon/bytecode/stored_variables.h"

#include <string.h>

/* The instruction behind a call, 3.11's CALL behind its PRECALL and what keeps a value passed over.
 */
static size_t behind(const struct bytecode *bytecode, size_t index)
{
	bool precall = text_starts_with(bytecode->instructions[index].name, "PRECALL");

	index++;
	if (precall && index < bytecode->count &&
	    !strcmp(bytecode->instructions[index].name, "CALL"))
		index++;
	while (index < bytecode->count && !strcmp(bytecode->instructions[index].name, "NOP"))
		index++;
	return index;
}

/* Does the loop store into what the result is assigned to? */
static bool result_changes(const struct bytecode *bytecode, const struct stored_variables *stored,
			   const struct bytecode_instruction *next)
{
	struct variable assigned[VARIABLES_MAX];

	operands_variables(bytecode->code, next, true, assigned);
	for (size_t v = 0; v < VARIABLES_MAX; v++)
		if (assigned[v].storage && stored_variables_has(stored, assigned[v]))
			return true;
	return false;
}

static bool operand_changes(const struct bytecode *bytecode, const struct stored_variables *stored,
			    size_t index)
{
	struct operands operands;

	return operands_of(bytecode, index, &operands) &&
	       stored_variables_are_read(stored, bytecode, &operands);
}

/* The last variable that an instruction loads. */
static struct variable loaded_last(const struct bytecode *bytecode, size_t index)
{
	struct variable read[VARIABLES_MAX], last = { 0 };

	operands_variables(bytecode->code, &bytecode->instructions[index], false, read);
	for (size_t v = 0; v < VARIABLES_MAX; v++)
		if (read[v].storage)
			last = read[v];
	return last;
}

/* self.x = f(self.x), in a loop or not: the load of self, behind the call, is at next. */
static bool replaces_attribute(const struct bytecode *bytecode, size_t index, size_t next)
{
	const struct bytecode_instruction *store;
	struct operands operands;
	struct variable owner;

	if (next + 1 >= bytecode->count || !operands_of(bytecode, index, &operands))
		return false;
	store = &bytecode->instructions[next + 1];
	owner = loaded_last(bytecode, next);
	if (!owner.storage || strcmp(store->name, "STORE_ATTR") != 0)
		return false;
	for (size_t i = operands.begin; i + 1 < operands.end; i++) {
		const struct bytecode_instruction *load = &bytecode->instructions[i + 1];
		/* From 3.12 on the lowest bit says whether it is called. */
		uint32_t name = load->argument >> (bytecode->code->minor >= 12 ? 1 : 0);

		if (!strcmp(load->name, "LOAD_ATTR") && name == store->argument &&
		    variable_is(loaded_last(bytecode, i), owner))
			return true;
	}
	return false;
}

static bool result_replaces(const struct bytecode *bytecode, size_t index,
			    const struct bytecode_instruction *next)
{
	struct variable assigned[VARIABLES_MAX], read[VARIABLES_MAX];
	struct operands operands;

	operands_variables(bytecode->code, next, true, assigned);
	if (!assigned[0].storage || !operands_of(bytecode, index, &operands))
		return false;
	for (size_t i = operands.begin; i < operands.end; i++) {
		operands_read(bytecode, &operands, i, read);
		for (size_t v = 0; v < VARIABLES_MAX; v++)
			if (variable_is(read[v], assigned[0]))
				return true;
	}
	return false;
}

/* x[0]: a constant, and the subscript behind it. */
static bool takes_item(const struct bytecode *bytecode, size_t next)
{
	const struct bytecode_instruction *index, *subscript;

	if (next + 1 >= bytecode->count)
		return false;
	index = &bytecode->instructions[next];
	subscript = &bytecode->instructions[next + 1];
	/* 3.15 has -1 among its common constants. */
	return (!strcmp(index->name, "LOAD_CONST") || !strcmp(index->name, "LOAD_SMALL_INT") ||
		!strcmp(index->name, "LOAD_COMMON_CONSTANT")) &&
	       bytecode_is_subscript(subscript);
}

/* Instructions that make an index. */
#define INDEX_MAX 10

/* x[:n], x[::-1][:n], x[:, -n:]: a slice that leaves some out. From 3.14 on a constant one looks
 * like an item. */
static bool takes_slice(const struct bytecode *bytecode, size_t next)
{
	bool sliced = false;
	int above = 0; /* values on the stack above x */

	for (size_t i = next; i < bytecode->count && i < next + INDEX_MAX; i++) {
		const struct bytecode_instruction *instruction = &bytecode->instructions[i];
		const char *name = instruction->name;

		if (!strcmp(name, "BINARY_SLICE")) {
			if (above == 2)
				return true;
			above -= 2;
		} else if (!strcmp(name, "BUILD_SLICE")) {
			/* With a step it may be all of it, turned round. */
			sliced |= instruction->argument == 2;
			above -= (int)instruction->argument - 1;
		} else if (!strcmp(name, "BUILD_TUPLE")) {
			above -= (int)instruction->argument - 1;
		} else if (bytecode_is_subscript(instruction)) {
			if (sliced && above == 1)
				return true;
			above--;
			sliced = false;
		} else if (text_starts_with(name, "LOAD_")) {
			above += strcmp(name, "LOAD_ATTR") != 0;
			above += strstr(name, "_LOAD_") != NULL;
		} else if (strcmp(name, "UNARY_NEGATIVE") != 0) {
			return false;
		}
		if (above < 0)
			return false;
	}
	return false;
}

/* The result is kept in a local variable, of which parts alone are taken. */
static bool takes_parts_of_variable(const struct bytecode *bytecode, size_t next)
{
	struct variable assigned[VARIABLES_MAX], read[VARIABLES_MAX];
	unsigned parts = 0;

	operands_variables(bytecode->code, &bytecode->instructions[next], true, assigned);
	if (assigned[0].storage != 'f' || assigned[1].storage)
		return false;
	for (size_t i = 0; i < bytecode->count; i++) {
		bool is_last;

		operands_variables(bytecode->code, &bytecode->instructions[i], false, read);
		is_last = variable_is(read[1].storage ? read[1] : read[0], assigned[0]);
		if (!is_last && !(read[1].storage && variable_is(read[0], assigned[0])))
			continue;
		/* x[n:], where one instruction loads both. */
		if (!is_last || !(takes_slice(bytecode, i + 1) || takes_item(bytecode, i + 1)))
			return false;
		parts++;
	}
	return parts > 0;
}

static bool takes_part(const struct bytecode *bytecode, size_t next)
{
	return next < bytecode->count &&
	       (takes_item(bytecode, next) || takes_slice(bytecode, next) ||
		takes_parts_of_variable(bytecode, next));
}

/* BINARY_OP's argument 4; to 3.10 an instruction of its own. */
static bool is_product(const struct bytecode_instruction *instruction)
{
	return !strcmp(instruction->name, "BINARY_MATRIX_MULTIPLY") ||
	       (!strcmp(instruction->name, "BINARY_OP") && instruction->argument == 4);
}

/* Instructions that compute the other operand. */
#define OTHER_MAX 12

static bool is_multiplied(const struct bytecode *bytecode, size_t next)
{
	for (size_t i = next; i < bytecode->count && i < next + OTHER_MAX; i++) {
		struct operands right;

		if (is_product(&bytecode->instructions[i]))
			return i == next || (operands_on_top(bytecode, i, 1, &right) &&
					     right.begin == next && !right.surplus);
	}
	return false;
}

struct argument_veto argument_veto_find(const struct bytecode *bytecode,
					const struct call_site *site)
{
	const struct bytecode_instruction *instruction = bytecode_at(bytecode, site->offset);
	struct argument_veto veto = { 0 };
	struct stored_variables stored = { .count = 0 };
	bool precall;
	size_t index, next, taking;

	if (!instruction)
		return veto;
	precall = text_starts_with(instruction->name, "PRECALL");
	index = (size_t)(instruction - bytecode->instructions);
	next = behind(bytecode, index);
	if (next < bytecode->count && (precall || text_starts_with(instruction->name, "CALL")))
		veto.dropped = !strcmp(bytecode->instructions[next].name, "POP_TOP");
	/* 3.11's PRECALL takes no operands itself. */
	taking = precall && index + 1 < bytecode->count ? index + 1 : index;
	veto.takes_item = takes_item(bytecode, next);
	veto.takes_part = takes_part(bytecode, next);
	veto.multiplied = is_multiplied(bytecode, next);
	veto.result_replaces = replaces_attribute(bytecode, taking, next);
	if (!site->in_loop)
		return veto;
	stored_variables_find(&stored, bytecode, site->loop.start, site->loop.end, false);
	if (next < bytecode->count) {
		veto.result_changes =
			result_changes(bytecode, &stored, &bytecode->instructions[next]);
		veto.result_replaces |=
			result_replaces(bytecode, taking, &bytecode->instructions[next]);
	}
	veto.operand_changes = operand_changes(bytecode, &stored, taking);
	return veto;
}
