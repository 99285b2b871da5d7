/* SPDX-License-Identifier: Apache-2.0 */
#include "attach/sampling_interval.h"

/* A first interval is at least that: an interrupt each time it ends must not matter. */
#define FIRST_PART   128
#define FIRST_MIN_NS 20000
/* Timers are late rather than early. */
#define LATE_NS 10000

/* xorshift64*; 0 to limit - 1. */
static uint64_t draw_below(struct sampling_interval *interval, uint64_t limit)
{
	interval->random ^= interval->random >> 12;
	interval->random ^= interval->random << 25;
	interval->random ^= interval->random >> 27;
	return limit ? (interval->random * 0x2545f4914f6cdd1dull >> 11) % limit : 0;
}

void sampling_interval_start(struct sampling_interval *interval, uint64_t period_ns, uint64_t seed)
{
	uint64_t least = period_ns / FIRST_PART;

	*interval = (struct sampling_interval){
		.period_ns = period_ns,
		.first = true,
		.random = seed * 0x9e3779b97f4a7c15ull | 1,
	};
	if (least < FIRST_MIN_NS)
		least = FIRST_MIN_NS < period_ns ? FIRST_MIN_NS : period_ns;
	interval->ns = 1 + draw_below(interval, period_ns);
	if (interval->ns < least)
		interval->ns = least;
}

void sampling_interval_next(struct sampling_interval *interval, uint64_t period_ns,
			    uint64_t running_ns)
{
	interval->period_ns = period_ns;
	/* A quarter more or less: enough to get out of step within a few. */
	interval->ns = period_ns - period_ns / 4 + draw_below(interval, period_ns / 2) + 1;
	interval->began_ns = running_ns;
	interval->first = false;
}

uint64_t sampling_interval_charge(const struct sampling_interval *interval, uint64_t running_ns,
				  bool last)
{
	uint64_t early_ns = interval->ns / 16, passed_ns = running_ns - interval->began_ns;

	if (interval->first && running_ns < interval->ns + interval->ns / 2 + LATE_NS)
		return interval->period_ns;
	if (interval->first)
		return running_ns <= interval->period_ns ? 0 : interval->ns;
	/* It may have ended before where this clock does not look: at multiples of it. */
	return last && running_ns > interval->began_ns
		       ? interval->ns + (passed_ns + early_ns) % interval->ns - early_ns
		       : interval->ns;
}
