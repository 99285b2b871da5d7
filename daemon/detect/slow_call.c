/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/detect/slow_call.h"

#include "common/text.h"

#include <string.h>

/* Numbers are below this. */
#define NUMBERS_END (1 + slow_calls_of_arrays_count + slow_calls_of_python_count)

static const char *last_name(const struct python_code *code)
{
	const char *dot = strrchr(code->function, '.');

	return dot ? dot + 1 : code->function;
}

uint8_t slow_call_find(const struct python_code *code)
{
	const char *function = last_name(code);

	for (size_t number = 1; number < NUMBERS_END; number++) {
		const struct slow_call *call = slow_call_get((uint8_t)number);

		if (call->file && !strcmp(function, call->function) &&
		    text_ends_with(code->file, call->file))
			return (uint8_t)number;
	}
	return 0;
}

uint8_t slow_call_find_ufunc(void)
{
	return slow_call_find_builtin(UFUNC, false);
}

bool slow_call_makes_row(const struct python_code *code)
{
	return !strcmp(last_name(code), "fast_xs") &&
	       text_ends_with(code->file, "pandas/core/internals/managers.py");
}

bool slow_call_asks(const struct python_code *code)
{
	const char *name = last_name(code);

	/* df.query("id == @key") reads a variable of its caller. */
	if (!strcmp(name, "query") || !strcmp(name, "eval"))
		return text_ends_with(code->file, "pandas/core/frame.py");
	return !strcmp(name, "rvs") && strstr(code->file, "/scipy/stats/");
}

/* numpy's, whose function in Python takes lists, too: as the one with that way, of one name where
 * it is given. */
static uint8_t find_instead(uint8_t number, const struct slow_way *way, const char *name)
{
	const char *file = number ? slow_call_get(number)->file : NULL;
	enum slow_when when = number ? slow_call_get(number)->when : SLOW_ALWAYS;

	if (!file || strcmp(file, "/fromnumeric.py") != 0 ||
	    (when != SLOW_ON_LIST && when != SLOW_ON_ANY_LIST))
		return number;
	for (size_t other = 1; other < NUMBERS_END; other++) {
		const struct slow_call *call = slow_call_get((uint8_t)other);

		if (call->way == way && (!name || !strcmp(call->function, name)))
			return (uint8_t)other;
	}
	return number;
}

uint8_t slow_call_find_looped(uint8_t number)
{
	return find_instead(number, &slow_way_looped, NULL);
}

uint8_t slow_call_find_parted(uint8_t number)
{
	return number ? find_instead(number, &slow_way_part, slow_call_get(number)->function) : 0;
}

uint8_t slow_call_find_builtin(const char *name, bool of_builtins)
{
	for (size_t number = 1; number < NUMBERS_END; number++) {
		const struct slow_call *call = slow_call_get((uint8_t)number);

		if (!call->file && !strcmp(name, call->function) &&
		    of_builtins == (call->when == SLOW_ON_ARRAY))
			return (uint8_t)number;
	}
	return 0;
}

bool slow_call_is_weak(uint8_t number)
{
	enum slow_when when = slow_call_get(number)->when;

	return when == SLOW_COPY_BACK || when == SLOW_ON_TEXT;
}

bool slow_call_is_builtin(uint8_t number)
{
	return number && !slow_call_get(number)->file;
}

bool slow_call_sorts(uint8_t number)
{
	const char *function = slow_call_is_builtin(number) ? slow_call_get(number)->function : "";

	return !strcmp(function, "sorted") || !strcmp(function, "sort");
}

bool slow_call_sums(uint8_t number)
{
	return slow_call_is_builtin(number) && !strcmp(slow_call_get(number)->function, "sum");
}

bool slow_call_goes_over(uint8_t number)
{
	const char *function = slow_call_is_builtin(number) ? slow_call_get(number)->function : "";

	return slow_call_sorts(number) || !strcmp(function, "min") || !strcmp(function, "max") ||
	       !strcmp(function, "sum") || !strcmp(function, "heapify");
}

bool slow_call_copies(uint8_t number)
{
	return number && slow_call_get(number)->when == SLOW_COPY;
}

bool slow_call_speaks_for(uint8_t number, enum argument_verdict verdict)
{
	if (!number)
		return false;
	switch (slow_call_get(number)->when) {
	case SLOW_IN_TURN:
	case SLOW_SORT:
	case SLOW_ENLARGES:
		return verdict == ARGUMENT_GROWING;
	case SLOW_END:
		return verdict == ARGUMENT_END;
	case SLOW_AT_FRONT:
		return verdict == ARGUMENT_CUT;
	case SLOW_SEARCH:
	case SLOW_LOOKS:
		return verdict == ARGUMENT_SEARCHED;
	case SLOW_IN_PIECES:
	case SLOW_ON_PIECES:
	case SLOW_ON_VALUE:
		return verdict == ARGUMENT_ELEMENTS;
	default:
		return verdict == ARGUMENT_SLOW;
	}
}

const struct slow_call *slow_call_get(uint8_t number)
{
	size_t index = number - 1u;

	return index < slow_calls_of_arrays_count
		       ? &slow_calls_of_arrays[index]
		       : &slow_calls_of_python[index - slow_calls_of_arrays_count];
}
