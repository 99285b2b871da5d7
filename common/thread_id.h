/* SPDX-License-Identifier: Apache-2.0 */
/* A thread, told apart from a later one that got the same tid. */
#ifndef PIEPROFD_COMMON_THREAD_ID_H
#define PIEPROFD_COMMON_THREAD_ID_H

#include <stdint.h>
#include <sys/types.h>

struct thread_id {
	pid_t tid;           /* in the daemon's pid namespace */
	uint64_t start_time; /* clock ticks after boot, field 22 of /proc/PID/task/TID/stat */
};

#endif
