/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/sample/clock_breaks.h"

#include "common/random.h"

/* Fewer again only where that much is to spare: no to and fro. */
#define SPARE 1.25

static unsigned wanted_parts(unsigned parts, double share, double allowed)
{
	double least = allowed > 0 ? share / allowed : share > 0 ? CLOCK_BREAKS_PARTS_MAX : 1;

	if (least > CLOCK_BREAKS_PARTS_MAX)
		least = CLOCK_BREAKS_PARTS_MAX;
	while (parts < least)
		parts++;
	while (parts > 1 && parts - 1 >= least * SPARE)
		parts--;
	return parts;
}

bool clock_breaks_next(struct clock_breaks *breaks, double share, double allowed, uint64_t *random)
{
	unsigned parts = breaks->parts ? breaks->parts : 1;

	if (++breaks->at >= parts) {
		breaks->parts = wanted_parts(parts, share, allowed);
		breaks->at = 0;
		breaks->chosen = (unsigned)random_below(random, breaks->parts);
	}
	return breaks->at == breaks->chosen;
}

bool clock_breaks_any(const struct clock_breaks *breaks)
{
	return breaks->parts > 1;
}
