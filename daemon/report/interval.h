/* SPDX-License-Identifier: Apache-2.0 */
/* How far a share counted in a sample can be from the truth. Pure. */
#ifndef PIEPROFD_DAEMON_REPORT_INTERVAL_H
#define PIEPROFD_DAEMON_REPORT_INTERVAL_H

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

#endif
