/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The CPU time of each thread by class, also of those that have ended. Beyond
 * a limit threads share one entry, so that a target that makes threads for
 * ever does not make this grow for ever.
 */
#ifndef PIEPROFD_DAEMON_SAMPLE_THREAD_TIMES_H
#define PIEPROFD_DAEMON_SAMPLE_THREAD_TIMES_H

#include "daemon/sample/profile_times.h"

#define THREAD_TIMES_MAX 4096

struct thread_times {
	struct profile_thread *items; /* never move; the first is for those over the limit: tid 0 */
	size_t count;
};

/* 0 or -ENOMEM; deinit in either case. */
__attribute__((warn_unused_result)) int thread_times_init(struct thread_times *times);
void thread_times_deinit(struct thread_times *times);

/* An entry for a new thread, by its index; that of the others when there is no room. */
size_t thread_times_add(struct thread_times *times, pid_t tid, const char *name);

void thread_times_charge(struct thread_times *times, size_t index, enum time_class time_class,
			 uint64_t time_ns);

#endif
