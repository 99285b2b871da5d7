/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The number that the kernel gave out last, to a process or a thread: it gives them out in order
 * and tells the last one (/proc/loadavg).
 */
#ifndef PIEPROFD_ATTACH_LAST_PID_H
#define PIEPROFD_ATTACH_LAST_PID_H

#include <sys/types.h>

/* A descriptor; a negative errno: LXC puts another file there, or /proc is another pid namespace's.
 */
__attribute__((warn_unused_result)) int last_pid_open(void);
/* 0 or a negative errno. */
__attribute__((warn_unused_result)) int last_pid_read(int fd, pid_t *ret_last);

#endif
