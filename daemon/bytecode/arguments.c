/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/bytecode/arguments.h"

#include "daemon/bytecode/operands.h"

#include <limits.h>
#include <string.h>

/* Variables computed from variables, and so on. */
#define DEPTH_MAX 4

static const struct loop whole_code = { .start = 0, .end = INT_MAX };

/* "Class.method", but not "function" nor "outer.<locals>.function". */
static bool is_method(const char *function)
{
	static const char local[] = "<locals>";
	const char *dot = strrchr(function, '.');
	size_t length = sizeof(local) - 1;

	return dot &&
	       !((size_t)(dot - function) >= length && !strncmp(dot - length, local, length));
}

/* Do these instructions end with the lookup of a method of the value before it? */
static bool is_bound(const struct bytecode *bytecode, size_t end)
{
	const struct bytecode_instruction *last = &bytecode->instructions[end - 1];

	return !strcmp(last->name, "LOAD_METHOD") ||
	       (!strcmp(last->name, "LOAD_ATTR") && bytecode->code->minor >= 12 &&
		(last->argument & 1));
}

/* The other value of a double load that pushed the one on top. */
static bool lower_same(const struct bytecode *bytecode, size_t index, const struct loop *loop)
{
	struct variable read[VARIABLES_MAX];

	operands_variables(bytecode->code, &bytecode->instructions[index], false, read);
	return read[0].storage && !loop_assigns(bytecode, loop, read[0]);
}

bool arguments_of_call(const struct bytecode *caller, int offset, const struct loop *loop,
		       const char *callee, struct arguments *ret_arguments)
{
	const struct bytecode_instruction *at = bytecode_at(caller, offset);
	struct arguments arguments = { 0 };
	struct operands operands;
	size_t end;
	unsigned first = is_method(callee);

	if (!at || (strcmp(at->name, "CALL") != 0 && strcmp(at->name, "PRECALL") != 0 &&
		    strcmp(at->name, "CALL_METHOD") != 0 && strcmp(at->name, "CALL_FUNCTION") != 0))
		return false;
	end = (size_t)(at - caller->instructions);
	if (end > 0 && !strcmp(caller->instructions[end - 1].name, "PRECALL"))
		end--;
	if (end == 0 || !strcmp(caller->instructions[end - 1].name, "KW_NAMES") ||
	    at->argument >= ARGUMENTS_MAX - 1)
		return false;
	arguments.count = first + at->argument;
	for (unsigned k = at->argument; k > 0; k--) {
		if (!operands_on_top(caller, end, 1, &operands))
			return false;
		if (loop_keeps(caller, &operands, loop))
			arguments.constant |= 1ull << (first + k - 1);
		end = operands.begin;
		if (!operands.surplus)
			continue;
		if (--k == 0)
			return false;
		if (lower_same(caller, end, loop))
			arguments.constant |= 1ull << (first + k - 1);
	}
	/* Names are not qualified before 3.11: this may be a method. */
	if (!first && caller->code->minor < 11 &&
	    (end == 0 || !strcmp(caller->instructions[end - 1].name, "LOAD_METHOD") ||
	     !strcmp(caller->instructions[end - 1].name, "LOAD_ATTR")))
		return false;
	if (first) {
		if (end == 0 || !is_bound(caller, end) ||
		    !operands_on_top(caller, end - 1, 1, &operands) || operands.surplus)
			return false;
		arguments.constant |= loop_keeps(caller, &operands, loop);
	}
	*ret_arguments = arguments;
	return true;
}

struct search {
	const struct arguments *arguments;
	const struct bytecode *bytecode;
	unsigned depth;
};

static bool operands_same(struct search *search, const struct operands *operands);

/* The only place in the function where a variable gets its value; false: there are more or none. */
static bool only_assignment(const struct bytecode *bytecode, struct variable wanted,
			    size_t *ret_index)
{
	size_t found = 0;

	for (size_t i = 0; i < bytecode->count; i++) {
		struct variable assigned[VARIABLES_MAX];

		operands_variables(bytecode->code, &bytecode->instructions[i], true, assigned);
		for (size_t v = 0; v < VARIABLES_MAX; v++) {
			if (assigned[v].storage != wanted.storage ||
			    assigned[v].index != wanted.index)
				continue;
			*ret_index = i;
			found += v == 0 ? 1 : 2; /* of a double one, the value is below another */
		}
	}
	return found == 1;
}

static bool variable_same(struct search *search, struct variable variable)
{
	const struct bytecode *bytecode = search->bytecode;
	struct operands operands;
	size_t at;
	bool same;

	if (!loop_assigns(bytecode, &whole_code, variable))
		return variable.storage == 'g' || variable.storage == 'n' ||
		       (variable.storage == 'f' && variable.index < search->arguments->count &&
			(search->arguments->constant >> variable.index & 1));
	if (variable.storage != 'f' || search->depth >= DEPTH_MAX ||
	    variable.index < search->arguments->count ||
	    !only_assignment(bytecode, variable, &at) ||
	    strcmp(bytecode->instructions[at].name, "STORE_FAST") != 0 ||
	    !operands_on_top(bytecode, at, 1, &operands) || operands.surplus)
		return false;
	search->depth++;
	same = operands_same(search, &operands);
	search->depth--;
	return same;
}

static bool operands_same(struct search *search, const struct operands *operands)
{
	for (size_t i = operands->begin; i < operands->end; i++) {
		struct variable read[VARIABLES_MAX];

		operands_variables(search->bytecode->code, &search->bytecode->instructions[i],
				   false, read);
		for (size_t v = 0; v < VARIABLES_MAX; v++)
			if (read[v].storage && !variable_same(search, read[v]))
				return false;
	}
	return true;
}

bool arguments_decide(const struct arguments *arguments, const struct bytecode *callee, int offset)
{
	const struct bytecode_instruction *at = bytecode_at(callee, offset);
	struct search search = { .arguments = arguments, .bytecode = callee };
	struct operands operands;

	return at && operands_of(callee, (size_t)(at - callee->instructions), &operands) &&
	       !operands.surplus && operands_same(&search, &operands);
}
