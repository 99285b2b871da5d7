/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How long threads were stopped: a histogram with a fixed size, exact to
 * 1/16 of a power of two. Pure.
 */
#ifndef PIEPROFD_DAEMON_SAMPLE_STOP_TIMES_H
#define PIEPROFD_DAEMON_SAMPLE_STOP_TIMES_H

#include <stdint.h>

#define STOP_TIMES_BUCKETS (64 * 16)

struct stop_histogram {
	uint64_t counts[STOP_TIMES_BUCKETS];
	uint64_t count;
	uint64_t sum_ns;
	uint64_t max_ns;
};

void stop_histogram_add(struct stop_histogram *histogram, uint64_t ns);

/* Upper bound of the bucket below which fraction (0 to 1) of the stops lie; 0 when there are none.
 */
uint64_t stop_histogram_quantile(const struct stop_histogram *histogram, double fraction);

/* How many took so long or less, to the resolution of the histogram. */
uint64_t stop_histogram_count_to(const struct stop_histogram *histogram, uint64_t ns);

/* before: the same histogram as it was earlier. What is left is exact but for max_ns. */
void stop_histogram_subtract(struct stop_histogram *histogram, const struct stop_histogram *before);
void stop_histogram_merge(struct stop_histogram *histogram, const struct stop_histogram *more);

struct stop_times {
	uint64_t count;
	uint64_t p50_ns, p99_ns, max_ns;
};

struct stop_times stop_histogram_times(const struct stop_histogram *histogram);

struct stop_histograms {
	struct stop_histogram all, samples, breakpoints;
};

#endif
