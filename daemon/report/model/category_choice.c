/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/report/model/category_choice.h"

#include "daemon/detect/avoidable.h"
#include "daemon/detect/interval.h"

#include <stdlib.h>
#include <string.h>

/* Lines that are this close in one function count as neighbours: a loop's body, not the file. */
#define NEIGHBOUR_LINES 12

/* Stores at one call site from which on they tell that work is repeated, and that it is not. */
#define REPEATING_STORES_MIN 2
#define REFUTING_STORES_MIN  3
/* More than so much of what one call site did again was the same, surely (the interval's end). */
#define REPEATED_LOW 0.5

bool category_is_subscript_function(const char *function)
{
	/* numpy's array_subscript, array_assign_subscript, array_item ..., CPython's
	 * list_subscript. */
	return strstr(function, "subscript") || !strcmp(function, "array_item") ||
	       !strcmp(function, "array_assign_item") || !strcmp(function, "PyObject_GetItem") ||
	       !strcmp(function, "PyObject_SetItem");
}

enum category category_of(const struct category_evidence *evidence)
{
	const struct call_site *first = &evidence->first, *second = &evidence->second;
	bool same_site, same_line, in_loop, short_calls;

	if (!evidence->known)
		return CATEGORY_UNCLEAR;
	same_site = first->code == second->code && first->offset == second->offset;
	same_line = evidence->same_function && evidence->first_line == evidence->second_line;
	in_loop = first->in_loop && second->in_loop;

	short_calls = evidence->call_ns < AVOIDABLE_LONG_CALL_NS;

	/* x[i], x[j] = x[j], x[i]: elements are moved about one by one. */
	if (same_line && in_loop && first->does.exchanges && short_calls)
		return CATEGORY_INEFFICIENT_ALGORITHM;
	/* np.square(x[i]) summed up in a variable: the subscript is only how the reduction is
	 * written. */
	if (same_line && in_loop && first->does.accumulates && first->does.line_calls &&
	    short_calls)
		return CATEGORY_API_MISUSE;
	if (same_line && in_loop && first->does.elementwise &&
	    (first->does.subscript || evidence->first_native_subscript) &&
	    (second->does.subscript || evidence->second_native_subscript))
		return CATEGORY_SLICE_UNDERUTILISATION;
	/* Two lines that take elements one by one, or arithmetic on those of one line. */
	if (in_loop && first->does.elementwise && second->does.elementwise &&
	    first->code == second->code && short_calls && !first->does.accumulates)
		return CATEGORY_SLICE_UNDERUTILISATION;
	/* The same call; with the same arguments as far as their names tell, or called again from
	 * outside. */
	if (same_site && evidence->kind == PAIR_STORE && first->does.operands_constant)
		return CATEGORY_LOOP_INVARIANT;
	if (same_site && evidence->kind == PAIR_STORE && (first->does.names_constant || !in_loop))
		return CATEGORY_REPEATED_CALL;
	/* A function called in a loop makes both, and gives them the same each time. */
	if (evidence->called_with_same)
		return CATEGORY_REPEATED_CALL;
	/* Loads say less: every call reads its arguments again. But nothing changes these. */
	if (same_line && in_loop && first->does.line_calls && first->does.operands_constant &&
	    second->does.operands_constant)
		return CATEGORY_LOOP_INVARIANT;
	if (same_line && in_loop && first->does.line_calls && first->does.names_constant &&
	    second->does.names_constant)
		return CATEGORY_REPEATED_CALL;
	if (same_line && in_loop && first->does.accumulates && short_calls)
		return CATEGORY_API_MISUSE;
	/* Arithmetic on the elements that the line's subscripts take out, one by one. */
	if (same_line && in_loop && first->does.elementwise && short_calls)
		return CATEGORY_SLICE_UNDERUTILISATION;
	/* Not what one step of a pipeline hands to the next: these are bulk or no subscripts. */
	if (!same_line && in_loop && evidence->same_function && short_calls &&
	    (first->does.elementwise || second->does.elementwise) &&
	    labs((long)evidence->first_line - evidence->second_line) <= NEIGHBOUR_LINES)
		return CATEGORY_INEFFICIENT_ALGORITHM;
	return CATEGORY_UNCLEAR;
}

enum category category_choose(const uint64_t support[CATEGORY_SUPPORTED_COUNT])
{
	enum category best = CATEGORY_UNCLEAR;
	uint64_t all = support[CATEGORY_UNCLEAR];

	for (unsigned c = CATEGORY_UNCLEAR + 1; c < CATEGORY_SUPPORTED_COUNT; c++) {
		all += support[c];
		if (support[c] && (best == CATEGORY_UNCLEAR || support[c] > support[best]))
			best = c;
	}
	return best != CATEGORY_UNCLEAR && support[best] >= all / 4.0 ? best : CATEGORY_UNCLEAR;
}

bool category_stores_refute(uint64_t stores, uint64_t redundant)
{
	return stores >= REFUTING_STORES_MIN && redundant < stores / 2.0;
}

/* Most of what the line's call sites stored again was there already. */
static bool stores_repeat(const struct line_evidence *evidence)
{
	uint64_t stores = evidence->site_stores, redundant = evidence->site_stores_redundant;

	return stores >= REPEATING_STORES_MIN && redundant > stores / 2.0 &&
	       interval_wilson(redundant + evidence->site_loads_redundant,
			       stores + evidence->site_loads)
			       .low > REPEATED_LOW;
}

enum category category_of_line(const uint64_t support[CATEGORY_SUPPORTED_COUNT],
			       const struct line_evidence *evidence)
{
	enum argument_verdict verdict;
	uint64_t counted[CATEGORY_SUPPORTED_COUNT];
	uint64_t stores = evidence->site_stores, redundant = evidence->site_stores_redundant;
	uint64_t *unclear = &counted[CATEGORY_UNCLEAR];
	enum category category;

	verdict = argument_evidence_verdict(&evidence->arguments, time_sum(evidence->charged_ns));
	if (verdict > ARGUMENT_NEEDED)
		return argument_verdict_category(verdict);
	memcpy(counted, support, sizeof(counted));
	if (verdict == ARGUMENT_NEEDED || category_stores_refute(stores, redundant)) {
		*unclear += counted[CATEGORY_LOOP_INVARIANT] + counted[CATEGORY_REPEATED_CALL];
		counted[CATEGORY_LOOP_INVARIANT] = counted[CATEGORY_REPEATED_CALL] = 0;
	}
	/* Every call reads its arguments again: such loads need not say more. */
	if (stores_repeat(evidence))
		*unclear -= evidence->site_loads_redundant < *unclear
				    ? evidence->site_loads_redundant
				    : *unclear;
	category = category_choose(counted);
	if (category == CATEGORY_UNCLEAR && verdict != ARGUMENT_NEEDED &&
	    interval_wilson(redundant, stores).low > REPEATED_LOW)
		category = CATEGORY_REPEATED_CALL;
	return category;
}
