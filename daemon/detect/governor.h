/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keeps the time for which threads are stopped under a share of the time for
 * which they run. Pure: the caller brings the clock.
 *
 * One bucket a thread: it fills with limit x its CPU time, each stop takes out
 * what it lasted. (Not with the time that passes: a thread that sleeps, or waits
 * for a processor, most of the time would have its work slowed down by many
 * times the limit.) Optional work (a memory sample) is begun only when the
 * bucket covers what it is expected to cost; when the clock's own stops overdraw
 * it, the sampling period must grow. How long it should be is known after the
 * first few stops (governor_period()).
 */
#ifndef PIEPROFD_DAEMON_DETECT_GOVERNOR_H
#define PIEPROFD_DAEMON_DETECT_GOVERNOR_H

#include <stdbool.h>
#include <stdint.h>

struct governor {
	double limit;         /* stopped share allowed, 0.02 = 2% */
	double clock_share;   /* of it, for the clock's own stops */
	double cycle_cost_ns; /* running mean of what one memory sample costs in all */
	double clock_cost_ns; /* the same of a stop by the clock, the first of these taken evenly */
	unsigned clock_stops; /* seen, up to CLOCK_STOPS_MAX */
};

struct governor_bucket {
	uint64_t running_ns; /* CPU time until which it was filled */
	double credit_ns;
	double overdrawn_ns; /* credit below which the period is to be lengthened */
};

/* follows_accesses: memory samples will be taken, and half of the limit is theirs. */
void governor_init(struct governor *governor, double limit, bool follows_accesses);
void governor_bucket_init(struct governor_bucket *bucket);

/* The thread has run on a CPU for running_ns in all since it began. */
void governor_fill(const struct governor *governor, struct governor_bucket *bucket,
		   uint64_t running_ns);

/* A stop of this thread lasted stopped_ns. */
void governor_charge(struct governor_bucket *bucket, uint64_t stopped_ns);

/* May a memory sample be begun? */
bool governor_allows_cycle(const struct governor *governor, const struct governor_bucket *bucket);

/* A stop by the clock lasted stopped_ns; a stall of the machine is not counted in full. */
void governor_learn_clock_stop(struct governor *governor, uint64_t stopped_ns);

/*
 * The period at which the clock's own stops take their part of what is allowed: half,
 * so that the other half is left to follow the accesses found, or nearly all of it where
 * time alone is sampled; 0: too few stops were seen to tell.
 */
uint64_t governor_period(const struct governor *governor);

/* One memory sample has cost this much in all its stops. */
void governor_learn_cycle(struct governor *governor, uint64_t cost_ns);

/*
 * Is the thread so far over its limit that the period must be lengthened? True
 * once for each step further down. The debt stays: until it is paid there are no
 * memory samples.
 */
bool governor_take_overdraft(struct governor_bucket *bucket);

#endif
