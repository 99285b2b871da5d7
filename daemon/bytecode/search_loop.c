/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/bytecode/search_loop.h"

#include "common/text.h"

#include <string.h>

#define COMPARE_EQUAL 2
/* Instructions between a call that runs a comprehension and the iterator that it gets. */
#define BEFORE_CALL_MAX 6

static size_t index_of(const struct bytecode *bytecode, int offset)
{
	const struct bytecode_instruction *found = bytecode_at(bytecode, offset);

	return found ? (size_t)(found - bytecode->instructions) : bytecode->count;
}

static bool is_equality(const struct bytecode *bytecode, size_t index)
{
	uint32_t argument = bytecode->instructions[index].argument;
	int minor = bytecode->code->minor;

	if (strcmp(bytecode->instructions[index].name, "COMPARE_OP"))
		return false;
	return argument >> (minor >= 13 ? 5 : minor == 12 ? 4 : 0) == COMPARE_EQUAL;
}

static bool reads_variables(const struct bytecode *bytecode, const struct operands *operands)
{
	for (size_t i = operands->begin; i < operands->end; i++) {
		struct variable read[VARIABLES_MAX];

		operands_variables(bytecode->code, &bytecode->instructions[i], false, read);
		if (read[0].storage)
			return true;
	}
	return false;
}

static bool first_is_kept(const struct bytecode *bytecode, size_t index, const struct loop *loop)
{
	struct variable read[VARIABLES_MAX];

	operands_variables(bytecode->code, &bytecode->instructions[index], false, read);
	return !loop_assigns(bytecode, loop, read[0]);
}

bool search_loop_compares(const struct bytecode *bytecode, int offset, const struct loop *loop,
			  unsigned *ret_kept)
{
	size_t index = index_of(bytecode, offset);
	struct operands sides[2];
	bool kept[2];

	if (index == bytecode->count || !is_equality(bytecode, index) ||
	    !operands_of(bytecode, index, &sides[0]) ||
	    !operands_on_top(bytecode, index, 1, &sides[1]) || sides[1].begin < sides[0].begin)
		return false;
	sides[0].end = sides[1].begin;
	for (int side = 0; side < 2; side++)
		kept[side] = loop_keeps(bytecode, &sides[side], loop);
	/* One instruction loads the first operand, and the second or where that comes from. */
	if (sides[1].surplus) {
		kept[0] &= first_is_kept(bytecode, sides[1].begin, loop);
		sides[0].end++;
	}
	if (kept[0] == kept[1] || !reads_variables(bytecode, &sides[kept[1]]))
		return false;
	*ret_kept = kept[1];
	return true;
}

static bool goes_to(const struct bytecode *bytecode, size_t index, int offset)
{
	return index < bytecode->count && bytecode->instructions[index].target == offset;
}

/* Where a conditional jump forwards goes, of versions that count from behind it. */
static size_t forward_target(const struct bytecode *bytecode, size_t index)
{
	const struct bytecode_instruction *jump = &bytecode->instructions[index];
	int64_t argument = jump->argument, target;

	if (bytecode->code->minor >= 11)
		target = jump->end + 2 * argument;
	else
		target = argument * (bytecode->code->minor == 10 ? 2 : 1);
	return target > jump->offset && target < (int64_t)bytecode->code->bytecode_size
		       ? index_of(bytecode, (int)target)
		       : bytecode->count;
}

/* False: the next round; true: something is done. */
static bool decides_round(const struct bytecode *bytecode, size_t index, const struct loop *loop)
{
	const char *name;

	do {
		if (++index >= bytecode->count)
			return false;
		name = bytecode->instructions[index].name;
	} while (!strcmp(name, "TO_BOOL"));
	if (strstr(name, "JUMP") && text_ends_with(name, "IF_FALSE"))
		return goes_to(bytecode, index, loop->start) ||
		       goes_to(bytecode, forward_target(bytecode, index), loop->start);
	if (!strstr(name, "JUMP") || !text_ends_with(name, "IF_TRUE"))
		return false;
	if (index + 1 < bytecode->count &&
	    !strcmp(bytecode->instructions[index + 1].name, "NOT_TAKEN"))
		index++;
	return goes_to(bytecode, index + 1, loop->start);
}

bool search_loop_find(const struct bytecode *bytecode, const struct loop *loop, int *ret_compare)
{
	for (size_t i = index_of(bytecode, loop->start);
	     i < bytecode->count && bytecode->instructions[i].offset < loop->end; i++) {
		int offset = bytecode->instructions[i].offset;
		struct loop innermost;
		unsigned kept;

		if (!is_equality(bytecode, i) || !decides_round(bytecode, i, loop) ||
		    !loop_find(bytecode, offset, &innermost) || innermost.start != loop->start ||
		    !search_loop_compares(bytecode, offset, loop, &kept))
			continue;
		*ret_compare = offset;
		return true;
	}
	return false;
}

static bool is_named(const struct bytecode *bytecode, size_t index, const char *name)
{
	return !strcmp(bytecode->instructions[index].name, name);
}

/* What an inlined comprehension puts between: it saves variables, and makes its result. */
static bool prepares_comprehension(const char *name)
{
	return !strcmp(name, "LOAD_FAST_AND_CLEAR") || !strcmp(name, "SWAP") ||
	       !strcmp(name, "MAKE_CELL") || text_starts_with(name, "BUILD_");
}

int search_loop_begin(const struct bytecode *bytecode, const struct loop *loop)
{
	size_t index = index_of(bytecode, loop->start);

	if (index == bytecode->count)
		return -1;
	while (index && prepares_comprehension(bytecode->instructions[index - 1].name))
		index--;
	return index && !strcmp(bytecode->instructions[index - 1].name, "GET_ITER")
		       ? bytecode->instructions[index - 1].offset
		       : -1;
}

int search_loop_begin_of_call(const struct bytecode *bytecode, int offset)
{
	size_t index = index_of(bytecode, offset);

	for (size_t i = 0; index < bytecode->count && i < BEFORE_CALL_MAX && i < index; i++)
		if (!strcmp(bytecode->instructions[index - i].name, "GET_ITER"))
			return bytecode->instructions[index - i].offset;
	return -1;
}

bool search_loop_keeps(const struct bytecode *bytecode, int begin, const struct loop *around)
{
	size_t index = index_of(bytecode, begin);
	struct operands operands;

	/* Of 3.13's last releases and from 3.15 on a comprehension has prepared itself before it.
	 */
	if (index && index < bytecode->count && is_named(bytecode, index - 1, "SWAP"))
		while (index && (is_named(bytecode, index - 1, "GET_ITER") ||
				 prepares_comprehension(bytecode->instructions[index - 1].name)))
			index--;
	return index < bytecode->count && operands_on_top(bytecode, index, 1, &operands) &&
	       reads_variables(bytecode, &operands) && loop_keeps(bytecode, &operands, around);
}
