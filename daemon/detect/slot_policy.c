/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/detect/slot_policy.h"

#include "common/random.h"

void slot_policy_init(struct slot_policy *policy, unsigned usable, uint64_t seed)
{
	*policy = (struct slot_policy){
		.usable = usable < SLOT_POLICY_SLOTS ? usable : SLOT_POLICY_SLOTS,
		.random = seed ? seed : 1,
	};
}

int slot_policy_choose(struct slot_policy *policy)
{
	int victim = SLOT_NONE;

	for (unsigned slot = 0; slot < policy->usable; slot++)
		if (!policy->busy[slot])
			return (int)slot;
	for (unsigned slot = 0; slot < policy->usable; slot++) {
		policy->seen[slot]++;
		/* The first slot that loses its draw goes; the others have counted the sample. */
		if (victim == SLOT_NONE && !policy->fixed[slot] &&
		    random_next(&policy->random) % (1 + policy->seen[slot]) == 0)
			victim = (int)slot;
	}
	return victim;
}

void slot_policy_take(struct slot_policy *policy, int slot)
{
	policy->busy[slot] = true;
	policy->seen[slot] = 0;
}

void slot_policy_release(struct slot_policy *policy, int slot)
{
	policy->busy[slot] = false;
	policy->fixed[slot] = false;
	policy->seen[slot] = 0;
}
