/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a trace says of its spans (span.h): how often, how long, by process and by the Python lines
 * from which they came. Times are of all threads together, and of the whole trace. Pure.
 */
#ifndef PIEPROFD_DAEMON_TRACE_SPAN_ANALYSIS_H
#define PIEPROFD_DAEMON_TRACE_SPAN_ANALYSIS_H

#include "daemon/trace/sum_table.h"
#include "daemon/trace/trace.h"

struct span_sums {
	uint64_t count, ns, longest_ns;
};

void span_sums_add(struct span_sums *sums, const struct trace_event *event);

/* Of one span in one process. */
struct span_in_process {
	uint16_t span;
	uint32_t process; /* place in the trace */
	struct span_sums sums;
};

/* By span and the lines from which it came. */
struct span_path {
	uint16_t span;
	uint32_t path; /* of call_path.h; CALL_PATH_NONE: not known */
	struct span_sums sums;
};

struct span_figures {
	struct span_sums sums;
	uint64_t open;                 /* of them: had not ended */
	uint64_t short_ones, short_ns; /* counted alone */
	uint64_t unrecorded, unrecorded_ns;
	uint64_t not_seen_to_end;      /* left otherwise, or too deep in themselves */
	size_t set, relieved, refused; /* processes */
	uint64_t relieved_after_ns;    /* the first of them */
	const char *limit;             /* what is not seen; NULL: nothing */
};

struct span_analysis {
	const struct trace *trace;
	struct span_figures spans[SPANS_MAX];
	struct span_in_process *processes; /* the longest first */
	size_t process_count, process_capacity;
	struct span_path *paths; /* likewise */
	size_t path_count, path_capacity;
	struct sum_table processes_found, paths_found;
};

/* trace is borrowed. 0 or -ENOMEM; deinit in any case. */
__attribute__((warn_unused_result)) int span_analysis_init(struct span_analysis *analysis,
							   const struct trace *trace);
void span_analysis_deinit(struct span_analysis *analysis);

/* How many spans the trace has. */
unsigned span_analysis_count(const struct span_analysis *analysis);

#endif
