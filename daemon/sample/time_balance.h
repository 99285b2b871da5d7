/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How much CPU time a sample in the kernel stands for. Pure.
 *
 * Two clocks look at a thread, one for its time in user code and one for its
 * time in the kernel, each by chance. So what both have seen is the time that the
 * thread ran on average only: where it goes to and fro within microseconds, the
 * sum of 600 samples has a standard deviation of 2.4%. But how long it ran is
 * known to the nanosecond:
 *
 *   ran     |-----------------------------------------|
 *   charged |---- user code ----|---- kernel ----|  <---> missing, or too much
 *
 * Each sample in the kernel makes up for a part of that, and stands for a bit more
 * or less than its clock's interval. Over time the kernel is then charged with
 * what user code is not, and its samples tell where.
 */
#ifndef PIEPROFD_DAEMON_SAMPLE_TIME_BALANCE_H
#define PIEPROFD_DAEMON_SAMPLE_TIME_BALANCE_H

#include <stdbool.h>
#include <stdint.h>

struct time_balance {
	uint64_t user_ns, kernel_ns; /* charged */
	int64_t taken_ns;            /* of what threads that have ended lack */
	int64_t *ended_ns;           /* that: the process's, borrowed */
	uint64_t looked_user_ns, looked_kernel_ns;
};

void time_balance_begin(struct time_balance *balance, int64_t *ended_ns);
/* The thread has ended: others make up for what it lacks. */
void time_balance_end(struct time_balance *balance, uint64_t running_ns);

/*
 * Was the thread hardly ever in the kernel (under a 20th of its time) since it was last asked?
 * False also when less than least_ns of time in user code was charged since.
 */
bool time_balance_is_rare(struct time_balance *balance, uint64_t least_ns);

void time_balance_user(struct time_balance *balance, uint64_t time_ns);

/*
 * A sample in the kernel, taken when the thread had run for running_ns; its
 * interval was interval_ns. Returns what it stands for: half of that to
 * twice as much.
 */
uint64_t time_balance_kernel(struct time_balance *balance, uint64_t running_ns,
			     uint64_t interval_ns);

#endif
