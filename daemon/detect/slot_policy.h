/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which debug register a new memory sample gets. A free one, if there is one;
 * else Witch's reservoir: each busy slot may be replaced with probability
 * 1 / (1 + n), n being the samples seen since it was armed, so that every
 * sample keeps an equal chance to be the one that is watched. Pure, with a
 * seeded generator.
 */
#ifndef PIEPROFD_DAEMON_DETECT_SLOT_POLICY_H
#define PIEPROFD_DAEMON_DETECT_SLOT_POLICY_H

#include <stdbool.h>
#include <stdint.h>

#define SLOT_POLICY_SLOTS 4
#define SLOT_NONE         (-1)

struct slot_policy {
	unsigned usable; /* 0 to 4: others may hold some debug registers */
	bool busy[SLOT_POLICY_SLOTS];
	bool fixed[SLOT_POLICY_SLOTS]; /* waits for something that comes at once: never replaced */
	uint64_t seen[SLOT_POLICY_SLOTS]; /* samples since it was armed */
	uint64_t random;                  /* state of the generator, never 0 */
};

void slot_policy_init(struct slot_policy *policy, unsigned usable, uint64_t seed);

/* The slot for a new sample, which may be busy (then its watch is evicted), or SLOT_NONE. */
int slot_policy_choose(struct slot_policy *policy);

void slot_policy_take(struct slot_policy *policy, int slot);
void slot_policy_release(struct slot_policy *policy, int slot);

#endif
