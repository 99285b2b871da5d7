/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What it costs a thread that it has events: whenever it is put on a processor the kernel programs
 * them anew. A clock takes some 1 us of that, an armed breakpoint 5 to 7 on a virtual machine, as
 * each write to a debug register leaves it. A server that waits for each request pays them
 * thousands of times a second, and no stop tells of it.
 *
 * A clock that is to expire before the kernel's own tick costs more, several times as much on a
 * virtual machine: the processor's timer is set for it when its thread comes, and back when it
 * goes. Of an interval that is longer than the ticks' the end alone is like that.
 *
 * Measured on a thread of our own that sleeps for a moment, time and again: its CPU time from one
 * sleep to the next, with events and without.
 */
#ifndef PIEPROFD_ATTACH_SWITCH_COST_H
#define PIEPROFD_ATTACH_SWITCH_COST_H

#include <stdint.h>

struct switch_cost {
	uint64_t clock_ns;      /* of a clock, each time that its thread is put on a processor */
	uint64_t soon_ns;       /* beside that, of one that is to expire before the next tick */
	uint64_t tick_ns;       /* from one tick to the next */
	uint64_t breakpoint_ns; /* and of one armed breakpoint or more, beside the clock */
};

/* Of a clock with that interval, on average over the whole of it. */
double switch_cost_of_clock(const struct switch_cost *cost, uint64_t interval_ns);

/*
 * Of this machine: measured at the first call, for some 50 ms; what is usual, where the events
 * are refused. Any thread may call it.
 */
struct switch_cost switch_cost(void);

#endif
