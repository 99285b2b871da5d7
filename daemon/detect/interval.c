/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/detect/interval.h"

#include <math.h>

/* 97.5% quantile of the normal distribution. */
#define Z 1.959963984540054

struct interval interval_score(uint64_t successes, uint64_t trials, double quantile)
{
	double n = (double)trials, share, centre, half, scale;

	if (!trials)
		return (struct interval){ .low = 0, .high = 1 };
	if (successes > trials)
		successes = trials;
	share = (double)successes / n;
	scale = 1 + quantile * quantile / n;
	centre = (share + quantile * quantile / (2 * n)) / scale;
	half = quantile / scale * sqrt(share * (1 - share) / n + quantile * quantile / (4 * n * n));
	/* At the ends the difference is 0 but for rounding. */
	return (struct interval){
		.low = successes ? fmax(centre - half, 0) : 0,
		.high = successes < trials ? fmin(centre + half, 1) : 1,
	};
}

struct interval interval_wilson(uint64_t successes, uint64_t trials)
{
	return interval_score(successes, trials, Z);
}

struct interval interval_difference(uint64_t earlier, uint64_t earlier_trials, uint64_t later,
				    uint64_t later_trials)
{
	struct interval from = interval_wilson(earlier, earlier_trials);
	struct interval to = interval_wilson(later, later_trials);
	double first, second;

	if (!earlier_trials || !later_trials)
		return (struct interval){ .low = -1, .high = 1 };
	first = fmin((double)earlier / (double)earlier_trials, 1);
	second = fmin((double)later / (double)later_trials, 1);
	return (struct interval){
		.low = second - first - hypot(second - to.low, from.high - first),
		.high = second - first + hypot(to.high - second, first - from.low),
	};
}

struct interval interval_rate_difference(uint64_t earlier, double earlier_scale, uint64_t later,
					 double later_scale)
{
	double change = (double)later * later_scale - (double)earlier * earlier_scale;
	/* One more than were counted: none is no proof that there are none. */
	double half = Z * hypot(sqrt((double)earlier + 1) * earlier_scale,
				sqrt((double)later + 1) * later_scale);

	return (struct interval){ .low = change - half, .high = change + half };
}
