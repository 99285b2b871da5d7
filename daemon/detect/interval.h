/* SPDX-License-Identifier: Apache-2.0 */
/* How far a share counted in a sample can be from the truth. Pure. */
#ifndef PIEPROFD_DAEMON_DETECT_INTERVAL_H
#define PIEPROFD_DAEMON_DETECT_INTERVAL_H

#include <stdint.h>

struct interval {
	double low, high;
};

/*
 * The 95% interval of successes out of trials by Wilson's score, which holds
 * for few trials and for shares near 0 and 1 where the normal approximation
 * does not. No trials: from 0 to 1.
 */
struct interval interval_wilson(uint64_t successes, uint64_t trials);
/* The same for another quantile of the normal distribution than the 97.5%'s. */
struct interval interval_score(uint64_t successes, uint64_t trials, double quantile);

/*
 * The 95% interval of the difference of two shares, the later minus the
 * earlier, by Newcombe's hybrid score. A side without trials tells nothing.
 */
struct interval interval_difference(uint64_t earlier, uint64_t earlier_trials, uint64_t later,
				    uint64_t later_trials);

/* The same of two rates: counts of rare events, each standing for scale. */
struct interval interval_rate_difference(uint64_t earlier, double earlier_scale, uint64_t later,
					 double later_scale);

#endif
