/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/report/interval.h"

#include <math.h>

/* 97.5% quantile of the normal distribution. */
#define Z 1.959963984540054

struct interval interval_wilson(uint64_t successes, uint64_t trials)
{
	double n = (double)trials, share, centre, half, scale;

	if (!trials)
		return (struct interval){ .low = 0, .high = 1 };
	if (successes > trials)
		successes = trials;
	share = (double)successes / n;
	scale = 1 + Z * Z / n;
	centre = (share + Z * Z / (2 * n)) / scale;
	half = Z / scale * sqrt(share * (1 - share) / n + Z * Z / (4 * n * n));
	/* At the ends the difference is 0 but for rounding. */
	return (struct interval){
		.low = successes ? fmax(centre - half, 0) : 0,
		.high = successes < trials ? fmin(centre + half, 1) : 1,
	};
}
