/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tries everything that a profile needs on a child made for it, by the same
 * tracer that targets have: what is said to work was seen to work.
 */
#ifndef PIEPROFD_ATTACH_TRIAL_H
#define PIEPROFD_ATTACH_TRIAL_H

#include "common/error.h"

#include <stdbool.h>

struct trial {
	bool attached;
	struct error attach_error;  /* unless attached: why */
	int memory_errno;           /* why its memory could not be read; 0: it could */
	bool memory_by_file;        /* by /proc/PID/mem: process_vm_readv(2) is refused */
	int clock_errno;            /* why there is no sampling clock; 0: there is */
	bool clock_fired;           /* and it stopped the child */
	int kernel_clock_errno;     /* likewise for its time in the kernel */
	unsigned breakpoints;       /* debug registers that could be armed at the same time */
	int breakpoint_errno;       /* why not all four */
	bool execution_fired;       /* stopped before the instruction, at its address */
	bool data_fired;            /* stopped by a store to the watched word */
	bool program_sampled;       /* by a program in the kernel, while nobody traced it */
	struct error program_error; /* why no such program could be loaded; cause "": it could */
	int realtime_errno;         /* why the tracer cannot have real-time priority; 0: it can */
};

/*
 * Takes four seconds at most, and milliseconds where all works. 0, or a negative
 * errno when there can be no child.
 */
__attribute__((warn_unused_result)) int trial_run(struct trial *ret_trial);

#endif
