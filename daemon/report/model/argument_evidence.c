/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/report/model/argument_evidence.h"

#include "daemon/detect/interval.h"

#include <math.h>
#include <stddef.h>

#define SAMPLES_MIN 5
/*
 * So many samples of different work, so much of the line's time, and few samples
 * that could not be compared: then its calls work on something else each time.
 */
#define CLEARING_SAMPLES 8
#define CLEARING_SHARE   0.5
#define CLEARING_KNOWN   0.75

/*
 * Of the time of a sample: what the fix saves, and the ends of what it saved where
 * that was measured, on the programs of tests/practice, by a thousand samples each; the samples'
 * own chance is added to it. More than the line's own time goes with it: the loop's head, memory
 * that is given back elsewhere.
 */
struct saving {
	double share, low, high;
};

static const struct saving savings[ARGUMENT_VERDICT_COUNT] = {
	[ARGUMENT_INVARIANT] = { 1.16, 1.0, 1.36 }, [ARGUMENT_REPEATED] = { 1.08, 0.88, 1.32 },
	[ARGUMENT_FEW] = { 1.03, 0.9, 1.2 },        [ARGUMENT_GROWING] = { 1.2, 1.0, 1.45 },
	[ARGUMENT_ELEMENTS] = { 1.05, 0.9, 1.21 },  [ARGUMENT_SCALARS] = { 1.05, 0.88, 1.23 },
	[ARGUMENT_SEARCHED] = { 1.1, 0.92, 1.32 },  [ARGUMENT_CUT] = { 0.95, 0.8, 1.15 },
	[ARGUMENT_SLOW] = { 1.1, 0.92, 1.3 },       [ARGUMENT_SORTED] = { 1.0, 0.8, 1.2 },
	[ARGUMENT_END] = { 0.75, 0.5, 1.0 },        [ARGUMENT_IN_TURN] = { 1.08, 0.88, 1.32 },
	[ARGUMENT_FEW_HELD] = { 1.03, 0.9, 1.2 },
};

/* The end of the interval may lie beyond the line's own time by so much. */
#define BEYOND_LINE 1.4

void argument_evidence_add(struct argument_evidence *evidence, enum argument_verdict verdict,
			   uint64_t time_ns, struct saved_part part)
{
	const struct saving *saving = &savings[verdict];
	double time = (double)time_ns, saved, below, above;

	evidence->samples[verdict]++;
	evidence->time_ns[verdict] += time_ns;
	/* Nothing was found in it: there is nothing to save. */
	if (part.middle <= 0 || saving->share <= 0)
		return;
	saved = time * part.middle * saving->share;
	evidence->saved_ns += (uint64_t)saved;
	/* How much is done for nothing, and what not doing it saves, know nothing of each other. */
	below = hypot(1 - part.low / part.middle, 1 - saving->low / saving->share);
	above = hypot(part.high / part.middle - 1, saving->high / saving->share - 1);
	evidence->saved_low_ns += (uint64_t)(saved * fmax(1 - below, 0));
	evidence->saved_high_ns += (uint64_t)(saved * (1 + above));
}

enum argument_verdict argument_evidence_verdict(const struct argument_evidence *evidence,
						uint64_t charged_ns)
{
	enum argument_verdict best = ARGUMENT_NEEDED;
	uint64_t votes = 0;
	double needed;

	for (unsigned v = ARGUMENT_NEEDED + 1; v < ARGUMENT_VERDICT_COUNT; v++) {
		votes += evidence->samples[v];
		if (evidence->time_ns[v] &&
		    (best == ARGUMENT_NEEDED || evidence->time_ns[v] > evidence->time_ns[best]))
			best = v;
	}
	if (votes >= SAMPLES_MIN)
		return best;
	needed = (double)evidence->time_ns[ARGUMENT_NEEDED];
	if (evidence->samples[ARGUMENT_NEEDED] >= CLEARING_SAMPLES &&
	    needed >= CLEARING_SHARE * (double)charged_ns &&
	    needed >= CLEARING_KNOWN * (needed + (double)evidence->time_ns[ARGUMENT_UNKNOWN]))
		return ARGUMENT_NEEDED;
	return ARGUMENT_UNKNOWN;
}

static uint64_t within(double time_ns, uint64_t limit_ns)
{
	if (time_ns <= 0)
		return 0;
	return time_ns < (double)limit_ns ? (uint64_t)time_ns : limit_ns;
}

void argument_evidence_saving(const struct argument_evidence *evidence, uint64_t limit_ns,
			      uint64_t run_ns, uint64_t period_ns, struct saved_time *ret_saved)
{
	uint64_t votes_ns = 0;
	struct interval share;
	double votes, below, above;

	for (unsigned v = ARGUMENT_NEEDED + 1; v < ARGUMENT_VERDICT_COUNT; v++)
		votes_ns += evidence->time_ns[v];
	*ret_saved = (struct saved_time){ 0 };
	if (!votes_ns || !period_ns || !evidence->saved_ns)
		return;
	/* Each sample of the run either speaks for the finding or does not. */
	votes = fmax((double)votes_ns / (double)period_ns, 1);
	run_ns = run_ns > votes_ns ? run_ns : votes_ns;
	share = interval_wilson((uint64_t)llround(votes), run_ns / period_ns);
	votes /= (double)run_ns / (double)period_ns;
	ret_saved->time_ns = within((double)evidence->saved_ns, limit_ns);
	/* Two errors that know nothing of each other: the fix's, and the samples'. */
	below = hypot(1 - (double)evidence->saved_low_ns / (double)evidence->saved_ns,
		      1 - share.low / votes);
	above = hypot((double)evidence->saved_high_ns / (double)evidence->saved_ns - 1,
		      share.high / votes - 1);
	ret_saved->low_ns = within((double)evidence->saved_ns * (1 - below), ret_saved->time_ns);
	/* The limit is made of samples, too. */
	ret_saved->high_ns =
		within((double)evidence->saved_ns * (1 + above),
		       (uint64_t)(BEYOND_LINE * (double)limit_ns * share.high / votes));
	if (ret_saved->high_ns > run_ns)
		ret_saved->high_ns = run_ns;
	if (ret_saved->high_ns < ret_saved->time_ns)
		ret_saved->high_ns = ret_saved->time_ns;
}

enum category argument_verdict_category(enum argument_verdict verdict)
{
	switch (verdict) {
	case ARGUMENT_INVARIANT:
		return CATEGORY_LOOP_INVARIANT;
	case ARGUMENT_REPEATED:
	case ARGUMENT_IN_TURN:
		return CATEGORY_REPEATED_CALL;
	case ARGUMENT_FEW:
	case ARGUMENT_FEW_HELD:
		return CATEGORY_MEMOIZABLE;
	case ARGUMENT_GROWING:
	case ARGUMENT_SEARCHED:
	case ARGUMENT_CUT:
	case ARGUMENT_SORTED:
		return CATEGORY_INEFFICIENT_ALGORITHM;
	case ARGUMENT_ELEMENTS:
		return CATEGORY_SLICE_UNDERUTILISATION;
	case ARGUMENT_SCALARS:
	case ARGUMENT_SLOW:
	case ARGUMENT_END:
		return CATEGORY_API_MISUSE;
	case ARGUMENT_UNKNOWN:
	case ARGUMENT_NEEDED:
	case ARGUMENT_VERDICT_COUNT:
		break;
	}
	return CATEGORY_UNCLEAR;
}

const char *argument_verdict_name(enum argument_verdict verdict)
{
	static const char *const names[ARGUMENT_VERDICT_COUNT] = {
		[ARGUMENT_UNKNOWN] = "unknown",
		[ARGUMENT_NEEDED] = "needed",
		[ARGUMENT_INVARIANT] = "invariant",
		[ARGUMENT_REPEATED] = "repeated",
		[ARGUMENT_FEW] = "few",
		[ARGUMENT_GROWING] = "growing",
		[ARGUMENT_ELEMENTS] = "elements",
		[ARGUMENT_SCALARS] = "scalars",
		[ARGUMENT_SEARCHED] = "searched",
		[ARGUMENT_CUT] = "cut",
		[ARGUMENT_SLOW] = "slow",
		[ARGUMENT_SORTED] = "sorted",
		[ARGUMENT_END] = "end",
		[ARGUMENT_IN_TURN] = "in_turn",
		[ARGUMENT_FEW_HELD] = "few_held",
	};

	return (unsigned)verdict < ARGUMENT_VERDICT_COUNT ? names[verdict] : "unknown";
}
