/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How long the native calls of each line last, from how long the sampled ones
 * went on after the sample.
 *
 * A sample falls at a uniformly random moment of the call it hits, so what is
 * left of a call of duration t is uniform between 0 and t, and twice the median
 * of what is left estimates t. Long calls are hit more often than short ones in
 * proportion to their duration: the figure is the duration of the call that a
 * typical nanosecond of the line belongs to, which is the one that says what
 * the line's time consists of. The median, not the mean: now and then a call
 * includes a page fault or another thread's turn.
 *
 * What is measured includes the way out of one stop and into the next, with
 * caches that the stop has left cold: for calls known to take 0.6 us it was 1
 * to 4 us in four samples of ten and 7 to 17 us in the others. So the median of
 * the line with the shortest calls is taken off all of them, but no more than
 * CALL_TIME_BASE_MAX_NS, so that where all calls are long none looks short.
 */
#ifndef PIEPROFD_DAEMON_REPORT_MODEL_CALL_TIME_H
#define PIEPROFD_DAEMON_REPORT_MODEL_CALL_TIME_H

#include <stddef.h>
#include <stdint.h>

#define CALL_TIME_BASE_MAX_NS 8000
#define CALL_TIME_BASE_COUNT  8   /* residuals a line must have to serve as the measure */
#define CALL_TIME_FLOOR_NS    100 /* shorter cannot be told */

struct call_residual {
	uint32_t line;
	uint64_t left_ns; /* from the sample to the call's end */
	double weight;    /* how many samples it stands for */
};

struct call_times {
	struct call_residual *residuals;
	size_t count, capacity;
};

void call_times_deinit(struct call_times *times);
__attribute__((warn_unused_result)) int call_times_add(struct call_times *times, uint32_t line,
						       uint64_t left_ns, double weight);

/*
 * Calls found once for each line there is, in order of line, with the number
 * of its residuals; call_ns is at least 1. Sorts the residuals.
 */
void call_times_estimate(struct call_times *times,
			 void (*found)(void *context, uint32_t line, uint64_t call_ns,
				       size_t count),
			 void *context);

#endif
