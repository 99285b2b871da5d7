/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/detect/argument_search.h"

#include "common/text.h"
#include "daemon/bytecode/search_loop.h"
#include "daemon/detect/argument_element.h"
#include "daemon/detect/interval.h"

#include <errno.h>

/* Calls compared with the ones before, and of how many, surely, what is gone through is the same.
 */
#define COMPARED_MIN 4
#define KEPT_LOW     0.5

/* xs == key in a function that is called with one key after the other. */
static bool searches_array(const struct argument_facts *facts, const struct argument_site *site)
{
	return !facts->call.in_loop && site->kind == OPERATION_COMPARE &&
	       argument_compares_array(site) && site->compared >= COMPARED_MIN &&
	       interval_wilson(site->first_kept, site->compared).low > KEPT_LOW &&
	       2 * site->repeated < site->compared;
}

/* for x in xs: if x.key == key; or in a loop: xs == key. */
void argument_search_judge(struct argument_facts *facts, const struct argument_site *site,
			   const struct bytecode *bytecode)
{
	struct loop around;
	unsigned kept;
	int begin;

	facts->search_compare = -1;
	facts->searched |= searches_array(facts, site);
	if (!facts->call.in_loop)
		return;
	if (site->kind == OPERATION_COMPARE && argument_compares_array(site) &&
	    search_loop_compares(bytecode, site->offset, &facts->call.loop, &kept))
		facts->searched = true;
	if (!search_loop_find(bytecode, &facts->call.loop, &facts->search_compare))
		return;
	begin = search_loop_begin(bytecode, &facts->call.loop);
	facts->search_same = begin >= 0 && loop_find(bytecode, begin, &around) &&
			     search_loop_keeps(bytecode, begin, &around);
}

static uint32_t site_at(const struct argument_log *log, const struct python_code *code, int offset)
{
	for (uint32_t id = 0; id < log->site_count; id++)
		if (log->sites[id].code == code && log->sites[id].offset == offset)
			return id;
	return ID_NONE;
}

/* By a library, or in C: what a function of the program does is its own. */
static bool goes_with_comparison(const struct argument_site *site)
{
	return site->kind == OPERATION_SUBSCRIPT ||
	       (site->kind == OPERATION_CALL && (!site->runs_python || site->of_library));
}

/* x[x.key == value].sum(), any(x == value): what takes the items out, and what is done with them,
 * goes with the comparison. */
static uint32_t comparison_within(const struct argument_facts *facts,
				  const struct argument_log *log, uint32_t id)
{
	const struct argument_extent *extent = &facts[id].extent;

	if (!goes_with_comparison(&log->sites[id]))
		return ID_NONE;
	for (uint32_t inner = 0; inner < log->site_count; inner++)
		if (inner != id && facts[inner].searched && !log->sites[inner].slow &&
		    log->sites[inner].kind == OPERATION_COMPARE &&
		    log->sites[inner].code == log->sites[id].code &&
		    log->sites[inner].offset >= extent->start &&
		    log->sites[inner].offset < extent->end)
			return inner;
	return ID_NONE;
}

void argument_search_find(struct argument_facts *facts, const struct argument_log *log)
{
	for (uint32_t id = 0; id < log->site_count; id++) {
		facts[id].search_site = ID_NONE;
		if (log->sites[id].offset == ARGUMENT_ENTRY)
			continue;
		if (facts[id].search_compare < 0) {
			facts[id].search_site = comparison_within(facts, log, id);
		} else if (facts[id].summary->trips >= ARGUMENT_SEARCHED_MIN) {
			facts[id].search_site =
				site_at(log, log->sites[id].code, facts[id].search_compare);
			if (facts[id].search_site == ID_NONE)
				facts[id].search_site = id;
		}
	}
}

static bool is_comprehension(const struct python_code *code)
{
	return text_ends_with(code->function, "comp>") ||
	       text_ends_with(code->function, "<genexpr>");
}

/* By the loop that its caller is in. */
static int caller_keeps(const struct argument_facts *facts, const struct argument_facts *caller,
			struct call_site_table *sites, bool *ret_same)
{
	const struct python_code *code = facts->call.code;
	const struct bytecode *bytecode;
	struct call_site begin;
	int offset, error;

	*ret_same = false;
	if (!caller->call.in_loop)
		return 0;
	if (is_comprehension(code)) {
		bytecode = call_site_bytecode(sites, caller->call.code);
		if (!bytecode)
			return -ENOMEM;
		offset = search_loop_begin_of_call(bytecode, caller->call.offset);
		*ret_same = offset >= 0 && search_loop_keeps(bytecode, offset, &caller->call.loop);
		return 0;
	}
	bytecode = call_site_bytecode(sites, code);
	if (!bytecode)
		return -ENOMEM;
	offset = search_loop_begin(bytecode, &facts->call.loop);
	if (offset < 0)
		return 0;
	error = call_site_find(sites, code, offset, &begin);
	return error ? error : call_site_is_constant(sites, &begin, &caller->call, ret_same);
}

int argument_search_site(struct argument_facts *facts, const struct argument_log *log,
			 struct call_site_table *sites, const struct argument_sample *sample,
			 unsigned f, uint32_t *ret_site)
{
	struct argument_facts *own = &facts[sample->frames[f].site];
	uint32_t caller;
	int error;

	*ret_site = ID_NONE;
	if (own->search_site == ID_NONE)
		return 0;
	if (own->search_compare < 0 || own->search_same) {
		*ret_site = own->search_site;
		return 0;
	}
	if (f + 1u >= sample->frame_count)
		return 0;
	caller = sample->frames[f + 1].site;
	if (log->sites[caller].offset == ARGUMENT_ENTRY)
		return 0;
	if (own->search_caller != caller + 1) {
		error = caller_keeps(own, &facts[caller], sites, &own->search_caller_same);
		if (error)
			return error;
		own->search_caller = caller + 1;
	}
	if (own->search_caller_same)
		*ret_site = own->search_site;
	return 0;
}
