/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What follows from the counts of a line, the same whether these come from a tree
 * and a pair table (profile_build.c) or from other profiles (profile_merge_build.c).
 */
#ifndef PIEPROFD_DAEMON_REPORT_MODEL_LINE_ESTIMATE_H
#define PIEPROFD_DAEMON_REPORT_MODEL_LINE_ESTIMATE_H

#include "daemon/report/model/line_stats.h"

/* Watched accesses of both kinds. */
uint64_t line_entry_sampled(const struct line_entry *line);

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

/* What a line's estimate takes from the whole run. */
struct run_figures {
	uint64_t period_ns;     /* that one sample stands for; 0: unknown */
	uint64_t time_ns;       /* of all lines */
	double redundant_share; /* profile_run_share() */
};

/* entry->avoidable, from all the rest. */
void line_entry_estimate(struct line_entry *entry, const struct run_figures *run);

/* The part of it that a pair of the line accounts for. */
uint64_t line_entry_avoidable_part(const struct line_entry *line, uint64_t pair_redundant);

#endif
