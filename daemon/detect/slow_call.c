/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/detect/slow_call.h"

#include "common/text.h"

#include <string.h>

static const struct slow_call slow_calls[] = {
	{ "iterrows", "pandas/core/frame.py",
	  "builds a Series for each row: work on whole columns, or use itertuples()" },
	{ "mean", "/statistics.py",
	  "adds up exact fractions: statistics.fmean() does it in floating point" },
	{ "_strptime_datetime", "/_strptime.py",
	  "interprets its format anew for each text: datetime.fromisoformat() reads ISO 8601 many "
	  "times faster" },
	{ "_strptime_datetime_datetime", "/_strptime.py",
	  "interprets its format anew for each text: datetime.fromisoformat() reads ISO 8601 many "
	  "times faster" },
	{ "apply_along_axis", "/shape_base.py",
	  "calls a Python function for each row: use a function that takes the axis" },
	{ "apply_along_axis", "/_shape_base_impl.py",
	  "calls a Python function for each row: use a function that takes the axis" },
	{ "_vectorize_call", "/function_base.py",
	  "calls a Python function for each element: write it with operations on whole arrays" },
	{ "_vectorize_call", "/_function_base_impl.py",
	  "calls a Python function for each element: write it with operations on whole arrays" },
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
