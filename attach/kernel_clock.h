/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The sampling clock of the time a thread spends in the kernel. It never stops
 * the thread, so that no system call is ever interrupted: each sample is a
 * record of where in user code the kernel was entered.
 */
#ifndef PIEPROFD_ATTACH_KERNEL_CLOCK_H
#define PIEPROFD_ATTACH_KERNEL_CLOCK_H

#include "attach/event_ring.h"
#include "attach/sampling_interval.h"
#include "common/address.h"

#include <sys/types.h>

struct kernel_clock {
	int fd; /* -1: not open */
	struct sampling_interval interval;
	unsigned asked; /* how often kernel_clock_due() was, since it was varied */
	struct event_ring ring;
};

struct kernel_sample {
	uint64_t time_ns;       /* CLOCK_MONOTONIC */
	uint64_t stands_for_ns; /* CPU time of the thread, never 0 */
	uint64_t running_ns;    /* how long the thread has run on a CPU since the clock was on */
	/*
	 * To where the kernel will return: behind a system call's instruction, at
	 * one that faulted. 0: from nowhere, the thread is yet to run.
	 */
	remote_addr user_ip;
	remote_addr user_sp;
};

/*
 * Its period beside the one of the stopping clock. Equal ones would keep their
 * distance, and one of them would always look at the stop the other just made.
 */
#define KERNEL_CLOCK_PERIOD(period_ns) ((period_ns)*7071 / 10000)
/*
 * For a thread that is hardly ever in the kernel. The clock interrupts it wherever it is, 15 us
 * each time on a virtual machine, and in user code for nothing.
 */
#define KERNEL_CLOCK_PERIOD_RARE(period_ns) ((period_ns)*28284 / 10000)

/*
 * Opens it, stopped; rest: kernel_clock_rest() of a thread that has ended, where
 * this one goes on. 0 or a negative errno: -EACCES when the kernel lets only
 * the privileged measure it (perf_event_paranoid 2 without CAP_PERFMON).
 */
__attribute__((warn_unused_result)) int kernel_clock_open(struct kernel_clock *clock, pid_t tid,
							  uint64_t period_ns,
							  struct sampling_rest rest);
/* Of a thread that has ended after running_ns: how far it was from the next look. */
struct sampling_rest kernel_clock_rest(const struct kernel_clock *clock, uint64_t running_ns);
void kernel_clock_close(struct kernel_clock *clock);

void kernel_clock_enable(struct kernel_clock *clock, bool enable);
void kernel_clock_set_period(struct kernel_clock *clock, uint64_t period_ns);

/*
 * Another random interval around this period: due now and then, and at once where the first one is
 * still in force. Samples that were not taken by then are counted by the new one.
 */
bool kernel_clock_due(struct kernel_clock *clock);

/* Its samples signal this thread of our own; signal 0: nobody again. */
void kernel_clock_direct(struct kernel_clock *clock, pid_t tid, int signal);

/* Takes the oldest sample; false: there is none. */
bool kernel_clock_next(struct kernel_clock *clock, struct kernel_sample *ret_sample);

#endif
