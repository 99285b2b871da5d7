/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/detect/avoidable.h"

#include "daemon/detect/interval.h"

#include <math.h>

#define REDUNDANCY_HALF  0.15
#define PRIOR_COUNT      2.0
#define PRIOR_SHARE      0.5 /* of the run's redundant share */
#define PRIOR_PAYLOAD    0.9
#define PRIOR_REPETITION 0.5
#define UNKNOWN_DURATION 0.5
#define REPETITION_FLOOR 0.2
#define STATIC_DATA      0.8
/* So many time samples are worth one access followed. */
#define SAMPLES_PER_ACCESS 8.0
#define CONFIDENCE_HALF    4.0
#define INVARIANCE_NONE    0.5
#define INVARIANCE_FULL    0.9
#define PYTHON_PER_CALL_NS 150.0
/* Share of Python samples taken for granted, in so many samples. */
#define PYTHON_PRIOR         0.02
#define PYTHON_PRIOR_SAMPLES 4.0
/* With so many residuals they get half of their greatest weight, which is a half. */
#define RESIDUALS_HALF 8.0
/* Residuals cannot tell shorter calls. */
#define RESIDUAL_MIN_NS 500.0
#define INTERVAL_Z      1.96

/* Of a forged profile it may be any number, or none. */
static uint64_t to_ns(double ns)
{
	if (!(ns > 0))
		return 0;
	return ns < 0x1p64 ? (uint64_t)ns : UINT64_MAX;
}

uint64_t avoidable_call_ns(const struct call_evidence *evidence)
{
	double samples, python, share, weight, by_share, by_residuals;

	if (!evidence->time_ns || !evidence->period_ns)
		return evidence->residual_ns;
	samples = (double)evidence->time_ns / (double)evidence->period_ns;
	python = (double)evidence->python_ns / (double)evidence->period_ns;
	share = (python + PYTHON_PRIOR * PYTHON_PRIOR_SAMPLES) / (samples + PYTHON_PRIOR_SAMPLES);
	by_share = share < 1 ? PYTHON_PER_CALL_NS * (1 - share) / share : 1;
	if (by_share < 1)
		by_share = 1;
	if (!evidence->residual_ns || !evidence->residuals)
		return to_ns(by_share);
	by_residuals = fmax((double)evidence->residual_ns, RESIDUAL_MIN_NS);
	weight = 0.5 * (double)evidence->residuals / ((double)evidence->residuals + RESIDUALS_HALF);
	return to_ns(exp((1 - weight) * log(by_share) + weight * log(by_residuals)));
}

static double saturated(double share)
{
	return (1 + REDUNDANCY_HALF) * share / (share + REDUNDANCY_HALF);
}

static double redundancy_factor(const struct avoidable_evidence *evidence)
{
	double prior = PRIOR_COUNT * PRIOR_SHARE * evidence->run_share;

	return saturated(((double)evidence->redundant + prior) /
			 ((double)evidence->sampled + PRIOR_COUNT));
}

static double interaction_factor(uint64_t call_ns)
{
	double position;

	if (!call_ns)
		return UNKNOWN_DURATION;
	if (call_ns <= AVOIDABLE_SHORT_CALL_NS)
		return 1;
	if (call_ns >= AVOIDABLE_LONG_CALL_NS)
		return 0;
	position = log((double)call_ns / AVOIDABLE_SHORT_CALL_NS) /
		   log((double)AVOIDABLE_LONG_CALL_NS / AVOIDABLE_SHORT_CALL_NS);
	return 1 - position * position * (3 - 2 * position);
}

static double invariance_at(const struct avoidable_evidence *evidence, double same)
{
	double factor = (same - INVARIANCE_NONE) / (INVARIANCE_FULL - INVARIANCE_NONE);
	double share = ((double)evidence->again_stores + 1) / ((double)evidence->stores + 1);

	return factor < 0 ? 0 : fmin(factor, 1) * fmin(share, 1);
}

/* At the lower and the upper end of the interval. */
static struct interval invariance_factor(const struct avoidable_evidence *evidence)
{
	struct interval same =
		interval_wilson(evidence->again_redundant + evidence->again_loads_redundant,
				evidence->again + evidence->again_loads);
	struct interval stored = interval_wilson(evidence->again_redundant, evidence->again);

	return (struct interval){ .low = invariance_at(evidence, fmin(same.low, stored.low)),
				  .high = invariance_at(evidence, same.high) };
}

static double payload_factor(const struct avoidable_evidence *evidence)
{
	static const double weights[MEMORY_CLASS_COUNT] = {
		[MEMORY_HEAP] = 1,
		[MEMORY_OBJECT] = 1,
		[MEMORY_STATIC] = STATIC_DATA,
		[MEMORY_OTHER] = STATIC_DATA,
	};
	double sum = PRIOR_COUNT * PRIOR_PAYLOAD, count = PRIOR_COUNT;

	for (size_t i = 0; i < MEMORY_CLASS_COUNT; i++) {
		sum += weights[i] * (double)evidence->redundant_by_memory[i];
		count += (double)evidence->redundant_by_memory[i];
	}
	return sum / count;
}

static double repetition_factor(const struct avoidable_evidence *evidence)
{
	double share = ((double)evidence->repeated + PRIOR_COUNT * PRIOR_REPETITION) /
		       ((double)evidence->redundant + PRIOR_COUNT);

	return REPETITION_FLOOR + (1 - REPETITION_FLOOR) * fmin(share, 1);
}

static double confidence_factor(const struct avoidable_evidence *evidence)
{
	double seen = (double)evidence->sampled;

	if (!evidence->period_ns)
		return 1;
	seen += (double)evidence->time_ns / (double)evidence->period_ns / SAMPLES_PER_ACCESS;
	return seen / (seen + CONFIDENCE_HALF);
}

/* How far the line's time may lie below (sign -1) or above (1) it, as a logarithm. */
static double time_spread(const struct avoidable_evidence *evidence, double sign)
{
	double samples, bound;

	if (!evidence->period_ns || !evidence->time_ns)
		return 0;
	samples = (double)evidence->time_ns / (double)evidence->period_ns;
	/* Of a Poisson count: roots of (n - m)^2 = z^2 m. */
	bound = samples + INTERVAL_Z * INTERVAL_Z / 2 +
		sign * INTERVAL_Z * sqrt(samples + INTERVAL_Z * INTERVAL_Z / 4);
	return fabs(log(bound / samples));
}

/* A share of the line's time, with its interval. */
struct part {
	double low, middle, high;
};

/*
 * avoidable->time_ns with both errors. Where nothing redundant was seen there
 * is no middle to spread from: 0 to what the interval's end allows.
 */
static void avoidable_set_interval(const struct avoidable_evidence *evidence,
				   const struct part *part, struct avoidable *avoidable)
{
	double time_ns = (double)evidence->time_ns, low = fmin(part->low, part->middle);
	double high = fmax(part->high, part->middle), spread;

	if (time_ns * part->middle <= 0) {
		avoidable->high_ns = evidence->sampled ? to_ns(time_ns * high) : 0;
		return;
	}
	if (low > 0) {
		spread = hypot(log(part->middle / low), time_spread(evidence, -1));
		avoidable->low_ns = to_ns(time_ns * part->middle * exp(-spread));
	}
	spread = hypot(log(high / part->middle), time_spread(evidence, 1));
	avoidable->high_ns = to_ns(time_ns * part->middle * exp(spread));
	if (avoidable->high_ns < avoidable->time_ns)
		avoidable->high_ns = avoidable->time_ns;
	if (avoidable->low_ns > avoidable->time_ns)
		avoidable->low_ns = avoidable->time_ns;
}

struct avoidable avoidable_estimate(const struct avoidable_evidence *evidence)
{
	struct interval share = interval_wilson(evidence->redundant, evidence->sampled);
	struct interval invariance = invariance_factor(evidence);
	struct avoidable avoidable = {
		.redundancy = redundancy_factor(evidence),
		.interaction = interaction_factor(evidence->call_ns),
		.invariance = invariance.low,
		.payload = payload_factor(evidence),
		.repetition = repetition_factor(evidence),
		.confidence = confidence_factor(evidence),
	};
	double others = avoidable.interaction * avoidable.payload * avoidable.repetition *
			avoidable.confidence;
	struct part part = {
		.low = saturated(share.low) * others,
		.middle = avoidable.redundancy * others,
		.high = saturated(share.high) * others,
	};

	avoidable.by_invariance = avoidable.invariance > part.middle;
	if (avoidable.by_invariance)
		part = (struct part){ invariance.low, invariance.low, invariance.high };
	avoidable.time_ns = to_ns((double)evidence->time_ns * part.middle);
	avoidable_set_interval(evidence, &part, &avoidable);
	return avoidable;
}
