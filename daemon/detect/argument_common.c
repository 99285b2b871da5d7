/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/detect/argument_common.h"

#include "daemon/contents/content_kind.h"
#include "daemon/detect/argument_element.h"

/* Of the samples in it that were compared, with state among what it works on: not its operands
 * alone say what comes out. */
#define STATE_PART 0.2
/* Of the samples in a function: with more from elsewhere it is the function that is to keep its
 * results. */
#define PAIRED_PART 0.8

void argument_common_judge(struct argument_facts *facts, const struct argument_site *site,
			   const struct bytecode *bytecode)
{
	facts->is_common = common_subexpression_find(bytecode, site->offset, &facts->common);
}

static bool is_within(const struct argument_site *site, const struct argument_site *other,
		      int start, int end)
{
	return other->code == site->code && other->offset >= start && other->offset < end;
}

/* An array or table; a call that was seen in a Python function of the program's own is judged by
 * what that works on. */
static bool is_costly(const struct argument_site *site)
{
	if (site->kind == OPERATION_CALL || site->kind == OPERATION_CALL_UNPACKED)
		return true;
	for (size_t i = 0; i < site->operand_count; i++)
		if (site->operands[i].kind == CONTENT_ARRAY ||
		    site->operands[i].kind == CONTENT_TENSOR || site->operands[i].frame)
			return true;
	return false;
}

/* Does the outcome depend on what the operands are, and on nothing else? */
static bool is_pure(const struct argument_facts *facts, const struct argument_log *log, uint32_t id)
{
	const struct argument_site *site = &log->sites[id];
	const struct common_subexpression *common = &facts[id].common;
	double judged = 0, data = 0, state = 0;
	bool costly = false;

	for (uint32_t other = 0; other < log->site_count; other++) {
		const struct argument_site *part = &log->sites[other];

		if (!is_within(site, part, common->start, common->end))
			continue;
		if (part->asks || part->awaits ||
		    (part->of_callee && part->runs_python && !part->of_library))
			return false;
		costly |= is_costly(part);
		judged += (double)facts[other].summary->judged;
		data += (double)facts[other].data;
		/* f(x).g(): the state is what f(x) has made. if q.f(x): y = q.f(x): nothing else
		 * has changed it. */
		if (facts[other].origin >= common->start)
			judged -= (double)facts[other].state;
		else if (!common->adjacent)
			state += (double)facts[other].state;
	}
	return costly && judged >= ARGUMENT_JUDGED_MIN && 2 * data > judged &&
	       state < STATE_PART * judged;
}

static void count_callers(struct argument_facts *facts, const struct argument_sample *sample)
{
	for (unsigned f = 0; f + 1 < sample->frame_count; f++) {
		const struct argument_facts *caller = &facts[sample->frames[f + 1].site];
		struct argument_facts *code = &facts[facts[sample->frames[f].site].code_site];

		code->entered++;
		code->entered_common += caller->is_common || caller->is_common_first;
	}
}

void argument_common_find(struct argument_facts *facts, const struct argument_log *log)
{
	for (uint32_t id = 0; id < log->site_count; id++)
		facts[id].common_site = ID_NONE;
	for (uint32_t id = 0; id < log->site_count; id++) {
		const struct common_subexpression *common = &facts[id].common;

		if (!facts[id].is_common)
			continue;
		for (uint32_t first = 0; first < log->site_count; first++)
			if (is_within(&log->sites[id], &log->sites[first], common->first_start,
				      common->first_end))
				facts[first].is_common_first = true;
		if (is_pure(facts, log, id))
			facts[id].common_site = argument_common_result(facts, log, id);
	}
	for (size_t i = 0; i < log->sample_count; i++)
		count_callers(facts, &log->samples[i]);
}

bool argument_common_calls(const struct argument_facts *facts, uint32_t site)
{
	const struct argument_facts *code = &facts[facts[site].code_site];

	return code->entry_again && !code->entry_refuted &&
	       code->entered_common >= PAIRED_PART * code->entered;
}

uint32_t argument_common_result(const struct argument_facts *facts, const struct argument_log *log,
				uint32_t id)
{
	uint32_t result = argument_log_find(log, log->sites[id].code, facts[id].common.result);

	return result == ID_NONE ? id : result;
}
