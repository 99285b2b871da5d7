/* SPDX-License-Identifier: Apache-2.0 */
/* A timeline of the session's owners made one of the profile's. */
#ifndef PIEPROFD_DAEMON_REPORT_MODEL_PROFILE_TIMELINE_H
#define PIEPROFD_DAEMON_REPORT_MODEL_PROFILE_TIMELINE_H

#include "daemon/report/model/arena.h"
#include "daemon/report/model/profile.h"

/*
 * Gives each cell its owner's position, of which there are `count`; those at
 * PROFILE_NODE_NONE, and beyond, are left out. Cells that come to have the same
 * owner and slice become one, all are sorted, and lie in the arena. 0 or -ENOMEM.
 */
__attribute__((warn_unused_result)) int profile_timeline_renumber(
	struct arena *arena, const struct profile_timeline *timeline, const uint32_t *positions,
	size_t count, struct profile_timeline *ret_timeline);

#endif
