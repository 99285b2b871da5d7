/* SPDX-License-Identifier: Apache-2.0 */
/* The stacks of a profile (struct profile_stack) while it is made. */
#ifndef PIEPROFD_DAEMON_REPORT_MODEL_PROFILE_STACKS_H
#define PIEPROFD_DAEMON_REPORT_MODEL_PROFILE_STACKS_H

#include "daemon/report/model/arena.h"
#include "daemon/report/model/profile.h"

/* Indices of threads or nodes, to what they come to be; PROFILE_NODE_NONE: not there any more. */
struct profile_positions {
	const uint32_t *items;
	size_t count;
};

/*
 * Copies the facts' stacks and their timeline into the arena, with other indices, sorted, those
 * that come to be the same added up. What is not there any more is left out. NULL: they stay. 0 or
 * -ENOMEM.
 */
__attribute__((warn_unused_result)) int profile_stacks_renumber(
	struct arena *arena, struct profile_facts *facts, const struct profile_positions *threads,
	const struct profile_positions *nodes);

#endif
