/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/detect/governor.h"

#include <math.h>

/* Credit saved up by a quiet thread is worth at most this: no long bursts. */
#define CREDIT_MAX_NS 10e6
/* Each time that a thread is so far over its limit, the period is lengthened. */
#define OVERDRAFT_NS        10e6
#define FIRST_CYCLE_NS      150e3
#define FIRST_CLOCK_STOP_NS 150e3
/* At 2%, a stop for each 0.25 s of CPU time; and less than a step of debt: the period is not
 * lengthened for what that does not help. */
#define TURNS_DEBT_NS 5e6
/* The first stop of all, with its waking: 0.2 to 0.6 ms were seen of it, 0.5 to 1.3 ms where
 * accesses are followed (the longer ones on a busy machine). */
#define FIRST_STOP_NS    400e3
#define FIRST_CAPTURE_NS 900e3
/* Of all that a thread has earned, so much it may owe before its clock waits, up to a step of debt.
 */
#define TOLERATED_PART 0.1
/* A thread that has to earn that much more is sampled all the same, now and then. */
#define WAIT_MAX_NS         10e9
#define CYCLE_LEARNING_RATE 0.05
/* What lasted longer was a stall of the machine, not the profiler's work. */
#define STOP_CHARGED_MAX_NS 5e6
/* Both kinds together are what a bucket holds at most, less a stop by the clock. */
#define CYCLE_LEARNED_MAX_NS 4e6
#define CLOCK_LEARNED_MAX_NS 1e6
/* A mean over so many stops of the clock; it is of use from the first few on. */
#define CLOCK_STOPS_MAX 64
#define CLOCK_STOPS_MIN 8
/* Of the limit; what is left without memory samples is for stops on the way out of the kernel. */
#define CLOCK_SHARE      0.5
#define CLOCK_SHARE_ONLY 0.9
/* Peeks tell of arguments what most stops by the clock did: a part of theirs is for these. */
#define PEEK_SHARE        0.15
#define CLOCK_SHARE_PEEKS 0.4

void governor_init(struct governor *governor, double limit, bool follows_accesses)
{
	*governor = (struct governor){
		.limit = limit,
		.clock_share = follows_accesses ? CLOCK_SHARE : CLOCK_SHARE_ONLY,
		.cycles = { { .cost_ns = FIRST_CYCLE_NS }, { .cost_ns = FIRST_CYCLE_NS } },
		.clock_cost_ns = FIRST_CLOCK_STOP_NS,
		.first_cost_ns = follows_accesses ? FIRST_CAPTURE_NS : FIRST_STOP_NS,
	};
}

void governor_share_peeks(struct governor *governor)
{
	governor->clock_share = CLOCK_SHARE_PEEKS;
	governor->peek_share = PEEK_SHARE;
}

void governor_bucket_init(struct governor *governor, struct governor_bucket *bucket)
{
	*bucket = (struct governor_bucket){ .credit_ns = governor->left_ns,
					    .overdrawn_ns = -OVERDRAFT_NS };
	governor->left_ns = 0;
}

void governor_bucket_end(struct governor *governor, const struct governor_bucket *bucket)
{
	governor->left_ns = fmin(governor->left_ns + bucket->credit_ns, CREDIT_MAX_NS);
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

void governor_charge_turns(struct governor_bucket *bucket, double cost_ns)
{
	if (bucket->credit_ns > -TURNS_DEBT_NS)
		bucket->credit_ns = fmax(bucket->credit_ns - cost_ns, -TURNS_DEBT_NS);
}

bool governor_turns_overdrawn(const struct governor_bucket *bucket)
{
	return bucket->credit_ns <= -TURNS_DEBT_NS / 2;
}

bool governor_allows_cycle(const struct governor *governor, const struct governor_bucket *bucket,
			   enum cycle kind, uint64_t stopped_ns)
{
	const struct governor_cycle *cycle = &governor->cycles[kind];
	const struct governor_cycle *other = &governor->cycles[CYCLE_KINDS - 1 - kind];
	double reserve_ns = cycle->spent_ns > other->spent_ns ? other->cost_ns : 0;

	return bucket->credit_ns >= cycle->cost_ns + reserve_ns + (double)stopped_ns;
}

enum cycle governor_next_cycle(const struct governor *governor)
{
	return governor->cycles[CYCLE_CALLS].spent_ns < governor->cycles[CYCLE_ACCESS].spent_ns
		       ? CYCLE_CALLS
		       : CYCLE_ACCESS;
}

void governor_begin_cycle(struct governor *governor, enum cycle kind)
{
	struct governor_cycle *cycle = &governor->cycles[kind];
	/* Above what a bucket can hold no other would ever be allowed. */
	double cost_ns = fmin(cycle->begun_ns, CYCLE_LEARNED_MAX_NS);

	/* Before the first one nothing was spent. */
	if (cycle->count)
		cycle->cost_ns += (cost_ns - cycle->cost_ns) *
				  fmax(CYCLE_LEARNING_RATE, 1.0 / (cycle->count + 1));
	cycle->count++;
	cycle->begun_ns = 0;
}

void governor_spend(struct governor *governor, enum cycle kind, uint64_t cost_ns)
{
	governor->cycles[kind].begun_ns += (double)cost_ns;
	governor->cycles[kind].spent_ns += (double)cost_ns;
}

/* What is missing to a stop of that cost; negative: so much is left then. */
static double missing_to_ns(const struct governor *governor, const struct governor_bucket *bucket,
			    double cost_ns)
{
	double earned_ns = governor->limit * (double)bucket->running_ns;

	return cost_ns - bucket->credit_ns - fmin(TOLERATED_PART * earned_ns, OVERDRAFT_NS);
}

/* To one as the clock's. The first few are dear, each reads what no other has read, and on a target
 * that hardly runs they are all that there are: a mean of them is not trusted below the first's. */
static double missing_ns(const struct governor *governor, const struct governor_bucket *bucket)
{
	double cost_ns = governor->clock_stops < CLOCK_STOPS_MIN
				 ? fmax(governor->clock_cost_ns, governor->first_cost_ns)
				 : governor->clock_cost_ns;

	return missing_to_ns(governor, bucket, cost_ns);
}

static uint64_t earning_ns(const struct governor *governor, double missing)
{
	if (missing <= 0)
		return 0;
	return governor->limit > 0 ? (uint64_t)fmin(missing / governor->limit, WAIT_MAX_NS)
				   : (uint64_t)WAIT_MAX_NS;
}

uint64_t governor_first_wait_ns(const struct governor *governor,
				const struct governor_bucket *bucket)
{
	return earning_ns(governor, missing_ns(governor, bucket));
}

bool governor_allows_stop(const struct governor *governor, const struct governor_bucket *bucket)
{
	return missing_ns(governor, bucket) <= 0;
}

bool governor_allows_peek(const struct governor *governor, const struct governor_bucket *bucket)
{
	return bucket->credit_ns > 0 && bucket->peeked_ns < governor->peek_share * governor->limit *
								    (double)bucket->running_ns;
}

void governor_charge_peek(struct governor_bucket *bucket, uint64_t peeked_ns)
{
	governor_charge(bucket, peeked_ns);
	bucket->peeked_ns += fmin((double)peeked_ns, STOP_CHARGED_MAX_NS);
}

uint64_t governor_wait_ns(const struct governor *governor, const struct governor_bucket *bucket,
			  uint64_t stopped_ns)
{
	return earning_ns(governor, missing_ns(governor, bucket) +
					    fmin((double)stopped_ns, STOP_CHARGED_MAX_NS));
}

void governor_learn_clock_stop(struct governor *governor, uint64_t stopped_ns)
{
	double cost = fmin((double)stopped_ns, CLOCK_LEARNED_MAX_NS);

	if (governor->clock_stops < CLOCK_STOPS_MAX)
		governor->clock_stops++;
	governor->clock_cost_ns += (cost - governor->clock_cost_ns) / governor->clock_stops;
}

uint64_t governor_first_period(const struct governor *governor)
{
	if (governor->limit <= 0)
		return 0;
	return (uint64_t)fmin(governor->clock_cost_ns / (governor->clock_share * governor->limit),
			      1e9);
}

uint64_t governor_period(const struct governor *governor)
{
	return governor->clock_stops < CLOCK_STOPS_MIN ? 0 : governor_first_period(governor);
}

bool governor_take_overdraft(struct governor_bucket *bucket)
{
	if (bucket->credit_ns >= bucket->overdrawn_ns)
		return false;
	bucket->overdrawn_ns = bucket->credit_ns - OVERDRAFT_NS;
	return true;
}
