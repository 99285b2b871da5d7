/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Steps of making a profile that are the same whether its counts come from a
 * tree and a pair table (profile.c) or from other profiles (profile_merge.c).
 */
#ifndef PIEPROFD_DAEMON_REPORT_MODEL_PROFILE_PARTS_H
#define PIEPROFD_DAEMON_REPORT_MODEL_PROFILE_PARTS_H

#include "daemon/report/model/arena.h"
#include "daemon/report/model/line_stats.h"
#include "daemon/report/model/source.h"

/* Behind every struct profile; profile_destroy() frees it. */
struct owned_profile {
	struct profile profile; /* first: what callers hold */
	struct arena arena;
	struct source_cache *sources; /* NULL: none */
};

#define PROFILE_ARENA_BYTES_MAX ((size_t)512 << 20)

/* Redundant share of all accesses. */
double profile_run_share(const struct access_counts accesses[PAIR_KIND_COUNT]);

/*
 * The duration of a line's native calls, entry->call_ns, from the estimate by
 * residuals that stands there (0: none) and the interpreter's share of the
 * line's time. Notes the residuals' estimate in call_log_sum, if nothing stands there.
 */
void line_entry_estimate_call(struct line_entry *entry, uint64_t period_ns);

/*
 * The estimate by residuals from several profiles of a line: the geometric mean
 * by their number. Logarithms are kept as whole numbers, so that the order in
 * which they are added does not matter.
 */
uint64_t call_log_mean(uint64_t call_log_sum, uint64_t call_samples);

/* entry->avoidable, from all the rest. */
void line_entry_estimate(struct line_entry *entry, uint64_t period_ns, double run_share);

/* The part of it that a pair of the line accounts for. */
uint64_t line_entry_avoidable_part(const struct line_entry *line, uint64_t pair_redundant);

/* All but the source. Reasons are the arena's; its failure is to be asked for. */
void profile_line_write(struct arena *arena, const struct line_entry *entry,
			struct profile_line *line);

/* Share, interval, category and advice from the counts and support. */
void profile_pair_judge(struct profile_pair *pair);

/*
 * The facts' own strings belong to the session; the profile may outlive it.
 * Threads come sorted, those without time left out. 0 or -ENOMEM.
 */
__attribute__((warn_unused_result)) int profile_facts_copy(struct owned_profile *owned,
							   const struct profile_facts *facts);

/* By time, then pid, then tid; for qsort. */
int profile_thread_compare(const void *left, const void *right);

#endif
