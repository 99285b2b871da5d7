/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CPU time for looking at other processes, which comes in with the time that goes
 * by: what is spent beyond it is paid back by waiting. Pure.
 */
#ifndef PIEPROFD_DAEMON_SESSION_LOOK_BUDGET_H
#define PIEPROFD_DAEMON_SESSION_LOOK_BUDGET_H

#include "common/clock.h"

/* One part in so many of a CPU, where nothing else is said. */
#define LOOK_BUDGET_PART 400
/* Saved up while nothing is looked at: so that a burst is met at once. */
#define LOOK_BUDGET_MAX_NS (3 * (int64_t)NS_PER_MS)
/* A debt is let off beyond that: the next look shall not be put off for ever. */
#define LOOK_BUDGET_DEBT_NS (-5 * (int64_t)NS_PER_MS)

struct look_budget {
	int64_t left_ns;
	uint64_t earned_ns; /* when it was last paid in; 0: never */
	uint64_t part;      /* one in so many of a CPU; 0: LOOK_BUDGET_PART */
};

static inline void look_budget_earn(struct look_budget *budget, uint64_t now_ns)
{
	uint64_t since_ns = budget->earned_ns ? now_ns - budget->earned_ns : 0;

	budget->earned_ns = now_ns;
	budget->left_ns += (int64_t)(since_ns / (budget->part ? budget->part : LOOK_BUDGET_PART));
	if (budget->left_ns > LOOK_BUDGET_MAX_NS)
		budget->left_ns = LOOK_BUDGET_MAX_NS;
}

static inline void look_budget_spend(struct look_budget *budget, uint64_t cpu_ns)
{
	budget->left_ns -= cpu_ns < INT64_MAX ? (int64_t)cpu_ns : INT64_MAX / 2;
	if (budget->left_ns < LOOK_BUDGET_DEBT_NS)
		budget->left_ns = LOOK_BUDGET_DEBT_NS;
}

#endif
