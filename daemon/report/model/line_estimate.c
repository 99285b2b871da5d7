/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/report/model/line_estimate.h"

#include <math.h>
#include <string.h>

#define CALL_LOG_SCALE 1048576.0
/*
 * Of the estimate from watched words, where no arguments bear it out. Every call reads
 * its operands' heads and the library's tables again: of thirty lines that nothing
 * else spoke for, in tests/practice and in programs that had been unseen, three were guilty.
 */
#define WATCHED_PART 0.1
/* What may still be saved where arguments show that no call repeats another: fewer calls. */
#define NEEDED_HIGH_PART 0.35

uint64_t call_log_mean(uint64_t call_log_sum, uint64_t call_samples)
{
	return call_samples ? (uint64_t)llround(exp((double)call_log_sum / (double)call_samples /
						    CALL_LOG_SCALE))
			    : 0;
}

void line_entry_estimate_call(struct line_entry *line, uint64_t period_ns)
{
	struct call_evidence evidence = {
		.time_ns = time_sum(line->charged_ns),
		.python_ns = line->charged_ns[TIME_PYTHON],
		.period_ns = period_ns,
		.residual_ns = line->call_ns,
		.residuals = line->call_samples,
	};

	if (line->call_ns && !line->call_log_sum)
		line->call_log_sum = line->call_samples *
				     (uint64_t)llround(CALL_LOG_SCALE * log((double)line->call_ns));
	if (!line->call_ns && !line->charged_ns[TIME_NATIVE])
		return;
	line->call_ns = avoidable_call_ns(&evidence);
}

static uint64_t line_redundant(const struct line_entry *line)
{
	return access_counts_redundant(&line->accesses[PAIR_LOAD]) +
	       access_counts_redundant(&line->accesses[PAIR_STORE]);
}

uint64_t line_entry_sampled(const struct line_entry *line)
{
	return line->accesses[PAIR_LOAD].sampled + line->accesses[PAIR_STORE].sampled;
}

double profile_run_share(const struct access_counts accesses[PAIR_KIND_COUNT])
{
	uint64_t sampled = accesses[PAIR_LOAD].sampled + accesses[PAIR_STORE].sampled;
	uint64_t redundant = access_counts_redundant(&accesses[PAIR_LOAD]) +
			     access_counts_redundant(&accesses[PAIR_STORE]);

	return sampled ? (double)redundant / (double)sampled : 0;
}

/* What other lines lose by the same change is this line's to say (detect/argument_fix.h). */
static uint64_t most_saved(const struct line_entry *line)
{
	uint64_t votes_ns = 0;

	for (unsigned v = ARGUMENT_NEEDED + 1; v < ARGUMENT_VERDICT_COUNT; v++)
		votes_ns += line->arguments.time_ns[v];
	return votes_ns > line->total_ns ? votes_ns : line->total_ns;
}

/* The upper end stays: the estimate may be right. */
static void weaken(struct avoidable *avoidable)
{
	avoidable->time_ns = (uint64_t)(WATCHED_PART * (double)avoidable->time_ns);
	avoidable->low_ns = 0;
}

/*
 * Arguments that were compared say more than watched words: these see that a call
 * reads again what it has read, not whether it had to.
 */
static void apply_arguments(struct line_entry *line, uint64_t charged_ns,
			    const struct run_figures *run)
{
	struct avoidable *avoidable = &line->avoidable;
	struct saved_time saved;

	switch (argument_evidence_verdict(&line->arguments, charged_ns)) {
	case ARGUMENT_UNKNOWN:
		/* Results that were there already say that a call was made for nothing. */
		if (!avoidable->by_invariance)
			weaken(avoidable);
		return;
	case ARGUMENT_NEEDED:
		weaken(avoidable);
		avoidable->high_ns = (uint64_t)(NEEDED_HIGH_PART * (double)avoidable->high_ns);
		return;
	default:
		argument_evidence_saving(&line->arguments, most_saved(line), run->time_ns,
					 run->period_ns, &saved);
		avoidable->time_ns = saved.time_ns;
		avoidable->low_ns = saved.low_ns;
		avoidable->high_ns = saved.high_ns;
	}
}

void line_entry_estimate(struct line_entry *line, const struct run_figures *run)
{
	struct avoidable_evidence evidence = {
		.time_ns = time_sum(line->charged_ns),
		.period_ns = run->period_ns,
		.sampled = line_entry_sampled(line),
		.redundant = line_redundant(line),
		.run_share = line->charged_ns[TIME_NATIVE] || line_entry_sampled(line)
				     ? run->redundant_share
				     : 0,
		.repeated = line->repeated,
		.call_ns = line->call_ns,
		.again = line->again,
		.again_redundant = line->again_redundant,
		.again_loads = line->again_loads,
		.again_loads_redundant = line->again_loads_redundant,
		.stores = line->stores,
		.again_stores = line->again_stores,
	};

	memcpy(evidence.redundant_by_memory, line->redundant_by_memory,
	       sizeof(evidence.redundant_by_memory));
	line->avoidable = avoidable_estimate(&evidence);
	apply_arguments(line, evidence.time_ns, run);
}

/* A line's avoidable time is shared out among its pairs by their redundant accesses. */
uint64_t line_entry_avoidable_part(const struct line_entry *line, uint64_t pair_redundant)
{
	uint64_t redundant = line_redundant(line), time_ns = line->avoidable.time_ns;
	double part;

	/* No pair has more than its line, but in a profile that somebody forged. */
	if (pair_redundant >= redundant)
		return redundant ? time_ns : 0;
	part = (double)time_ns * ((double)pair_redundant / (double)redundant);
	return part < (double)time_ns ? (uint64_t)part : time_ns;
}
