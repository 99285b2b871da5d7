/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keeps the time for which threads are stopped under a share of the time for
 * which they run. Pure: the caller brings the clock.
 *
 * One bucket a thread: it fills with limit x its CPU time, each stop takes out
 * what it lasted. (Not with the time that passes: a thread that sleeps, or waits
 * for a processor, most of the time would have its work slowed down by many
 * times the limit.) Optional work (a memory sample) is begun only when the
 * bucket covers what it is expected to cost, and the clock's next stop comes no sooner than
 * the bucket will cover that (governor_wait_ns()): so the limit holds from a thread's first
 * second on, whatever its first stops cost, and of one that hardly runs. Nothing is
 * given in advance, and a tenth of what was earned in all may be owed: a memory sample that
 * was dearer than expected must not make a pause in the samples of time. When the clock's own stops
 * overdraw it, the sampling period must grow. How long it should be is known after the first few
 * stops (governor_period()), and guessed before (governor_first_period()).
 *
 * Accesses and calls share what is left, half for each: which of both has spent less is tried
 * first, and the other is begun only when the bucket covers both. So neither waits for
 * one that cannot be begun, as an access where the interpreter itself runs, nor is left without.
 *
 * What a thread has left when it ends, credit or debt, the next one to begin goes on
 * with: threads that live for milliseconds each are one in that.
 */
#ifndef PIEPROFD_DAEMON_DETECT_GOVERNOR_H
#define PIEPROFD_DAEMON_DETECT_GOVERNOR_H

#include <stdbool.h>
#include <stdint.h>

/* What is begun at a stop of the clock, and costs further stops. */
enum cycle {
	CYCLE_ACCESS, /* a memory sample: an access is followed */
	CYCLE_CALLS,  /* a site's next calls have their arguments compared */
	CYCLE_KINDS,
};

struct governor_cycle {
	double cost_ns; /* running mean of what one costs in all, the first of these taken evenly */
	unsigned count;
	double spent_ns; /* by all so far */
	double begun_ns; /* by those since the last one was begun */
};

struct governor {
	double limit;       /* stopped share allowed, 0.02 = 2% */
	double clock_share; /* of it, for the clock's own stops */
	double peek_share;  /* and for peeks that a thread waits for */
	struct governor_cycle cycles[CYCLE_KINDS];
	double clock_cost_ns; /* as of cycles, of a stop by the clock */
	double first_cost_ns; /* what each of the very first ones is thought to cost at least */
	unsigned clock_stops; /* seen, up to CLOCK_STOPS_MAX */
	double left_ns;       /* credit of threads that have ended */
};

struct governor_bucket {
	uint64_t running_ns; /* CPU time until which it was filled */
	double credit_ns;
	double overdrawn_ns; /* credit below which the period is to be lengthened */
	double peeked_ns;    /* of all that was charged, by peeks */
};

/* follows_accesses: memory samples will be taken, and half of the limit is theirs. */
void governor_init(struct governor *governor, double limit, bool follows_accesses);
/* There will be peeks, looks between stops (pipeline_peek.c): they get a part of the limit. */
void governor_share_peeks(struct governor *governor);
/* Of a thread that begins, and that ends. */
void governor_bucket_init(struct governor *governor, struct governor_bucket *bucket);
void governor_bucket_end(struct governor *governor, const struct governor_bucket *bucket);

/* The thread has run on a CPU for running_ns in all since it began. */
void governor_fill(const struct governor *governor, struct governor_bucket *bucket,
		   uint64_t running_ns);

/* A stop of this thread lasted stopped_ns. */
void governor_charge(struct governor_bucket *bucket, uint64_t stopped_ns);

/* Its events have cost it cost_ns beside stops. To wait longer makes that no less: of a debt by it,
 * so much is kept as lets the thread be stopped now and then. */
void governor_charge_turns(struct governor_bucket *bucket, double cost_ns);
/* Has it so deep a debt that what makes its turns dear, an armed breakpoint, is to go? */
bool governor_turns_overdrawn(const struct governor_bucket *bucket);

/* May one be begun, in a stop that has cost stopped_ns, not yet charged? */
bool governor_allows_cycle(const struct governor *governor, const struct governor_bucket *bucket,
			   enum cycle kind, uint64_t stopped_ns);
/* On which less was spent: to be tried first, where both can be begun. */
enum cycle governor_next_cycle(const struct governor *governor);
/* It is begun: what was spent since the last one of the kind was, is what that one has cost. */
void governor_begin_cycle(struct governor *governor, enum cycle kind);
/* A stop for it has cost cost_ns. To be charged by governor_charge() besides. */
void governor_spend(struct governor *governor, enum cycle kind, uint64_t cost_ns);

/* May a stop that can as well come later, or never? */
bool governor_allows_stop(const struct governor *governor, const struct governor_bucket *bucket);

/* May one begin that the thread waits for? And it has lasted peeked_ns. */
bool governor_allows_peek(const struct governor *governor, const struct governor_bucket *bucket);
void governor_charge_peek(struct governor_bucket *bucket, uint64_t peeked_ns);

/*
 * The CPU time after which a thread that was not stopped yet will have earned a stop. Before any
 * was seen that is guessed, and more than most last: the first one meets cold caches.
 */
uint64_t governor_first_wait_ns(const struct governor *governor,
				const struct governor_bucket *bucket);

/*
 * The CPU time after which the thread will have earned the clock's next stop. It is
 * stopped now, and has been for stopped_ns that are not yet charged.
 */
uint64_t governor_wait_ns(const struct governor *governor, const struct governor_bucket *bucket,
			  uint64_t stopped_ns);

/* A stop by the clock lasted stopped_ns; a stall of the machine is not counted in full. */
void governor_learn_clock_stop(struct governor *governor, uint64_t stopped_ns);

/*
 * The period at which the clock's own stops take their part of what is allowed: half,
 * so that the other half is left to follow the accesses found, or nearly all of it where
 * time alone is sampled; 0: too few stops were seen to tell.
 */
uint64_t governor_period(const struct governor *governor);
/* Before any stop was seen; 0: there is no limit to keep. */
uint64_t governor_first_period(const struct governor *governor);

/*
 * Is the thread so far over its limit that the period must be lengthened? True
 * once for each step further down. The debt stays: until it is paid there are no
 * memory samples.
 */
bool governor_take_overdraft(struct governor_bucket *bucket);

#endif
