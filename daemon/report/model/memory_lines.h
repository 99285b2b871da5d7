/* SPDX-License-Identifier: Apache-2.0 */
/* The lines of a profile that made its memory grow, and those that copy memory. Pure. */
#ifndef PIEPROFD_DAEMON_REPORT_MODEL_MEMORY_LINES_H
#define PIEPROFD_DAEMON_REPORT_MODEL_MEMORY_LINES_H

#include "daemon/report/model/profile.h"

/*
 * Those with any fresh memory, most first, then by file and line. The caller frees. NULL: out of
 * memory.
 */
__attribute__((warn_unused_result)) const struct profile_line **memory_lines_sorted(
	const struct profile *profile, size_t *ret_count);

/* Those that spend time in copying, most first, likewise. */
__attribute__((warn_unused_result)) const struct profile_line **memory_lines_copying(
	const struct profile *profile, size_t *ret_count);

/* Those that allocate, most bytes first, likewise. */
__attribute__((warn_unused_result)) const struct profile_line **memory_lines_allocating(
	const struct profile *profile, size_t *ret_count);

/* A second, of what was seen in windows; of several processes that is one's on average. */
uint64_t memory_rate(uint64_t amount, const struct allocation_counts_sum *counts);

/* By how much more is resident at the end than at the start; 0: by nothing. */
uint64_t memory_growth(const struct resident_counts *counts);

/* Of that growth, what no sample accounts for. */
uint64_t memory_unexplained(const struct profile *profile);

#endif
