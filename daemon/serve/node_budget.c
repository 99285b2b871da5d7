/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/serve/node_budget.h"

#include "common/clock.h"

static void account(struct node_budget *budget, uint64_t now_ns, uint64_t cpu_ns)
{
	double rate = budget->share * budget->processors;
	int64_t saved_ns = (int64_t)(rate * NODE_BUDGET_SAVED_S * (double)NS_PER_SECOND);
	int64_t owed_ns = (int64_t)(rate * NODE_BUDGET_OWED_S * (double)NS_PER_SECOND);

	if (budget->looked_ns) {
		budget->left_ns += (int64_t)(rate * (double)(now_ns - budget->looked_ns));
		budget->left_ns -= (int64_t)(cpu_ns - budget->cpu_ns);
	}
	if (budget->left_ns > saved_ns)
		budget->left_ns = saved_ns;
	if (budget->left_ns < -owed_ns)
		budget->left_ns = -owed_ns;
	budget->looked_ns = now_ns;
	budget->cpu_ns = cpu_ns;
}

size_t node_budget_room(struct node_budget *budget, uint64_t now_ns, uint64_t cpu_ns, size_t live,
			size_t max)
{
	double second_ns = budget->share * budget->processors * (double)NS_PER_SECOND;
	size_t room = live;

	if (budget->share <= 0)
		return max;
	if (!budget->begun) {
		budget->cpu_ns = cpu_ns;
		budget->begun = live > 0;
	}
	account(budget, now_ns, cpu_ns);
	if (budget->left_ns >= 0) {
		room = live + 1;
	} else if ((double)budget->left_ns < -5 * second_ns &&
		   now_ns - budget->dropped_ns >= NS_PER_SECOND) {
		budget->dropped_ns = now_ns;
		room = live ? live - 1 : 0;
	}
	return room > max ? max : room ? room : 1;
}
