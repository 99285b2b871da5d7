/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/report/model/avoidable_sum.h"

#include <math.h>

struct avoidable_sum avoidable_sum_of(const struct profile *profile)
{
	struct avoidable_sum sum = { 0 };
	double below = 0, above = 0;

	for (size_t i = 0; i < profile->line_count; i++) {
		const struct profile_line *line = &profile->lines[i];

		sum.ns += (double)line->avoidable_ns;
		below = hypot(below, (double)line->avoidable_ns - (double)line->avoidable_low_ns);
		above = hypot(above, (double)line->avoidable_high_ns - (double)line->avoidable_ns);
	}
	sum.interval = (struct interval){ fmax(sum.ns - below, 0), sum.ns + above };
	return sum;
}
