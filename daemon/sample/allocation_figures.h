/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PIEPROFD_DAEMON_SAMPLE_ALLOCATION_FIGURES_H
#define PIEPROFD_DAEMON_SAMPLE_ALLOCATION_FIGURES_H

#include "daemon/capture/allocator_view.h"

#include <stdbool.h>
#include <stdint.h>

/* Of all windows in which probes were at a process's allocators; they only grow. */
struct allocation_counts_sum {
	uint64_t windows;
	uint64_t probed_ns;   /* wall time */
	uint64_t observed_ns; /* what the process would have taken for the same without probes */
	uint64_t cost_ns;     /* of the probes */
	uint64_t hits;
	uint64_t objects, bytes; /* made, of all calls: not by samples */
	uint64_t samples;
	uint64_t missed_bytes; /* for which no sample could be taken */
	uint64_t refused;      /* windows: the kernel set no probes */
};

struct allocation_figures {
	struct allocation_counts_sum counts;
	enum allocator_view python;
	bool library; /* what malloc() makes is seen */
};

#endif
