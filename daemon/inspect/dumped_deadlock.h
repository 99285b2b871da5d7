/* SPDX-License-Identifier: Apache-2.0 */
/* Threads that wait for each other in a circle (daemon/sample/deadlock.h), as a dump shows them. */
#ifndef PIEPROFD_DAEMON_INSPECT_DUMPED_DEADLOCK_H
#define PIEPROFD_DAEMON_INSPECT_DUMPED_DEADLOCK_H

#include "daemon/report/model/profile.h"
#include "daemon/report/model/source.h"
#include "daemon/sample/deadlock.h"

struct dumped_wait {
	size_t circle; /* those of one circle follow each other */
	pid_t tid, holder;
	remote_addr lock; /* 0: it waits for the holder to end */
	bool recursive;   /* an RLock */
	bool held_known;  /* else there is no held_at */
	struct profile_frame waits_at, held_at;
};

struct dumped_deadlocks {
	struct dumped_wait *waits;
	size_t count;
};

/* Strings live as long as the code objects and the sources. 0 or -ENOMEM. */
__attribute__((warn_unused_result)) int dumped_deadlocks_init(struct dumped_deadlocks *dumped,
							      const struct deadlocks *deadlocks,
							      struct source_cache *sources);
void dumped_deadlocks_deinit(struct dumped_deadlocks *dumped);

#endif
