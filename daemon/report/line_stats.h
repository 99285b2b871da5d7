/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is known of each source line while a profile is made: its time from the
 * tree, its accesses from the pair table, later what follows from both.
 *
 * A line is a file and a number. Functions that share one (a comprehension and
 * what it stands in) are one line. The same is kept of functions, a file and a
 * name each; a function's line is then the first one seen of it.
 */
#ifndef PIEPROFD_DAEMON_REPORT_LINE_STATS_H
#define PIEPROFD_DAEMON_REPORT_LINE_STATS_H

#include "daemon/detect/avoidable.h"
#include "daemon/report/place.h"
#include "daemon/report/profile.h"

#define LINE_NONE ID_NONE

struct line_entry {
	const char *file;
	int line;
	const char *function; /* of several the plainest name, see line_stats.c */
	uint64_t self_ns[TIME_CLASS_COUNT];
	uint64_t total_ns;
	struct access_counts accesses[PAIR_KIND_COUNT];
	uint64_t redundant_by_memory[MEMORY_CLASS_COUNT];
	uint64_t repeated;                /* redundant with both ends on this line inside a loop */
	uint64_t support[CATEGORY_COUNT]; /* redundant accesses that speak for it */
	uint64_t call_ns;
	struct avoidable avoidable;
	bool summed;         /* counted for its function */
	uint32_t charged_by; /* the last node whose time went into total_ns */
	uint32_t position;   /* in the finished profile */
};

struct line_stats {
	bool by_function;
	struct line_entry *lines;
	size_t count, capacity;
	struct id_table ids;
	uint32_t *of_node; /* line of each node's innermost Python frame, or LINE_NONE */
};

void line_stats_deinit(struct line_stats *stats);

void line_stats_init(struct line_stats *stats, bool by_function);

/* Finds the lines of all nodes and charges their time. Once; 0 or -ENOMEM. */
__attribute__((warn_unused_result)) int line_stats_build(struct line_stats *stats,
							 struct place_table *places,
							 const struct cct *cct,
							 uint64_t ret_time_ns[TIME_CLASS_COUNT]);

/* NULL: no Python frame on this stack. */
struct line_entry *line_stats_of_node(struct line_stats *stats, const struct cct_node *node);

/* Exact and approximate, of one kind. */
uint64_t access_counts_redundant(const struct access_counts *counts);

#endif
