/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/detect/argument_relation.h"

#include "daemon/detect/argument_element.h"
#include "daemon/detect/argument_sequence.h"
#include "daemon/detect/interval.h"
#include "daemon/detect/slow_call.h"

#include <string.h>

/* Of calls from several places that were compared, surely more than so many are alike: chance
 * brings such together, too. */
#define ENTRY_COMPARED_MIN 4
#define ENTRY_LOW          0.2
/* Of the calls compared: with more it is not two places alone that call it with the same. */
#define ENTRY_PARTLY 0.75

/* Calls of a function from several places, of which many get what the one before got. */
static void judge_entry(struct argument_facts *facts, const struct argument_log *log, uint32_t id)
{
	const struct argument_site *entry = &log->sites[id];

	if (entry->offset != ARGUMENT_ENTRY || entry->compared < ENTRY_COMPARED_MIN ||
	    interval_wilson(entry->repeated, entry->compared).low <= ENTRY_LOW)
		return;
	facts[facts[id].code_site].entry_again =
		(double)entry->repeated < ENTRY_PARTLY * (double)entry->compared;
	for (uint32_t site = 0; site < log->site_count; site++)
		if (facts[site].code_site == facts[id].code_site && !log->sites[site].asks &&
		    !log->sites[site].keeps && (!facts[site].again || facts[site].by_pairs)) {
			facts[site].again = facts[site].by_pairs = false;
			facts[site].summary->entry = id;
			facts[site].summary->repeated = (double)entry->repeated / entry->compared;
			facts[site].summary->repeated_of = entry->compared;
		}
}

static bool is_within(const struct argument_facts *facts, const struct argument_log *log,
		      uint32_t inner, uint32_t outer)
{
	return inner != outer && log->sites[inner].code == log->sites[outer].code &&
	       facts[inner].extent.start >= facts[outer].extent.start &&
	       log->sites[inner].offset < log->sites[outer].offset;
}

static bool copies_back(const struct argument_site *site, const char *function)
{
	const struct slow_call *slow = site->slow ? slow_call_get(site->slow) : NULL;

	return slow && slow->when == SLOW_COPY_BACK && !strcmp(slow->function, function);
}

/* loads(dumps(x)) */
static void find_copy(struct argument_facts *facts, const struct argument_log *log, uint32_t id)
{
	if (!copies_back(&log->sites[id], "loads") || facts[id].call_begin < 0)
		return;
	for (uint32_t inner = 0; inner < log->site_count; inner++)
		if (log->sites[inner].code == log->sites[id].code &&
		    copies_back(&log->sites[inner], "dumps") &&
		    facts[inner].extent.end == facts[id].call_begin)
			facts[inner].slow = facts[id].slow = true;
}

/* What x = x + y frees is the x of the round before. */
static void find_store(struct argument_facts *facts, const struct argument_log *log, uint32_t id)
{
	for (uint32_t store = 0; facts[id].extent.store >= 0 && store < log->site_count; store++)
		if (log->sites[store].code == log->sites[id].code &&
		    log->sites[store].offset == facts[id].extent.store)
			facts[store].stores = id;
}

/*
 * f(g(x)), (*x, y), where g(x), or the list that a tuple is made of, is longer each time: so is the
 * work on it, and one change mends both. g(x).f() works on nothing else.
 */
static void inherit_growth(struct argument_facts *facts, const struct argument_log *log,
			   uint32_t id)
{
	struct argument_facts *outer = &facts[id];
	const struct argument_site *site = &log->sites[id];
	bool makes = !site->of_callee && outer->most_items >= ARGUMENT_GROWN_ITEMS_MIN &&
		     (site->kind == OPERATION_CALL || site->kind == OPERATION_BUILD);

	if (site->offset == ARGUMENT_ENTRY || (site->of_callee && !site->of_library) ||
	    (!makes && outer->origin < 0))
		return;
	for (uint32_t inner = 0; inner < log->site_count; inner++)
		if (facts[inner].growing && is_within(facts, log, inner, id))
			outer->growing = true;
}

/* What takes elements out of a library's table in a loop: the table is asked for in vain, too. */
static void find_element_of(struct argument_facts *facts, const struct argument_log *log,
			    uint32_t id)
{
	const struct argument_site *site = &log->sites[id];
	bool of_library = false;

	for (size_t i = 0; i < site->operand_count; i++)
		of_library |= site->operands[i].role == OPERAND_CONTAINER &&
			      argument_is_of_library(site->operands[i].shape);
	/* What __getitem__() was called with. */
	of_library |= site->of_callee && site->operand_count &&
		      argument_is_of_library(site->operands[0].shape);
	for (uint32_t inner = 0; facts[id].elements && of_library && inner < log->site_count;
	     inner++)
		if (is_within(facts, log, inner, id))
			facts[inner].element_of = id;
}

/* It draws, or most of its calls that were compared differ. */
static bool is_another_each_time(const struct argument_site *site)
{
	return site->asks || (site->compared > 1 && 2 * site->repeated < site->compared);
}

/* To keep its result would cost as much: unless what it works on is computed for it, as in
 * sorted(x)[0]. */
static void drop_trivial(struct argument_facts *facts, const struct argument_log *log, uint32_t id)
{
	if (!argument_is_trivial(&log->sites[id]) || facts[id].call.does.names_constant)
		return;
	for (uint32_t inner = 0; inner < log->site_count; inner++)
		if (is_within(facts, log, inner, id) && argument_computes(&log->sites[inner]) &&
		    !is_another_each_time(&log->sites[inner]))
			return;
	facts[id].again = facts[id].few = false;
	/* if x: takes no work that could be kept. */
	facts[id].same &= log->sites[id].kind != OPERATION_TRUTH;
	facts[id].summary->repeated = 0;
}

/* A call was seen at other instructions, too: at those that prepare it. */
static void drop_asking(struct argument_facts *facts, const struct argument_log *log, uint32_t id)
{
	for (uint32_t other = 0; log->sites[id].asks && other < log->site_count; other++)
		if (log->sites[other].code == log->sites[id].code &&
		    log->sites[other].offset != ARGUMENT_ENTRY &&
		    facts[other].extent.start == facts[id].extent.start)
			facts[other].same = facts[other].again = facts[other].few = false;
}

void argument_relations_judge(struct argument_facts *facts, const struct argument_log *log)
{
	for (uint32_t id = 0; id < log->site_count; id++)
		facts[id].stores = facts[id].element_of = ID_NONE;
	for (uint32_t id = 0; id < log->site_count; id++) {
		if (log->sites[id].offset != ARGUMENT_ENTRY) {
			find_store(facts, log, id);
			find_copy(facts, log, id);
			find_element_of(facts, log, id);
		}
		judge_entry(facts, log, id);
		inherit_growth(facts, log, id);
		drop_trivial(facts, log, id);
		drop_asking(facts, log, id);
	}
}
