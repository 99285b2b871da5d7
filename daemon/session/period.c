/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/session/period.h"

#include "common/clock.h"

/* Times the period asked for: to make room for memory samples, and where stops themselves are dear.
 */
#define LENGTHEN_MAX 3
#define DEAR_MAX     6
/* How long a first few stops may make it at high rates; a debt makes it longer. */
#define PERIOD_PLANNED_NS (30 * NS_PER_MS)

void period_init(struct period *period, uint64_t wanted_ns)
{
	*period = (struct period){
		.wanted_ns = wanted_ns,
		.longest_ns = LENGTHEN_MAX * wanted_ns,
	};
}

uint64_t period_longer(uint64_t period_ns)
{
	return period_ns + period_ns / 2;
}

/* What the cost of stops suggests, within what was asked for and the longest; 0: not known yet. */
static uint64_t planned_period(const struct period *period, uint64_t suggested_ns)
{
	uint64_t longest_ns = DEAR_MAX * period->wanted_ns;

	/* The limit decides, whatever rate is asked for. */
	if (longest_ns < PERIOD_PLANNED_NS)
		longest_ns = PERIOD_PLANNED_NS;
	if (!suggested_ns || suggested_ns > longest_ns)
		return suggested_ns ? longest_ns : 0;
	return suggested_ns > period->wanted_ns ? suggested_ns : period->wanted_ns;
}

uint64_t period_balance(struct period *period, uint64_t period_ns,
			const struct period_figures *figures, uint64_t now_ns)
{
	uint64_t offers = figures->offers - period->offers;
	uint64_t skipped = figures->skipped - period->skipped;
	uint64_t planned_ns = planned_period(period, figures->suggested_ns);

	if (!planned_ns || (figures->follows_accesses && !figures->offers))
		return period_ns;
	if (!period->planned) {
		period->planned = true;
		period_ns = planned_ns;
	}
	if (now_ns - period->balanced_ns < NS_PER_SECOND)
		return period_ns;
	if (2 * skipped > offers && period_ns < period->longest_ns)
		period_ns = period_longer(period_ns);
	else if (4 * skipped <= offers && 4 * planned_ns < 3 * period_ns)
		period_ns = planned_ns; /* stops have become cheaper */
	else if (3 * planned_ns > 4 * period_ns)
		period_ns = planned_ns; /* or dearer than the first few were */
	period->balanced_ns = now_ns;
	period->offers = figures->offers;
	period->skipped = figures->skipped;
	return period_ns;
}
