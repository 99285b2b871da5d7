/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The CPU time that no clock of ours sees, though the process spends it: the
 * kernel takes a thread's clocks off the processor before the thread and puts
 * them back after it, and a thread that begins or ends has none for a while.
 * Where threads sleep, begin or end thousands of times a second, that is 5 to 15%
 * of the CPU time, all of it in the kernel.
 *
 *   the process's CPU time  |======================================|
 *   all threads' clocks ran |============================|
 *                                                         <--------> unclocked
 *
 * Both are exact. What each living thread has of it says its own account
 * (schedstat); the rest belongs to threads that have ended. All is found out when
 * sampling begins and ends, with nobody stopped.
 *
 * The time is charged when sampling ends, in pieces over the whole run, to a frame
 * of its own, "[scheduling, thread start and end]" of "[kernel]": of threads that have
 * ended to "others". Under 0.2%, or where some thread is not sampled at all, it is
 * left out.
 *
 * What would not do: an inherited counter on the process (switched together with the
 * clocks, it misses the same time); utime and stime (hundredths of a second, divided
 * between user and kernel by ticks); taskstats (tells of all processes' ends, with
 * CAP_NET_ADMIN alone); a thread's account read while the tracer waits for it (one
 * more system call in every stop).
 */
#ifndef PIEPROFD_DAEMON_SAMPLE_UNCLOCKED_TIME_H
#define PIEPROFD_DAEMON_SAMPLE_UNCLOCKED_TIME_H

#include <stdint.h>
#include <sys/types.h>

struct unclocked_time {
	uint64_t began_ns;   /* CLOCK_MONOTONIC, when sampling began or went on */
	uint64_t clocked_ns; /* what the clocks of all threads have run since */
	uint64_t living_ns;  /* what living threads have beyond, by their own account */
};

struct unclocked_thread {
	uint64_t run_ns;     /* by its own account, when sampling began */
	uint64_t running_ns; /* by its clock, then and after its end */
	uint64_t beyond_ns;
};

void unclocked_begin(struct unclocked_time *time, uint64_t now_ns);

/* Of a thread that is there when sampling begins; one that begins later is all zeros. */
void unclocked_thread_begin(struct unclocked_thread *thread, pid_t pid, pid_t tid,
			    uint64_t running_ns);

/* Of a thread that has ended. */
void unclocked_thread_ended(struct unclocked_time *time, struct unclocked_thread *thread,
			    uint64_t running_ns);

/* When sampling ends, of each thread that lives. */
void unclocked_thread_measure(struct unclocked_time *time, struct unclocked_thread *thread,
			      pid_t pid, pid_t tid, uint64_t running_ns);

/* Afterwards: the whole, of the process's cpu_ns meanwhile. 0: none, or not worth a line. */
uint64_t unclocked_whole_ns(const struct unclocked_time *time, uint64_t cpu_ns);

/* A living thread's part of whole_ns. The parts are together at most the whole. */
uint64_t unclocked_part_ns(const struct unclocked_time *time, const struct unclocked_thread *thread,
			   uint64_t whole_ns);

#endif
