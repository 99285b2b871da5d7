/* SPDX-License-Identifier: Apache-2.0 */
/* From how much memory on a process is to be looked at: heap --at. */
#ifndef PIEPROFD_DAEMON_HEAP_HEAP_THRESHOLD_H
#define PIEPROFD_DAEMON_HEAP_HEAP_THRESHOLD_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Either; neither: from the start. */
struct heap_threshold {
	double share;   /* of its control group's limit that the group uses, above 0 and up to 1 */
	uint64_t bytes; /* of the process that are resident */
};

/* What there is now, and what is waited for; both of the group, or both of the process. */
struct heap_level {
	bool reached;
	uint64_t used_bytes, wanted_bytes;
};

/* By /proc and the control group's files alone. 0; -ESRCH: the process is gone; -ENODATA: a share
 * is asked for, and its group has no limit; or another negative errno. */
__attribute__((warn_unused_result)) int heap_threshold_test(const struct heap_threshold *threshold,
							    pid_t pid,
							    struct heap_level *ret_level);

#endif
