/* SPDX-License-Identifier: Apache-2.0 */
/*
 * On which processor the tracer's thread should sleep: the one where the
 * target's thread stops. A stop is then a switch from one thread to another;
 * from a processor to another it is a wake-up of an idle one, and a second one
 * back, and each event that is re-programmed meanwhile a further interrupt.
 *
 * A real-time thread wakes where it slept, so that it need be moved just once;
 * it is not bound there. Whether the target's thread then stays, or the
 * scheduler takes it to another processor for the next time, differs from
 * kernel to kernel and with the load: where it does not stay, moving after it
 * is given up, for longer each time. Pure.
 */
#ifndef PIEPROFD_ATTACH_PLACEMENT_H
#define PIEPROFD_ATTACH_PLACEMENT_H

#include <stdbool.h>
#include <stdint.h>

struct placement {
	unsigned seen;     /* processor of the last stops elsewhere */
	unsigned streak;   /* how many of them in a row */
	unsigned trial;    /* stops left to judge the last move by; 0: judged */
	unsigned together; /* of those judged so far, on the tracer's processor */
	uint64_t rest;     /* stops to pass before the next move */
	uint64_t next_rest;
};

void placement_init(struct placement *placement);

/* A thread stopped on one processor, the tracer woke on another: should it move there? */
bool placement_moves(struct placement *placement, unsigned target_cpu, unsigned own_cpu);

#endif
