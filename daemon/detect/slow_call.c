/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/detect/slow_call.h"

#include "common/text.h"

#include <string.h>

#define ON_NUMBERS(other)                                                                          \
	"is made for arrays and is called on single numbers: " other                               \
	" will do, many times faster, for "                                                        \
	"one, or give the whole array to one call"
#define COPIES                                                                                     \
	"copies all that was joined before each time: collect the parts in a list and join them "  \
	"once, after the loop"

static const struct slow_call slow_calls[] = {
	{ "iterrows", "pandas/core/frame.py",
	  "builds a Series for each row: work on whole columns, or use itertuples()", SLOW_ALWAYS },
	{ "mean", "/statistics.py",
	  "adds up exact fractions: statistics.fmean() does it in floating point", SLOW_ALWAYS },
	{ "_strptime_datetime", "/_strptime.py",
	  "interprets its format anew for each text: datetime.fromisoformat() reads ISO 8601 many "
	  "times faster",
	  SLOW_ALWAYS },
	{ "_strptime_datetime_datetime", "/_strptime.py",
	  "interprets its format anew for each text: datetime.fromisoformat() reads ISO 8601 many "
	  "times faster",
	  SLOW_ALWAYS },
	{ "apply_along_axis", "/shape_base.py",
	  "calls a Python function for each row: use a function that takes the axis", SLOW_ALWAYS },
	{ "apply_along_axis", "/_shape_base_impl.py",
	  "calls a Python function for each row: use a function that takes the axis", SLOW_ALWAYS },
	{ "_vectorize_call", "/function_base.py",
	  "calls a Python function for each element: write it with operations on whole arrays",
	  SLOW_ALWAYS },
	{ "_vectorize_call", "/_function_base_impl.py",
	  "calls a Python function for each element: write it with operations on whole arrays",
	  SLOW_ALWAYS },
	{ "clip", "/fromnumeric.py", ON_NUMBERS("min() and max()"), SLOW_ON_NUMBERS },
	{ "around", "/fromnumeric.py", ON_NUMBERS("round()"), SLOW_ON_NUMBERS },
	{ "round", "/fromnumeric.py", ON_NUMBERS("round()"), SLOW_ON_NUMBERS },
	{ "round_", "/fromnumeric.py", ON_NUMBERS("round()"), SLOW_ON_NUMBERS },
	{ "isclose", "/numeric.py", ON_NUMBERS("math.isclose()"), SLOW_ON_NUMBERS },
	{ "concat", "pandas/core/reshape/concat.py", COPIES, SLOW_IN_TURN },
	{ "append", "numpy/lib/function_base.py", COPIES, SLOW_IN_TURN },
	{ "append", "/_function_base_impl.py", COPIES, SLOW_IN_TURN },
	{ "vstack", "/shape_base.py", COPIES, SLOW_IN_TURN },
	{ "hstack", "/shape_base.py", COPIES, SLOW_IN_TURN },
};

uint8_t slow_call_find(const struct python_code *code)
{
	const char *dot = strrchr(code->function, '.');
	const char *function = dot ? dot + 1 : code->function;

	for (size_t i = 0; i < sizeof(slow_calls) / sizeof(slow_calls[0]); i++)
		if (!strcmp(function, slow_calls[i].function) &&
		    text_ends_with(code->file, slow_calls[i].file))
			return (uint8_t)(i + 1);
	return 0;
}

const struct slow_call *slow_call_get(uint8_t number)
{
	return &slow_calls[number - 1];
}
