/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/sample/time_balance.h"

/* A sample makes up for this part of what is missing: chance evens out over a few. */
#define PART 4
/* What is missing beyond so many intervals was lost, not missed by chance: the kernel had no part
 * in it. */
#define INTERVALS_MAX 16
/* The kernel's part of the time below which it is looked at less often. */
#define RARE 20

void time_balance_begin(struct time_balance *balance, int64_t *ended_ns)
{
	*balance = (struct time_balance){ .ended_ns = ended_ns };
}

bool time_balance_is_rare(struct time_balance *balance, uint64_t least_ns)
{
	uint64_t user_ns = balance->user_ns - balance->looked_user_ns;
	uint64_t kernel_ns = balance->kernel_ns - balance->looked_kernel_ns;

	balance->looked_user_ns = balance->user_ns;
	balance->looked_kernel_ns = balance->kernel_ns;
	return user_ns >= least_ns && kernel_ns < user_ns / RARE;
}

void time_balance_user(struct time_balance *balance, uint64_t time_ns)
{
	balance->user_ns += time_ns;
}

static int64_t missing_ns(const struct time_balance *balance, uint64_t running_ns)
{
	return (int64_t)(running_ns - balance->user_ns - balance->kernel_ns) + balance->taken_ns;
}

void time_balance_end(struct time_balance *balance, uint64_t running_ns)
{
	*balance->ended_ns += missing_ns(balance, running_ns);
}

uint64_t time_balance_kernel(struct time_balance *balance, uint64_t running_ns,
			     uint64_t interval_ns)
{
	int64_t interval = (int64_t)interval_ns, limit = INTERVALS_MAX * interval;
	int64_t missing, time;

	balance->taken_ns += *balance->ended_ns;
	*balance->ended_ns = 0;
	missing = missing_ns(balance, running_ns);
	if (missing > limit)
		balance->taken_ns -= missing - limit;
	else if (missing < -limit)
		balance->taken_ns += -limit - missing;
	missing = missing_ns(balance, running_ns);
	/* On average half an interval has passed uncharged when the sample comes. */
	time = interval + (missing - interval / 2) / PART;
	if (time < interval / 2)
		time = interval / 2;
	if (time > 2 * interval)
		time = 2 * interval;
	balance->kernel_ns += (uint64_t)time;
	return (uint64_t)time;
}
