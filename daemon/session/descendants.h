/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The processes below a process, but for ourselves: what they used of the CPU, and which
 * of them runs Python. For a person who has named a launcher, or a parent whose children do the
 * work. Looks at /proc alone; nothing is attached to.
 */
#ifndef PIEPROFD_DAEMON_SESSION_DESCENDANTS_H
#define PIEPROFD_DAEMON_SESSION_DESCENDANTS_H

#include "common/pid_list.h"

#include <stdint.h>

/* What a look goes through at most: further ones are left out. */
#define DESCENDANTS_MAX 256

/* Parents before their children, in place of what the list held. 0, -ESRCH or -ENOMEM. */
__attribute__((warn_unused_result)) int descendants_read(pid_t pid, struct pid_list *ret_found);

/*
 * CPU time of all processes that it has made and they have made, those that have
 * ended and been waited for included; *ret_count: how many there are now. What is
 * used between two calls is the difference. 0 or a negative errno: it is gone.
 */
__attribute__((warn_unused_result)) int descendants_work(pid_t pid, uint64_t *ret_cpu_ns,
							 size_t *ret_count);

/*
 * Those that seem to run Python and whose memory we may read, in the order above, in place of what
 * the list held. 0 or a negative errno.
 */
__attribute__((warn_unused_result)) int descendants_read_python(pid_t pid,
								struct pid_list *ret_found);

#endif
