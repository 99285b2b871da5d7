/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The figures of a snapshot, kept to be taken out of a later one: what is left
 * is what came between the two. As many marks as one likes look at the same
 * sampling, so that it need not begin anew for anybody.
 *
 *   snapshot ----------> mark          begin
 *   snapshot - mark ---> the window    end
 *
 * Ids of nodes and indices of pairs do not change while a tree lives, which is
 * what makes it a subtraction; both snapshots are of the same tree.
 */
#ifndef PIEPROFD_DAEMON_SESSION_SNAPSHOT_MARK_H
#define PIEPROFD_DAEMON_SESSION_SNAPSHOT_MARK_H

#include "daemon/session/snapshot.h"

/* All zeros: of the beginning. */
struct snapshot_mark {
	struct cct_figures *nodes; /* those with any, by id */
	size_t node_count;
	struct pair *pairs; /* their pointers are void */
	size_t pair_count;
	struct pair_origin *origins; /* likewise */
	size_t origin_count;
};

/* 0 or -ENOMEM. */
__attribute__((warn_unused_result)) int snapshot_mark_take(const struct snapshot *snapshot,
							   struct snapshot_mark *ret_mark);
void snapshot_mark_deinit(struct snapshot_mark *mark);

/* The next snapshot writes over what is left. 0 or -ENOMEM. */
__attribute__((warn_unused_result)) int snapshot_subtract(struct snapshot *snapshot,
							  const struct snapshot_mark *mark);

#endif
