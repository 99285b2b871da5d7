/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/push/backoff.h"

#include "common/clock.h"

#define FIRST_NS (1 * NS_PER_SECOND)
#define MAX_NS   (60 * NS_PER_SECOND)
#define ASKED_NS (3600 * NS_PER_SECOND)

uint64_t backoff_ns(unsigned failures, uint64_t random, uint64_t asked_ns)
{
	uint64_t wait_ns = FIRST_NS;

	for (unsigned i = 1; i < failures && wait_ns < MAX_NS; i++)
		wait_ns *= 2;
	if (wait_ns > MAX_NS)
		wait_ns = MAX_NS;
	wait_ns -= random % (wait_ns / 2 + 1);
	if (asked_ns > ASKED_NS)
		asked_ns = ASKED_NS;
	/* Never sooner than asked for, and spread likewise. */
	return asked_ns ? asked_ns + wait_ns / 4 : wait_ns;
}
