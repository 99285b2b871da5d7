/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/serve/node_budget.h"

#include "common/clock.h"

static double second_ns(const struct node_budget *budget)
{
	return budget->share * budget->processors * (double)NS_PER_SECOND;
}

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
	double deep_ns = (NODE_BUDGET_CREDIT_S + 5) * second_ns(budget);
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
	} else if ((double)budget->left_ns < -deep_ns &&
		   now_ns - budget->dropped_ns >= NS_PER_SECOND) {
		budget->dropped_ns = now_ns;
		room = live ? live - 1 : 0;
	}
	return room > max ? max : room ? room : 1;
}

void node_budget_charge(struct node_budget *budget, uint64_t new_ns, uint64_t others_ns)
{
	budget->credit_used_ns -=
		others_ns < budget->credit_used_ns ? others_ns : budget->credit_used_ns;
	budget->credit_used_ns += new_ns;
}

bool node_budget_has_credit(const struct node_budget *budget)
{
	double credit_ns = NODE_BUDGET_CREDIT_S * second_ns(budget);

	return budget->share <= 0 ||
	       ((double)budget->credit_used_ns < credit_ns && (double)budget->left_ns > -credit_ns);
}
