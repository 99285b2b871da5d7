/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/sample/clock_breaks.h"

#include "common/random.h"

static unsigned next_parts(unsigned now, unsigned parts, unsigned fewer_parts)
{
	if (now < parts)
		now = parts;
	else if (now > fewer_parts)
		now = fewer_parts;
	return now < 1 ? 1 : now > CLOCK_BREAKS_PARTS_MAX ? CLOCK_BREAKS_PARTS_MAX : now;
}

bool clock_breaks_next(struct clock_breaks *breaks, unsigned parts, unsigned fewer_parts,
		       uint64_t *random)
{
	/* By far too many: the thread does something else by now. */
	if (++breaks->at >= breaks->parts || 2 * fewer_parts <= breaks->parts) {
		breaks->parts = next_parts(breaks->parts, parts, fewer_parts);
		breaks->at = 0;
		breaks->chosen = (unsigned)random_below(random, breaks->parts);
	}
	return breaks->at == breaks->chosen;
}

bool clock_breaks_any(const struct clock_breaks *breaks)
{
	return breaks->parts > 1;
}
