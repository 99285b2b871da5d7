/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stacks that a reader could not tell apart: the idle threads of a pool, the
 * tasks that all wait for the same. They are shown once.
 */
#ifndef PIEPROFD_DAEMON_INSPECT_ALIKE_H
#define PIEPROFD_DAEMON_INSPECT_ALIKE_H

#include "daemon/report/model/profile.h"

struct alike {
	const struct profile_frame *frames;
	size_t frame_count;
	uint64_t kind;  /* stacks of different kinds are not alike */
	bool alone;     /* nor is this one with any other */
	size_t first;   /* out: index of the first that it is like, perhaps its own */
	size_t members; /* out: of the first: how many are like it, itself among them */
	uint64_t hash;
};

void alike_find(struct alike *stacks, size_t count);

#endif
