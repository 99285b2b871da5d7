/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/detect/avoidable.h"

#include "daemon/report/interval.h"

#include <math.h>

#define REDUNDANCY_HALF  0.15
#define UNKNOWN_DURATION 0.5
#define REPETITION_FLOOR 0.6
#define STATIC_DATA      0.5

static double redundancy_factor(const struct avoidable_evidence *evidence)
{
	double low = interval_wilson(evidence->redundant, evidence->sampled).low;

	return (1 + REDUNDANCY_HALF) * low / (low + REDUNDANCY_HALF);
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

static double payload_factor(const struct avoidable_evidence *evidence)
{
	static const double weights[MEMORY_CLASS_COUNT] = {
		[MEMORY_HEAP] = 1,
		[MEMORY_OBJECT] = 1,
		[MEMORY_STATIC] = STATIC_DATA,
		[MEMORY_OTHER] = STATIC_DATA,
	};
	double sum = 0, count = 0;

	for (size_t i = 0; i < MEMORY_CLASS_COUNT; i++) {
		sum += weights[i] * (double)evidence->redundant_by_memory[i];
		count += (double)evidence->redundant_by_memory[i];
	}
	return count > 0 ? sum / count : STATIC_DATA;
}

static double repetition_factor(const struct avoidable_evidence *evidence)
{
	double share = 0;

	if (evidence->redundant)
		share = (double)evidence->repeated / (double)evidence->redundant;
	if (share > 1)
		share = 1;
	return REPETITION_FLOOR + (1 - REPETITION_FLOOR) * share;
}

struct avoidable avoidable_estimate(const struct avoidable_evidence *evidence)
{
	struct avoidable avoidable = {
		.redundancy = redundancy_factor(evidence),
		.interaction = interaction_factor(evidence->call_ns),
		.payload = payload_factor(evidence),
		.repetition = repetition_factor(evidence),
	};

	avoidable.time_ns =
		(uint64_t)((double)evidence->self_ns * avoidable.redundancy *
			   avoidable.interaction * avoidable.payload * avoidable.repetition);
	return avoidable;
}
