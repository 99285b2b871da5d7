/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/bytecode/search_loop.h"

#include "common/text.h"

#include <string.h>

/* Python's numbers of comparisons. */
enum comparison {
	COMPARE_LESS = 0,
	COMPARE_LESS_EQUAL = 1,
	COMPARE_EQUAL = 2,
	COMPARE_GREATER = 4,
	COMPARE_GREATER_EQUAL = 5,
	COMPARE_OTHER,
};

/* low <= x < high keeps x in between, by two instructions. */
#define CHAIN_LENGTH 2
/* Instructions between a call that runs a comprehension and the iterator that it gets. */
#define BEFORE_CALL_MAX 6

static size_t index_of(const struct bytecode *bytecode, int offset)
{
	const struct bytecode_instruction *found = bytecode_at(bytecode, offset);

	return found ? (size_t)(found - bytecode->instructions) : bytecode->count;
}

static enum comparison comparison_at(const struct bytecode *bytecode, size_t index)
{
	uint32_t argument = bytecode->instructions[index].argument;
	int minor = bytecode->code->minor;

	if (strcmp(bytecode->instructions[index].name, "COMPARE_OP"))
		return COMPARE_OTHER;
	argument >>= minor >= 13 ? 5 : minor == 12 ? 4 : 0;
	return argument <= COMPARE_GREATER_EQUAL && argument != 3 ? (enum comparison)argument
								  : COMPARE_OTHER;
}

static bool is_equality(const struct bytecode *bytecode, size_t index)
{
	return comparison_at(bytecode, index) == COMPARE_EQUAL;
}

static bool is_order(const struct bytecode *bytecode, size_t index)
{
	enum comparison comparison = comparison_at(bytecode, index);

	return comparison != COMPARE_EQUAL && comparison != COMPARE_OTHER;
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

static bool is_named(const struct bytecode *bytecode, size_t index, const char *name)
{
	return !strcmp(bytecode->instructions[index].name, name);
}

/* The first comparison of low <= x < high: where the second one's operand was not kept yet. */
static size_t before_chain(const struct bytecode *bytecode, size_t index)
{
	if (index < CHAIN_LENGTH)
		return index;
	if ((is_named(bytecode, index - 2, "SWAP") && is_named(bytecode, index - 1, "COPY")) ||
	    (is_named(bytecode, index - 2, "DUP_TOP") &&
	     is_named(bytecode, index - 1, "ROT_THREE")))
		return index - CHAIN_LENGTH;
	return index;
}

/* Both sides, and which of them is the same in all rounds. False: none, both, or not known. */
static bool find_sides(const struct bytecode *bytecode, size_t index, const struct loop *loop,
		       struct operands sides[2], unsigned *ret_kept)
{
	size_t behind = before_chain(bytecode, index);
	bool kept[2];

	if (!operands_on_top(bytecode, behind, 2, &sides[0]) ||
	    !operands_on_top(bytecode, behind, 1, &sides[1]) || sides[1].begin < sides[0].begin)
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

bool search_loop_compares(const struct bytecode *bytecode, int offset, const struct loop *loop,
			  unsigned *ret_kept)
{
	size_t index = index_of(bytecode, offset);
	struct operands sides[2];

	return index < bytecode->count && is_equality(bytecode, index) &&
	       find_sides(bytecode, index, loop, sides, ret_kept);
}

/* x, x.start, x["start"]: what a list can be sorted by. */
static bool is_plain(const struct bytecode *bytecode, const struct operands *operands)
{
	for (size_t i = operands->begin; i < operands->end; i++) {
		const struct bytecode_instruction *instruction = &bytecode->instructions[i];

		if (!text_starts_with(instruction->name, "LOAD_") &&
		    !bytecode_is_subscript(instruction))
			return false;
	}
	return true;
}

bool search_loop_indexes(const struct bytecode *bytecode, size_t subscript, const struct loop *loop,
			 const struct loop *around)
{
	struct variable read[VARIABLES_MAX];
	struct operands both, index;

	if (!operands_of(bytecode, subscript, &both) ||
	    !operands_on_top(bytecode, subscript, 1, &index) || both.surplus)
		return false;
	/* One instruction loads x and j, of x[j] or x[j + 1]. */
	if (index.surplus && index.begin == both.begin) {
		operands_variables(bytecode->code, &bytecode->instructions[index.begin], false,
				   read);
		return loop_assigns(bytecode, loop, read[1]) &&
		       !loop_assigns(bytecode, around, read[0]);
	}
	if (index.surplus || index.begin <= both.begin)
		return false;
	both.end = index.begin;
	return !loop_keeps(bytecode, &index, loop) && reads_variables(bytecode, &both) &&
	       loop_keeps(bytecode, &both, around);
}

/* x[j], x[j].key */
static bool is_indexed_in(const struct bytecode *bytecode, const struct operands *side,
			  const struct loop *loop, const struct loop *around)
{
	for (size_t i = side->begin; i < side->end; i++)
		if (bytecode_is_subscript(&bytecode->instructions[i]))
			return search_loop_indexes(bytecode, i, loop, around);
	return false;
}

static bool goes_to(const struct bytecode *bytecode, size_t index, int offset)
{
	return index < bytecode->count && bytecode->instructions[index].target == offset;
}

/* Where a jump forwards goes. */
static size_t forward_target(const struct bytecode *bytecode, size_t index)
{
	const struct bytecode_instruction *jump = &bytecode->instructions[index];
	int64_t argument = jump->argument, target;

	if (bytecode->code->minor >= 11)
		target = jump->end + 2 * argument;
	else if (!strcmp(jump->name, "JUMP_FORWARD"))
		target = jump->end + argument * (bytecode->code->minor == 10 ? 2 : 1);
	else
		target = argument * (bytecode->code->minor == 10 ? 2 : 1);
	return target > jump->offset && target < (int64_t)bytecode->code->bytecode_size
		       ? index_of(bytecode, (int)target)
		       : bytecode->count;
}

/* There the next round begins, once what a chain of comparisons has kept is dropped. */
static bool leads_to_next(const struct bytecode *bytecode, size_t index, const struct loop *loop)
{
	while (index < bytecode->count &&
	       (is_named(bytecode, index, "POP_TOP") || is_named(bytecode, index, "ROT_TWO") ||
		is_named(bytecode, index, "SWAP")))
		index++;
	if (index < bytecode->count && is_named(bytecode, index, "JUMP_FORWARD"))
		index = forward_target(bytecode, index);
	return goes_to(bytecode, index, loop->start);
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
	/* 3.6 keeps what a chain has come to, and asks that behind it. */
	if (strstr(name, "JUMP") &&
	    (text_ends_with(name, "IF_FALSE") || text_ends_with(name, "IF_FALSE_OR_POP")))
		return goes_to(bytecode, index, loop->start) ||
		       leads_to_next(bytecode, forward_target(bytecode, index), loop);
	if (!strstr(name, "JUMP") || !text_ends_with(name, "IF_TRUE"))
		return false;
	if (index + 1 < bytecode->count && is_named(bytecode, index + 1, "NOT_TAKEN"))
		index++;
	return goes_to(bytecode, index + 1, loop->start);
}

/* What its items are sorted by may be what it stores. */
static bool stores_into_objects(const struct bytecode *bytecode, const struct loop *loop)
{
	for (size_t i = index_of(bytecode, loop->start);
	     i < bytecode->count && bytecode->instructions[i].offset < loop->end; i++)
		if (is_named(bytecode, i, "STORE_ATTR") || is_named(bytecode, i, "STORE_SUBSCR"))
			return true;
	return false;
}

static bool find_comparison(const struct bytecode *bytecode, const struct loop *loop,
			    const struct loop *around, bool ordered, struct search_loop *ret)
{
	for (size_t i = index_of(bytecode, loop->start);
	     i < bytecode->count && bytecode->instructions[i].offset < loop->end; i++) {
		int offset = bytecode->instructions[i].offset;
		struct operands sides[2];
		struct loop innermost;
		unsigned kept;

		if (!(ordered ? is_order(bytecode, i) : is_equality(bytecode, i)) ||
		    !decides_round(bytecode, i, loop) || !loop_find(bytecode, offset, &innermost) ||
		    innermost.start != loop->start ||
		    !find_sides(bytecode, i, loop, sides, &kept) ||
		    (ordered && !is_plain(bytecode, &sides[!kept])))
			continue;
		*ret = (struct search_loop){
			.compare = offset,
			.ordered = ordered,
			.indexed_same =
				around && is_indexed_in(bytecode, &sides[!kept], loop, around),
		};
		return true;
	}
	return false;
}

bool search_loop_find(const struct bytecode *bytecode, const struct loop *loop,
		      const struct loop *around, struct search_loop *ret)
{
	return find_comparison(bytecode, loop, around, false, ret) ||
	       (!stores_into_objects(bytecode, loop) &&
		find_comparison(bytecode, loop, around, true, ret));
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
