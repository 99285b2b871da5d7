/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/bytecode/common_subexpression.h"

#include "common/text.h"
#include "daemon/bytecode/loop.h"
#include "daemon/bytecode/stored_variables.h"

#include <limits.h>
#include <string.h>

/* Longer expressions, and functions, are not looked into. */
#define WIDTH_MAX 128
#define BACK_MAX  1024

/*
 * One value or operation of an expression. 3.13's double instructions are two, and the several
 * ways to load a local variable are one.
 */
struct token {
	const char *name; /* NULL: a variable */
	uint32_t argument;
	struct variable variable;
};

/* An expression: the instructions [begin, last], without the first one's first part if late. */
struct range {
	size_t begin, last;
	bool late;
};

/* Those of an instruction that compute something; what is stored is none. Returns how many. */
static size_t tokens_of(const struct bytecode *bytecode, size_t index, struct token ret[2])
{
	const struct bytecode_instruction *instruction = &bytecode->instructions[index];
	struct variable read[VARIABLES_MAX];
	size_t count = 0;

	if (!strcmp(instruction->name, "NOP"))
		return 0;
	operands_variables(bytecode->code, instruction, false, read);
	for (size_t v = 0; v < VARIABLES_MAX; v++)
		if (read[v].storage == 'f')
			ret[count++] = (struct token){ .variable = read[v] };
	if (!count)
		ret[count++] = (struct token){ .name = instruction->name,
					       .argument = instruction->argument };
	return count;
}

static bool is_same(const struct token *one, const struct token *other)
{
	if (one->name && other->name)
		return !strcmp(one->name, other->name) && one->argument == other->argument;
	return !one->name && !other->name && variable_is(one->variable, other->variable);
}

/* Goes backwards, token by token. */
struct cursor {
	const struct bytecode *bytecode;
	size_t index; /* of the instruction that tokens are of */
	size_t left;  /* of its tokens */
	struct token tokens[2];
};

static struct cursor cursor_behind(const struct bytecode *bytecode, size_t last)
{
	return (struct cursor){ .bytecode = bytecode, .index = last + 1 };
}

static const struct token *cursor_back(struct cursor *cursor)
{
	while (!cursor->left) {
		if (!cursor->index)
			return NULL;
		cursor->index--;
		cursor->left = tokens_of(cursor->bytecode, cursor->index, cursor->tokens);
	}
	return &cursor->tokens[--cursor->left];
}

/* Does its begin lie at the token that the cursor has gone back to? */
static bool is_at_begin(const struct cursor *cursor, const struct range *range)
{
	return cursor->index == range->begin && cursor->left == (range->late ? 1 : 0);
}

/* The expression that the instruction at index has the result of. */
static bool range_of(const struct bytecode *bytecode, size_t index, struct range *ret)
{
	struct operands operands;

	if (!operands_of(bytecode, index, &operands) || operands.begin == index)
		return false;
	*ret = (struct range){ operands.begin, index, operands.surplus };
	return true;
}

/* Does the same expression end at that instruction? */
static bool ends_there(const struct bytecode *bytecode, const struct range *range, size_t last,
		       struct range *ret)
{
	struct cursor cursor = cursor_behind(bytecode, range->last);
	struct cursor other = cursor_behind(bytecode, last);

	do {
		const struct token *token = cursor_back(&cursor), *before = cursor_back(&other);

		if (!token || !before || !is_same(token, before))
			return false;
	} while (!is_at_begin(&cursor, range));
	*ret = (struct range){ other.index, last, other.left != 0 };
	return true;
}

/* Does it read one of these? */
static bool reads_one_of(const struct bytecode *bytecode, const struct range *range,
			 const struct stored_variables *stored)
{
	const struct operands operands = { range->begin, range->last + 1, range->late };

	return stored_variables_are_read(stored, bytecode, &operands);
}

/* Another frame runs meanwhile, or code that comes after an exception. */
static bool leaves(const char *name)
{
	static const char *const names[] = { "YIELD_",        "SEND",        "GET_AWAITABLE",
					     "PUSH_EXC_INFO", "POP_EXCEPT",  "SETUP_FINALLY",
					     "SETUP_EXCEPT",  "END_FINALLY", "WITH_EXCEPT_START",
					     "BEGIN_FINALLY", "RERAISE",     "IMPORT_",
					     "WITH_CLEANUP_" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (text_starts_with(name, names[i]))
			return true;
	return false;
}

/* A call or an operator: to load an attribute or item twice is not worth a word. */
static bool computes(const struct bytecode_instruction *instruction)
{
	const char *name = instruction->name;

	return text_starts_with(name, "CALL") || text_starts_with(name, "COMPARE_OP") ||
	       (text_starts_with(name, "BINARY_") && !bytecode_is_subscript(instruction));
}

/* Is a value computed in [begin, end), and not just loaded? */
static bool is_computed(const struct bytecode *bytecode, size_t begin, size_t end)
{
	for (size_t i = begin; i < end; i++)
		if (computes(&bytecode->instructions[i]))
			return true;
	return false;
}

static void add_read(struct stored_variables *variables, const struct bytecode *bytecode,
		     const struct operands *operands, size_t end)
{
	for (size_t i = operands->begin; i < end; i++) {
		struct variable read[VARIABLES_MAX];

		operands_read(bytecode, operands, i, read);
		for (size_t v = 0; v < VARIABLES_MAX; v++)
			if (read[v].storage != 'g')
				stored_variables_add_one(variables, read[v]);
	}
}

/* x.append(y), f(y), whose result nobody takes: what it is for may be to change what it is given;
 * of f(g(y)) that is no variable's. */
static void add_changed(struct stored_variables *changed, const struct bytecode *bytecode,
			size_t index)
{
	const char *name = bytecode->instructions[index].name;
	struct operands operands, top, both;
	size_t end =
		index; /* of operands not looked at, from the last one back to what is called */

	if (!text_starts_with(name, "CALL") || index + 1 == bytecode->count ||
	    strcmp(bytecode->instructions[index + 1].name, "POP_TOP") != 0)
		return;
	if (!operands_of(bytecode, index, &operands)) {
		changed->count = STORED_VARIABLES_MAX;
		return;
	}
	for (unsigned above = 0;
	     operands_on_top(bytecode, index, above, &top) &&
	     operands_on_top(bytecode, index, above + 1, &both) && both.begin > operands.begin;
	     above++) {
		if (!is_computed(bytecode, both.begin, top.begin))
			stored_variables_add(changed, bytecode, index, above);
		end = both.begin;
	}
	if (!is_computed(bytecode, operands.begin, end))
		add_read(changed, bytecode, &operands, end);
}

/* Is something that it reads assigned, or changed, from behind the first to before the second? */
static bool changes_between(const struct bytecode *bytecode, const struct range *first,
			    const struct range *second)
{
	int start = bytecode->instructions[first->last].end;
	int end = bytecode->instructions[second->begin].offset;
	struct stored_variables changed;

	/* What the second begins with may store, too: STORE_FAST_LOAD_FAST. */
	for (size_t i = first->last + 1; i <= second->begin; i++) {
		const struct bytecode_instruction *instruction = &bytecode->instructions[i];
		struct stored_variables assigned = { .count = 0 };
		struct variable variables[VARIABLES_MAX];

		if (leaves(instruction->name))
			return true;
		operands_variables(bytecode->code, instruction, true, variables);
		for (size_t v = 0; v < VARIABLES_MAX; v++)
			stored_variables_add_one(&assigned, variables[v]);
		add_changed(&assigned, bytecode, i);
		if (assigned.count == STORED_VARIABLES_MAX ||
		    reads_one_of(bytecode, second, &assigned))
			return true;
	}
	stored_variables_find(&changed, bytecode, start, end, true);
	return changed.count == STORED_VARIABLES_MAX || reads_one_of(bytecode, second, &changed);
}

/* x.append(y), x.a(), in the method of x alone: is x this variable? */
static bool calls_method_of(const struct bytecode *bytecode, size_t index, struct variable variable)
{
	struct variable read[VARIABLES_MAX];
	struct operands operands;

	if (!text_starts_with(bytecode->instructions[index].name, "CALL") ||
	    !operands_of(bytecode, index, &operands))
		return false;
	for (size_t i = operands.begin; i + 1 < operands.end; i++) {
		const char *name = bytecode->instructions[i + 1].name;
		struct variable last = { 0 };

		operands_read(bytecode, &operands, i, read);
		for (size_t v = 0; v < VARIABLES_MAX; v++)
			if (read[v].storage)
				last = read[v];
		if (variable_is(last, variable))
			return !strcmp(name, "LOAD_METHOD") || !strcmp(name, "LOAD_ATTR");
	}
	return false;
}

/* Is its result dropped, so that it was called for what it does, or changed later, so that one
 * result cannot serve for two? */
static bool is_for_itself(const struct bytecode *bytecode, const struct range *range)
{
	struct variable assigned[VARIABLES_MAX];
	struct stored_variables stored;
	size_t next = range->last + 1;

	while (next < bytecode->count && !strcmp(bytecode->instructions[next].name, "NOP"))
		next++;
	if (next >= bytecode->count)
		return false;
	if (!strcmp(bytecode->instructions[next].name, "POP_TOP"))
		return true;
	operands_variables(bytecode->code, &bytecode->instructions[next], true, assigned);
	if (!assigned[0].storage)
		return false;
	stored_variables_find(&stored, bytecode, 0, INT_MAX, true);
	if (stored.count == STORED_VARIABLES_MAX || stored_variables_has(&stored, assigned[0]))
		return true;
	for (size_t i = 0; i + 1 < bytecode->count; i++)
		if (!strcmp(bytecode->instructions[i + 1].name, "POP_TOP") &&
		    calls_method_of(bytecode, i, assigned[0]))
			return true;
	return false;
}

/* if f(x): y = f(x) */
static bool is_adjacent(const struct bytecode *bytecode, const struct range *first,
			const struct range *second)
{
	static const char *const tests[] = { "POP_JUMP",      "LOAD_",      "COMPARE_OP", "IS_OP",
					     "CONTAINS_",     "UNARY_NOT",  "TO_BOOL",    "NOP",
					     "JUMP_IF_",      "PUSH_NULL",  "NOT_TAKEN",  "RETURN_",
					     "MAKE_FUNCTION", "BUILD_TUPLE" };

	for (size_t i = first->last + 1; i < second->begin; i++) {
		bool found = false;

		for (size_t t = 0; t < sizeof(tests) / sizeof(tests[0]); t++)
			found |= text_starts_with(bytecode->instructions[i].name, tests[t]);
		if (!found)
			return false;
	}
	return true;
}

/* Is there a way to the second that does not come by the first, in the same round of a loop? */
static bool is_passed_by(const struct bytecode *bytecode, const struct range *first,
			 const struct range *second)
{
	int from = bytecode->instructions[first->begin].offset;
	int to = bytecode->instructions[second->begin].offset;
	struct loop loop, other;
	bool in_loop = loop_find(bytecode, from, &loop);

	if (loop_find(bytecode, to, &other) != in_loop ||
	    (in_loop && (loop.start != other.start || loop.end != other.end)))
		return true;
	for (size_t i = 0; i < first->begin; i++) {
		int target = bytecode_forward_target(bytecode, &bytecode->instructions[i]);

		if (target > from && target <= to)
			return true;
	}
	return false;
}

/* The nearest before it that is on each way to it. */
static bool find_first(const struct bytecode *bytecode, const struct range *second,
		       struct range *ret)
{
	for (size_t back = 1; back < BACK_MAX && back <= second->begin; back++) {
		size_t last = second->begin - back;

		if (strcmp(bytecode->instructions[last].name,
			   bytecode->instructions[second->last].name) != 0 ||
		    !ends_there(bytecode, second, last, ret))
			continue;
		if (is_for_itself(bytecode, ret) || changes_between(bytecode, ret, second))
			return false;
		if (!is_passed_by(bytecode, ret, second))
			return true;
	}
	return false;
}

bool common_subexpression_find(const struct bytecode *bytecode, int offset,
			       struct common_subexpression *ret)
{
	const struct bytecode_instruction *instruction = bytecode_at(bytecode, offset);
	size_t index = instruction ? (size_t)(instruction - bytecode->instructions) : 0;
	size_t width = 0;

	for (size_t last = index; instruction && last < bytecode->count && last < index + WIDTH_MAX;
	     last++) {
		struct range second, first;

		/* A statement ends. */
		if (last > index && text_starts_with(bytecode->instructions[last].name, "STORE_"))
			break;
		if (!computes(&bytecode->instructions[last]) ||
		    !range_of(bytecode, last, &second) || second.begin > index ||
		    last - second.begin < width || is_for_itself(bytecode, &second) ||
		    !find_first(bytecode, &second, &first))
			continue;
		width = last - second.begin;
		*ret = (struct common_subexpression){
			.first = bytecode->instructions[first.last].offset,
			.first_start = bytecode->instructions[first.begin].offset,
			.first_end = bytecode->instructions[first.last].end,
			.start = bytecode->instructions[second.begin].offset,
			.end = bytecode->instructions[last].end,
			.adjacent = is_adjacent(bytecode, &first, &second),
			.result = bytecode->instructions[last].offset,
		};
	}
	return width > 0;
}
