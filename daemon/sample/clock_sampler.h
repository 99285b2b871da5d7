/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Time by the kernel's own sampling (attach/kernel_clocks.h): the target is neither stopped nor
 * traced, and gets no signal.
 *
 *   samples from the ring --> capture_load --> unwind, stitch --> tree, thread times
 *                                                  kernel_stack ----^
 *
 * How long a sample stands for: the processor's clock tells how much wall time it looked at, and
 * the process's own account how much CPU time it spent. A thread that runs all the time is
 * sampled at every interval and the two agree; threads that come and go are met by chance, by
 * 600 samples to 4%. So each sample takes what is owed by the account so far, between half of
 * its own interval and twice as much: sums come out exact, and places stay samples.
 *
 * Page faults come by the same ring, where they are asked for, and take what the clocks
 * leave of the limit (fresh_memory.h): their samples stand for memory, not for time.
 *
 * The processors' time that all of it takes away from the target is what the program measured, and
 * the interrupt's, which it cannot see.
 */
#ifndef PIEPROFD_DAEMON_SAMPLE_CLOCK_SAMPLER_H
#define PIEPROFD_DAEMON_SAMPLE_CLOCK_SAMPLER_H

#include "common/error.h"
#include "daemon/capture/capture.h"
#include "daemon/cct/cct.h"
#include "daemon/sample/allocation_windows.h"
#include "daemon/sample/copy_volume.h"
#include "daemon/sample/fresh_memory.h"
#include "daemon/sample/thread_stacks.h"
#include "daemon/sample/thread_times.h"

struct clock_sampler;

/* What its samples are made of, and where they go; all borrowed. */
struct clock_sink {
	struct target *target;
	struct capture *capture; /* used between two calls of others */
	struct cct *cct;
	struct losses *losses;
	struct thread_times *threads;
	struct timeline *node_timeline, *thread_timeline;
	struct thread_stacks *stacks;
	uint64_t *samples;           /* read by other threads: added to atomically */
	uint64_t *lost_ns;           /* by the target */
	bool *gil_known;             /* set when it is */
	bool *mappings_stale;        /* set when an address lies in no module */
	struct fresh_memory *memory; /* NULL: page faults are not sampled */
	const struct copy_volume *copies;
	/* Names of the tree's frames in the kernel, for as long as that; NULL: without such. */
	struct kernel_functions *kernel;
};

/*
 * Loads the program and opens the clocks, stopped. most_overhead: at most this part of a busy
 * thread's time, by longer periods if need be. NULL with *error filled: see
 * kernel_clocks_create().
 */
struct clock_sampler *clock_sampler_create(const struct clock_sink *sink, uint64_t period_ns,
					   double most_overhead, struct error *error);
void clock_sampler_destroy(struct clock_sampler *sampler);

/*
 * Allocations, too, by windows of probes that take so much of the target's time at most, beside the
 * samples. Before it begins. 0, or -1 with *error filled: the rest is as it was.
 */
__attribute__((warn_unused_result)) int clock_sampler_add_allocations(struct clock_sampler *sampler,
								      double most_overhead,
								      struct error *error);
/* So far. */
struct allocation_figures clock_sampler_allocations(const struct clock_sampler *sampler);

/* Begins, or goes on after a pause. */
void clock_sampler_begin(struct clock_sampler *sampler, uint64_t cpu_ns);
/* Stops the clocks, and takes what is left. cpu_ns: of the process, since it started. */
void clock_sampler_end(struct clock_sampler *sampler, uint64_t cpu_ns);

/*
 * Takes samples, at most so many. True: there may be more. To be called every few milliseconds;
 * the ring holds some 200.
 */
bool clock_sampler_take(struct clock_sampler *sampler, uint64_t cpu_ns, unsigned maximum);

/* A thread's entry among the pipeline's thread times, new if need be. */
size_t clock_sampler_thread(struct clock_sampler *sampler, pid_t tid, const char *name);

/* The part of a busy thread's time that sampling it is expected to cost. */
double clock_sampler_share(const struct clock_sampler *sampler);

/* The period as it is now. */
uint64_t clock_sampler_period_ns(const struct clock_sampler *sampler);

/* In a copy of the process: closes what keeps the clocks alive. */
void clock_sampler_let_go(struct clock_sampler *sampler);

#endif
