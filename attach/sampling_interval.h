/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How much CPU time passes between two samples of a clock, drawn at random
 * around the period asked for, and how much time each sample stands for. Pure.
 *
 * Equal intervals keep step with a program whose work has a cycle of about
 * that length, and then see always the same part of it: so they vary, and each
 * sample stands for the interval in force. And a clock that starts anew
 * in each thread would never see one that lives for less than a period: so
 * the first interval is a random part of the period, at the end of which a
 * sample stands for a whole one. A thread is then seen with the chance that is
 * its CPU time over the period.
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
	uint64_t random;   /* state of the generator, never 0 */
};

/* Draws the first one. */
void sampling_interval_start(struct sampling_interval *interval, uint64_t period_ns, uint64_t seed);

/* Draws a further one, in force from now on; another period may be wanted. */
void sampling_interval_next(struct sampling_interval *interval, uint64_t period_ns,
			    uint64_t running_ns);

/*
 * What a sample stands for that was taken after running_ns of CPU time. last: the next interval
 * begins with it. Timers are late, by 1 to 3% of a millisecond on a virtual machine; time that
 * passes before the next interval begins would be missing.
 */
uint64_t sampling_interval_charge(const struct sampling_interval *interval, uint64_t running_ns,
				  bool last);

#endif
