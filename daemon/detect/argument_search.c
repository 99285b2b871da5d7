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
/* Of samples in its loop beside the ones before, so many went over the same object, and so many of
 * these had begun anew. */
#define PASSES_MIN 8
#define PASSES_LOW 0.7
#define ANEW_MIN   3
#define ANEW_OF    8

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
	struct loop around, *found_around = NULL;
	struct search_loop search;
	unsigned kept;
	int begin;

	facts->search_compare = -1;
	facts->searched |= searches_array(facts, site);
	if (!facts->call.in_loop)
		return;
	if (site->kind == OPERATION_COMPARE && argument_compares_array(site) &&
	    search_loop_compares(bytecode, site->offset, &facts->call.loop, &kept))
		facts->searched = true;
	begin = search_loop_begin(bytecode, &facts->call.loop);
	if (begin >= 0 && loop_find(bytecode, begin, &around))
		found_around = &around;
	if (!search_loop_find(bytecode, &facts->call.loop, found_around, &search))
		return;
	facts->search_compare = search.compare;
	facts->search_ordered = search.ordered;
	facts->search_same = search.indexed_same ||
			     (found_around && search_loop_keeps(bytecode, begin, &around));
}

void argument_search_count(struct argument_facts *facts, const struct argument_frame *frame)
{
	bool known =
		frame->loop_count && frame->container && frame->remaining[0] != ITERATOR_UNKNOWN;

	if (!known)
		return;
	if (facts->pass_container) {
		bool same = frame->container == facts->pass_container;

		facts->pass_pairs++;
		facts->pass_same += same;
		facts->pass_anew += same && frame->remaining[0] > facts->pass_remaining;
	}
	facts->pass_container = frame->container;
	facts->pass_remaining = frame->remaining[0];
}

/* It goes over one and the same object, again and again from its beginning. */
static bool passes_again(const struct argument_facts *facts)
{
	return facts->pass_pairs >= PASSES_MIN &&
	       interval_wilson(facts->pass_same, facts->pass_pairs).low > PASSES_LOW &&
	       facts->pass_anew >= ANEW_MIN && ANEW_OF * facts->pass_anew >= facts->pass_same;
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

/* All sites of a loop are of the same passes. */
static void add_passes(struct argument_facts *into, const struct argument_facts *site)
{
	if (into == site)
		return;
	into->pass_pairs += site->pass_pairs;
	into->pass_same += site->pass_same;
	into->pass_anew += site->pass_anew;
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
			facts[id].search_site = argument_log_find(log, log->sites[id].code,
								  facts[id].search_compare);
			if (facts[id].search_site == ID_NONE)
				facts[id].search_site = id;
			add_passes(&facts[facts[id].search_site], &facts[id]);
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
	/* What is called with those that it finds is needed: they may be many. */
	if (own->search_ordered &&
	    (f || (own->call.offset > own->search_compare && own->call.does.call)))
		return 0;
	if (own->search_compare < 0 || own->search_same || passes_again(&facts[own->search_site])) {
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
