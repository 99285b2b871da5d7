/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The efficiencies of a trace (trace_analysis.h) by region: by the lines of the program's main
 * loop, which need no marks in the program.
 *
 *   <module> solve.py:40 --> main solve.py:31 --> exchange grid.py:12   region 1: solve.py:31
 *                        |                    `-> exchange grid.py:15   likewise
 *                        `-> main solve.py:33 --> residual solve.py:8   region 2: solve.py:33
 *
 * Only frames of the program itself count. From the outermost one inwards, as long as nearly all
 * time leads through one line, it is gone on there: startup and drivers have one such line. Where
 * time divides, or that line is left for another one of its function and come back to, is what a
 * reader of the program calls the main loop: each line there is a region.
 *
 * A rank's region is known at its calls of MPI alone. What it computes before a call is counted to
 * that call's region: work that is late shows in the call behind it, so that a region is a piece of
 * work with the communication that it ends in. The metrics are those of the POP project, by region
 * as in DLB's TALP: of useful time there, and the elapsed time of the rank that was there longest.
 * The sum over all regions of a rank is its run time. Of the thread that is judged. Pure.
 */
#ifndef PIEPROFD_DAEMON_TRACE_TRACE_REGION_H
#define PIEPROFD_DAEMON_TRACE_TRACE_REGION_H

#include "daemon/trace/trace.h"

#include <stdbool.h>

/* Of the time, what must lead through one line to go on there. */
#define TRACE_REGION_NEARLY_ALL 0.95
/* Of each rank: a line that is come to so often is in a loop. */
#define TRACE_REGION_VISITS     3
#define TRACE_REGION_NAME_BYTES 400

struct trace_region {
	uint32_t frame; /* in struct trace_regions' own; CALL_PATH_NONE: see elsewhere */
	bool elsewhere; /* outside of that loop, and from the last call on; else lines not known */
	uint64_t calls;
	uint64_t useful_ns, mpi_ns; /* sums of all ranks */
	uint64_t elapsed_ns;        /* of the rank that was there longest */
	uint64_t most_useful_ns;
	size_t busiest; /* the rank that computes most there: its place */
	double load_balance, communication_efficiency, parallel_efficiency;
};

struct trace_regions {
	struct call_paths own; /* frames of the program itself */
	uint32_t *own_of;      /* by path of the trace: its innermost such frame */
	uint32_t own_count;    /* of own_of */
	uint32_t within;       /* whose callees' lines are regions; CALL_PATH_NONE: outermost */
	struct trace_region *items; /* the one that loses most first */
	size_t count, capacity;
	uint64_t missing; /* calls that were not recorded: there are no regions then */
};

/* A rank that is judged: its calls are those of one thread. */
struct trace_region_rank {
	size_t place;
	uint32_t thread;
};

/* What the regions are of: all is borrowed. */
struct trace_region_subject {
	const struct trace *trace;
	const struct trace_region_rank *ranks;
	size_t rank_count;
	uint64_t begin_ns, end_ns;
	uint64_t missing;
};

/* 0 or -ENOMEM; deinit in any case. */
__attribute__((warn_unused_result)) int trace_regions_init(
	struct trace_regions *regions, const struct trace_region_subject *subject);
void trace_regions_deinit(struct trace_regions *regions);

/* "exchange, solve.py:31 in main": what is called there, and the line. Names are the target's. */
void trace_region_name(const struct trace_regions *regions, const struct trace_region *region,
		       char ret_name[static TRACE_REGION_NAME_BYTES]);

/* What of the ranks' time there is lost: they would be busy all of the elapsed time. */
uint64_t trace_region_lost(const struct trace_region *region, size_t ranks);

#endif
