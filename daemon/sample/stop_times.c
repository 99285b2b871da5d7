/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/sample/stop_times.h"

/* Values below 16 have a bucket each; above, 16 buckets a power of two. */
static unsigned stop_bucket_of(uint64_t ns)
{
	unsigned exponent;

	if (ns < 16)
		return (unsigned)ns;
	exponent = 63u - (unsigned)__builtin_clzll(ns);
	return (exponent - 3) * 16 + (unsigned)((ns >> (exponent - 4)) & 15);
}

static uint64_t bucket_end(unsigned bucket)
{
	unsigned exponent = bucket / 16 + 3;

	if (bucket < 16)
		return bucket;
	return ((16ull + bucket % 16 + 1) << (exponent - 4)) - 1;
}

void stop_histogram_add(struct stop_histogram *histogram, uint64_t ns)
{
	histogram->counts[stop_bucket_of(ns)]++;
	histogram->count++;
	histogram->sum_ns += ns;
	if (ns > histogram->max_ns)
		histogram->max_ns = ns;
}

uint64_t stop_histogram_quantile(const struct stop_histogram *histogram, double fraction)
{
	uint64_t wanted = (uint64_t)(fraction * (double)histogram->count), seen = 0;

	if (!histogram->count)
		return 0;
	if (wanted >= histogram->count)
		return histogram->max_ns;
	for (unsigned bucket = 0; bucket < STOP_TIMES_BUCKETS; bucket++) {
		seen += histogram->counts[bucket];
		if (seen > wanted) {
			uint64_t end = bucket_end(bucket);

			return end < histogram->max_ns ? end : histogram->max_ns;
		}
	}
	return histogram->max_ns;
}

uint64_t stop_histogram_count_to(const struct stop_histogram *histogram, uint64_t ns)
{
	uint64_t count = 0;

	for (unsigned bucket = 0; bucket < STOP_TIMES_BUCKETS && bucket_end(bucket) <= ns; bucket++)
		count += histogram->counts[bucket];
	return count;
}

void stop_histogram_subtract(struct stop_histogram *histogram, const struct stop_histogram *before)
{
	uint64_t longest_ns = 0;

	for (unsigned bucket = 0; bucket < STOP_TIMES_BUCKETS; bucket++) {
		histogram->counts[bucket] -= before->counts[bucket];
		if (histogram->counts[bucket])
			longest_ns = bucket_end(bucket);
	}
	histogram->count -= before->count;
	histogram->sum_ns -= before->sum_ns;
	/* The longest may have been earlier. */
	if (longest_ns < histogram->max_ns)
		histogram->max_ns = longest_ns;
}

void stop_histogram_merge(struct stop_histogram *histogram, const struct stop_histogram *more)
{
	for (unsigned bucket = 0; bucket < STOP_TIMES_BUCKETS; bucket++)
		histogram->counts[bucket] += more->counts[bucket];
	histogram->count += more->count;
	histogram->sum_ns += more->sum_ns;
	if (more->max_ns > histogram->max_ns)
		histogram->max_ns = more->max_ns;
}

struct stop_times stop_histogram_times(const struct stop_histogram *histogram)
{
	return (struct stop_times){
		.count = histogram->count,
		.p50_ns = stop_histogram_quantile(histogram, 0.50),
		.p99_ns = stop_histogram_quantile(histogram, 0.99),
		.max_ns = histogram->max_ns,
	};
}
