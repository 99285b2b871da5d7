/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/detect/argument_copy.h"

#include "daemon/bytecode/copy_loop.h"
#include "daemon/detect/argument_element.h"

/* Of the loop's time: docs/MEASURED.md, "Loops that copy". */
static const struct saved_part part_of_copy = { 0.95, 0.8, 0.99 };

void argument_copy_judge(struct argument_facts *facts, const struct argument_site *site,
			 const struct bytecode *bytecode)
{
	struct copy_loop copy;

	facts->copy_taken = -1;
	/* Over numbers in a row: those of a list may lie anywhere. */
	if (!facts->call.in_loop || !site->counted ||
	    !copy_loop_find(bytecode, &facts->call.loop, &copy))
		return;
	facts->copy_taken = copy.taken;
	facts->copy_call = copy.call;
}

/* Arrays have their own rule, and tables and dicts no slices. In the middle of the instruction the
 * item may lie where its container was. */
static bool may_be_sliced(const struct argument_operand *operand)
{
	switch (operand->kind) {
	case CONTENT_ARRAY:
	case CONTENT_TENSOR:
	case CONTENT_OBJECT:
	case CONTENT_DICT:
	case CONTENT_OTHER:
	case CONTENT_UNREADABLE:
		return false;
	default:
		return true;
	}
}

/* The site that takes the items, where all that is known speaks for a copy. */
static uint32_t copy_site(const struct argument_facts *facts, const struct argument_log *log,
			  uint32_t id)
{
	uint32_t taken = argument_log_find(log, log->sites[id].code, facts[id].copy_taken), call;

	if (taken == ID_NONE || !log->sites[taken].operand_count ||
	    !may_be_sliced(&log->sites[taken].operands[0]))
		return ID_NONE;
	if (facts[id].copy_call < 0)
		return taken;
	call = argument_log_find(log, log->sites[id].code, facts[id].copy_call);
	return call != ID_NONE && log->sites[call].appends ? taken : ID_NONE;
}

void argument_copy_find(struct argument_facts *facts, const struct argument_log *log)
{
	for (uint32_t id = 0; id < log->site_count; id++) {
		facts[id].copy_site = ID_NONE;
		if (log->sites[id].offset == ARGUMENT_ENTRY || facts[id].copy_taken < 0 ||
		    facts[id].summary->trips < ARGUMENT_SEARCHED_MIN)
			continue;
		facts[id].copy_site = copy_site(facts, log, id);
		if (facts[id].copy_site != ID_NONE)
			facts[facts[id].copy_site].summary->elements = part_of_copy;
	}
}

bool argument_copies(const struct argument_site *site)
{
	return site->kind == OPERATION_SUBSCRIPT && site->operand_count &&
	       may_be_sliced(&site->operands[0]) && !argument_takes_element(site);
}
