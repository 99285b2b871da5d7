/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a process allocates, by windows: for some milliseconds there are probes at its allocators
 * (attach/allocation_probes.h), then there are none for so long that they have cost what they may.
 *
 *   |probes|                 |probes|              |probes|      much is allocated
 *   |       probes        |  |      probes     |                 little is: there is hardly a cost
 *
 * While there are probes, the process is slowed down by each call of an allocator. How long it
 * would have taken without them is computed from what a call costs: rates refer to that.
 *
 * A thread of its own opens and closes them, before all ordinary ones: the target pays for each
 * moment by which it is late. Samples go to the ring of the clocks.
 */
#ifndef PIEPROFD_DAEMON_SAMPLE_ALLOCATION_WINDOWS_H
#define PIEPROFD_DAEMON_SAMPLE_ALLOCATION_WINDOWS_H

#include "common/error.h"
#include "daemon/capture/allocator_places.h"
#include "daemon/capture/target.h"
#include "daemon/sample/allocation_figures.h"

struct allocation_windows;

/*
 * Loads the program; no probe yet. ring_fd: the clocks'; most_overhead: at most this part of the
 * process's time, on average. NULL with *error filled.
 */
struct allocation_windows *allocation_windows_create(struct target *target,
						     enum allocator_scope scope, int ring_fd,
						     double most_overhead, struct error *error);
/* No probe is left. */
void allocation_windows_destroy(struct allocation_windows *windows);

/* From now on there are windows; no more, and none is open. */
void allocation_windows_begin(struct allocation_windows *windows);
void allocation_windows_end(struct allocation_windows *windows);

void allocation_windows_set_stack(struct allocation_windows *windows, unsigned pages);

/* So far, but for the window in hand; any thread. */
struct allocation_figures allocation_windows_figures(struct allocation_windows *windows);

/* What was sampled and not seen to be given back: allocation_probes_blocks(). */
void allocation_windows_blocks(const struct allocation_windows *windows,
			       void (*take)(void *context, uint64_t address, uint32_t number),
			       void *context);

/* In a copy of the process: nothing of it is used any more. */
void allocation_windows_let_go(struct allocation_windows *windows);

/* ---- parts, by themselves for tests ---- */

/* Of one window. */
struct allocation_times {
	uint64_t wall_ns;
	uint64_t cpu_ns;    /* of the process; 0: not known */
	uint64_t queued_ns; /* its main thread waited for a processor */
	uint64_t cost_ns;   /* CPU time of the probes */
};

/*
 * In what time the process would have got as far without probes. Whoever gets a part of a processor
 * loses the cost's multiple of wall time; several that run at a time lose a part of it each.
 */
uint64_t allocation_observed_ns(const struct allocation_times *times);
/* How long there are to be none, after that. */
uint64_t allocation_pause_ns(uint64_t wall_ns, uint64_t cost_ns, double most_overhead);
/*
 * How samples are taken in the next window: as many by their bytes as by their number, for which
 * each object counts as if it had an average's bytes more.
 */
struct allocation_sampling {
	uint64_t interval_bytes, object_bytes;
};
/* After a window with so many. */
struct allocation_sampling allocation_next_sampling(const struct allocation_sampling *sampling,
						    uint64_t bytes, uint64_t objects);

#endif
