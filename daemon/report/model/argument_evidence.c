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
 * By how much a fix saves more than what its samples take: the loop's head, memory that is given
 * back elsewhere. As a factor of odds, for a line that takes 80% of a run cannot save half as much
 * again, one that takes 10% may; and the error of that, in the logarithm. Measured on the programs
 * of tests/practice, by some 700 samples each: of four in five the saving lies within.
 */
struct fix_factor {
	double odds, error;
};

static const struct fix_factor fixes[ARGUMENT_VERDICT_COUNT] = {
	[ARGUMENT_INVARIANT] = { 1.07, 0.4 }, [ARGUMENT_REPEATED] = { 1.2, 0.36 },
	[ARGUMENT_FEW] = { 1.15, 0.35 },      [ARGUMENT_GROWING] = { 1.5, 0.45 },
	[ARGUMENT_ELEMENTS] = { 1.27, 0.35 }, [ARGUMENT_SCALARS] = { 1.2, 0.4 },
	[ARGUMENT_SEARCHED] = { 1.3, 0.4 },   [ARGUMENT_CUT] = { 1.2, 0.4 },
	[ARGUMENT_SLOW] = { 1.33, 0.37 },     [ARGUMENT_SORTED] = { 1.0, 0.6 },
	[ARGUMENT_END] = { 0.85, 0.5 },       [ARGUMENT_IN_TURN] = { 1.15, 0.4 },
	[ARGUMENT_FEW_HELD] = { 1.15, 0.4 },  [ARGUMENT_SCANNED] = { 1.1, 0.6 },
	[ARGUMENT_COMMON] = { 1.1, 0.25 },
};

/* The end of the interval may lie beyond the line's own time by so much. */
#define BEYOND_LINE 1.4
/* Shares that odds are made of. */
#define SHARE_LEAST 1e-9
#define SHARE_MOST  0.985

void argument_evidence_add(struct argument_evidence *evidence, enum argument_verdict verdict,
			   uint64_t time_ns, struct saved_part part)
{
	double time = (double)time_ns;

	evidence->samples[verdict]++;
	evidence->time_ns[verdict] += time_ns;
	/* Nothing was found in it: there is nothing to save. */
	if (part.middle <= 0 || fixes[verdict].odds <= 0)
		return;
	evidence->saved_ns += (uint64_t)(time * part.middle);
	evidence->saved_low_ns += (uint64_t)(time * part.low);
	evidence->saved_high_ns += (uint64_t)(time * part.high);
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

static double log_odds(double share)
{
	share = fmin(fmax(share, SHARE_LEAST), SHARE_MOST);
	return log(share / (1 - share));
}

static double share_of(double odds_logarithm)
{
	return 1 / (1 + exp(-odds_logarithm));
}

/* Of all kinds of votes, by their time. */
static struct fix_factor mean_fix(const struct argument_evidence *evidence, uint64_t votes_ns)
{
	struct fix_factor mean = { 0, 0 };

	for (unsigned v = ARGUMENT_NEEDED + 1; v < ARGUMENT_VERDICT_COUNT; v++) {
		double weight = (double)evidence->time_ns[v] / (double)votes_ns;

		mean.odds += weight * log(fixes[v].odds);
		mean.error += weight * fixes[v].error;
	}
	mean.odds = exp(mean.odds);
	return mean;
}

void argument_evidence_saving(const struct argument_evidence *evidence, uint64_t limit_ns,
			      uint64_t run_ns, uint64_t period_ns, struct saved_time *ret_saved)
{
	double run, votes, base, found, middle, below, above;
	uint64_t votes_ns = 0;
	struct fix_factor fix;
	struct interval share;

	for (unsigned v = ARGUMENT_NEEDED + 1; v < ARGUMENT_VERDICT_COUNT; v++)
		votes_ns += evidence->time_ns[v];
	*ret_saved = (struct saved_time){ 0 };
	if (!votes_ns || !period_ns || !evidence->saved_ns)
		return;
	/* Each sample of the run either speaks for the finding or does not. */
	votes = fmax((double)votes_ns / (double)period_ns, 1);
	run_ns = run_ns > votes_ns ? run_ns : votes_ns;
	run = (double)run_ns;
	share = interval_wilson((uint64_t)llround(votes), run_ns / period_ns);
	votes /= run / (double)period_ns;
	fix = mean_fix(evidence, votes_ns);
	base = (double)evidence->saved_ns / run;
	found = log_odds(base);
	middle = found + log(fix.odds);
	/* Three errors that know nothing of each other: how much of the time is for nothing, what a
	 * fix saves of it, and the samples'. */
	below = hypot(hypot(found - log_odds((double)evidence->saved_low_ns / run), fix.error),
		      log_odds(votes) - log_odds(share.low));
	above = hypot(hypot(log_odds((double)evidence->saved_high_ns / run) - found, fix.error),
		      log_odds(share.high) - log_odds(votes));
	ret_saved->time_ns = within(run * share_of(middle), limit_ns);
	ret_saved->low_ns = within(run * share_of(middle - below), ret_saved->time_ns);
	/* The limit is made of samples, too. */
	ret_saved->high_ns =
		within(run * share_of(middle + above),
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
	case ARGUMENT_COMMON:
		return CATEGORY_REPEATED_CALL;
	case ARGUMENT_FEW:
	case ARGUMENT_FEW_HELD:
		return CATEGORY_MEMOIZABLE;
	case ARGUMENT_GROWING:
	case ARGUMENT_SEARCHED:
	case ARGUMENT_SCANNED:
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
		[ARGUMENT_SCANNED] = "scanned",
		[ARGUMENT_COMMON] = "common",
	};

	return (unsigned)verdict < ARGUMENT_VERDICT_COUNT ? names[verdict] : "unknown";
}
