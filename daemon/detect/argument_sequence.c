/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/detect/argument_sequence.h"

#include "daemon/detect/argument_element.h"
#include "daemon/detect/argument_note.h"
#include "daemon/detect/interval.h"

#include <string.h>

/* Growing: so many sizes, of which surely more than a half are larger than the one before. */
#define GROWING_SIZES_MIN 6
#define GROWING_LOW       0.55
/* Or: from call to call, of a sequence of so many items or more. */
#define GROWN_COMPARED_MIN 8
#define GROWN_LOW          0.6
/* Or: of several sequences in turn, that grow by one each before the first of them comes again. */
#define TURNS_COMPARED_MIN 24
#define TURNS_GROWN_LOW    0.1
#define TURNS_SHRUNK_OF    8
#define TURNS_AT_MOST_OF   4 /* a window that is full grows no more */
/* Or: on a part of an array that moves a little. */
#define SHIFTED_LOW 0.5
/* Of a list that hardly changes; to sort one takes longer than to go over it, and a sum is kept
 * more cheaply than a heap. */
#define KEPT_COMPARED_MIN 8
#define KEPT_LOW          0.5
#define KEPT_ITEMS_MIN    64
#define KEPT_FEW_MIN      32
/* What is copied matters from so many items on. */
#define CUT_MIN 512

/* Linear in the operand: not x[i], nor a dict. A list is sorted for the effect. */
static void judge_growth(struct argument_facts *facts, const struct argument_site *site)
{
	bool linear = site->kind == OPERATION_CALL || site->kind == OPERATION_BINARY ||
		      site->kind == OPERATION_CONTAINS || site->kind == OPERATION_COMPARE ||
		      site->kind == OPERATION_EXTEND;
	bool sorts = site->slow && slow_call_get(site->slow)->when == SLOW_SORT;

	bool from_sample_to_sample =
		facts->sizes >= GROWING_SIZES_MIN && facts->sizes > facts->summary->judged / 2 &&
		interval_wilson(facts->steps_up, facts->sizes).low > GROWING_LOW;
	bool from_call_to_call = site->compared >= GROWN_COMPARED_MIN &&
				 facts->most_items >= ARGUMENT_GROWN_ITEMS_MIN &&
				 interval_wilson(site->grown, site->compared).low > GROWN_LOW;
	bool in_turn = site->compared >= TURNS_COMPARED_MIN &&
		       facts->most_items >= ARGUMENT_GROWN_ITEMS_MIN && !site->repeated &&
		       TURNS_SHRUNK_OF * site->shrunk <= site->grown &&
		       TURNS_AT_MOST_OF * site->at_most <= site->compared &&
		       interval_wilson(site->grown, site->compared).low > TURNS_GROWN_LOW;

	/* What an operator makes of a part is as large as the part: there is nothing to share. */
	bool shifts = facts->call.in_loop && site->kind != OPERATION_BINARY &&
		      site->kind != OPERATION_COMPARE && site->compared >= GROWN_COMPARED_MIN &&
		      interval_wilson(site->shifted, site->compared).low > SHIFTED_LOW;

	facts->growing = linear && (!site->of_callee || site->of_library) &&
			 (sorts || !facts->veto.dropped) &&
			 (from_sample_to_sample || from_call_to_call || in_turn || shifts);
}

/* min(s, key=lambda x: way(x, here)): the order may be another one each time, which a heap does not
 * keep up with. d.get as a key reads what changes a little, too. */
static bool has_own_order(const struct argument_site *site)
{
	bool function = false, table = false;

	for (size_t i = 0; i < site->operand_count; i++) {
		const struct argument_operand *operand = &site->operands[i];

		if (argument_is_callee(operand->role))
			continue;
		function |= operand->kind == CONTENT_FUNCTION;
		table |= operand->kind == CONTENT_SET || operand->kind == CONTENT_DICT ||
			 operand->kind == CONTENT_OBJECT;
	}
	return function && table;
}

void argument_sequence_judge_kept(struct argument_facts *facts, const struct argument_site *site)
{
	bool soon = slow_call_sorts(site->slow) || slow_call_sums(site->slow);
	uint64_t least = soon ? KEPT_FEW_MIN : KEPT_ITEMS_MIN;
	uint64_t most = facts->most_items > site->most_items ? facts->most_items : site->most_items;

	facts->kept = slow_call_goes_over(site->slow) && !facts->growing && !has_own_order(site) &&
		      site->compared >= KEPT_COMPARED_MIN && most >= least &&
		      interval_wilson(site->kept, site->compared).low > KEPT_LOW;
}

static bool is_copied_by_slices(uint8_t kind)
{
	return kind == CONTENT_BYTES || kind == CONTENT_BYTEARRAY || kind == CONTENT_STR ||
	       kind == CONTENT_LIST || kind == CONTENT_TUPLE;
}

/* What `in` goes through from its beginning. */
static bool is_searched(const struct argument_operand *container)
{
	switch (container->kind) {
	case CONTENT_LIST:
	case CONTENT_TUPLE:
	case CONTENT_DEQUE:
		return container->size >= ARGUMENT_SEARCHED_MIN;
	case CONTENT_ARRAY:
		return argument_numbers_taken(container->shape, 0) >= ARGUMENT_SEARCHED_MIN;
	default:
		return container->size >= ARGUMENT_SEARCHED_MIN &&
		       !strcmp(container->shape, "dict_values");
	}
}

/* x in list; x = x[n:], with another length each time. */
static void judge_sequences(struct argument_facts *facts, const struct argument_site *site)
{
	const struct argument_operand *container = NULL;
	bool slices = site->kind == OPERATION_SLICE, first = false;

	for (size_t i = 0; i < site->operand_count; i++) {
		if (site->operands[i].role == OPERAND_CONTAINER)
			container = &site->operands[i];
		first |= site->operands[i].role == OPERAND_INDEX && site->operands[i].zero;
		slices |= site->kind == OPERATION_SUBSCRIPT &&
			  site->operands[i].kind == CONTENT_SLICE;
	}
	if (!container || facts->summary->judged < ARGUMENT_JUDGED_MIN)
		return;
	facts->searched |= site->kind == OPERATION_CONTAINS && is_searched(container);
	facts->cut = slices && facts->veto.result_replaces && container->size >= CUT_MIN &&
		     is_copied_by_slices(container->kind) &&
		     facts->sizes > facts->summary->judged / 2;
	/* del x[0] */
	facts->cut |= site->kind == OPERATION_DELETE_SUBSCRIPT && container->kind == CONTENT_LIST &&
		      container->size >= CUT_MIN && first;
}

void argument_sequence_judge(struct argument_facts *facts, const struct argument_site *site)
{
	judge_growth(facts, site);
	judge_sequences(facts, site);
}
