/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which processes a process has made: as they are now, by looking. Nothing is
 * traced. What ends between two looks is never seen (attach/fork_counter.h
 * counts it).
 */
#ifndef PIEPROFD_ATTACH_CHILDREN_H
#define PIEPROFD_ATTACH_CHILDREN_H

#include "common/pid_list.h"

#include <stdio.h>

/*
 * The children of all its threads, in place of what the list held; 0 when there
 * are none, -ESRCH when it is gone, -ENOMEM. A kernel without
 * /proc/PID/task/TID/children has every process asked for its parent instead.
 */
__attribute__((warn_unused_result)) int children_read(pid_t pid, struct pid_list *ret_children);

/* Adds those that such a file names. 0 or -ENOMEM. */
__attribute__((warn_unused_result)) int children_take(FILE *file, struct pid_list *children);

#endif
