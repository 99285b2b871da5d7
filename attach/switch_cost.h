/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What it costs a thread that it has events: whenever it is put on a processor the kernel programs
 * them anew. A clock takes some 1 us of that, an armed breakpoint 5 to 7 on a virtual machine, as
 * each write to a debug register leaves it. A server that waits for each request pays them
 * thousands of times a second, and no stop tells of it.
 *
 * Measured on a thread of our own that sleeps for a moment, time and again: its CPU time from one
 * sleep to the next, with events and without.
 */
#ifndef PIEPROFD_ATTACH_SWITCH_COST_H
#define PIEPROFD_ATTACH_SWITCH_COST_H

#include <stdint.h>

struct switch_cost {
	uint64_t clock_ns;      /* of a clock, each time that its thread is put on a processor */
	uint64_t breakpoint_ns; /* and of one armed breakpoint or more, beside the clock */
};

/*
 * Of this machine: measured at the first call, for some 40 ms; what is usual, where the events
 * are refused. Any thread may call it.
 */
struct switch_cost switch_cost(void);

#endif
