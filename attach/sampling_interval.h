/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How much CPU time passes between two samples of a clock, drawn at random
 * around the period asked for, and how much time each sample stands for. Pure.
 *
 * Equal intervals keep step with a program whose work has a cycle of about
 * that length, and then see always the same part of it (a line of 10.9% was given
 * 8.7): so they vary, and each sample stands for the interval in force. And a clock that starts
 * anew in each thread would never see one that lives for less than a period: so the first interval
 * is a random part of the period, at the end of which a sample stands for a whole one. A thread is
 * then seen with the chance that is its CPU time over the period.
 *
 * That is right on average, but as many samples as chance has it. So a thread
 * that begins goes on with the interval that one which has ended left unfinished:
 * then all that short threads run is cut into intervals, none left out.
 *
 * The first interval stays in force until the caller can change it. Its first
 * end stands for the period, its further ones (or those of them that fall where this
 * clock does not look) for nothing until a period is over, then for themselves.
 */
#ifndef PIEPROFD_ATTACH_SAMPLING_INTERVAL_H
#define PIEPROFD_ATTACH_SAMPLING_INTERVAL_H

#include <stdbool.h>
#include <stdint.h>

struct sampling_interval {
	uint64_t period_ns; /* the mean asked for */
	uint64_t ns;        /* in force */
	bool first;
	uint64_t began_ns; /* the thread's CPU time when it came into force */
	uint64_t whole_ns; /* of the first one: what its first end stands for */
	uint64_t least_ns; /* the next one is to be no shorter; 0: as the period has it */
	uint64_t random;   /* state of the generator, never 0 */
};

/* Draws the first one. */
void sampling_interval_start(struct sampling_interval *interval, uint64_t period_ns, uint64_t seed);

/* An interval that a thread did not live to the end of. */
struct sampling_rest {
	uint64_t left_ns;  /* 0: there is none */
	uint64_t whole_ns; /* what its end will stand for */
	uint64_t owed_ns;  /* what the next sample, whenever it comes, stands for as well */
};

/* After start: the first one is the rest of another thread's last one, if there is any. */
void sampling_interval_continue(struct sampling_interval *interval, struct sampling_rest rest);

/*
 * After start and continue: the first one, or what is left of another thread's, is to be no shorter
 * than that. Its end stands for what it is longer by as well.
 */
void sampling_interval_delay(struct sampling_interval *interval, uint64_t least_ns);

/* What is left of the one in force at the thread's end. */
struct sampling_rest sampling_interval_rest(const struct sampling_interval *interval,
					    uint64_t running_ns);

/* Draws a further one, in force from now on; another period may be wanted. */
void sampling_interval_next(struct sampling_interval *interval, uint64_t period_ns,
			    uint64_t running_ns);

/*
 * The same in the middle of one, and the next is a first one again. On average, the time
 * charged until then is the time that has passed.
 */
void sampling_interval_change(struct sampling_interval *interval, uint64_t period_ns,
			      uint64_t running_ns);

/*
 * What a sample stands for that was taken after running_ns of CPU time. last: the next interval
 * begins with it. Timers are late, by 1 to 3% of a millisecond on a virtual machine; time that
 * passes before the next interval begins would be missing.
 */
uint64_t sampling_interval_charge(const struct sampling_interval *interval, uint64_t running_ns,
				  bool last);

#endif
