/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calling contexts as a reader sees them: nodes of the tree whose frames are
 * the same places all the way are one path. Only the nodes asked for are
 * named, as names cost more than anything else in making a profile.
 */
#ifndef PIEPROFD_DAEMON_REPORT_MODEL_PATH_H
#define PIEPROFD_DAEMON_REPORT_MODEL_PATH_H

#include "daemon/cct/cct.h"
#include "daemon/report/model/access_filter.h"

struct path {
	uint32_t parent; /* path id; the root is 0, its own parent */
	uint32_t place;
	struct access_filter filter;
	/* A subscript function is on the stack, and no Python inside of it. */
	bool subscript;
	bool collects; /* the garbage collector, or what it called: finalisers, too */
	bool contends; /* asks for the GIL */
	bool start;    /* nothing but frames of the interpreter's start (start_frame.h) */
};

struct path_table {
	struct place_table *places;             /* borrowed */
	const struct access_patterns *patterns; /* borrowed; NULL: none */
	struct path *paths;
	size_t count, capacity;
	struct id_table ids;
	uint32_t *of_node; /* path id + 1 by node id; 0: not yet known */
	size_t node_count;
	const struct cct_node **pending; /* nodes on the way to the root; grows to the deepest */
	size_t pending_capacity;
	/* Else a path begins with its outermost Python frame, where it can. */
	bool start_frames;
	bool no_gil; /* what asks for it goes away with nothing: to be set after path_table_init()
		      */
};

/* 0 or -ENOMEM; deinit in either case. */
__attribute__((warn_unused_result)) int path_table_init(struct path_table *table,
							struct place_table *places,
							const struct access_patterns *patterns,
							const struct cct *cct);
/* Why accesses of this path do not count; LOSS_COUNT: they do. */
enum loss path_filter_reason(const struct path_table *table, uint32_t path);
void path_table_deinit(struct path_table *table);

/* 0 or -ENOMEM. */
__attribute__((warn_unused_result)) int path_table_find(struct path_table *table,
							const struct cct_node *node,
							uint32_t *ret_path);

/* By their places from the innermost outwards, never by identity: 0 only for the same path. */
int path_compare(const struct path_table *table, uint32_t a, uint32_t b);

#endif
