/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/report/model/argument_needed.h"

#include "common/text.h"
#include "daemon/bytecode/common_subexpression.h"
#include "daemon/detect/argument_element.h"
#include "daemon/detect/argument_extent.h"
#include "daemon/detect/outside_names.h"

#include <stdio.h>
#include <string.h>

/*
 * Calls that nobody would keep the result of: they read or draw something, with
 * another outcome each time whatever their arguments; or they cost next to
 * nothing, and what they return is used up; or they make or change what they get.
 */
static const char *const needed_names[] = {
	"__enter__",     "__exit__",     "__init__",    "__new__",   "__next__",
	"__post_init__", "__setattr__",  "__setitem__", "append",    "bisect",
	"bisect_left",   "bisect_right", "choice",      "choices",   "clock",
	"enumerate",     "get",          "getrandbits", "heappop",   "heappush",
	"heappushpop",   "heapreplace",  "id",          "input",     "insort",
	"isinstance",    "iter",         "len",         "monotonic", "next",
	"normal",        "now",          "open",        "pop",       "popleft",
	"rand",          "randint",      "randn",       "random",    "randrange",
	"range",         "read",         "readinto",    "readline",  "recv",
	"recv_into",     "reversed",     "sample",      "shuffle",   "sleep",
	"super",         "time",         "token_bytes", "token_hex", "token_urlsafe",
	"type",          "uniform",      "urandom",     "utcnow",    "uuid1",
	"uuid4",         "write",        "zip",
};

/* Of a program's own functions these names tell nothing: a clock's read() may parse what it is
 * given. What they work on was compared. */
static const char *const free_names[] = {
	"bisect", "bisect_left", "bisect_right", "clock", "get",  "id",  "len",
	"open",   "range",       "read",         "time",  "type", "zip",
};

/* Of numbers alone: to compute them again costs no more than to look them up would. */
static const char *const cheap_names[] = {
	"abs",  "atan2", "bool", "ceil",  "chr", "cos",   "divmod", "exp",   "float", "floor",
	"fmod", "hypot", "int",  "isnan", "log", "log10", "log2",   "max",   "min",   "ord",
	"pow",  "round", "sin",  "sqrt",  "str", "tan",   "tanh",   "trunc",
};

/* What these do is seen outside of the program, or comes from there, beside outside_names.h. */
static const char *const outside_names[] = {
	"acquire",      "close",    "commit",       "connect", "execute",
	"executemany",  "fetchall", "fetchone",     "flush",   "get_event",
	"monotonic",    "open",     "perf_counter", "poll",    "print",
	"process_time", "put",      "release",      "seek",    "send",
	"sendall",      "sleep",    "wait",         "write",   "writelines",
};

/* They change what they are called for; */
static const char *const changing_names[] = {
	"__next__", "add",        "append", "appendleft", "clear",   "discard", "extend",
	"insert",   "iter",       "pop",    "popitem",    "popleft", "remove",  "reverse",
	"rotate",   "setdefault", "sort",   "super",      "update",
};

/* and these what they are given. */
static const char *const changing_functions[] = {
	"heapify", "heappop",     "heappush",     "heappushpop", "heapreplace",
	"insort",  "insort_left", "insort_right", "next",        "shuffle",
};

/* How names begin of methods that leave their object as it is. */
static const char *const asking_beginnings[] = {
	"as_",     "calc",   "compute",   "contains",  "count",   "distance", "dumps",   "eval",
	"find",    "format", "fullmatch", "has_",      "index",   "is_",      "json",    "locate",
	"lookup",  "match",  "mean",      "norm",      "predict", "query",    "render",  "resolve",
	"score",   "search", "similar",   "split",     "sum",     "to_",      "toarray", "tobytes",
	"todense", "tolist", "total",     "transform", "valid",
};

static bool is_one_of(const char *name, const char *const *names, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (!strcmp(name, names[i]))
			return true;
	return false;
}

/* A function in C, called with numbers alone. */
static bool is_on_numbers(const struct argument_site *site)
{
	if (site->of_callee)
		return false;
	for (size_t i = 0; i < site->operand_count; i++)
		if (!site->operands[i].callable && site->operands[i].kind != CONTENT_INT &&
		    site->operands[i].kind != CONTENT_FLOAT &&
		    site->operands[i].kind != CONTENT_BOOL)
			return false;
	return true;
}

bool argument_needed_call(const struct argument_words *words, bool at_entry, bool names_constant)
{
	char name[EXPRESSION_SIZE];
	const char *last;

	if (at_entry)
		snprintf(name, sizeof(name), "%s", words->site->code->function);
	else if (!expression_operand_name(&words->bytecode, words->site->offset, EXPRESSION_CALLEE,
					  &words->context, name))
		return false;
	last = strrchr(name, '.');
	last = last ? last + 1 : name;
	if ((at_entry || (words->site->of_callee && !words->site->of_library)) &&
	    is_one_of(last, free_names, sizeof(free_names) / sizeof(free_names[0])))
		return false;
	return is_one_of(last, needed_names, sizeof(needed_names) / sizeof(needed_names[0])) ||
	       (!names_constant && is_on_numbers(words->site) &&
		is_one_of(last, cheap_names, sizeof(cheap_names) / sizeof(cheap_names[0])));
}

/* f, x.f: the name of what it loads, that may be called. False: it loads something else, or
 * nothing. *ret_last: NULL: there is no telling. */
static bool loads_name(const struct argument_words *words,
		       const struct bytecode_instruction *instruction, char name[EXPRESSION_SIZE],
		       const char **ret_last)
{
	static const char *const loads[] = { "LOAD_METHOD", "LOAD_ATTR", "LOAD_GLOBAL",
					     "LOAD_NAME" };
	const char *dot;

	if (!is_one_of(instruction->name, loads, sizeof(loads) / sizeof(loads[0])))
		return false;
	*ret_last = NULL;
	if (!expression_text(&words->bytecode, instruction->offset, &words->context, name))
		return true;
	dot = strrchr(name, '.');
	/* Of one that goes on in another line, or is too long, the end is not there. */
	if (!dot || dot[1])
		*ret_last = dot ? dot + 1 : name;
	return true;
}

static bool changes(const char *name)
{
	return is_one_of(name, changing_functions,
			 sizeof(changing_functions) / sizeof(changing_functions[0])) ||
	       is_one_of(name, changing_names, sizeof(changing_names) / sizeof(changing_names[0]));
}

/* Neither is known that nothing in it changes, nor is it made in the expression. */
static bool may_have_changed(const struct argument_operand *operand)
{
	return !operand->callable &&
	       (operand->kind == CONTENT_OTHER ||
		(operand->kind == CONTENT_OBJECT && !argument_is_of_library(operand->shape)));
}

/* x.pass(y), of an object x, unless it is x.query(y). */
static bool may_change_object(const struct argument_words *words,
			      const struct common_subexpression *common)
{
	char name[EXPRESSION_SIZE];
	bool may = false;
	const char *last;

	if (argument_extent_origin(&words->bytecode, words->site->offset) >= common->start)
		return false;
	/* The program's own function: its calls were compared. */
	if (words->site->of_callee && words->site->runs_python && !words->site->of_library)
		return false;
	for (size_t i = 0; i < words->site->operand_count; i++)
		may |= may_have_changed(&words->site->operands[i]);
	if (!may)
		return false;
	if (!expression_operand_name(&words->bytecode, words->site->offset, EXPRESSION_CALLEE,
				     &words->context, name))
		return true;
	last = strrchr(name, '.');
	for (size_t i = 0; i < sizeof(asking_beginnings) / sizeof(asking_beginnings[0]); i++)
		if (text_starts_with(last ? last + 1 : name, asking_beginnings[i]))
			return false;
	return true;
}

/* Does text name it, as a word? */
static bool names_word(const char *text, const char *word, size_t length)
{
	static const char letters[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";

	for (const char *at = text; *at; at += strcspn(at, letters)) {
		size_t count = strspn(at, letters);

		if (count == length && !strncmp(at, word, length))
			return true;
		at += count;
	}
	return false;
}

/* v.pop(), of the v in text; heappop(v) of whatever. */
static bool changes_one_in(const char *text, const char *name, const char *last)
{
	const char *dot = strchr(name, '.');

	if (is_one_of(last, changing_functions,
		      sizeof(changing_functions) / sizeof(changing_functions[0])))
		return true;
	return dot && changes(last) && names_word(text, name, (size_t)(dot - name));
}

bool argument_needed_common(const struct argument_words *words)
{
	const struct bytecode *bytecode = &words->bytecode;
	struct common_subexpression common;
	char text[EXPRESSION_SIZE];

	if (!common_subexpression_find(bytecode, words->site->offset, &common) ||
	    !expression_text(bytecode, common.result, &words->context, text) ||
	    may_change_object(words, &common))
		return true;
	for (size_t i = 0; i < bytecode->count; i++) {
		const struct bytecode_instruction *instruction = &bytecode->instructions[i];
		char name[EXPRESSION_SIZE];
		const char *last;

		if (instruction->offset <= common.first || instruction->offset >= common.end ||
		    !loads_name(words, instruction, name, &last))
			continue;
		if (instruction->offset < common.start) {
			if (last && changes_one_in(text, name, last))
				return true;
			continue;
		}
		if (!last || outside_name_asks(last) || changes(last) ||
		    is_one_of(last, outside_names,
			      sizeof(outside_names) / sizeof(outside_names[0])))
			return true;
	}
	return false;
}

bool argument_needed_acts(const struct argument_words *words)
{
	for (size_t i = 0; i < words->bytecode.count; i++) {
		const struct bytecode_instruction *instruction = &words->bytecode.instructions[i];
		char name[EXPRESSION_SIZE];
		const char *last;

		if (strncmp(instruction->name, "CALL", 4) != 0 ||
		    !expression_operand_name(&words->bytecode, instruction->offset,
					     EXPRESSION_CALLEE, &words->context, name))
			continue;
		last = strrchr(name, '.');
		last = last ? last + 1 : name;
		if (outside_name_asks(last) ||
		    is_one_of(last, outside_names,
			      sizeof(outside_names) / sizeof(outside_names[0])))
			return true;
	}
	return false;
}
