/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the scheduler says of a thread (/proc/PID/task/TID/schedstat): exact,
 * and read without its knowing. A thread whose turns did not change has not run
 * since, so that all that was read of it in between is of one moment.
 */
#ifndef PIEPROFD_ATTACH_THREAD_SCHEDULE_H
#define PIEPROFD_ATTACH_THREAD_SCHEDULE_H

#include <stdint.h>
#include <sys/types.h>

struct thread_schedule {
	uint64_t run_ns;    /* on a CPU */
	uint64_t queued_ns; /* ready to run, waiting for one */
	uint64_t turns;     /* how often it was put on one */
};

/* A descriptor to read from time after time, or a negative errno. */
__attribute__((warn_unused_result)) int thread_schedule_open(pid_t pid, pid_t tid);

/* 0; -ENODATA: this kernel does not count; -ESRCH: it is gone; or another negative errno. */
__attribute__((warn_unused_result)) int thread_schedule_read(int fd,
							     struct thread_schedule *ret_schedule);

#endif
