/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pairs while a profile is made: those of the pair table whose paths a reader
 * cannot tell apart are merged, those that do not count are taken out, and each line
 * gets what its accesses say.
 */
#ifndef PIEPROFD_DAEMON_REPORT_MODEL_PAIR_STATS_H
#define PIEPROFD_DAEMON_REPORT_MODEL_PAIR_STATS_H

#include "daemon/report/model/call_time.h"
#include "daemon/report/model/category_choice.h"
#include "daemon/report/model/line_stats.h"
#include "daemon/report/model/path.h"

struct pair_entry {
	enum pair_kind kind;
	uint32_t first, second;   /* paths */
	const struct pair *shown; /* the one of those merged whose frames are shown */
	uint64_t verdicts[VERDICT_COUNT];
	uint64_t support[CATEGORY_SUPPORTED_COUNT];
	uint64_t avoidable_ns;
	uint32_t line; /* of the first path, or LINE_NONE */
};

/* A line's stores from one instruction of its function. */
struct line_site {
	uint32_t line;
	const struct python_code *code;
	int offset;
	uint64_t stores;
	bool again; /* some of them were made again, as struct avoidable_evidence has it */
};

struct pair_stats {
	const struct pair_table *pairs; /* borrowed, as are the next six */
	const struct cct *cct;
	struct call_site_table *sites;
	struct path_table *paths;
	struct line_stats *lines;
	struct line_stats *functions;
	struct pair_entry *entries;
	size_t count, capacity;
	struct id_table ids;
	struct line_site *sites_of_lines;
	size_t site_count, site_capacity;
	struct id_table site_ids;
	struct call_times calls;
	uint64_t period_ns;
	struct access_counts accesses[PAIR_KIND_COUNT]; /* of the run */
	struct losses filtered;                         /* samples taken out */
	uint64_t *watched[PAIR_KIND_COUNT];             /* by path: watches that began there */
};

void pair_stats_init(struct pair_stats *stats, const struct pair_table *pairs,
		     const struct cct *cct, struct call_site_table *sites, struct path_table *paths,
		     struct line_stats *lines, struct line_stats *functions);
void pair_stats_deinit(struct pair_stats *stats);

/*
 * Fills the entries, the lines but for their times (which must be known: the
 * duration of calls is estimated from them too; period_ns is what one sample
 * stands for), and the accesses of functions. Once; 0 or -ENOMEM.
 */
__attribute__((warn_unused_result)) int pair_stats_build(struct pair_stats *stats,
							 uint64_t period_ns);

/* By avoidable time, redundant and all accesses, kind and paths: a total order. */
int pair_entry_compare(const struct path_table *paths, const struct pair_entry *a,
		       const struct pair_entry *b);

/* All watches that began at the pair's first path, also those without a later access. */
uint64_t pair_stats_watched(const struct pair_stats *stats, const struct pair_entry *entry);
uint64_t pair_entry_sampled(const struct pair_entry *entry);
uint64_t pair_entry_redundant(const struct pair_entry *entry); /* exact and approximate */

#endif
