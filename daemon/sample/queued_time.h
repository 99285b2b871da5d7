/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How long the threads of a process were ready to run and had no CPU: on a busy
 * machine, or in a control group that is throttled, that is what a slow program
 * waits for, and no profile of its CPU time shows it. By the scheduler's own
 * account of each thread (attach/thread_schedule.h), read when sampling begins
 * and ends, and seldom in between. Of threads that end meanwhile nothing is known.
 */
#ifndef PIEPROFD_DAEMON_SAMPLE_QUEUED_TIME_H
#define PIEPROFD_DAEMON_SAMPLE_QUEUED_TIME_H

#include "attach/cpu_supply.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Of a process with more it is not found out: a few system calls for each, time after time. */
#define QUEUED_THREADS_MAX 1024

struct queued_thread {
	pid_t tid;
	uint64_t queued_ns; /* since it began */
};

struct queued_time {
	struct queued_thread threads[QUEUED_THREADS_MAX]; /* by tid, at the beginning */
	size_t count;
	bool known;
	uint64_t read_ns; /* when time_ns was found out */
	uint64_t time_ns; /* all that is over, and the present one so far */
	uint64_t over_ns;
	struct cpu_supply supply;                /* at the beginning */
	struct cpu_supply supplied, over_supply; /* as time_ns and over_ns: why there was none */
};

/* Begins to count, or goes on after queued_time_end(). First of all zeros. */
void queued_time_begin(struct queued_time *time, pid_t pid, uint64_t now_ns);
/* Reads again; not within a second of the last time. */
void queued_time_update(struct queued_time *time, pid_t pid, uint64_t now_ns);
void queued_time_end(struct queued_time *time, pid_t pid);

#endif
