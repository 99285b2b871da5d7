/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is known of each source line while a profile is made: its time from the
 * tree, its accesses from the pair table, later what follows from both.
 *
 * Where there is no Python frame on the stack, the native function that ran
 * stands for a line, with its library as the file and 0 as the number.
 *
 * A line is a file and a number. Functions that share one (a comprehension and
 * what it stands in) are one line. The same is kept of functions, a file and a
 * name each; a function's line is then the first one seen of it.
 *
 * Libraries wrap their native calls in thin Python functions (numpy's
 * fromnumeric.py, pandas' iloc): what these cost and touch is the doing of the
 * line that calls them, and that line is where it could be written otherwise. So
 * each Python frame has one that is *charged* for its time and its accesses when
 * lines are ranked (self_ns stays where it is; paths keep all frames). It is
 * found by walking outwards from the frame while
 *
 *   - it is in a library's file: below site-packages, dist-packages or
 *     lib/pythonN.M (lib64 on some systems), or in no file ("<__array_function__ internals>",
 *     "<frozen ...>"),
 *   - its call is not inside a loop of its own function: a library that loops
 *     over native calls is itself the place to look at,
 *   - it is not one of many functions (more than DISPATCH_CALLEES_MAX) that one
 *     instruction calls under that line: what calls every test of a library, say,
 *     has none of their work to answer for,
 *   - and no more than WRAPPERS_MAX were passed.
 *
 * Where that ends at a frame of another kind, this one is charged; but when the
 * walk comes to no end (all frames are a library's, or too many), or ends at a
 * module's own code outside of a loop, which does not call anything often, the
 * frame itself is: the author of a library finds his lines.
 */
#ifndef PIEPROFD_DAEMON_REPORT_MODEL_LINE_STATS_H
#define PIEPROFD_DAEMON_REPORT_MODEL_LINE_STATS_H

#include "daemon/bytecode/call_site.h"
#include "daemon/detect/avoidable.h"
#include "daemon/report/model/line_evidence.h"
#include "daemon/report/model/place.h"

#define LINE_NONE ID_NONE

#define DISPATCH_CALLEES_MAX 4

struct line_entry {
	const char *file;
	int line;
	const char *function; /* of several the plainest name, see line_stats.c */
	uint64_t self_ns[TIME_CLASS_COUNT];
	struct side_time side; /* likewise */
	uint64_t total_ns;
	uint64_t charged_ns[TIME_CLASS_COUNT];
	/* Of what the line is charged with, as all that follows. */
	struct access_counts accesses[PAIR_KIND_COUNT];
	uint64_t redundant_by_memory[MEMORY_CLASS_COUNT];
	/* Redundant with both ends on this line inside a loop, in the end with the next. */
	uint64_t repeated;
	/* Other redundant ones of operations on the same operands each time, by their names. */
	uint64_t same_operands;
	/* Pairs of one call site: all, and those redundant. */
	uint64_t site[PAIR_KIND_COUNT], site_redundant[PAIR_KIND_COUNT];
	uint64_t again, again_redundant;             /* as struct avoidable_evidence has it */
	uint64_t again_loads, again_loads_redundant; /* likewise, as the next two */
	uint64_t stores, again_stores;
	struct argument_evidence arguments;
	/* As profile_line has them; the strings are the profile's. */
	const char *finding, *expression, *example;
	uint64_t finding_ns;
	int column, end_column, end_line;
	uint64_t support[CATEGORY_SUPPORTED_COUNT]; /* redundant accesses that speak for it */
	uint64_t call_samples;                      /* residuals behind call_ns */
	uint64_t call_log_sum;                      /* what they say (line_estimate.h) */
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
	/* The node of the Python frame charged for each node (above); 0: there is none. */
	uint32_t *charged;
};

void line_stats_deinit(struct line_stats *stats);

void line_stats_init(struct line_stats *stats, bool by_function);

/* Finds the lines of all nodes and charges their time. Once; 0 or -ENOMEM. */
__attribute__((warn_unused_result)) int line_stats_build(struct line_stats *stats,
							 struct place_table *places,
							 struct call_site_table *sites,
							 const struct cct *cct,
							 uint64_t ret_time_ns[TIME_CLASS_COUNT]);

/*
 * The line, or function, whose own the time at a node is: without Python frames
 * the native function; LINE_NONE: no frame at all. 0 or -ENOMEM.
 */
__attribute__((warn_unused_result)) int line_stats_self(struct line_stats *stats,
							struct place_table *places,
							const struct cct_node *node,
							uint32_t *ret_line);

/* The line, or function, charged for what was done at a node; LINE_NONE: no Python frame. */
uint32_t line_stats_charged(const struct line_stats *stats, const struct cct_node *node);
/* The same as an entry, or NULL. */
struct line_entry *line_stats_of_node(struct line_stats *stats, const struct cct_node *node);

/* Of two functions that share a line, the one to name it by. */
const char *line_stats_plainer_name(const char *a, const char *b);

/* Exact and approximate, of one kind. */
uint64_t access_counts_redundant(const struct access_counts *counts);

#endif
