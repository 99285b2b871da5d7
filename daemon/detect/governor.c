/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/detect/governor.h"

#include <math.h>

/* Credit saved up by a quiet thread is worth at most this: no long bursts. */
#define CREDIT_MAX_NS 10e6
/* Each time that a thread is so far over its limit, the period is lengthened. */
#define OVERDRAFT_NS        10e6
#define FIRST_CYCLE_NS      150e3
#define CYCLE_LEARNING_RATE 0.05
/* What lasted longer was a stall of the machine, not the profiler's work. */
#define STOP_CHARGED_MAX_NS  5e6
#define CYCLE_LEARNED_MAX_NS 5e6
#define CLOCK_LEARNED_MAX_NS 1e6
/* A mean over so many stops of the clock; it is of use from the first few on. */
#define CLOCK_STOPS_MAX 64
#define CLOCK_STOPS_MIN 8
/* Of the limit; what is left without memory samples is for stops on the way out of the kernel. */
#define CLOCK_SHARE      0.5
#define CLOCK_SHARE_ONLY 0.9

void governor_init(struct governor *governor, double limit, bool follows_accesses)
{
	*governor = (struct governor){
		.limit = limit,
		.clock_share = follows_accesses ? CLOCK_SHARE : CLOCK_SHARE_ONLY,
		.cycle_cost_ns = FIRST_CYCLE_NS,
	};
}

void governor_bucket_init(struct governor_bucket *bucket)
{
	/* A thread starts with something, so that short-lived ones are seen too. */
	*bucket = (struct governor_bucket){ .credit_ns = 1e6, .overdrawn_ns = -OVERDRAFT_NS };
}

void governor_fill(const struct governor *governor, struct governor_bucket *bucket,
		   uint64_t running_ns)
{
	if (running_ns <= bucket->running_ns)
		return;
	bucket->credit_ns += governor->limit * (double)(running_ns - bucket->running_ns);
	if (bucket->credit_ns > CREDIT_MAX_NS)
		bucket->credit_ns = CREDIT_MAX_NS;
	if (bucket->credit_ns > 0)
		bucket->overdrawn_ns = -OVERDRAFT_NS;
	bucket->running_ns = running_ns;
}

void governor_charge(struct governor_bucket *bucket, uint64_t stopped_ns)
{
	bucket->credit_ns -= fmin((double)stopped_ns, STOP_CHARGED_MAX_NS);
}

bool governor_allows_cycle(const struct governor *governor, const struct governor_bucket *bucket)
{
	return bucket->credit_ns >= governor->cycle_cost_ns;
}

void governor_learn_cycle(struct governor *governor, uint64_t cost_ns)
{
	/* Above what a bucket can hold no sample would ever be allowed again. */
	double cost = fmin((double)cost_ns, CYCLE_LEARNED_MAX_NS);

	governor->cycle_cost_ns += CYCLE_LEARNING_RATE * (cost - governor->cycle_cost_ns);
}

void governor_learn_clock_stop(struct governor *governor, uint64_t stopped_ns)
{
	double cost = fmin((double)stopped_ns, CLOCK_LEARNED_MAX_NS);

	if (governor->clock_stops < CLOCK_STOPS_MAX)
		governor->clock_stops++;
	governor->clock_cost_ns += (cost - governor->clock_cost_ns) / governor->clock_stops;
}

uint64_t governor_period(const struct governor *governor)
{
	if (governor->clock_stops < CLOCK_STOPS_MIN || governor->limit <= 0)
		return 0;
	return (uint64_t)fmin(governor->clock_cost_ns / (governor->clock_share * governor->limit),
			      1e9);
}

bool governor_take_overdraft(struct governor_bucket *bucket)
{
	if (bucket->credit_ns >= bucket->overdrawn_ns)
		return false;
	bucket->overdrawn_ns = bucket->credit_ns - OVERDRAFT_NS;
	return true;
}
