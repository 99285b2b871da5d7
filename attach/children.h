/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which processes a process has made: as they are now, by looking. Nothing is
 * traced. What ends between two looks is never seen (attach/fork_counter.h
 * counts it).
 */
#ifndef PIEPROFD_ATTACH_CHILDREN_H
#define PIEPROFD_ATTACH_CHILDREN_H

#include <stddef.h>
#include <sys/types.h>

/*
 * The children of all its threads, at most maximum; 0 when there are none, -ESRCH
 * when it is gone. A kernel without /proc/PID/task/TID/children has every
 * process asked for its parent instead.
 */
__attribute__((warn_unused_result)) int children_read(pid_t pid, pid_t *pids, size_t maximum,
						      size_t *ret_count);

#endif
