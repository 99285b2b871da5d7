/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sampled allocations, charged to where they were made; and those that are given back while there
 * are probes, to the same place: by their numbers, of which the last 8192 are remembered. Pure.
 */
#ifndef PIEPROFD_DAEMON_SAMPLE_ALLOCATION_SAMPLES_H
#define PIEPROFD_DAEMON_SAMPLE_ALLOCATION_SAMPLES_H

#include "attach/clock_sample.h"
#include "daemon/cct/side_time.h"

#define ALLOCATION_SAMPLES_KEPT 8192u

struct allocation_kept {
	uint32_t number; /* 0: none */
	uint64_t bytes, objects;
	struct side_time *node, *thread; /* either may be NULL */
};

/* All zeros is an empty one. */
struct allocation_samples {
	struct allocation_kept kept[ALLOCATION_SAMPLES_KEPT];
};

/* node and thread are borrowed for as long as there are samples. */
void allocation_samples_charge(struct allocation_samples *samples,
			       const struct clock_sample *sample, struct side_time *node,
			       struct side_time *thread);
/* False: it is not remembered. */
bool allocation_samples_release(struct allocation_samples *samples, uint32_t number);

#endif
