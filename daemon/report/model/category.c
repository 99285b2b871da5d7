/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/report/model/category.h"

#include <stddef.h>

struct category_text {
	const char *name;
	const char *advice;
	const char *reason;
	const char *example;
};

static const struct category_text texts[CATEGORY_COUNT] = {
	[CATEGORY_UNCLEAR] = {
		"unclear",
		"Look at both paths: the same values are moved twice, and the bytecode does not show why.",
		NULL,
		NULL,
	},
	[CATEGORY_SLICE_UNDERUTILISATION] = {
		"slice-underutilisation",
		"Index once instead of once per element: take a slice, or one operation over the whole array, "
		"out of the loop.",
		"the line takes elements one by one, x[i], inside a loop",
		"row += a[i, j] * b in place of row[f] += a[i, j, f] * b in a loop over f",
	},
	[CATEGORY_REPEATED_CALL] = {
		"repeated-call",
		"The same call is made again with the same outcome: keep its result, or call it only when its "
		"arguments change.",
		"the same call is made again with the same arguments, or leaves the values that were there already",
		"if key != last: last, kept = key, work(key)",
	},
	[CATEGORY_LOOP_INVARIANT] = {
		"loop-invariant",
		"Nothing that this line reads is assigned in the loop: compute it once, before the loop.",
		"the same instruction stores the same values again, and no name it reads is assigned in its loop",
		"kept = work(m), before the loop; in it kept",
	},
	[CATEGORY_API_MISUSE] = {
		"api-misuse",
		"A reduction made of one library call per element: give the whole array to one call "
		"(sum, dot, einsum, ufunc.reduce).",
		"a line accumulates, x += ..., through short native calls inside a loop",
		"total = numpy.dot(a, b) in place of total += a[i] * b[i]",
	},
	[CATEGORY_INEFFICIENT_ALGORITHM] = {
		"inefficient-algorithm",
		"Neighbouring lines of a loop move the same elements: join them, or choose an operation that does "
		"all of it in one pass.",
		"two neighbouring lines of a loop touch the same elements with unchanged values",
		"y = a * x + b in place of y = a * x and then y += b",
	},
	[CATEGORY_MEMOIZABLE] = {
		"memoizable",
		"The same few sets of arguments come again and again: keep the results by argument "
		"(functools.cache, a dict).",
		"few different sets of arguments were seen, in turn",
		"@functools.cache above the def of the function that is called",
	},
};

const char *category_name(enum category category)
{
	return texts[(unsigned)category < CATEGORY_COUNT ? category : CATEGORY_UNCLEAR].name;
}

const char *category_advice(enum category category)
{
	return texts[(unsigned)category < CATEGORY_COUNT ? category : CATEGORY_UNCLEAR].advice;
}

const char *category_example(enum category category)
{
	return texts[(unsigned)category < CATEGORY_COUNT ? category : CATEGORY_UNCLEAR].example;
}

const char *category_reason(enum category category)
{
	return texts[(unsigned)category < CATEGORY_COUNT ? category : CATEGORY_UNCLEAR].reason;
}
