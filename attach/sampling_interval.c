/* SPDX-License-Identifier: Apache-2.0 */
#include "attach/sampling_interval.h"

#include "common/random.h"

/* A first interval is at least that: an interrupt each time it ends must not matter. */
#define FIRST_PART   128
#define FIRST_MIN_NS 20000
/* Timers are late rather than early. */
#define LATE_NS 10000

static uint64_t least_ns(const struct sampling_interval *interval)
{
	uint64_t least = interval->period_ns / FIRST_PART;

	if (least >= FIRST_MIN_NS)
		return least;
	return FIRST_MIN_NS < interval->period_ns ? FIRST_MIN_NS : interval->period_ns;
}

void sampling_interval_start(struct sampling_interval *interval, uint64_t period_ns, uint64_t seed)
{
	*interval = (struct sampling_interval){
		.period_ns = period_ns,
		.whole_ns = period_ns,
		.first = true,
		.random = random_seed(seed),
	};
	interval->ns = 1 + random_below(&interval->random, period_ns);
	if (interval->ns < least_ns(interval))
		interval->ns = least_ns(interval);
}

void sampling_interval_continue(struct sampling_interval *interval, struct sampling_rest rest)
{
	if (!rest.left_ns)
		return;
	interval->ns = rest.left_ns < least_ns(interval) ? least_ns(interval) : rest.left_ns;
	interval->whole_ns = rest.whole_ns;
}

void sampling_interval_delay(struct sampling_interval *interval, uint64_t least_ns)
{
	if (!interval->first || interval->ns >= least_ns)
		return;
	interval->whole_ns += least_ns - interval->ns;
	interval->ns = least_ns;
}

struct sampling_rest sampling_interval_rest(const struct sampling_interval *interval,
					    uint64_t running_ns)
{
	const struct sampling_interval *in = interval;
	uint64_t passed_ns = running_ns - in->began_ns;
	uint64_t next_ns = in->ns + in->period_ns; /* the end after the first one's first */

	if (running_ns < in->began_ns)
		return (struct sampling_rest){ 0 };
	if (!in->first)
		return (struct sampling_rest){ in->ns - passed_ns % in->ns, in->ns, 0 };
	if (passed_ns < in->ns)
		return (struct sampling_rest){ in->ns - passed_ns, in->whole_ns, 0 };
	if (passed_ns < next_ns)
		return (struct sampling_rest){ next_ns - passed_ns, in->period_ns, 0 };
	return (struct sampling_rest){ 0 };
}

void sampling_interval_next(struct sampling_interval *interval, uint64_t period_ns,
			    uint64_t running_ns)
{
	uint64_t mean_ns = interval->least_ns + interval->least_ns / 3;

	if (mean_ns < period_ns)
		mean_ns = period_ns;
	interval->period_ns = period_ns;
	interval->least_ns = 0;
	/* A quarter more or less: enough to get out of step within a few. */
	interval->ns = mean_ns - mean_ns / 4 + random_below(&interval->random, mean_ns / 2) + 1;
	interval->began_ns = running_ns;
	interval->first = false;
}

void sampling_interval_change(struct sampling_interval *interval, uint64_t period_ns,
			      uint64_t running_ns)
{
	sampling_interval_start(interval, period_ns, interval->random);
	interval->began_ns = running_ns;
}

uint64_t sampling_interval_charge(const struct sampling_interval *interval, uint64_t running_ns,
				  bool last)
{
	uint64_t early_ns = interval->ns / 16;
	uint64_t passed_ns = running_ns > interval->began_ns ? running_ns - interval->began_ns : 0;
	uint64_t late_ns;

	if (interval->first && passed_ns < interval->ns + interval->ns / 2 + LATE_NS)
		return interval->whole_ns;
	if (interval->first)
		return passed_ns <= interval->period_ns ? 0 : interval->ns;
	if (!last || !passed_ns)
		return interval->ns;
	/*
	 * The interval may have expired in the kernel, unseen by this clock. Each
	 * expiry was late, so after many of them nothing can be told.
	 */
	late_ns = (passed_ns + early_ns) % interval->ns;
	if (passed_ns >= 2 * interval->ns && late_ns > interval->ns / 4)
		return interval->ns;
	return interval->ns + late_ns - early_ns;
}
