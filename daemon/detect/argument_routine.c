/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/detect/argument_routine.h"

#include "daemon/detect/argument_note.h"
#include "daemon/detect/interval.h"

/* Of a function's pairs, surely so many are alike: one in five is read a moment too early or too
 * late. */
#define ALIKE_LOW 0.55
/* A site of which so many pairs are known speaks for itself, if so few are alike. */
#define PAIRS_OF_SITE 6
#define ALIKE_OF_SITE 0.2
/* Of the samples, so many may work on state that cannot be read: a dict that is just being changed.
 * At one site, mostly: it is a socket, or the like. */
#define STATE_MOST    0.1
#define STATE_OF_SITE 2
/* A call that is nearly all of the program is its main loop. */
#define NEARLY_ALL 0.8

void argument_routine_judge(struct argument_facts *facts, const struct argument_log *log)
{
	for (uint32_t id = 0; id < log->site_count; id++) {
		struct argument_work *work = &facts[id].work;

		/* range(9) is the same whatever the function does. */
		if (facts[id].call.does.names_constant)
			work->pairs = work->alike = 0;
		if ((work->pairs >= PAIRS_OF_SITE && work->alike < ALIKE_OF_SITE * work->pairs) ||
		    (work->state >= STATE_OF_SITE && 2 * work->state > work->judged))
			facts[facts[id].code_site].work.refuted = true;
	}
	for (uint32_t id = 0; id < log->site_count; id++) {
		struct argument_work *work = &facts[id].work;
		struct argument_work *all = &facts[facts[id].code_site].work;

		if (all == work)
			continue;
		all->judged += work->judged;
		all->state += work->state;
		all->pairs += work->pairs;
		all->alike += work->alike;
	}
	for (uint32_t id = 0; id < log->site_count; id++) {
		struct argument_work *all = &facts[id].work;

		all->same = facts[id].code_site == id && !all->refuted &&
			    interval_wilson(all->alike, all->pairs).low > ALIKE_LOW &&
			    all->state <= STATE_MOST * all->judged;
	}
}

/*
 * By what can be read of its arguments, the caller asks for something else each time. What a
 * method does not ask of its object may change.
 */
static bool asks_for_others(const struct argument_facts *caller, const struct argument_site *site)
{
	bool data = false;

	for (size_t i = 0; i < site->operand_count; i++)
		data |= !site->operands[i].callable && site->operands[i].kind != CONTENT_OBJECT;
	if (!data)
		return false;
	return (site->compared && 2 * site->repeated < site->compared) ||
	       (caller->summary->pairs >= PAIRS_OF_SITE &&
		2 * caller->summary->alike < caller->summary->pairs);
}

int argument_routine_frame(const struct argument_facts *facts, const struct argument_log *log,
			   const struct argument_sample *sample)
{
	for (int f = sample->frame_count - 2; f >= 0; f--) {
		uint32_t caller = sample->frames[f + 1].site;
		const struct argument_site *site = &log->sites[caller];

		if (facts[facts[sample->frames[f].site].code_site].work.same &&
		    (site->kind == OPERATION_CALL || site->kind == OPERATION_CALL_UNPACKED) &&
		    (site->runs_frame || argument_calls_function(site)) &&
		    !facts[caller].veto.dropped && !asks_for_others(&facts[caller], site) &&
		    (double)facts[caller].seen <= NEARLY_ALL * (double)log->sample_count)
			return f;
	}
	return -1;
}
