/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From a pair to advice: which of the known kinds of inefficiency it looks
 * like. Advice, never a fact; "unclear" when the evidence does not decide. Pure.
 */
#ifndef PIEPROFD_DAEMON_REPORT_MODEL_CATEGORY_CHOICE_H
#define PIEPROFD_DAEMON_REPORT_MODEL_CATEGORY_CHOICE_H

#include "daemon/bytecode/call_site.h"
#include "daemon/report/model/line_evidence.h"

struct category_evidence {
	enum pair_kind kind;
	bool known;                     /* both paths have a Python frame: the rest is filled in */
	struct call_site first, second; /* of the innermost Python frames */
	bool same_function;             /* both frames: by name and file */
	int first_line, second_line;
	/* Both are called in a loop with the same operands each time (call_site_is_constant). */
	bool called_with_same;
	/* The first's operation has the same operands each time: called so, or in its own loop. */
	bool first_operands_same;
	bool first_native_subscript; /* a native frame inside of it is a subscript function */
	bool second_native_subscript;
	uint64_t call_ns; /* typical duration of the native calls of the first line; 0: unknown */
};

enum category category_of(const struct category_evidence *evidence);

/* array_subscript and the like. */
bool category_is_subscript_function(const char *function);

/*
 * The category of many pairs together, support being the redundant accesses
 * that speak for each: the strongest that decides at least a quarter of all.
 */
enum category category_choose(const uint64_t support[CATEGORY_SUPPORTED_COUNT]);

/*
 * The same of a whole line, with what is known of all of it: where its call
 * sites mostly stored new values it does not do the same work again, whatever
 * its loads say; and where they mostly stored the same, it does, whatever its
 * loads do not say. With enough of these, it needs no name to tell so: an operand
 * like len(x) may be the same each time in a variable that each round assigns.
 */
enum category category_of_line(const uint64_t support[CATEGORY_SUPPORTED_COUNT],
			       const struct line_evidence *evidence);

/* Do these stores of one call site, made again, say that it does other work each time? */
bool category_stores_refute(uint64_t stores, uint64_t redundant);

#endif
