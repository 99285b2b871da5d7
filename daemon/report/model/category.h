/* SPDX-License-Identifier: Apache-2.0 */
/* The known kinds of inefficiency, in words; category_choice.h chooses among them. */
#ifndef PIEPROFD_DAEMON_REPORT_MODEL_CATEGORY_H
#define PIEPROFD_DAEMON_REPORT_MODEL_CATEGORY_H

enum category {
	CATEGORY_UNCLEAR,
	CATEGORY_SLICE_UNDERUTILISATION,
	CATEGORY_REPEATED_CALL,
	CATEGORY_LOOP_INVARIANT,
	CATEGORY_API_MISUSE,
	CATEGORY_INEFFICIENT_ALGORITHM,
	CATEGORY_MEMOIZABLE,
	CATEGORY_COUNT,
	/* The first ones: accesses speak for these alone. Recordings have an array of so many. */
	CATEGORY_SUPPORTED_COUNT = CATEGORY_MEMOIZABLE
};

const char *category_name(
	enum category category); /* "slice-underutilisation" ..., as JSON has it */
const char *category_advice(enum category category);
/* What that looks like, in Python; NULL for "unclear". */
const char *category_example(enum category category);

/* What was seen that led to the category, in words; NULL for "unclear". */
const char *category_reason(enum category category);

#endif
