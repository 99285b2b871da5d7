/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a hit of a probe costs a thread beside the program in the kernel that it runs: the trap, the
 * way there and back, and what the processor has forgotten by then of the code around it, which is
 * a third of it. That depends on the machine and its kernel, so it is measured.
 *
 *   this thread: ... branches ... an instruction with a probe ... branches ...
 *
 * On instructions of our own, by the thread's CPU time with the probe and without: no other
 * process is touched.
 */
#ifndef PIEPROFD_ATTACH_TRAP_COST_H
#define PIEPROFD_ATTACH_TRAP_COST_H

#include "attach/function_probes.h"

#include <stdbool.h>

struct trap_cost {
	uint64_t emulated_ns; /* of a jump, which the kernel does itself */
	uint64_t stepped_ns;  /* of an instruction that it has to single-step */
	bool measured;        /* false: what is usual */
};

/*
 * At this moment, for some 10 ms of the calling thread's time, and some 50 ms that it waits for the
 * kernel. probes: made for functions, with room for a process; what they count of it is gone
 * afterwards.
 */
struct trap_cost trap_cost_measure(struct mpi_probes *probes);

/* What they cost in all that were counted: pure. */
uint64_t trap_cost_of(const struct trap_cost *cost, const struct function_counts *counts);

#endif
