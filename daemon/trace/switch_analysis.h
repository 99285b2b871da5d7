/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a trace says of threads off the processor: for how long, and what they waited for, by system
 * call, by the Python lines that waited, and by thread. Pure.
 */
#ifndef PIEPROFD_DAEMON_TRACE_SWITCH_ANALYSIS_H
#define PIEPROFD_DAEMON_TRACE_SWITCH_ANALYSIS_H

#include "daemon/trace/span_analysis.h"

/* Of one reason, in all threads. */
struct switch_reason {
	int32_t detail; /* of span_record.h: a system call's number, or SWITCH_... */
	struct span_sums sums;
};

/* Of one reason and the lines that waited. */
struct switch_path {
	int32_t detail;
	uint32_t path; /* of call_path.h; CALL_PATH_NONE: not known */
	struct span_sums sums;
};

/* Of one thread, for all reasons, or one of them. */
struct switch_thread {
	uint32_t process; /* place in the trace */
	uint32_t thread;
	int32_t detail;
	struct span_sums sums;
};

struct switch_analysis {
	int span; /* of the trace's list; -1: switches were not traced */
	struct span_sums sums;
	struct switch_reason *reasons; /* the longest first */
	size_t reason_count, reason_capacity;
	struct switch_path *paths; /* likewise */
	size_t path_count, path_capacity;
	struct switch_thread *threads; /* likewise: each with all reasons */
	size_t thread_count, thread_capacity;
	struct switch_thread *parts; /* likewise: with one */
	size_t part_count, part_capacity;
	struct sum_table reasons_found, paths_found, threads_found, parts_found;
};

/* 0 or -ENOMEM; deinit in any case. */
__attribute__((warn_unused_result)) int switch_analysis_init(struct switch_analysis *analysis,
							     const struct trace *trace);
void switch_analysis_deinit(struct switch_analysis *analysis);

#endif
