/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A copy of what sampling has found so far, for a thread that reads it while
 * sampling goes on: nothing is paused, no watch is given up.
 *
 * The thread that samples makes it, in steps between two looks at the target: a
 * step takes about as long as a stop does, however large the tree has become. A
 * sample that comes meanwhile may be in one part of the copy and not in
 * another; nothing is in a pair that its origin does not count, and no pair
 * refers to a node that is not there.
 *
 *   nodes --> (new nodes) pairs --> (new nodes) origins --> done
 *
 * The second snapshot and all later ones write over the one before.
 */
#ifndef PIEPROFD_DAEMON_SESSION_SNAPSHOT_H
#define PIEPROFD_DAEMON_SESSION_SNAPSHOT_H

#include "daemon/cct/pair_table.h"

enum snapshot_stage {
	SNAPSHOT_NODES,
	SNAPSHOT_PAIRS,
	SNAPSHOT_ORIGINS,
};

struct snapshot {
	struct cct *cct; /* NULL: never asked for */
	struct pair_table *pairs;
	enum snapshot_stage stage; /* of the copy that is being made */
	size_t next;               /* where it goes on */
};

/* The limits are those of the originals. 0 or -ENOMEM; deinit in either case. */
__attribute__((warn_unused_result)) int snapshot_init(struct snapshot *snapshot, size_t node_limit,
						      size_t pair_limit);
void snapshot_deinit(struct snapshot *snapshot);

/*
 * One step: 0 when the copy is complete, -EAGAIN when it is not yet, -ENOMEM:
 * given up; the next call begins anew in both other cases.
 */
__attribute__((warn_unused_result)) int snapshot_step(struct snapshot *snapshot,
						      const struct cct *cct,
						      const struct pair_table *pairs);

#endif
